"""brim sim: jobs with deadlines. What is expected was computed by hand."""

import json

import pytest

HEAD = "job_id,submit_s,gpus,duration_s,deadline_s"
ORDER = "[policy]\norder = deadline\nlength = oracle\n"
PREEMPTS = ORDER + "preempt = victims\nrestart = 10s\n"


@pytest.fixture
def sim(brim, tmp_path):
    """sim(rows, ...): the run of one policy, and what it did."""

    def run(rows, *options, policy=ORDER, head=HEAD):
        trace, ini = tmp_path / "trace.csv", tmp_path / "mine.ini"
        trace.write_text("\n".join([head, *rows]) + "\n")
        ini.write_text(policy)
        args = ("sim", trace, "--nodes", "1x8", "--policy", ini, *options)
        said = json.loads(brim.out(*args, "--json"))
        said["policies"][0]["trace"] = said["trace"]
        return said["policies"][0], brim.out(*args, "--actions").splitlines()

    return run


ROWS = ["a,0,8,100,", "b,10,8,50,400", "c,20,8,50,300", "d,30,8,60,80", "e,40,8,10,"]


def test_the_earliest_first(sim):
    """d cannot meet its own: it goes behind those that can, as one without."""
    run, did = sim(ROWS)
    none = "of those that wait it was submitted first, and none has a deadline that it can meet"
    assert did == [
        "0.000 job a starts with 8 devices on n0: " + none,
        "100.000 job c starts with 8 devices on n0: of those that wait it has the earliest "
        "deadline; its deadline is in 3.33 min",
        "150.000 job b starts with 8 devices on n0: of those that wait it has the earliest "
        "deadline; its deadline is in 4.17 min",
        "200.000 job d starts with 8 devices on n0: " + none + "; its deadline was 2.00 min ago",
        "260.000 job e starts with 8 devices on n0: " + none,
    ]
    every = run["all"]
    assert (every["deadlines"], every["deadlines_met"]) == (3, 2)
    assert every["deadlines_of_jobs_that_ended"] == 3
    assert (every["tardiness_s"], every["tardiness_max_s"]) == (60, 180)


def test_others_stop_for_them(sim):
    rows = ["a,0,8,100,500", "b,10,8,20,40", "c,50,8,20,60"]
    run, did = sim(rows, policy=PREEMPTS)
    first = ": it is among those that get devices by the order of deadline; its deadline "
    assert did == [
        "0.000 job a starts with 8 devices on n0" + first + "is in 8.33 min",
        "10.000 job a gives up 8 devices: they are for job b, which waits for 8 devices; the "
        "other's deadline is in 30 s",
        "10.000 job b starts with 8 devices on n0" + first + "is in 30 s",
        "30.000 job a starts with 8 devices on n0" + first + "is in 7.83 min",
        "130.000 job c starts with 8 devices on n0" + first + "was 70 s ago",
    ]
    assert run["all"]["deadlines_met"] == 2 and run["preemptions"] == 1


def test_a_job_that_runs_late_gives_way(sim):
    """Nobody knows how long a takes: it goes first until 50 s, when it was to have ended."""
    rows = ["a,0,8,100,50", "b,10,8,20,80"]
    run, did = sim(rows, policy=PREEMPTS.replace("oracle", "none"))
    assert [line.split(" with ")[0] for line in did if "starts" in line] == [
        "0.000 job a starts", "50.001 job b starts", "70.001 job a starts"]
    assert run["all"]["deadlines_met"] == 1 and "the other's deadline is in 30 s" in did[1]


def test_from_the_moment_on(sim):
    """Until b cannot make it any more it holds up c; then c, which came first, goes first."""
    rows = ["a,0,4,100,", "x,0,4,30,", "c,1,4,10,", "b,2,8,50,120"]
    _, did = sim(rows)
    assert [line.split(" with ")[0] for line in did] == [
        "0.000 job a starts", "0.000 job x starts", "70.001 job c starts", "100.000 job b starts"]


def test_it_does_not_delay_the_first(sim):
    """EASY: what starts beside a job with a deadline leaves it its start."""
    rows = ["a,0,4,100,", "b,2,8,50,200", "c,3,4,10,", "d,4,4,500,700"]
    _, did = sim(rows, policy=ORDER + "backfill = easy\n")
    assert [line.split(" with ")[0] for line in did] == [
        "0.000 job a starts", "3.000 job c starts", "100.000 job b starts", "150.000 job d starts"]
    assert "it does not delay job b" in did[1]


def test_priorities_go_first(sim):
    rows = ["a,0,8,100,,0", "b,10,8,50,160,0", "c,20,8,50,9000,3"]
    _, did = sim(rows, policy=ORDER + "priorities = yes\n", head=HEAD + ",priority")
    assert [line.split()[2] for line in did] == ["a", "c", "b"]


def test_by_class(brim, tmp_path):
    path = tmp_path / "trace.csv"
    classes = ["x", "x", "y", "y", "z"]
    path.write_text(HEAD + ",class\n" + "".join(
        f"{row},{name}\n" for row, name in zip(ROWS, classes)))
    args = ["sim", path, "--nodes", "1x8", "--policy", "fifo", "--compare", "deadline"]
    said = json.loads(brim.out(*args, "--json"))["policies"]
    groups = {g["name"]: g for g in said[0]["groups"]}
    # b ends at 150, c at 200, d at 260 s
    assert (groups["x"]["deadlines"], groups["x"]["deadlines_met"]) == (1, 1)
    assert (groups["y"]["deadlines_met"], groups["y"]["tardiness_s"]) == (1, 90)
    assert "deadlines" not in groups["z"]
    text = brim.out(*args).splitlines()
    assert "fifo 3 2 66.7 60 s 3.00 min" in [" ".join(line.split()) for line in text]
    (head,) = [line for line in text if line.startswith("class") and "deadlines" in line][:1]
    assert head.endswith("device-h deadlines     met%  tardiness")
    (row,) = [line.split()[-4:] for line in text if line.startswith("y ")][:1]
    assert row == ["2", "50.0", "90", "s"]
    assert [line.split()[-3:] for line in text if line.startswith("z ")][0] == ["0", "-", "-"]
    page = tmp_path / "page.html"
    brim.out(*args, "--html", page)
    assert page.read_text().count("deadlines met") == 3 and "2 of 3" in page.read_text()


def test_without_deadlines(brim, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(HEAD + "\n" + ROWS[0] + "\n")
    args = ["sim", path, "--nodes", "1x8", "--policy", "deadline"]
    page = tmp_path / "page.html"
    assert "met%" not in brim.out(*args, "--html", page)
    assert "tardiness" not in brim.out(*args, "--json") + page.read_text()


def test_rows_that_cannot_be(sim):
    run, _ = sim([*ROWS, "f,50,1,5,50", "g,50,1,5,soon", "h,50,1,5,1e30", "i,50,1,5,-3"])
    assert (run["trace"]["jobs"], run["trace"]["bad"]) == (5, 4)
    assert run["trace"]["notes"][0] == "line 7: its deadline is no time after its submission"


def test_one_that_cannot_run_has_not_met_its_own(sim):
    run, _ = sim([*ROWS, "f,50,9,5,500"])
    assert (run["all"]["deadlines"], run["all"]["deadlines_met"]) == (4, 2)
    assert run["all"]["deadlines_of_jobs_that_ended"] == 3


def test_what_if(brim, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("\n".join([HEAD, *ROWS]) + "\n")
    text = brim.out("sim", path, "--nodes", "1x8", "--what-if", "nodes=+4")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    # with five nodes nobody waits, but d takes longer than it has
    assert "fifo 3 2 66.7 60 s 3.00 min" in lines
    assert "fifo 3 2 66.7 3.3 s 10 s" in lines
