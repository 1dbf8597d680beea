"""brim sim: replicas of services, spot jobs and a cap of power beside batch jobs."""

import gzip
import json

import pytest
from conftest import ROOT

WEEK = ROOT / "tests" / "fixtures" / "traces" / "philly_week.csv.gz"
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
    assert "mine.ini         chat                3      0      93.3       0.0     274.4     280.0" \
        "      10s     66.67\n" in text
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


def test_stopped_within_a_notice(brim, trace, policy):
    """b waits for devices that s is leaving yet when a replica takes them: it has done nothing."""
    path = trace(HEAD + "s,0,8,1000,spot,\nb,100,4,500,,\nr,110,4,100,chat,\n")
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
        ("backfill = easy\nlength = limit\n[spot]\nclass = a\n", "backfill = none or greedy"),
        ("[spot]\nclass = a\n[quota]\nshare = b 1\n", "do not go with [quota], [idle] or [share]"),
        ("preempt = victims\n[power]\ncap = 1kW\n", "[power] is for preempt = none"),
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
