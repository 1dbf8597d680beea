"""brim sim: jobs that say where their data are. What is expected was computed by hand."""

import json

import pytest
from conftest import one_line

HEAD = "job_id,submit_s,gpus,duration_s,data,data_s"
RESTART = "[policy]\norder = fifo\npriorities = yes\npreempt = victims\nrestart = 5s\n"


@pytest.fixture
def sim(brim, tmp_path):
    """sim(rows, ...): the run of one policy, and what it did."""

    def run(rows, *options, nodes="4x8", policy="[policy]\norder = fifo\n", head=HEAD):
        trace, ini = tmp_path / "trace.csv", tmp_path / "mine.ini"
        trace.write_text("\n".join([head, *rows]) + "\n")
        ini.write_text(policy)
        args = ("sim", trace, "--nodes", nodes, "--policy", ini, *options)
        said = json.loads(brim.out(*args, "--json"))
        said["policies"][0]["trace"] = said["trace"]
        return said["policies"][0], brim.out(*args, "--actions").splitlines()

    return run


def test_it_goes_where_they_are(sim):
    """But not to an emptier node, and it does not wait for one."""
    rows = ["a,0,4,100,n2,", "b,1,4,100,n1,30", "c,2,8,10,n3+n1,", "d,3,4,10,n2+n9,4"]
    run, did = sim(rows)
    first = ": of those that wait it was submitted first"
    assert did == [
        "0.000 job a starts with 4 devices on n2" + first,
        "1.000 job b starts with 4 devices on n2" + first
        + "; its data are elsewhere, and take 30 s to bring",
        "2.000 job c starts with 8 devices on n1" + first,
        "3.000 job d starts with 4 devices on n0" + first
        + "; its data are elsewhere, and take 4.0 s to bring",
    ]
    assert run["end_s"] == 131
    assert run["data"] == {"starts": 4, "away": 2,
                           "bringing_device_hours": round(4 * 34 / 3600, 4)}


@pytest.mark.parametrize("place", ["consolidate", "topology"])
def test_below_a_leaf(sim, place):
    run, did = sim(["a,0,8,10,leaf:3,", "b,0,16,10,leaf:3,", "c,0,16,10,leaf:4,"], nodes="8x8/2",
                   policy=f"[policy]\nplace = {place}\n")
    where = [line.split(" on ")[1].split(":")[0] for line in did]
    if place == "topology":  # not on two leaves
        assert where == ["n4", "n0 and 1 more", "n6 and 1 more"] and run["data"]["away"] == 1
    else:
        assert where == ["n4", "n5 and 1 more", "n6 and 1 more"] and run["data"]["away"] == 1


def test_only_a_preference(sim):
    run, did = sim(["a,0,8,100,n0,", "b,1,8,100,n0,"])
    assert did[1].endswith("on n1: of those that wait it was submitted first; its data are "
                           "elsewhere")
    assert run["end_s"] == 101 and run["data"]["bringing_device_hours"] == 0


@pytest.mark.parametrize("activity", ["", "90"])
def test_brought_again_after_it_was_stopped(sim, activity):
    """What was not brought yet when it stopped is not paid; the next start brings all of it."""
    rows = ["x,0,8,1000,n0,,9,", f"low,0,8,100,n0,50,0,{activity}", "high,20,8,10,,,5,"]
    run, did = sim(rows, nodes="2x8", policy=RESTART, head=HEAD + ",priority,activity")
    starts = [line.split(" with ")[0] for line in did if " starts " in line]
    assert starts == ["0.000 job x starts", "0.000 job low starts", "20.000 job high starts",
                      "30.000 job low starts"]
    low = 30 + 50 + 5 + 100
    assert run["all"]["completion_s"] == pytest.approx((1000 + low + 10) / 3)
    assert run["data"]["bringing_device_hours"] == round(8 * (20 + 50) / 3600, 4)


def test_after_a_node_fails(sim, tmp_path):
    (tmp_path / "failures.csv").write_text("time_s,node,duration_s\n20,n1,10\n100,n1,10\n")
    rows = ["x,0,8,1000,n0,", "low,0,8,100,n0,50"]
    run, _ = sim(rows, "--failures", tmp_path / "failures.csv", nodes="2x8")
    # 20 s of bringing; 50 s and 20 s of work, which are lost; then all of it
    assert run["all"]["completion_s"] == pytest.approx((1000 + 110 + 50 + 100) / 2)
    assert run["failures"]["done_again_device_hours"] == round(8 * 20 / 3600, 4)
    assert run["data"]["bringing_device_hours"] == round(8 * (20 + 50 + 50) / 3600, 4)


@pytest.mark.parametrize("seconds, start", [(5, 2), (20, 150)])
def test_a_promise_counts_it(sim, seconds, start):
    """c may start before b if it ends in time with the data that it has to bring."""
    rows = ["a,0,8,100,,", "b,1,16,50,,", f"c,2,8,90,n0,{seconds}"]
    _, did = sim(rows, nodes="2x8", policy="[policy]\nbackfill = easy\nlength = oracle\n")
    starts = {line.split()[2]: float(line.split()[0]) for line in did}
    assert starts["b"] == 100
    assert starts["c"] == start


def test_victims_where_the_data_are(sim):
    rows = [f"{i},0,8,1000,,,0" for i in range(4)] + ["high,5,8,10,n2,,5"]
    run, did = sim(rows, policy=RESTART, head=HEAD + ",priority")
    assert any("job high starts with 8 devices on n2" in line for line in did), did
    assert run["data"] == {"starts": 1, "away": 0, "bringing_device_hours": 0}


def test_rows_that_cannot_be(sim):
    run, _ = sim(["a,0,1,5,n0,1", "b,0,1,5,n9,1", "c,0,1,5,leaf:1,1", "d,0,1,5,n1,-1",
                  "e,0,1,5,n1,x", "f,0,1,5,n9,1"])
    assert (run["trace"]["jobs"], run["trace"]["bad"]) == (1, 5)
    assert run["trace"]["notes"] == [
        "line 3: no node, leaf or the like is called n9",
        "line 4: no node, leaf or the like is called leaf:1",
        "line 5: what it costs to bring its data is no time",
        "line 6: what it costs to bring its data is no time",
        "line 7: no node, leaf or the like is called n9",
    ]


@pytest.mark.parametrize("policy, word", [
    ("rebuild-srtf", "preempt = rebuild"), ("interleave", "interleave"),
])
def test_what_cannot_pay(brim, tmp_path, policy, word):
    path = tmp_path / "trace.csv"
    path.write_text(HEAD + "\na,0,1,5,n0,1\n")
    one_line(brim("sim", path, "--nodes", "2x8", "--policy", policy), 1, word)
    path.write_text(HEAD + "\na,0,1,5,n0,\n")
    assert policy in brim.out("sim", path, "--nodes", "2x8", "--policy", policy)


def test_other_nodes(brim, tmp_path):
    """Nodes that go take their data along; names stay those of the others."""
    path = tmp_path / "trace.csv"
    path.write_text(HEAD + "\na,0,8,10,n3,7\nb,0,8,10,n0,7\n")
    args = ["sim", path, "--nodes", "4x8", "--what-if", "nodes=-1"]
    said = json.loads(brim.out(*args, "--json"))
    assert said["policies"][0]["data"]["away"] == 0
    assert said["then"]["policies"][0]["data"]["away"] == 2  # a takes n0
    assert "away from them     away%" in brim.out(*args)
    page = tmp_path / "page.html"
    brim.out(*args[:4], "--compare", "sjf", "--html", page)
    assert "starts away from data" in page.read_text() and "0 of 2" in page.read_text()
