"""brim sim: how busy jobs keep their devices, and what an [idle] section does about idle ones."""

import json

import pytest
from conftest import actions

TRACE = """job_id,submit_s,gpus,duration_s,class,activity
a,0,8,20000,x,3600:90 10800:0 70
b,10,8,1000,y,80
c,20,4,1000,y,
"""
IDLE = "[policy]\norder = fifo\nrestart = 40s\n[idle]\nwarn = 30m\nreclaim = 1h\ngrace = 5m\n"


def test_idle_devices_go_to_what_waits(brim, trace, policy):
    assert actions(brim, trace, policy(IDLE + "action = shrink\n")) == [
        "0.000 job a starts with 8 devices on n0: of those that wait it was submitted first",
        "5400.000 job a keeps 8 devices idle for 30.0 min; after 60.0 min they are for jobs that "
        "wait",
        "7200.000 job a gives up 8 devices: they were idle for 60.0 min, and are for job b, which "
        "waits for 8 devices; it goes on when it needs some",
        "7200.000 job b starts with 8 devices on n0: of those that wait it was submitted first",
        "8200.000 job c starts with 4 devices on n0: of those that wait it was submitted first",
        "14400.000 job a starts with 8 devices on n0: of those that wait it was submitted first",
    ]


def test_other_actions(brim, trace, policy):
    said = actions(brim, trace, policy(IDLE + "action = requeue\nburst = 1m\n"))
    # of the hour before, the last minute of work is left out; then it holds c up until it ends
    assert said[2].startswith("7140.000 job a gives up 8 devices: they were idle for 60.0 min but")
    assert said[2].endswith("which waits for 8 devices; it starts again in its turn")
    assert [line.split()[:4] for line in said[4:]] == [
        ["8140.000", "job", "a", "starts"], ["20040.000", "job", "c", "starts"]]
    said = actions(brim, trace, policy(IDLE + "action = warn\n"))
    assert said[1] == "5400.000 job a keeps 8 devices idle for 30.0 min"
    assert [line.split()[0] for line in said] == ["0.000", "5400.000", "20000.000", "21000.000"]
    said = actions(brim, trace, policy(IDLE + "action = shrink\nexempt = x\n"))
    assert not any("idle" in line for line in said)


HANGS = """job_id,submit_s,gpus,duration_s,class,activity
a,0,8,20000,x,3600:90 10800:hang 70
b,10,8,1000,y,80
"""


def test_what_hung_goes_on_when_it_is_started_anew(brim, tmp_path, policy):
    trace = tmp_path / "hangs.csv"
    trace.write_text(HANGS)
    text = IDLE.replace("restart = 40s", "restart = 0s")
    took = {}
    for action in ("warn", "requeue", "shrink"):
        words = ["--nodes", "1x8", "--policy", policy(text + "action = %s\n" % action), "--json"]
        a = json.loads(brim("sim", trace, *words).stdout)["policies"][0]["groups"][0]
        took[action] = (a["completion_s"], a["wait_s"])
    # it is over after its time; at once, when it starts anew; a job that is parked hangs as before
    assert took == {"warn": (20000, 0), "requeue": (7200 + 1000 + 5600, 1000),
                    "shrink": (20000, 0)}


def test_what_is_left_of_a_job_that_hung_is_known(brim, tmp_path, policy):
    trace = tmp_path / "hung.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s,class,activity\n"
                     "a,0,4,20000,x,3600:90 10800:hang 70\nf,0,4,8200,y,\nb,10,4,1000,y,\n"
                     "h,8250,8,100,y,\ns,8300,4,6000,y,\n")
    text = IDLE.replace("restart = 40s", "restart = 0s\nbackfill = easy\nlength = oracle")
    said = actions(brim, trace, policy(text + "action = requeue\n"))
    # a goes on at 8200 and ends at 13800: s, which would end after that, does not delay h
    assert [line.split()[:4] for line in said[-3:]] == [
        ["8200.000", "job", "a", "starts"], ["13800.000", "job", "h", "starts"],
        ["13900.000", "job", "s", "starts"]]


def test_who_was_idle_before(brim, tmp_path, policy):
    trace = tmp_path / "again.csv"
    rows = "a,0,8,40000,x,1000:90 5000:0 4000:90 6000:0 4000:90 2000:0 4000:90 6000:0 90\n"
    waits = "".join(f"w{at},{at},8,10,y,\n" for at in (1001, 10001, 20001, 26001))
    trace.write_text("job_id,submit_s,gpus,duration_s,class,activity\n" + rows + waits)
    text = IDLE.replace("40s", "0s") + "again = 10m\naction = shrink\n"
    said = actions(brim, trace, policy(text))
    taken = [line.split(" and are")[0] for line in said if "gives up" in line]
    # the second pause is one as before; the third is over after 2,000 s, which is less than an hour
    assert taken == [
        "4600.000 job a gives up 8 devices: they were idle for 60.0 min,",
        "10600.000 job a gives up 8 devices: they were idle for 10.0 min,",
        "20600.000 job a gives up 8 devices: they were idle for 10.0 min,",
        "29600.000 job a gives up 8 devices: they were idle for 60.0 min,",
    ]


def test_how_busy_they_are(brim, trace, policy):
    said = json.loads(brim.out("sim", trace, "--nodes", "1x8", "--json", "--compare",
                               policy(IDLE + "action = shrink\n")))
    before, after = said["policies"]
    # to the end: 8 devices 3600 s at 0.9 and 5600 s at 0.7, then b at 0.8 and c on 4
    work = 8 * (3600 * 0.9 + 5600 * 0.7 + 1000 * 0.8) + 4 * 1000
    assert before["busy_to_end"] == pytest.approx(work / (8 * before["end_s"]), abs=1e-6)
    assert after["busy_to_end"] == pytest.approx(work / (8 * after["end_s"]), abs=1e-6)
    assert (before["end_s"], after["end_s"]) == (22000, 20040)
    assert (after["reclaimed"], after["warned"], after["preemptions"]) == (1, 1, 1)
    assert after["away_s"] == pytest.approx(7200 / 3, abs=1e-3)
    text = brim.out("sim", trace, "--nodes", "1x8", "--policy", "fifo")
    assert " allocated%     busy% preempted\n" in text


def test_when_nodes_fail(brim, tmp_path, policy):
    trace, lost = tmp_path / "one.csv", tmp_path / "lost.csv"
    trace.write_text("\n".join(TRACE.splitlines()[:2]) + "\n")
    lost.write_text("time_s,node,duration_s\n2000,n0,100\n5000,n0,200\n")
    path = policy("[policy]\norder = fifo\nrestart = 40s\n")
    run = ["sim", trace, "--nodes", "1x8", "--policy", path, "--failures", lost, "--checkpoint",
           "1500s", "--checkpoint-cost", "10s"]
    # the second time it is idle: what it worked since its checkpoint is for when it works again
    said = brim.out(*run, "--actions").splitlines()
    assert [line for line in said if " loses " in line] == [
        "2000.000 job a loses 8 devices: node n0 failed; it goes back 8.17 min, to its last "
        "checkpoint, and waits",
        "5000.000 job a loses 8 devices: node n0 failed; it goes back 10.0 min, to its last "
        "checkpoint, and waits",
    ]
    said = json.loads(brim.out(*run, "--json"))["policies"][0]
    assert said["end_s"] == 21330
    hours = 8 / 3600
    lost = said["failures"]
    assert lost["done_again_device_hours"] == pytest.approx(1090 * hours, abs=1e-4)
    assert lost["restarts_device_hours"] == pytest.approx(80 * hours, abs=1e-4)
    assert lost["saving_device_hours"] == pytest.approx(60 * hours, abs=1e-4)
    assert said["busy_to_end"] == pytest.approx((3000 * 0.9 + 6200 * 0.7) / 21330, abs=1e-6)


def test_what_counts(brim, tmp_path):
    trace = tmp_path / "three.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s,activity\n"
                     "a,0,4,1000,50\nb,2000,8,1000,80\nc,4000,1,10,\n")
    run = ["sim", trace, "--nodes", "1x8", "--price", "3.6", "--json"]
    said = json.loads(brim.out(*run))["policies"][0]
    assert said["allocated"] == pytest.approx(12 / 32) and said["cost_usd"] == 32
    said = json.loads(brim.out(*run, "--from", "1000s"))["policies"][0]
    assert said["allocated"] == pytest.approx(8 / 24, abs=1e-6) and said["cost_usd"] == 24
    assert said["busy"] == pytest.approx(6.4 / 24, abs=1e-6)
    done = brim("sim", trace, "--from", "2h")
    assert done.returncode == 2
    assert done.stderr == "brim sim: --from: the last job is submitted 1.111 h after the first\n"


def test_activity_of_a_cluster(brim, tmp_path):
    path = tmp_path / "plain.csv"
    rows = "".join(f"{i},{i * 900},{1 + i % 8},{60 + i * 7919 % 90000}\n" for i in range(400))
    path.write_text("job_id,submit_s,gpus,duration_s\n" + rows)
    plain = json.loads(brim.out("sim", path, "--nodes", "8x8", "--json"))["policies"][0]
    assert "busy" not in plain and "busy%" not in brim.out("sim", path, "--nodes", "8x8")
    run = ["sim", path, "--nodes", "8x8", "--json", "--activity", "philly", "--seed", "3"]
    busy = json.loads(brim.out(*run))["policies"][0]
    # where nobody takes them, who keeps devices idle changes nothing for others
    assert busy["all"] == plain["all"] and busy["allocated"] == plain["allocated"]
    assert 0.37 < busy["busy_of_allocated"] < 0.57
    assert brim.out(*run) == brim.out(*run)
    other = json.loads(brim.out(*run[:-1], "4"))["policies"][0]
    assert other["busy"] != busy["busy"]
    longer = json.loads(brim.out(*run, "--idle-stretch", "12h"))["policies"][0]
    assert longer["busy"] != busy["busy"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("[idle]\nreclaim = 1h\n", "[idle] needs action = warn, shrink or requeue"),
        ("[idle]\naction = warn\n", "[idle] needs reclaim, such as reclaim = 1h"),
        ("[idle]\nreclaim = 1h\naction = kill\n", ":3: action is one of warn, shrink, requeue"),
        ("[idle]\nreclaim = 1h\naction = warn\nwarn = 2h\n", "[idle] warns after it reclaims"),
        ("[idle]\nreclaim = 1h\naction = warn\nburst = 1h\n", "burst is shorter than"),
        ("[idle]\nreclaim = 1h\nagain = 1m\naction = warn\nburst = 1m\n", "burst is shorter than"),
        ("[idle]\nreclaim = 1h\nagain = 2h\naction = warn\n", "again is no longer than reclaim"),
        ("[idle]\nfor = 1h\n", ":2: unknown key 'for' in [idle]"),
        ("[idle]\nreclaim = often\n", "a time is a whole number"),
        ("[policy]\nbackfill = conservative\nlength = limit\n[idle]\nreclaim = 1h\naction = warn\n",
         "[idle] is for backfill = none, greedy or easy"),
    ],
)
def test_bad_sections(brim, trace, policy, text, why):
    done = brim("sim", trace, "--policy", policy(text))
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1


def test_what_it_refuses(brim, trace):
    for options, status, why in [
        (["--activity", "mars"], 2,
         "--activity: unknown cluster 'mars' (there are philly, seren, kalos)"),
        (["--activity", "philly", "--idle-stretch", "1s"], 2,
         "--idle-stretch must be at least 1m, not '1s'"),
        (["--policy", "rebuild-srtf"], 1,
         "restart-each-pass is for jobs whose activity nobody knows"),
    ]:
        done = brim("sim", trace, *options)
        assert done.returncode == status and why in done.stderr, options
