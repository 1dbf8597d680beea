"""Quotas in brim sim: what a policy's [quota] may say, and what borrowing does for made-up days and
for a week of Philly with its virtual clusters."""

import json
import re

import pytest
from conftest import DAYS, actions

SHARES = """[quota]
share = 7f04ca 184
share = 2869ce 128
share = 6c71a0 96
share = ee9e8c 80
share = 6214e9 48
share = b436b2 32
share = 103959 24
share = 11cb48 16
share = ed69ec 16
share = e13805 8
share = 0e4a51 8
"""
COST = "restart = 40s\nrestart-multi = 60s\n"
POLICIES = {
    "walls": "order = fifo\n" + COST + SHARES,
    "walls-greedy": "order = fifo\nbackfill = greedy\n" + COST + SHARES,
    "borrow": "order = fifo\n" + COST + SHARES + "borrow = yes\n",
    "borrow-las": "order = las\nqueues = 1h 10h 100h\npreempt = victims\n" + COST + SHARES
                  + "borrow = yes\n",
}
TRACE = "job_id,submit_s,gpus,duration_s,class,team\n" \
        "y1,0,4,100,text,q\ny2,10,4,100,text,q\nx1,20,4,50,vision,p\nz,30,1,10,,\n"


@pytest.fixture
def named(policy):
    return lambda name, text: policy(f"[policy]\nname = {name}\n{text}", name)


def test_walls(brim, trace, named):
    said = actions(brim, trace, named("walls", "[quota]\nshare = text 4\nshare = vision 50%\n"))
    # y2 waits for y1 although vision's devices are free; z is of no class, and has no share
    assert said == [
        "0.000 job y1 starts with 4 devices on n0: it is within the share of class text (4)",
        "20.000 job x1 starts with 4 devices on n0: it is within the share of class vision (4)",
        "100.000 job y2 starts with 4 devices on n0: it is within the share of class text (4)",
    ]


@pytest.mark.parametrize("by, mine, other", [("class", "text", "vision"), ("team", "q", "p")])
def test_what_is_lent_comes_back(brim, trace, named, by, mine, other):
    text = f"restart = 5s\n[quota]\nby = {by}\nshare = {mine} 4\nshare = {other} 4\nborrow = yes\n"
    said = actions(brim, trace, named("lent", text))
    assert said[1:4] == [
        f"10.000 job y2 starts with 4 devices on n0: it borrows, above the share of {by} {mine} "
        "(4), what nobody within a share needs",
        f"20.000 job y2 gives up 4 devices: it is above the share of {by} {mine} (4), and job x1, "
        f"which waits for 4 devices, is within the share of {by} {other} (4)",
        f"20.000 job x1 starts with 4 devices on n0: it is within the share of {by} {other} (4)",
    ]
    assert said[4].startswith("70.000 job y2 starts")
    assert said[5].startswith("100.000 job z starts") and f"without a {by} (0)" in said[5]


@pytest.mark.parametrize(
    "text, why",
    [
        ("[quota]\nshare = text\n", ":4: a share is a name and devices"),
        ('[quota]\nshare = "text "\n', ":4: a share is a name and devices"),
        ("[quota]\nshare = text %\n", "'%' is no number of devices"),
        ("[quota]\nshare = text 1.5\n", "'1.5' is no number of devices"),
        ("[quota]\nshare = text 101%\n", "'101%' is no number of devices, and no 0% to 100%"),
        ("[quota]\nshare = text nan\n", "'nan' is no number"),
        ("[quota]\nshare = text 1\nshare = text 2\n", ":5: text has a share already"),
        ("[quota]\nshare = a 60%\nshare = b 50%\n", ":5: the shares are more than 100%"),
        ("[quota]\nshare = a 9\n", "the shares are 9 devices, and there are 8"),
        ("[quota]\nborrow = maybe\n", "borrow is yes or no"),
        ("[quota]\nborrow = yes\n", "[quota] needs shares"),
        ("[quota]\nby = user\n", "by is class or team"),
        ("[quota]\nlimit = 3\n", "unknown key 'limit' in [quota]"),
        ("backfill = easy\nlength = limit\n[quota]\nshare = a 1\n", "backfill = none or greedy"),
        ("order = las\nqueues = 1h\npreempt = quota\n[quota]\nshare = a 1\n", "none or victims"),
    ],
)
def test_what_it_refuses(brim, trace, named, text, why):
    done = brim("sim", trace, "--nodes", "1x8", "--policy", named("mine", text))
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1


def figures_of(brim, path, nodes, policies):
    """{policy: (jobs that ran, their mean wait, preemptions)}"""
    said = json.loads(brim.out("sim", path, "--json", "--nodes", nodes, "--policy", policies[0],
                               "--compare", ",".join([*map(str, policies[1:]), "fifo"])))
    return {run["policy"]: (run["all"]["jobs"], round(run["all"]["wait_s"]), run["preemptions"])
            for run in said["policies"]}


def test_made_up_days(brim, named):
    """Eighths of the shares below. Behind walls jobs that are larger than theirs never run."""
    policies = [named(name, re.sub(r"\d+$", lambda n: str(int(n[0]) // 8), text, flags=re.M))
                for name, text in POLICIES.items()]
    figures = figures_of(brim, DAYS, "10x8", policies)
    assert figures == {
        "walls": (1120, 9260, 0), "walls-greedy": (1120, 2022, 0), "borrow": (1200, 1614, 60),
        "borrow-las": (1200, 572, 129), "fifo": (1200, 4171, 0)}


def test_a_week_of_philly(brim, others, named):
    """The figures of docs/sim/shares.md."""
    policies = [named(name, text) for name, text in POLICIES.items()]
    figures = figures_of(brim, others("philly_week_vc"), "80x8", policies)
    assert figures == {
        "walls": (10650, 90585, 0), "walls-greedy": (10650, 38521, 0), "borrow": (10650, 443, 297),
        "borrow-las": (10650, 481, 995), "fifo": (10650, 948, 0)}
