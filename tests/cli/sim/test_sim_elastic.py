"""brim sim: elastic jobs. What is expected was computed by hand."""

import json

import pytest
from conftest import DAYS, one_line

HEAD = "job_id,submit_s,gpus,duration_s,gpus_min,gpus_max,scaling"
POLICY = "[policy]\norder = fifo\nrestart = 10s\n"
ELASTIC = "[elastic]\nevery = 60s\n"


@pytest.fixture
def sim(brim, tmp_path):
    """sim(rows, ...): the run of one policy, and what it did."""

    def run(rows, *options, policy=POLICY + ELASTIC, nodes="1x8", head=HEAD):
        trace, ini = tmp_path / "trace.csv", tmp_path / "mine.ini"
        trace.write_text("\n".join([head, *rows]) + "\n")
        ini.write_text(policy)
        args = ("sim", trace, "--nodes", nodes, "--policy", ini, *options)
        said = json.loads(brim.out(*args, "--json"))
        said["policies"][0]["trace"] = said["trace"]
        return said["policies"][0], brim.out(*args, "--actions").splitlines()

    return run


def test_it_grows_into_what_is_free(sim):
    run, did = sim(["a,0,4,1000,4,8,1"])
    assert did == [
        "0.000 job a starts with 4 devices on n0: of those that wait it was submitted first",
        "60.000 job a goes from 4 to 8 devices on n0: nobody waits for those that are free",
    ]
    # 60 s of it, a start, the other 940 s in half the time
    assert run["end_s"] == 60 + 10 + 940 / 2
    assert (run["resized"], run["resized_to_more"], run["resized_to_fewer"]) == (1, 1, 0)
    assert run["all"]["device_hours"] == pytest.approx((60 * 4 + 480 * 8) / 3600, abs=1e-3)
    assert run["resizes_device_hours"] == pytest.approx(10 * 8 / 3600, abs=1e-4)


def test_it_gives_to_one_that_waits(sim):
    run, did = sim(["a,0,8,1000,4,8,1", "b,100,4,200,,,"])
    assert did == [
        "0.000 job a starts with 8 devices on n0: of those that wait it was submitted first",
        "100.000 job a goes from 8 to 4 devices on n0: job b, which waits for 4 devices, gets "
        "what it can do without",
        "100.000 job b starts with 4 devices on n0: of those that wait it was submitted first",
        "300.000 job a goes from 4 to 8 devices on n0: nobody waits for those that are free",
    ]
    # 100 s; a start, 190 s at half its pace; a start, and what is left of 1000 s
    assert run["end_s"] == 300 + 10 + 1000 - 100 - 190 / 2
    assert run["all"]["wait_max_s"] == 0 and run["preemptions"] == 0


def test_it_starts_on_fewer(sim):
    run, did = sim(["a,0,6,1000,,,", "b,0,4,100,2,4,0.5"])
    assert did[1].startswith("0.000 job b starts with 2 of 4 devices on n0")
    assert run["all"]["completion_p50_s"] == pytest.approx((1000 + 100 * 2**0.5) / 2, abs=0.002)
    assert (run["started_on_fewer"], run["resized"]) == (1, 0)


def test_it_starts_on_fewer_where_there_are_no_more(sim):
    """It asks for more than the cluster has: that is impossible for c alone, which cannot do
    with less."""
    run, did = sim(["a,0,16,1000,4,16,1", "c,5000,16,10,,,"])
    assert did[0].startswith("0.000 job a starts with 8 of 16 devices on n0")
    assert run["end_s"] == 1000 * 16 / 8 and len(did) == 1
    assert run["impossible"] == 1


def test_the_usual_scaling(sim):
    run, _ = sim(["a,0,6,1000,,,", "b,0,4,100,2,4,"])
    assert run["all"]["completion_p50_s"] == pytest.approx((1000 + 100 * 2**0.8) / 2, abs=0.002)


def test_as_few_as_there_have_to_be(sim):
    """The one whom it costs the least gives, only what is missing, and on the node in question."""
    rows = ["a,0,4,1000,1,4,0.9", "b,0,4,1000,1,4,0.2", "c,0,8,1000,1,8,1", "d,100,2,10,,,"]
    _, did = sim(rows, nodes="2x8")
    assert did[3] == ("100.000 job b goes from 4 to 2 devices on n0: job d, which waits for "
                      "2 devices, gets what it can do without")
    assert did[4].startswith("100.000 job d starts with 2 devices on n0") and "c goes" not in did[4]


def test_those_above_what_they_asked_for_give_first(sim):
    rows = ["a,0,2,9000,2,6,1", "b,0,4,9000,1,4,0", "c,200,4,10,2,4,1"]
    run, did = sim(rows, nodes="2x4")
    # b costs it nothing to have less, but a has what it did not ask for; on two nodes it cannot be
    assert did[2] == ("60.000 job a goes from 2 to 4 devices on n0: nobody waits for those that "
                      "are free")
    assert did[3].startswith("200.000 job a goes from 4 to 2 devices on n0")
    assert did[4].startswith("200.000 job c starts with 2 of 4 devices")
    assert run["resized_to_fewer"] == 1


def test_one_at_a_time_after_a_while(sim):
    rows = ["a,0,8,1000,2,8,1", "b,100,2,10000,,,", "c,120,2,10000,,,"]
    _, did = sim(rows)
    assert [line.split(" with ")[0].split(" devices")[0] for line in did] == [
        "0.000 job a starts", "100.000 job a goes from 8 to 6", "100.000 job b starts",
        "160.000 job a goes from 6 to 4", "160.000 job c starts",
    ]


def test_at_once_for_two(sim):
    run, did = sim(["a,0,8,1000,2,8,1", "b,100,2,10000,,,", "c,100,2,10000,,,"])
    assert "a goes from 8 to 4 devices" in did[1] and run["resized"] == 1


def test_not_when_it_would_end_sooner_without(sim):
    oracle = POLICY + "length = oracle\n" + ELASTIC
    for length, resized in ((75, 0), (80, 0), (81, 1)):
        run, _ = sim([f"a,0,4,{length},4,8,1"], policy=oracle)
        # at 60 s half of what is left would be saved, and a start be paid
        assert run["resized"] == resized and run["end_s"] <= length


def test_nobody_is_preempted_before(sim):
    victims = POLICY + "priorities = yes\npreempt = victims\n" + ELASTIC
    head = HEAD + ",priority"
    rows = ["a,0,4,9000,,,,0", "b,0,4,9000,2,8,,0", "c,100,2,10,,,,1"]
    run, did = sim(rows, policy=victims, head=head)
    assert "job b goes from 4 to 2 devices" in did[2] and run["preemptions"] == 0
    # below what it asked for it gives to nobody of a lower priority
    run, _ = sim(["b,0,8,1000,2,8,,1", "c,100,2,10,,,,0"], policy=victims, head=head)
    assert run["resized"] == 0 and run["all"]["wait_max_s"] == 900


def test_one_that_is_about_to_end_does_not_give(sim):
    """A start takes it 10 s, and it has 5 s left."""
    policy = POLICY + "length = oracle\n" + ELASTIC
    _, did = sim(["a,0,8,1000,4,8,1", "b,995,4,200,,,"], policy=policy)
    assert [line.split(":")[0] for line in did[1:]] == [
        "1000.000 job b starts with 4 devices on n0",
    ]


def test_a_resize_changes_what_was_promised(sim):
    """b was to start when e ends, at 1000 s. For a, which is shorter, e gives three of its four
    devices, and ends later: what c needs before that is free at once, not when a ends."""
    policy = POLICY.replace("fifo", "sjf\nlength = oracle\nbackfill = easy") + ELASTIC
    rows = ["e,0,4,1000,1,4,1", "r,0,2,500,,,", "b,100,8,600,,,", "c,150,2,900,,,",
            "a,200,3,50,,,"]
    _, did = sim(rows, policy=policy, nodes="2x4")
    assert [line.split(":")[0] for line in did[2:5]] == [
        "200.000 job e goes from 4 to 1 device on n1",
        "200.000 job a starts with 3 devices on n1",
        "200.000 job c starts with 2 devices on n0",
    ]


HISTORY = POLICY + "length = history\n" + ELASTIC


def test_lengths_told_by_those_that_ended(sim):
    """As test_not_when_it_would_end_sooner_without(), and nobody says how long it will take."""
    for length, resized in ((75, 0), (80, 0), (81, 1)):
        rows = [f"p{i},{100 * i},1,{length},,,,u" for i in range(3)]
        run, _ = sim([*rows, f"a,300,4,{length},4,8,1,u"], policy=HISTORY, head=HEAD + ",user")
        assert run["resized"] == resized


def test_a_job_that_is_longer_than_those_before(sim):
    rows = [f"p{i},{100 * i},1,75,,,,u" for i in range(3)]
    rows += ["a,300,4,1000,4,8,1,u", "b,400,1,10,,,,v", "c,600,1,10,,,,v"]
    run, did = sim(rows, policy=HISTORY, head=HEAD + ",user")
    # at 60 s it has 15 s left as far as is known; at 100 s as much again, and so it gets what b
    # leaves; at 600 s it has done 432.5 s of its work, and may have as much left
    assert [line for line in did if "goes from" in line] == [
        "400.000 job a goes from 4 to 7 devices on n0: nobody waits for those that are free",
        "610.000 job a goes from 7 to 8 devices on n0: nobody waits for those that are free",
    ]
    assert run["end_s"] == pytest.approx(610 + 10 + (1000 - 100 - 200 * 7 / 4) / 2, abs=0.01)


def test_gangs_go_by_whole_nodes(sim):
    run, did = sim(["a,0,16,1000,8,24,1", "b,100,3,5000,,,"], nodes="2x8")
    assert "job a goes from 16 to 8 devices on n0" in did[1]
    assert run["resized"] == 1  # there is no whole node for it any more
    run, did = sim(["a,0,8,1000,8,24,1", "b,0,8,10,,,", "c,0,3,5000,,,"], nodes="4x8")
    assert "job a goes from 8 to 24 devices on n0 and 2 more" in did[3]
    run, did = sim(["a,0,4,1000,2,8,1,2", "b,100,1,5000,,,,"], nodes="2x2", head=HEAD + ",per_node")
    assert "job a goes from 4 to 2 devices on n0" in did[1]


def test_shares(sim):
    walls = "[quota]\nshare = x 4\nshare = y 4\n"
    head = HEAD + ",class"
    rows = ["a,0,4,1000,2,8,1,x", "b,100,2,10000,,,,x"]
    run, did = sim(rows, policy=POLICY + ELASTIC + walls, head=head)
    assert "job a goes from 4 to 2 devices" in did[1] and run["resized"] == 1
    # what was lent is given back; nobody gives what it asked for to another class
    lent = ["a,0,8,1000,2,8,1,x", "b,100,4,10000,,,,y", "c,200,1,10000,,,,y"]
    run, did = sim(lent, policy=POLICY + ELASTIC + walls + "borrow = yes\n", head=head)
    assert "job a goes from 8 to 4 devices" in did[1]
    assert did[2].endswith("it is within the share of class y (4)")
    assert run["preemptions"] == 0 and run["all"]["wait_max_s"] > 700


def test_nobody_grows_above_a_share(sim):
    lent = "[quota]\nshare = x 6\nshare = y 2\nborrow = yes\n"
    run, did = sim(["a,0,4,1000,2,8,1,x"], policy=POLICY + ELASTIC + lent, head=HEAD + ",class")
    assert "job a goes from 4 to 6 devices" in did[1] and run["resized"] == 1


def test_those_short_of_what_they_asked_for_grow_first(sim):
    _, did = sim(["x,0,5,100,,,", "b,0,1,9000,1,8,1", "a,0,4,9000,2,4,0.5"])
    assert did[2].startswith("0.000 job a starts with 2 of 4 devices")
    assert sorted(line.split(" on ")[0] for line in did[3:5]) == [
        "100.000 job a goes from 2 to 4 devices", "100.000 job b goes from 1 to 4 devices"]


def test_nobody_is_preempted_for_what_was_given(sim):
    rows = ["f,0,8,9000,,,,3", "e,0,8,9000,4,8,,0", "g,100,16,10,,,,2", "h,100,4,9000,,,,2",
            "i,100,8,10,,,,1"]
    victims = POLICY + "priorities = yes\npreempt = victims\n" + ELASTIC
    _, did = sim(rows, policy=victims, head=HEAD + ",priority", nodes="2x8")
    # e gives four to h; what it has left is too little for i
    assert [line.split(" devices")[0] for line in did if line.startswith("100.000")] == [
        "100.000 job e goes from 8 to 4", "100.000 job h starts with 4"]


def test_it_starts_on_fewer_when_a_node_fails(sim, tmp_path):
    (tmp_path / "down.csv").write_text("time_s,node,duration_s\n105,n1,1000\n")
    run, did = sim(["a,0,16,1000,8,16,1,10"], "--failures", tmp_path / "down.csv", nodes="2x8",
                   head=HEAD + ",checkpoint_s")
    assert "job a loses 16 devices: node n1 failed; it goes back 5.0 s" in did[2]
    assert did[3].startswith("105.000 job a starts with 8 of 16 devices on n0")
    assert did[5].startswith("1105.000 job a goes from 8 to 16 devices on n0 and 1 more")
    # 100 s are saved; a start, and 990 s at half the pace; a start, and the rest
    assert run["end_s"] == 1105 + 10 + 1000 - 100 - 990 / 2


def test_idle_stretches_pass_by_the_clock(sim):
    rows = ["a,0,8,400,4,8,1,100:90 100:0 90", "b,50,4,10000,,,,"]
    run, did = sim(rows, head=HEAD + ",activity")
    assert did[1].startswith("60.000 job a goes from 8 to 4")
    # 60 s, a start; 40 s and, behind 100 s that are idle, 200 s at half the pace
    ends = 60 + 10 + 40 * 2 + 100 + 200 * 2
    assert run["all"]["completion_p50_s"] == (ends + 10060 - 50) / 2
    busy = 0.9 * (60 * 8 + (80 + 400) * 4) + 10000 * 4
    assert run["busy_to_end"] == pytest.approx(busy / (8 * 10060), abs=1e-5)


def test_idle_ones_do_not_grow(sim):
    idle = "[idle]\nreclaim = 50s\naction = shrink\n"
    rows = ["a,0,4,4000,4,8,1,2000:0 90", "b,0,1,30,1,2,1,90"]
    _, did = sim(rows, policy=POLICY + ELASTIC + idle, head=HEAD + ",activity")
    assert [line.split()[0] for line in did if "goes from" in line] == ["2000.000"]


def test_tables_and_page(brim, tmp_path):
    trace, ini, page = tmp_path / "t.csv", tmp_path / "mine.ini", tmp_path / "page.html"
    trace.write_text(HEAD + "\na,0,4,1000,4,8,1\n")
    ini.write_text(POLICY + ELASTIC)
    said = brim.out("sim", trace, "--nodes", "1x8", "--policy", ini, "--compare", "fifo",
                    "--html", page)
    assert ("policy            resized   to more  to fewer  started on fewer  paid device-h\n"
            "mine.ini                1         1         0                 0            0.0\n\n"
            ) in said
    text = page.read_text()
    assert "<th" in text and "resized" in text
    said = brim.out("sim", trace, "--nodes", "1x8", "--policy", "fifo", "--html", page)
    assert "resized" not in said and "resized" not in page.read_text()


def test_bad_rows(sim):
    rows = ["a,0,4,10,5,8,1", "b,0,4,10,1,3,1", "c,0,4,10,x,,", "d,0,4,10,0,,", "e,0,0,10,1,,",
            "f,0,4,10,,,1.1", "g,0,4,10,,,x", "h,0,4,10,,,-1", "i,0,4,10,1,8,", "j,0,4,10,,8,0"]
    run, _ = sim(rows)
    assert (run["trace"]["jobs"], run["trace"]["bad"]) == (2, 8)
    scaling = "scaling is 0 (more devices do not help) to 1 (twice the devices, half the time)"
    assert run["trace"]["notes"] == [
        "line 2: gpus is not between gpus_min and gpus_max",
        "line 3: gpus is not between gpus_min and gpus_max",
        "line 4: gpus_min and gpus_max are numbers of devices",
        "line 5: gpus_min and gpus_max are numbers of devices",
        "line 6: gpus_min and gpus_max are for jobs with whole devices",
        *["line %d: %s" % (line, scaling) for line in (7, 8, 9)],
    ]
    rows = ["a,0,1,10,1,2,,500,", "b,0,8,10,6,8,,,4", "c,0,8,10,4,12,,,4"]
    run, _ = sim(rows, head=HEAD + ",gpu_milli,per_node")
    assert run["trace"]["notes"] == [
        "line 2: gpus_min and gpus_max are for jobs with whole devices",
        "line 3: gpus_min and gpus_max are not whole nodes of per_node",
    ]


@pytest.mark.parametrize(
    "text, why",
    [
        ("[elastic]\nevery = 0s\n", "[elastic] every is a time above 0s"),
        ("[elastic]\nevery = x\n", ":2: every = x: a time is a whole number"),
        ("[elastic]\ngive = maybe\n", ":2: give is yes or no"),
        ("[elastic]\nshrink = yes\n", ":2: unknown key 'shrink' in [elastic]"),
        ("[elastic]\nstart = no\ngive = no\ngrow = no\n", "needs start, give or grow = yes"),
        ("[policy]\nbackfill = conservative\nlength = limit\n[elastic]\n", "[elastic] is for back"),
        ("[policy]\npreempt = rebuild\n[elastic]\n", "[elastic] is for backfill = none, greedy or"),
        ("[policy]\nrestart-each-pass = yes\n[elastic]\n", "does not go with restart-each-pass"),
        ("[elastic]\n[share]\nbelow = 50%\ntogether = 90%\nafter = 1m\n", "not go with [share]"),
    ],
)
def test_bad_sections(brim, tmp_path, text, why):
    (tmp_path / "t.csv").write_text(HEAD + "\na,0,4,1000,4,8,1\n")
    (tmp_path / "mine.ini").write_text(text)
    one_line(brim("sim", tmp_path / "t.csv", "--policy", tmp_path / "mine.ini"), 1, why)


def test_not_with_speeds_by_kind(brim, tmp_path):
    (tmp_path / "t.csv").write_text(HEAD + ",kinds\na,0,4,1000,4,8,1,A:1|B:0.5\n")
    (tmp_path / "mine.ini").write_text(POLICY + ELASTIC)
    args = ("sim", tmp_path / "t.csv", "--nodes", "1x8:A,1x8:B", "--policy")
    one_line(brim(*args, tmp_path / "mine.ini"), 1,
             "job a is elastic and has speeds by kinds: [elastic] does not go with both")
    brim.out(*args, "fifo")


def rigid_and_elastic(brim, source, tmp_path, nodes):
    """What brim sim says of a trace of which each third gang is elastic: without that, with it, and
    with it by lengths from history."""
    head, *rows = source.read_text().split()
    lines, n = [head + ",gpus_min,gpus_max"], 0
    for row in rows:
        gpus = int(row.split(",")[2])
        n += gpus > 1
        lines.append(row + (f",{gpus // 2},{gpus * 2}" if gpus > 1 and n % 3 == 0 else ",,"))
    (tmp_path / "elastic.csv").write_text("\n".join(lines))
    base = "[policy]\norder = fifo\nbackfill = greedy\nrestart = 40s\nrestart-multi = 60s\n"
    (tmp_path / "greedy.ini").write_text(base)
    (tmp_path / "elastic.ini").write_text(base + "[elastic]\n")
    base = base.replace("order = fifo\nbackfill = greedy",
                        "order = srtf\npreempt = victims\nlength = history")
    (tmp_path / "history.ini").write_text(base + "[elastic]\n")
    said = json.loads(brim.out("sim", tmp_path / "elastic.csv", "--nodes", nodes, "--json",
                               "--policy", tmp_path / "greedy.ini", "--compare",
                               f"{tmp_path}/elastic.ini,{tmp_path}/history.ini"))["policies"]
    return said, [tuple(round(run["all"][key]) for key in ("completion_s", "wait_s"))
                  for run in said]


def test_made_up_days(brim, tmp_path):
    (_, elastic, history), means = rigid_and_elastic(brim, DAYS, tmp_path, "8x8")
    assert means == [(8051, 2770), (7329, 1826), (6602, 1213)]
    assert (elastic["resized"], elastic["started_on_fewer"]) == (69, 65)
    assert elastic["resizes_device_hours"] == pytest.approx(6.7556, abs=1e-3)
    assert (history["resized"], history["started_on_fewer"]) == (179, 156)


def test_a_week_of_philly(brim, others, tmp_path):
    """The figures of docs/sim/elastic.md."""
    (_, elastic, history), means = rigid_and_elastic(brim, others("philly_week"), tmp_path, "64x8")
    assert means == [(12545, 4716), (9144, 1377), (7818, 146)]
    assert (elastic["resized"], elastic["started_on_fewer"]) == (410, 43)
    assert elastic["resizes_device_hours"] == pytest.approx(47.7444, abs=1e-3)
    assert (history["resized"], history["started_on_fewer"]) == (758, 490)
