"""brim sim: how busy jobs keep their devices, and what an [idle] section does about idle ones."""

import json

import pytest

TRACE = """job_id,submit_s,gpus,duration_s,class,activity
a,0,8,20000,x,3600:90 10800:0 70
b,10,8,1000,y,80
c,20,4,1000,y,
"""
IDLE = "[policy]\norder = fifo\nrestart = 40s\n[idle]\nwarn = 30m\nreclaim = 1h\ngrace = 5m\n"


@pytest.fixture
def policy(tmp_path):
    def write(text):
        path = tmp_path / "mine.ini"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


def actions(brim, trace, policy):
    return brim.out("sim", trace, "--nodes", "1x8", "--actions", "--policy", policy).splitlines()


def test_idle_devices_go_to_what_waits(brim, trace, policy):
    assert actions(brim, trace, policy(IDLE + "action = shrink\n")) == [
        "0.000 job a starts with 8 devices on n0: of those that wait it was submitted first",
        "5400.000 job a keeps 8 devices idle for 1800 s; after 3600 s they are for jobs that wait",
        "7200.000 job a gives up 8 devices: they were idle for 3600 s, and are for job b, which "
        "waits for 8 devices; it goes on when it needs some",
        "7200.000 job b starts with 8 devices on n0: of those that wait it was submitted first",
        "8200.000 job c starts with 4 devices on n0: of those that wait it was submitted first",
        "14400.000 job a starts with 8 devices on n0: of those that wait it was submitted first",
    ]


def test_other_actions(brim, trace, policy):
    said = actions(brim, trace, policy(IDLE + "action = requeue\nburst = 1m\n"))
    # of the hour before, the last minute of work is left out; then it holds c up until it ends
    assert said[2].startswith("7140.000 job a gives up 8 devices: they were idle for 3600 s but")
    assert said[2].endswith("which waits for 8 devices; it starts again in its turn")
    assert [line.split()[:4] for line in said[4:]] == [
        ["8140.000", "job", "a", "starts"], ["20040.000", "job", "c", "starts"]]
    said = actions(brim, trace, policy(IDLE + "action = warn\n"))
    assert said[1] == "5400.000 job a keeps 8 devices idle for 1800 s"
    assert [line.split()[0] for line in said] == ["0.000", "5400.000", "20000.000", "21000.000"]
    said = actions(brim, trace, policy(IDLE + "action = shrink\nexempt = x\n"))
    assert not any("idle" in line for line in said)


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
    for options, why in [
        (["--activity", "mars"], "--activity is philly, seren or kalos, not mars"),
        (["--activity", "philly", "--idle-stretch", "1s"], "a minute at least"),
        (["--policy", "rebuild-srtf"], "restart-each-pass is for jobs whose activity nobody knows"),
    ]:
        done = brim("sim", trace, *options)
        assert done.returncode == 1 and why in done.stderr, options
