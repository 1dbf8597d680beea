"""brim sim: replicas of services, spot jobs and a cap of power beside batch jobs."""

import json

import pytest
from conftest import DAYS

HEAD = "job_id,submit_s,gpus,duration_s,class,checkpoint_s\n"
TRACE = HEAD + "s,0,8,1000,spot,300\nb,100,4,500,,\nr1,200,2,300,chat,\nr2,210,2,300,chat,\n" \
    "r3,220,2,300,chat,\n"
SERVICE = "[service]\nclass = chat\nreserve = 4\n"
SPOT = "[spot]\nclass = spot\n"


@pytest.fixture
def policy(tmp_path):
    def write(text, name="mine"):
        path = tmp_path / f"{name}.ini"
        path.write_text("[policy]\norder = fifo\nrestart = 40s\n" + text)
        return path

    return write


@pytest.fixture
def trace(tmp_path):
    def write(text=TRACE):
        path = tmp_path / "trace.csv"
        path.write_text(text)
        return path

    return write


def actions(brim, trace, policy, *options, nodes="1x8"):
    return brim.out("sim", trace, "--nodes", nodes, "--actions", "--policy", policy,
                    *options).splitlines()


def run(brim, trace, policy, *options, nodes="1x8"):
    return json.loads(brim.out("sim", trace, "--nodes", nodes, "--json", "--policy", policy,
                               *options))["policies"][0]


def test_reserve_lent_to_spot(brim, trace, policy):
    """The spot job has all, the reserve too, until others come; r3 is beyond the reserve."""
    said = actions(brim, trace(), policy(SERVICE + SPOT))
    assert said == [
        "0.000 job s starts with 8 devices on n0: a spot job, on what nobody else wants",
        "100.000 job s gives up 8 devices: spot jobs give way, to job b, which waits for 4 devices",
        "100.000 job b starts with 4 devices on n0: of those that wait it was submitted first",
        "200.000 job r1 starts with 2 devices on n0: a replica of chat, in the reserve",
        "210.000 job r2 starts with 2 devices on n0: a replica of chat, in the reserve",
        "500.000 job r3 starts with 2 devices on n0: a replica of chat, in the reserve",
        "800.000 job s starts with 8 devices on n0: a spot job, on what nobody else wants",
    ]
    said = actions(brim, trace(), policy(SERVICE + "preempt = yes\n" + SPOT))
    assert said[5:8] == [
        "220.000 job b gives up 4 devices: they are for job r3, which waits for 2 devices and is "
        "a replica of chat",
        "220.000 job r3 starts with 2 devices on n0: a replica of chat, beyond the reserve",
        # r2 and r3 are the reserve then
        "500.000 job b starts with 4 devices on n0: of those that wait it was submitted first",
    ]


def test_what_replicas_waited(brim, trace, policy):
    got = run(brim, trace(), policy(SERVICE + "within = 20s\n" + SPOT))
    assert got["services"] == [{
        "name": "chat", "replicas": 3, "started": 3, "wait_s": round(280 / 3, 3), "wait_p50_s": 0,
        "wait_p99_s": 274.4, "wait_max_s": 280, "within_s": 20, "started_within": 0.666667}]
    assert got["service_device_hours"] == round((2 * 20 + 2 * 10) / 3600, 3)
    text = brim.out("sim", trace(), "--nodes", "1x8", "--policy", policy(SERVICE + SPOT))
    assert "mine.ini         chat                3      0      93 s       0 s  4.57 min  4.67 min" \
        "     10 s     66.67\n" in text
    # no class of the trace is one of the section's: no replicas, and no share of them
    got = run(brim, trace(HEAD + "b,0,4,10,,\n"), policy(SERVICE))
    assert got["services"][0]["replicas"] == 0 and got["services"][0]["started_within"] is None


def test_batch_leaves_the_reserve_free(brim, trace, policy):
    path = trace(HEAD + "b,0,4,100,,\nc,1,4,100,,\nd,2,8,100,,\n")
    said = actions(brim, path, policy(SERVICE))
    assert [line.split()[:3] for line in said] == [["0.000", "job", "b"], ["100.000", "job", "c"]]
    assert "1 job needs more than there is and was left out: d" in brim.out(
        "sim", path, "--nodes", "1x8", "--policy", policy(SERVICE))


def test_reserves_of_classes(brim, trace, policy):
    path = trace(HEAD + "a1,0,4,100,a,\na2,1,4,100,a,\nb1,2,4,100,b,\n")
    text = "[service]\nclass = a\nclass = b\nreserve = a 4\nreserve = b 50%\n"
    said = actions(brim, path, policy(text), nodes="2x4")
    assert said == [
        "0.000 job a1 starts with 4 devices on n1: a replica of a, in the reserve",
        "2.000 job b1 starts with 4 devices on n0: a replica of b, in the reserve",
        "100.000 job a2 starts with 4 devices on n1: a replica of a, in the reserve",
    ]
    got = run(brim, path, policy(text), nodes="2x4")
    assert [x["name"] for x in got["services"]] == ["a", "b", "all"]
    assert got["services"][2]["replicas"] == 3


@pytest.mark.parametrize(
    "spot, lost",
    [
        ("", 100),  # it has no checkpoint yet: all of its 100 s
        ("notice = 30s\nsave = 30s\n", 0),
        ("notice = 30s\nsave = 31s\n", 100),
    ],
)
def test_what_giving_way_loses(brim, trace, policy, spot, lost):
    got = run(brim, trace(), policy(SERVICE + SPOT + spot))
    assert got["spot"]["gave_way"] == 1 and got["spot"]["jobs"] == 1
    assert got["spot"]["done_again_device_hours"] == round(8 * lost / 3600, 3)
    assert got["end_s"] == 800 + 40 + 1000 - (0 if lost else 100)


def test_checkpoints_of_spot_jobs(brim, trace, policy):
    path = trace(HEAD + "s,0,8,1000,spot,300\nb,700,8,100,,\n")
    got = run(brim, path, policy(SPOT))
    # 700 s were done, 600 of them are in its second checkpoint
    assert got["spot"]["done_again_device_hours"] == round(8 * 100 / 3600, 3)
    assert got["end_s"] == 800 + 40 + 400


def test_notice(brim, trace, policy):
    path = trace(HEAD + "s,0,8,1000,spot,\nb,100,4,500,,\nc,110,4,10,,\n")
    said = actions(brim, path, policy(SPOT + "notice = 30s\n"))
    assert said[1:] == [
        "100.000 job s gives up 8 devices: spot jobs give way, to job b, which waits for 4 devices"
        "; it has 30 s to leave",
        "100.000 job b starts with 4 devices on n0: of those that wait it was submitted first"
        "; they are free in 30 s",
        # the other half of the node is free when the notice is over, too
        "130.000 job c starts with 4 devices on n0: of those that wait it was submitted first",
        "630.000 job s starts with 8 devices on n0: a spot job, on what nobody else wants",
    ]
    got = run(brim, path, policy(SPOT + "notice = 30s\n"))
    assert got["end_s"] == 630 + 40 + 1000
    assert got["all"]["wait_s"] == pytest.approx((30 + 20 + 530) / 3, abs=1e-3)


@pytest.mark.parametrize("activity", [False, True])
def test_stopped_within_a_notice(brim, trace, policy, activity):
    """b waits for devices that s is leaving yet when a replica takes them: it has done nothing."""
    text = HEAD + "s,0,8,1000,spot,\nb,100,4,500,,\nr,110,4,100,chat,\n"
    if activity:
        text = text.replace("\n", ",90\n").replace("_s,90", "_s,activity")
    path = trace(text)
    text = "[service]\nclass = chat\npreempt = yes\n" + SPOT + "notice = 30s\n"
    said = actions(brim, path, policy(text))
    assert said[3:] == [
        "110.000 job b gives up 4 devices: they are for job r, which waits for 4 devices and is a "
        "replica of chat",
        "110.000 job r starts with 4 devices on n0: a replica of chat, which go first; they are "
        "free in 20 s",
        "130.000 job b starts with 4 devices on n0: of those that wait it was submitted first",
        "670.000 job s starts with 8 devices on n0: a spot job, on what nobody else wants",
    ]
    got = run(brim, path, policy(text))
    assert got["end_s"] == 670 + 40 + 1000 and got["services"][0]["wait_s"] == 20
    assert got["all"]["wait_s"] == pytest.approx((570 + 30 + 20) / 3, abs=1e-3)


LAS = "order = las\nqueues = 10s\npreempt = victims\n"


def test_beside_victims(brim, trace, policy):
    path = trace(HEAD + "a,0,4,1000,,\nb,100,4,9,,\n")
    said = actions(brim, path, policy(LAS + SERVICE))
    assert said[1].startswith("100.000 job a gives up 4 devices: they are for job b, which waits")
    # what is free, a job of a lower queue, and a spot job: b needs what all of them have
    path = trace(HEAD + "a,0,2,1000,,\ns,0,4,1000,spot,\nb,100,8,1,,\n")
    said = actions(brim, path, policy(LAS + SPOT))
    assert said[2:5] == [
        "100.000 job a gives up 2 devices: they are for job b, which waits for 8 devices",
        "100.000 job s gives up 4 devices: spot jobs give way, to job b, which waits for 8 devices",
        "100.000 job b starts with 8 devices on n0: it is among those that get devices by the "
        "order of las",
    ]


EASY = "backfill = easy\nlength = oracle\n"
FIRST = "on n0: of those that wait it was submitted first"
# b, which needs all, is promised 100 s: the spot job is none of those that it waits for
BEHIND = HEAD + "a,0,6,100,,\ns,0,2,1000,spot,\nb,10,8,50,,\nc,20,2,{},,\n"


def test_easy_beside_spot(brim, trace, policy):
    said = actions(brim, trace(BEHIND.format(80)), policy(EASY + SPOT))
    assert said == [
        f"0.000 job a starts with 6 devices {FIRST}",
        "0.000 job s starts with 2 devices on n0: a spot job, on what nobody else wants",
        "20.000 job s gives up 2 devices: spot jobs give way, to job c, which waits for 2 devices",
        "20.000 job c starts with 2 devices on n0: it does not delay job b, which waits for "
        "8 devices for 80 s: it ends before that",
        f"100.000 job b starts with 8 devices {FIRST}",
        "150.000 job s starts with 2 devices on n0: a spot job, on what nobody else wants",
    ]
    said = actions(brim, trace(BEHIND.format(81)), policy(EASY + SPOT))
    assert [line.split(" ")[0] for line in said if " b starts" in line or " c starts" in line] == [
        "100.000", "150.000"]


def test_easy_and_a_notice(brim, trace, policy):
    """What starts behind a promise lets spot jobs go only when they are gone by then."""
    notice = policy(EASY + SPOT + "notice = 30s\n")
    said = actions(brim, trace(BEHIND.format(50)), notice)
    assert said[2:4] == [
        "20.000 job s gives up 2 devices: spot jobs give way, to job c, which waits for 2 devices"
        "; it has 30 s to leave",
        "20.000 job c starts with 2 devices on n0: it does not delay job b, which waits for "
        "8 devices for 80 s: it ends before that; they are free in 30 s",
    ]
    assert said[4].startswith("100.000 job b starts") and "free in" not in said[4]
    said = actions(brim, trace(BEHIND.format(51)), notice)
    assert said[2].startswith("100.000 job s gives up 2 devices")
    assert said[3] == f"100.000 job b starts with 8 devices {FIRST}; they are free in 30 s"
    # c runs from 50 s on, when s is gone, and so to 100 s
    path = trace(HEAD + "a,0,3,90,,\ns,0,3,1000,spot,\nc,20,3,50,,\nb,30,8,50,,\nd,35,2,65,,\n")
    assert ("35.000 job d starts with 2 devices on n0: it does not delay job b, which waits for "
            "8 devices for 65 s: it ends before that") in actions(brim, path, notice)


def test_easy_beside_a_reserve(brim, trace, policy):
    """The end of a replica in its reserve gives b nothing; c would take what b waits for."""
    path = trace(HEAD + "r,0,4,20,chat,\na,0,2,100,,\nb,10,4,50,,\nc,11,2,90,,\n")
    said = actions(brim, path, policy(EASY + SERVICE))
    assert said[2:] == [f"100.000 job b starts with 4 devices {FIRST}",
                        f"150.000 job c starts with 2 devices {FIRST}"]
    short = trace(HEAD + "r,0,4,20,chat,\na,0,2,100,,\nb,10,4,50,,\nc,11,2,89,,\n")
    assert actions(brim, short, policy(EASY + SERVICE))[2].startswith("11.000 job c starts")


def test_shares_beside_services_and_spot(brim, trace, policy):
    path = trace(HEAD + "t,0,2,5000,spot,\ny1,10,4,1000,y,\nx1,30,4,100,x,\nr1,40,2,50,chat,\n")
    shares = "[quota]\nborrow = yes\nshare = x 4\nshare = y 2\n"
    text = "[service]\nclass = chat\nreserve = 2\n" + SPOT + shares
    lent = "it borrows, above the share of class y (2), what nobody within a share needs"
    assert actions(brim, path, policy(text)) == [
        "0.000 job t starts with 2 devices on n0: a spot job, on what nobody else wants",
        f"10.000 job y1 starts with 4 devices on n0: {lent}",
        "30.000 job y1 gives up 4 devices: it is above the share of class y (2), and job x1, which "
        "waits for 4 devices, is within the share of class x (4)",
        "30.000 job x1 starts with 4 devices on n0: it is within the share of class x (4)",
        "40.000 job r1 starts with 2 devices on n0: a replica of chat, in the reserve",
        f"130.000 job y1 starts with 4 devices on n0: {lent}",
    ]
    # what y1 and t have together is enough, of one of them alone it is not
    path = trace(HEAD + "y1,0,4,1000,y,\nt,5,4,5000,spot,\nx1,30,6,100,x,\n")
    said = actions(brim, path, policy(SPOT + shares.replace("x 4", "x 6")))
    assert [line.split(":")[0] for line in said[2:5]] == [
        "30.000 job y1 gives up 4 devices", "30.000 job t gives up 4 devices",
        "30.000 job x1 starts with 6 devices on n0"]
    # who borrows stops for replicas before those that do not, though they are younger
    path = trace(HEAD + "y1,0,4,1000,y,\nx1,10,2,1000,x,\nr1,20,2,50,chat,\nr2,30,2,50,chat,\n")
    said = actions(brim, path, policy(text.replace("[spot]", "preempt = yes\n[spot]")))
    assert said[3].startswith("30.000 job y1 gives up 4 devices: they are for job r2, which")


def test_idle_devices_beside_services_and_spot(brim, trace, policy):
    head = HEAD.replace("\n", ",activity\n")
    path = trace(head + "a,0,4,1000,,,100:90 500:0 90\ns,0,2,2000,spot,,90\nb,200,4,100,,,90\n"
                 "r,210,2,50,chat,,90\n")
    idle = "[idle]\nreclaim = 50s\naction = shrink\n"
    said = actions(brim, path, policy("[service]\nclass = chat\nreserve = 2\n" + SPOT + idle))
    assert said == [
        f"0.000 job a starts with 4 devices {FIRST}",
        "0.000 job s starts with 2 devices on n0: a spot job, on what nobody else wants",
        "200.000 job a gives up 4 devices: they were idle for 50 s, and are for job b, which waits "
        "for 4 devices; it goes on when it needs some",
        f"200.000 job b starts with 4 devices {FIRST}",
        "210.000 job r starts with 2 devices on n0: a replica of chat, in the reserve",
        f"600.000 job a starts with 4 devices {FIRST}",
    ]
    # what a and s have together is enough, of one of them alone it is not
    path = trace(head + "a,0,4,1000,,,100:90 500:0 90\ns,0,4,2000,spot,,90\nb,200,6,100,,,90\n")
    said = actions(brim, path, policy(SPOT + idle))
    assert [line.split(":")[0] for line in said[2:5]] == [
        "200.000 job a gives up 4 devices", "200.000 job s gives up 4 devices",
        "200.000 job b starts with 6 devices on n0"]
    # a replica beyond the reserve gets them, too; its own are never taken for being idle
    path = trace(head + "r,0,2,1000,chat,,100:90 0\na,0,6,1000,,,100:90 500:0 90\n"
                 "q,200,2,50,chat,,90\nb,300,6,10,,,90\n")
    said = actions(brim, path, policy("[service]\nclass = chat\nreserve = 2\n" + idle))
    assert said[2].startswith("200.000 job a gives up 6 devices: they were idle for 50 s, and are "
                              "for job q, which waits for 2 devices")
    assert said[4:] == [f"300.000 job b starts with 6 devices {FIRST}",
                        f"600.000 job a starts with 6 devices {FIRST}"]


@pytest.mark.parametrize("spot, redone", [("", 80), ("save = 0s\n", 0)])
def test_activity_of_spot_jobs(brim, trace, policy, spot, redone):
    """It works for 300 of its first 400 s, and saves each 220: 80 are lost, the pause is not."""
    head = HEAD.replace("\n", ",activity\n")
    path = trace(head + "s,0,8,1000,spot,220,100:100 100:0 100\nb,400,8,100,,,100\n")
    got = run(brim, path, policy(SPOT + spot))
    assert got["spot"]["done_again_device_hours"] == round(8 * redone / 3600, 3)
    assert got["end_s"] == 500 + 40 + 600 + redone
    assert got["busy_to_end"] == pytest.approx(8 * 1000 / (8 * got["end_s"]), abs=1e-5)


def test_ceiling_and_price(brim, trace, policy):
    path = trace(HEAD + "s,0,2,1000,spot,\nt,0,2,1000,spot,\nu,0,2,1000,spot,\nb,3600,1,1,,\n")
    said = actions(brim, path, policy(SPOT + "ceiling = 50%\n"))
    assert [line.split()[0] for line in said[:3]] == ["0.000", "0.000", "1000.000"]
    got = run(brim, path, policy(SPOT), "--price", "2", "--spot-price", "40")
    assert got["spot"]["cost_usd"] == round(3 * 2 * 1000 / 3600 * 2 * 0.4, 2)
    text = brim.out("sim", path, "--nodes", "1x8", "--policy", policy(SPOT))
    row = "mine.ini                 3        3        0         2         0.0             ?\n"
    assert row in text


POWER = ["--power", "500:100"]


def test_power_waits(brim, trace, policy):
    path = trace(HEAD + "a,0,4,100,,\nb,10,4,100,,\nc,20,8,10,,\n")
    text = "[power]\ncap = 2.8kW\nnode = 200W\n"
    said = actions(brim, path, policy(text), *POWER)
    assert said == [
        "0.000 job a starts with 4 devices on n0: of those that wait it was submitted first",
        "10.000 job b waits for 1.6 kW of 2.8 kW: 2.6 kW are drawn, and 4 devices more would lift "
        "that above the cap",
        "100.000 job b starts with 4 devices on n0: of those that wait it was submitted first",
    ]
    got = run(brim, path, policy(text), *POWER)
    assert got["impossible"] == 1  # c would draw 4.2 kW
    assert got["power"] == {
        "cap_kw": 2.8, "peak_kw": 2.6, "mean_kw": 2.6, "energy_kwh": round(2.6 * 20 / 3600, 3),
        "waited_for_power": 1, "at_a_lower_limit": 0, "work_done_device_hours": 0}
    assert got["energy_kwh"] == got["power"]["energy_kwh"]


@pytest.mark.parametrize("cap, starts", [(2.8, 150), (3, 25)])
def test_easy_below_a_cap(brim, trace, policy, cap, starts):
    """b waits for power: c ends before there is some; d leaves b what it needs, or waits."""
    path = trace(HEAD + "a,0,3,100,,\nb,10,4,50,,\nc,20,1,80,,\nd,25,1,200,,\n")
    said = actions(brim, path, policy(f"{EASY}[power]\ncap = {cap}kW\nnode = 200W\n"), *POWER)
    assert said[:3] == [
        f"0.000 job a starts with 3 devices {FIRST}",
        f"10.000 job b waits for 1.6 kW of {cap} kW: 2.2 kW are drawn, and 4 devices more would "
        "lift that above the cap",
        "20.000 job c starts with 1 device on n0: it does not delay job b, which waits for "
        "4 devices for 80 s: it ends before that",
    ]
    assert f"100.000 job b starts with 4 devices {FIRST}" in said
    behind = "it does not delay job b, which waits for 4 devices for 75 s: it leaves what that " \
        "one will need"
    assert any(line.startswith(f"{starts}.000 job d starts with 1 device on n0: ") and
               (behind in line) == (starts == 25) for line in said)


def test_shares_below_a_cap(brim, trace, policy):
    """Four devices are free for x, and no power: who has more than its share stops for that."""
    path = trace(HEAD + "y,0,4,1000,y,\nx,10,2,100,x,\n")
    text = "[quota]\nborrow = yes\nshare = x 4\nshare = y 2\n[power]\ncap = 2.8kW\nnode = 200W\n"
    assert actions(brim, path, policy(text), *POWER) == [
        "0.000 job y starts with 4 devices on n0: it borrows, above the share of class y (2), what "
        "nobody within a share needs",
        "10.000 job y gives up 4 devices: it is above the share of class y (2), and job x, which "
        "waits for 2 devices, is within the share of class x (4)",
        "10.000 job x starts with 2 devices on n0: it is within the share of class x (4)",
        "110.000 job y starts with 4 devices on n0: it borrows, above the share of class y (2), "
        "what nobody within a share needs",
    ]


def test_power_by_kind(brim, trace, policy):
    path = trace(HEAD + "a,0,8,100,,\nb,50,1,1,,\n")
    got = run(brim, path, policy("[power]\ncap = 9kW\n"), "--power", "H100=700:100,T9=50:10",
              nodes="1x4:H100,1x4:T9")
    assert got["power"]["peak_kw"] == 4 * 0.7 + 4 * 0.05
    assert got["energy_kwh"] == round(3.0 * 50 / 3600, 3)


def test_power_limit(brim, trace, policy):
    """Two jobs that both start: at 225 of 300 W, 0.8324 of the speed."""
    path = trace(HEAD + "a,0,4,1000,,\nb,0,4,1000,,\n")
    text = "[power]\ncap = 1.9kW\naction = limit\n"
    options = ["--gpu", "A100-PCIe-80GB"]
    said = actions(brim, path, policy(text), *options)
    assert said == [
        "0.000 job a starts with 4 devices on n0: of those that wait it was submitted first; at a "
        "lower limit of power, at 83.2 % of its speed",
        "0.000 job b starts with 4 devices on n0: of those that wait it was submitted first; at a "
        "lower limit of power, at 83.2 % of its speed",
    ]
    got = run(brim, path, policy(text), *options)
    assert got["end_s"] == pytest.approx(1000 / 0.8324, abs=0.01)
    assert got["power"]["peak_kw"] == 8 * 0.225 and got["power"]["at_a_lower_limit"] == 2
    waits = run(brim, path, policy("[power]\ncap = 1.9kW\n"), *options)
    assert waits["end_s"] == 2000
    # alone, a job has its full power
    alone = run(brim, trace(HEAD + "a,0,4,1000,,\n"), policy(text), *options)
    assert alone["end_s"] == 1000


@pytest.mark.parametrize(
    "text, why",
    [
        ("[service]\n", "[service] needs a class, such as class = chat"),
        ("[spot]\nnotice = 5s\n", "[spot] needs a class, such as class = spot"),
        ("[power]\nnode = 5W\n", "[power] needs a cap, such as cap = 120kW"),
        ("[service]\nclass = a\nclass = a\n", ":6: class a stands twice in [service]"),
        ("[service]\nclass = a\n[spot]\nclass = a\n", "class a is in [service] and in [spot]"),
        ("[service]\nreserve = 5\n", "[service] needs a class"),
        ("[service]\nclass = a\nreserve = b 5\n",
         ":6: reserve = b 5: no class of that name stands before it"),
        ("[service]\nclass = a\nreserve = 5\nreserve = a 5\n", ":7: one reserve for all classes"),
        ("[service]\nclass = a\nreserve = 1.5\n", ":6: reserve = 1.5: a number of devices, or per"),
        ("[service]\nclass = a\nreserve = 0\n", ":6: reserve = 0: a number of devices"),
        ("[service]\nclass = a\nreserve = 101%\n", ":6: reserve = 101%: a number of devices"),
        ("[service]\nclass = a\nreserve = 9\n", "a reserve is 9 devices, and only 8 suit"),
        ("[service]\nclass = a\npreempt = maybe\n", ":6: preempt is yes or no"),
        ("[service]\nclass = a\nwithin = soon\n", ":6: within = soon: a time is a whole number"),
        ("[service]\nclass = a\nspeed = 1\n", ":6: unknown key 'speed' in [service]"),
        ("[spot]\nclass = a\nprice = 1\n", ":6: unknown key 'price' in [spot]"),
        ("[power]\ncap = 120\n", ":5: cap = 120: power is a number and W, kW or MW"),
        ("[power]\ncap = -1kW\n", ":5: cap = -1kW: power is a number"),
        ("[power]\ncap = 1kW\naction = dim\n", ":6: action of [power] is wait or limit"),
        ("[power]\ncap = 1kW\nleast = 0%\n", ":6: least is a share of the full limit"),
        ("[power]\ncap = 1kW\nleast = 50%\n", "curve and least of [power] are for action = limit"),
        ("[power]\ncap = 1kW\ncolour = red\n", ":6: unknown key 'colour' in [power]"),
        ("[power]\ncap = 1kW\n", "[power] needs to know what devices draw: say what they are"),
        ("[power]\ncap = 1kW\n[spot]\nclass = a\nnotice = 1s\n", "does not go with a notice"),
        ("backfill = conservative\nlength = limit\n[spot]\nclass = a\n", "greedy or easy, and"),
        ("preempt = victims\n[power]\ncap = 1kW\n", "[power] is for preempt = none"),
        ("[spot]\nclass = a\n[share]\nbelow = 50%\ntogether = 90%\nafter = 1m\n",
         "[service], [spot] and [power] do not go with [share]"),
        ("[spot]\nclass = a\n[quota]\nshare = a 1\n", "class a is in [spot] and has a share"),
        ("[service]\nclass = a\n[quota]\nshare = a 1\n", "class a is in [service] and has a share"),
        (SERVICE + "[quota]\nshare = b 5\n",
         "the shares are 5 devices, and 4 are left beside a reserve"),
    ],
)
def test_bad_sections(brim, trace, policy, text, why):
    done = brim("sim", trace(), "--nodes", "1x8", "--policy", policy(text))
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1


def test_unknown_power(brim, trace, policy):
    cap = policy("[power]\ncap = 9kW\n")
    limit = policy("[power]\ncap = 9kW\naction = limit\n", "limit")
    for nodes, name, options, why in [
        ("1x8:T9", cap, [], "mine.ini: [power] needs to know what T9 draws busy and idle: "
                            "--power T9=700:75"),
        ("1x8:H100", cap, [], "what H100 draws busy and idle"),  # only its TDP is known
        ("1x4:H100,1x4:T9", cap, ["--power", "H100=700:75"], "what T9 draws busy and idle"),
        ("1x8:T9", limit, ["--power", "700:75"], "how fast T9 is at lower limits of power is not "
                                                 "known: curve = NAME in [power] takes that of"),
        ("1x8:T9", cap, ["--power", "75:700"], "cannot draw more idle than busy"),
        ("1x8:A100-40GB", cap, ["--target", "p90-wait=1h", "--with", "8:H100"], "of nodes to add"),
    ]:
        done = brim("sim", trace(), "--nodes", nodes, "--policy", name, *options)
        assert done.returncode == 1 and why in done.stderr, done.stderr
    text = "[power]\ncap = 9kW\naction = limit\ncurve = A40\n"
    assert run(brim, trace(), policy(text, "a40"), "--power", "T9=700:75", nodes="1x8:T9")


def test_the_queue_of_a_machine_refuses(brim, policy, tmp_path):
    for text, section in [(SERVICE, "service"), (SPOT, "spot"), ("[power]\ncap = 1kW\n", "power")]:
        done = brim("queue", "--policy", policy(text), "--directory", tmp_path / "queue")
        assert done.returncode != 0 and len(done.stderr.splitlines()) == 1
        assert f"[{section}]" in done.stderr and "only brim sim can do that" in done.stderr


SHARES = (("7f04ca", 120), ("6c71a0", 80), ("ee9e8c", 64), ("6214e9", 64), ("b436b2", 24),
          ("103959", 16), ("11cb48", 16), ("ed69ec", 8), ("e13805", 8), ("0e4a51", 8))


def beside_a_service(brim, policy, path, nodes, days, scale):
    """(mean wait, replicas that started within 10 s) of the jobs of a file beside a service with so
    many replicas by night, twice as many by day and as many again over lunch; by policy."""
    day, rows = 86400, [f"night{r},0,4,{days * 86400},chat" for r in range(scale)]
    for d in range(days):
        rows += [f"day{d}-{r},{d * day + 28800 + r * 30},4,43200,chat" for r in range(2 * scale)]
        rows += [f"lunch{d}-{r},{d * day + 43200 + r * 30},4,7200,chat" for r in range(scale)]
    with open(path, "a", encoding="ascii") as f:
        f.write("\n".join(rows) + "\n")
    service = f"[service]\nclass = chat\nreserve = {12 * scale}\npreempt = yes\n"
    notice = service + "[spot]\nclass = 2869ce\nnotice = 30s\nsave = 20s\n"
    greedy = "backfill = greedy\n"
    shares = "[quota]\nborrow = yes\n" + "".join(
        f"share = {name} {n * scale // 8}\n" for name, n in SHARES)
    said = {}
    for name, text in [("greedy", greedy + service), ("easy", EASY + service),
                       ("notice", EASY + notice), ("shares", greedy + notice + shares)]:
        got = run(brim, path, policy(text, name), nodes=nodes)
        said[name] = (round(got["all"]["wait_s"]), got["services"][0]["started_within"])
    return said


def test_made_up_days_beside_a_service(brim, policy, tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(DAYS.read_text())
    assert beside_a_service(brim, policy, path, "8x8", 3, 1) == {
        "greedy": (11384, 1), "easy": (13744, 1), "notice": (8850, 0.6), "shares": (7975, 0.7)}


def test_a_week_beside_a_service(brim, policy, others):
    """Figures of docs/sim/services.md and docs/sim/together.md."""
    assert beside_a_service(brim, policy, others("philly_week_vc"), "64x8", 7, 8) == {
        "greedy": (19171, 1), "easy": (18211, 1), "notice": (9724, 0.920455),
        "shares": (6695, 0.846591)}
