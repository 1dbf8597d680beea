"""brim sim: jobs of little use that share devices."""

import json

import pytest
from conftest import actions

TRACE = """job_id,submit_s,gpus,duration_s,class,activity
a,0,4,10000,x,30
b,0,4,10000,x,40
c,4000,4,1000,y,
"""
POLICY = "[policy]\norder = fifo\nrestart = 100s\n"
SHARE = "[share]\nbelow = 50%\ntogether = 90%\nafter = 30m\ncost = 10%\n"
IDLE = "[idle]\nreclaim = 10m\naction = shrink\n"


def test_two_on_the_devices_of_one(brim, trace, policy):
    path = policy(POLICY + SHARE)
    assert actions(brim, trace, path)[2:] == [
        "4000.000 job a gives up 4 devices and shares those of job b: both are at most 50 % busy, "
        "together 90 %, and job c, which waits for 4 devices, gets them",
        "4000.000 job c starts with 4 devices on n0: of those that wait it was submitted first",
    ]
    run = json.loads(brim.out("sim", trace, "--nodes", "1x8", "--json", "--policy", path))
    run = run["policies"][0]
    assert run["joined"] == 1 and run["all"]["wait_max_s"] == 0
    # both at 1 / 1.1 until b ends; a started for 100 s of that, and does the rest alone
    end = 4000 + 6000 * 1.1 + 6000 - (6000 * 1.1 - 100) / 1.1
    assert run["end_s"] == pytest.approx(end, abs=0.01)
    work = 4 * (10000 * 0.3 + 10000 * 0.4 + 1000)
    assert run["busy_to_end"] == pytest.approx(work / (8 * end), abs=1e-5)


def makes_way(brim, trace, path, *jobs):
    """What is done of those jobs when the last one comes, without the reasons."""
    trace.write_text("\n".join([TRACE.splitlines()[0], *jobs, ""]))
    return [line.split(":")[0] for line in actions(brim, trace, path)[4:7]]


def test_an_idle_partner_makes_way(brim, trace, policy):
    path = policy(POLICY + SHARE + IDLE)
    jobs = ("a,0,4,60000,x,30", "b,0,4,60000,x,7000:40 40000:0 40", "c,4000,4,60000,y,35",
            "d,9000,4,1000,y,")
    # b owns the devices that a shares: they become a's, then free
    assert makes_way(brim, trace, path, *jobs) == [
        "9000.000 job b gives up 4 devices",
        "9000.000 job a gives up 4 devices and shares those of job c",
        "9000.000 job d starts with 4 devices on n0",
    ]
    run = json.loads(brim.out("sim", trace, "--nodes", "1x8", "--json", "--policy", path))
    run = run["policies"][0]
    assert run["joined"] == 2 and run["reclaimed"] == 1
    said = run["allocated_for"]
    assert sum(said.values()) - 2 * said["shared"] == pytest.approx(1, abs=1e-5)


def test_two_that_are_idle_make_way(brim, trace, policy):
    jobs = ("a,0,4,60000,x,6000:30 40000:0 30", "b,0,4,60000,x,6000:40 40000:0 40",
            "c,4000,4,60000,y,95", "d,9000,4,1000,y,")
    assert makes_way(brim, trace, policy(POLICY + SHARE + IDLE), *jobs) == [
        "9000.000 job a gives up 4 devices",
        "9000.000 job b gives up 4 devices",
        "9000.000 job d starts with 4 devices on n0",
    ]


def test_who_does_not_share(brim, trace, policy):
    for text in [
        SHARE.replace("50%", "35%"),  # b is busier
        SHARE.replace("90%", "60%"),  # together they are
        SHARE.replace("30m", "2h"),  # nobody knows yet
    ]:
        said = json.loads(brim.out("sim", trace, "--nodes", "1x8", "--json", "--policy",
                                   policy(POLICY + text)))["policies"][0]
        assert said["joined"] == 0 and said["all"]["wait_max_s"] == 6000


@pytest.mark.parametrize(
    "text, why",
    [
        ("[share]\nbelow = 50%\n", "[share] needs together and after"),
        ("[share]\ncost = 5%\n", "[share] needs below, such as below = 50%"),
        ("[share]\nbelow = 150%\n", ":2: below is 0% to 100%"),
        ("[share]\nbelow = 50\n", ":2: below is 0% to 100%"),
        ("[share]\ntogether = x%\n", ":2: together is 0% to 200%"),
        ("[share]\nwith = x\n", ":2: unknown key 'with' in [share]"),
        ("[policy]\nbackfill = easy\nlength = limit\n" + SHARE, "[share] is for backfill = none"),
    ],
)
def test_bad_sections(brim, trace, policy, text, why):
    done = brim("sim", trace, "--policy", policy(text))
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1
