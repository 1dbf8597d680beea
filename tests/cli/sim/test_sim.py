"""brim sim: traces of every kind, policies, what it prints, what it refuses."""

import json

import pytest
from conftest import one_line

HEAD = "job_id,submit_s,gpus,duration_s\n"
SMALL = HEAD + "a,0,4,100\nb,10,8,50\nc,20,1,20\nd,30,1,200\n"
SACCT = (
    "JobIDRaw|User|Account|Partition|Submit|ElapsedRaw|TimelimitRaw|AllocTRES|NNodes\n"
    "1|ann|vision|gpu|2024-03-01T10:00:00|60|30|billing=8,cpu=64,gres/gpu=8,node=2|2\n"
    "1.batch|||gpu|2024-03-01T10:00:00|60||cpu=64,gres/gpu=8|2\n"
    "2|bob|text|gpu|2024-03-01T10:00:30|10|UNLIMITED|cpu=4,gres/gpu=1,gres/gpu:a100=1|1\n"
    "3|bob|text|cpu|2024-03-01T10:00:30|10|5|cpu=4|1\n"
)
SWF = (
    "; Version: 2.2\n"
    "1 0 -1 100 4 -1 -1 4 200 -1 1 7 2 -1 1 -1 -1 -1\n"
    "2 10 -1 50 8 -1 -1 -1 60 -1 1 8 2 -1 1 -1 -1 -1\n"
    "3 12 -1 -1 8 -1 -1 -1 60 -1 0 8 2 -1 1 -1 -1 -1\n"
)
PHILLY = (
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-10-09 07:02:55,66.0,1,66.0,aaa\n"
    "2017-10-09 07:01:55,30.0,2,60.0,bbb\n"
)


@pytest.fixture
def trace(tmp_path):
    def write(text, name="trace.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def simulate(brim, path, *options):
    return json.loads(brim.out("sim", path, "--json", "--nodes", "1x8", *options))


def test_small(brim, trace):
    path = trace(SMALL)
    said = simulate(brim, path, "--compare", "greedy,easy,sjf")
    waits = {run["policy"]: run["all"]["wait_s"] for run in said["policies"]}
    # b waits for a; c and d wait behind b; greedy lets both go first, then b waits for d
    assert waits == {"fifo": (90 + 130 + 120) / 4, "greedy": 220 / 4, "easy": (90 + 120) / 4,
                     "sjf": (90 + 120) / 4}
    assert said["schema"] == "brim.sim.v1" and said["devices"] == 8
    text = brim.out("sim", path, "--nodes", "1x8")
    assert "4 jobs on 1 node with 8 devices" in text and "fifo, by devices" in text


def test_it_repeats_itself(brim, trace):
    rows = "".join(f"{i},{i * 7 % 100},{1 + i % 8},{1 + i * 37 % 90}\n" for i in range(200))
    path = trace(HEAD + rows)
    first = brim.out("sim", path, "--nodes", "2x8", "--policy", "tiresias", "--compare", "easy")
    assert first == brim.out("sim", path, "--nodes", "2x8", "--policy", "tiresias",
                             "--compare", "easy")


def test_every_action_has_its_reason(brim, trace):
    said = brim.out("sim", trace(SMALL), "--nodes", "1x8", "--policy", "easy", "--actions")
    assert said.splitlines() == [
        "0.000 job a starts with 4 devices on n0: of those that wait it was submitted first",
        "20.000 job c starts with 1 device on n0: it does not delay job b, which waits for "
        "8 devices for 80 s: it ends before that",
        "100.000 job b starts with 8 devices on n0: of those that wait it was submitted first",
        "150.000 job d starts with 1 device on n0: of those that wait it was submitted first",
    ]


@pytest.mark.parametrize(
    "text, kind, jobs, skipped, classes",
    [
        (SACCT, "sacct", 2, 2, ["gpu"]),
        (SWF, "swf", 2, 1, ["1"]),
        (PHILLY, "philly", 2, 0, ["aaa", "bbb"]),
    ],
)
def test_kinds_of_traces(brim, trace, text, kind, jobs, skipped, classes):
    said = json.loads(brim.out("sim", trace(text), "--json", "--nodes", "2x8"))
    assert said["trace"]["kind"] == kind
    assert (said["trace"]["jobs"], said["trace"]["skipped"]) == (jobs, skipped)
    run = said["policies"][0]
    if len(classes) > 1:
        assert sorted(g["name"] for g in run["groups"]) == classes
    assert run["all"]["jobs"] == jobs


def test_nodes_of_openb(brim, trace):
    nodes = trace("sn,cpu_milli,memory_mib,gpu,model\na,8000,1000,2,T4\nb,8000,1000,1,V100\n"
                  "c,8000,1000,0,\n", "nodes.csv")
    pods = trace(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
        "deletion_time,scheduled_time\n"
        "p0,4000,10,1,500,,LS,Running,0,100,0\n"
        "p1,4000,10,1,500,,LS,Running,0,100,0\n"
        "p2,1000,10,1,1000,V100,BE,Running,0,100,0\n"
        "p3,1000,10,1,1000,H9,BE,Running,0,100,0\n"
    )
    said = json.loads(brim.out("sim", pods, "--json", "--nodes", nodes, "--policy", "greedy"))
    assert (said["nodes"], said["devices"]) == (2, 3)
    assert said["trace"]["notes"] == ["line 5: no node has devices of the kind H9"]
    assert said["policies"][0]["all"]["wait_max_s"] == 0


def test_bad_rows_are_counted(brim, trace):
    bad = "e,5,1,-3\nf,5,1,1e12\ng,5,x,3\nh,,1,3\ni,5,1\nj,5,1,nan\nk,5,-1,3\n"
    said = simulate(brim, trace(SMALL + bad + "z,3,1,5\nbig,4,9,5\n"))
    assert (said["trace"]["jobs"], said["trace"]["bad"]) == (6, 7)
    assert said["trace"]["notes"][0] == "line 6: it takes less than no time"
    assert said["policies"][0]["impossible"] == 1
    assert said["policies"][0]["all"]["jobs"] == 5


# Two jobs on one device, the longer one first.
LONG_FIRST = "job_id,submit_s,gpus,duration_s\na,0,1,1000\nb,0,1,10\n"


@pytest.mark.parametrize("policies, sentence", [
    ("greedy,sjf", "greedy is best of those that need no true lengths: a job takes 16.8 min from "
                   "submission to end; with true lengths, which nobody has, sjf: 8.50 min from "
                   "submission to end in the mean"),
    ("fifo,greedy", "fifo is best: a job takes 16.8 min from submission to end in the mean"),
    ("sjf,srsf", "sjf is best, with true lengths, as all of these: a job takes 8.50 min from "
                 "submission to end in the mean"),
])
def test_the_best_comes_first(brim, trace, policies, sentence):
    first, second = policies.split(",")
    said = brim.out("sim", trace(LONG_FIRST), "--nodes", "1x1", "--policy", first, "--compare",
                    second)
    assert said.splitlines()[1] == sentence


ROWS = ["a,1700000000,2,100", "b,1700000050,8,100"]


@pytest.mark.parametrize("text", [
    "job_id,submit_s,gpus,duration_s\n" + "\n".join(ROWS) + "\n",
    "job_id, submit_s , gpus,\tduration_s\n" + "\n".join(
        " , ".join(row.split(",")) + " " for row in ROWS) + "\n   \n",
])
def test_times_since_1970_and_blanks(brim, trace, text):
    said = brim.out("sim", trace(text), "--nodes", "1x8", "--actions")
    assert [line.split(" starts")[0] for line in said.splitlines()] == [
        "0.000 job a", "100.000 job b"]


@pytest.mark.parametrize("column, value", [("gpu_milli", "500"), ("mig", "3g")])
def test_jobs_of_one_device_need_not_say_so(brim, trace, column, value):
    said = brim.out("sim", trace(f"job_id,submit_s,duration_s,{column}\na,0,10,{value}\n"),
                    "--nodes", "1x8:A100-40GB", "--json")
    assert json.loads(said)["policies"][0]["all"]["jobs"] == 1


def test_no_column_of_devices(brim, trace):
    done = brim("sim", trace("job_id,submit_s,duration_s\na,0,10\n"), "--nodes", "1x8")
    assert done.returncode == 1 and "add gpus" in done.stderr


def test_dates_that_are_none(brim, trace):
    head = "timestamp,duration,num_gpus,gpu_time,cluster\n"
    days = ["2017-02-29", "2017-04-31", "2017-13-01", "2017-00-10", "2017-01-00", "1969-12-31",
            "1900-01-01", "2017-1-1", "0000-00-00"]
    good = ["2016-02-29", "2017-12-31", "2000-02-29", "2017-04-30"]
    rows = "".join(f"{day} 00:00:00,5,1,5,a\n" for day in days + good)
    said = simulate(brim, trace(head + rows))
    assert (said["trace"]["jobs"], said["trace"]["bad"]) == (len(good), len(days))


def test_all_at_once(brim, trace):
    """There is no time up to the last submission: no share of it either."""
    path = trace(HEAD + "a,0,1,5\n")
    run = simulate(brim, path)["policies"][0]
    assert run["allocated"] is None
    text = brim.out("sim", path, "--nodes", "1x8")
    assert "nan" not in text and "1 job on 1 node with 8 devices" in text
    (line,) = [words for words in map(str.split, text.splitlines()) if words[:2] == ["fifo", "1"]]
    assert line[-2:] == ["?", "0"]


def test_own_policy(brim, tmp_path, trace):
    policy = tmp_path / "mine.ini"
    policy.write_text("[policy]\nname = mine\norder = smallest\nbackfill = greedy\n")
    said = simulate(brim, trace(SMALL), "--policy", policy)
    assert said["policies"][0]["policy"] == "mine"


def test_steps_are_seen_first(brim, tmp_path):
    """Who was not seen goes first for a minute behind its start; then the least left does."""
    path = tmp_path / "two.csv"
    path.write_text("job_id,submit_s,gpus,duration_s\na,0,1,1000\nb,100,1,5000\n")
    starts = {}
    for name in ("srsf", "srsf-steps"):
        lines = brim.out("sim", path, "--nodes", "1x1", "--policy", name, "--actions").splitlines()
        starts[name] = [(float(line.split()[0]), line.split()[2]) for line in lines
                        if " starts " in line]
    assert starts["srsf"] == [(0, "a"), (1020, "b")]
    assert starts["srsf-steps"] == [(0, "a"), (120, "b"), (240, "a"), (1200, "b")]


@pytest.mark.parametrize(
    "text, why",
    [
        ("[policy]\norder = best\n", ":2: order is one of fifo, sjf, "),
        ("[policy]\norder = srtf\npreempt = quota\n",
         "needs length = limit, steps, oracle or history"),
        ("[policy]\nqueues = 2h 1h\n", "each limit is above the one before"),
        ("[policy]\nevery = soon\n", "a time is a whole number"),
        ("[policy]\ncolour = red\n", "unknown key 'colour'"),
        ("[other]\na = b\n", "unknown section [other]"),
        ("[policy]\norder = las\npreempt = quota\n", "needs queues"),
        ("[policy]\npreempt = quota\nbackfill = easy\n", "for policies that do not preempt"),
    ],
)
def test_bad_policies(brim, tmp_path, trace, text, why):
    policy = tmp_path / "mine.ini"
    policy.write_text(text)
    done = brim("sim", trace(SMALL), "--policy", policy)
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1


def test_what_it_refuses(brim, trace, tmp_path):
    assert brim("sim").returncode == 2
    for options, status, why in [
        (["--policy", "fito"], 2, "did you mean fifo"),
        (["--compare", "fifo,fito"], 2, "--compare fito: no such policy"),
        (["--policy", tmp_path / "none.ini"], 1, "cannot read"),
        (["--nodes", "64"], 2, "64x8"),
        (["--nodes", "0x8"], 2, "1 to"),
        (["--nodes", "8x99"], 2, "1 to 16 devices"),
        (["--nodes", tmp_path / "none.csv"], 1, "cannot read"),
    ]:
        one_line(brim("sim", trace(SMALL), *options), status, why)
    for text, why in [
        ("", "is no trace"),
        ("hello\n", "is no trace"),
        (HEAD, "no job in it can be used"),
        (HEAD + "a,0,1,-1\n", "line 2: it takes less than no time"),
        ("JobID|User\n1|a\n", "sacct must print"),
    ]:
        done = brim("sim", trace(text))
        assert done.returncode == 1 and why in done.stderr, text
    packed = tmp_path / "trace.csv.gz"
    packed.write_bytes(b"\x1f\x8b\x08\0")
    assert f"zcat {packed} | brim sim -" in brim("sim", packed).stderr
    assert "easy" in brim.out("sim", "--policies")


def test_pack(brim, trace):
    pods = trace("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
                 + "".join(f"w{i},1000,1,8,1000\n" for i in range(4))
                 + "".join(f"s{i},1000,1,1,500\n" for i in range(8)))
    said = json.loads(brim.out("sim", pods, "--nodes", "4x8", "--pack", "--json", "--load", "100",
                               "--policy", "fgd", "--compare", "greedy"))
    for run in said["policies"]:
        # shares of half a device may take a node that eight whole ones wanted
        assert 0.6 < run["allocated_at_load"] <= 1 and run["jobs"] > 0
    again = brim.out("sim", pods, "--nodes", "4x8", "--pack", "--policy", "fgd")
    assert again == brim.out("sim", pods, "--nodes", "4x8", "--pack", "--policy", "fgd")
    assert "turned away%" in again
    assert "--rounds must be from 1 to 10000" in brim("sim", pods, "--pack", "--rounds", "0").stderr
    cpus = trace("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,0,0\n", "cpus.csv")
    assert "no job asks for a device" in brim("sim", cpus, "--pack").stderr


def starts(brim, path, *options):
    """Which job starts when, in order."""
    said = brim.out("sim", path, "--nodes", "1x8", "--actions", *options)
    rows = [line.split() for line in said.splitlines()]
    return [(row[2], float(row[0])) for row in rows if row[3] == "starts"]


def test_fair_share(brim, trace):
    """Ann has had the node for 100 s: then Bob goes first, whoever came first."""
    path = trace("job_id,submit_s,gpus,duration_s,user\n"
                 "a1,0,8,100,ann\na2,1,8,10,ann\na3,2,8,10,ann\nb1,3,8,10,bob\n")
    order = [job for job, _ in starts(brim, path, "--policy", "fair")]
    assert order == ["a1", "b1", "a2", "a3"]
    assert [job for job, _ in starts(brim, path, "--policy", "greedy")] == ["a1", "a2", "a3", "b1"]


def test_classes_of_priority(brim, tmp_path, trace):
    path = trace("job_id,submit_s,gpus,duration_s,priority\n"
                 "low,0,8,100,0\nlow2,1,4,10,0\nhigh,2,8,10,5\n")
    policy = tmp_path / "classes.ini"
    policy.write_text("[policy]\norder = fifo\npriorities = yes\n")
    assert starts(brim, path, "--policy", policy) == [("low", 0), ("high", 100), ("low2", 110)]
    policy.write_text("[policy]\norder = fifo\npriorities = yes\npreempt = victims\nrestart = 5s\n")
    assert starts(brim, path, "--policy", policy) == [
        ("low", 0), ("high", 2), ("low", 12), ("low2", 115)  # 98 s were left, and 5 s to restart
    ]
    said = brim.out("sim", path, "--nodes", "1x8", "--actions", "--policy", policy)
    assert "2.000 job low gives up 8 devices: they are for job high, which waits for 8" in said


def test_failures_of_a_list(brim, trace):
    """A job goes back to its last checkpoint, waits, and starts on a node that is there."""
    path = trace("job_id,submit_s,gpus,duration_s,checkpoint_s\na,0,4,100,30\nb,0,4,100,\n")
    failures = trace("time_s,node,duration_s\n70,n0,50\n80,n1,1000\n", "failures.csv")
    options = ["sim", path, "--nodes", "2x4", "--failures", failures]
    assert brim.out(*options, "--actions").splitlines() == [
        "0.000 job a starts with 4 devices on n0: of those that wait it was submitted first",
        "0.000 job b starts with 4 devices on n1: of those that wait it was submitted first",
        "70.000 node n0 fails, and is out for 50 s",
        "70.000 job a loses 4 devices: node n0 failed; it goes back 10 s, to its last checkpoint, "
        "and waits",
        "80.000 node n1 fails, and is out for 16.7 min",
        "80.000 job b loses 4 devices: node n1 failed; it goes back 80 s, to its start, and waits",
        "120.000 node n0 is back",
        "120.000 job a starts with 4 devices on n0: of those that wait it was submitted first",
        "160.000 job b starts with 4 devices on n0: of those that wait it was submitted first",
    ]
    run = json.loads(brim.out(*options, "--json"))["policies"][0]
    assert run["failures"] == {
        "nodes": 2, "jobs_thrown_back": 2, "jobs_that_never_end": 0,
        "done_again_device_hours": 0.1, "restarts_device_hours": 0, "saving_device_hours": 0,
        "out_device_hours": round(4 * (50 + 180) / 3600, 4),
    }
    # a spare stands in at once: a goes on there, and n0 is a spare when it is back
    said = brim.out("sim", path, "--nodes", "3x4", "--failures", failures, "--spares", "1",
                    "--actions")
    assert "70.000 node n2, a spare, stands in for n0\n70.000 job a starts with 4" in said
    assert "n0 is back" not in said and said.count("stands in") == 1


def test_checkpoints_cost(brim, trace):
    path = trace(SMALL)
    said = simulate(brim, path, "--checkpoint", "40s", "--checkpoint-cost", "5s")
    run = said["policies"][0]
    # a pays for two of them, b for one, d for four
    assert run["end_s"] == 110 + 55 + 220
    assert run["failures"]["saving_device_hours"] == round((4 * 10 + 8 * 5 + 20) / 3600, 4)


def test_failures_by_rate(brim, trace):
    rows = "".join(f"{i},{i * 600},{1 + i % 8},{3600 + i * 37 % 900}\n" for i in range(300))
    path = trace(HEAD + rows)
    options = ["--nodes", "16x8", "--policy", "easy", "--compare", "las"]
    assert "the rate of RSC-1: 6.5 failures of 1,000 nodes" in brim.out(
        "sim", path, *options, "--failures", "rsc1")
    first = brim.out("sim", path, *options, "--failures", "100/device")
    assert first == brim.out("sim", path, *options, "--failures", "100/device")
    assert first != brim.out("sim", path, *options, "--failures", "100/device", "--seed", "7")
    runs = json.loads(brim.out("sim", path, *options, "--failures", "200", "--json"))["policies"]
    # the same failures for each policy, but for those after its own end
    assert abs(runs[0]["failures"]["nodes"] - runs[1]["failures"]["nodes"]) <= 2
    assert 3 <= runs[0]["failures"]["nodes"] <= 20  # 16 nodes, two days and a bit
    for failures, status, why in [
        ("RSC-9", 2, "unknown failure rate 'RSC-9'"),
        ("-3", 2, "a device fails 0 to 24 times in a day"),
        ("1e9", 2, "a device fails 0 to 24 times in a day"),
        ("none.csv", 1, "none.csv"),
    ]:
        one_line(brim("sim", path, "--failures=" + failures), status, why)
    for spares in ("2", "3"):
        done = brim("sim", path, "--nodes", "2x8", "--spares", spares)
        one_line(done, 2, f"--spares {spares}: of 2 nodes one at least has to work")
    done = brim("sim", path, "--failures", "RSC-1", "--policy", "rebuild-srtf")
    assert done.returncode == 1 and "starts all jobs anew" in done.stderr


def test_what_is_empty_is_wrong_usage(brim, trace):
    for words in (("sim", ""), ("cost", ""), ("plan", "eval", "")):
        one_line(brim(*words), 2, "a file's name is empty")
    one_line(brim("profile", "show", ""), 2, "a profile's name is empty")
    path = trace("job_id,submit_s,gpus,duration_s\na,0,8,3600\n")
    done = brim("sim", path, "--nodes", "0x4")
    one_line(done, 2, "1 to 1048576 nodes with 1 to 16 devices each")
    assert done.stderr.count("0x4") == 1
    one_line(brim("sim", path, "--nodes", "4x8,0x4"), 2, "0x4: 1 to 1048576 nodes")


def test_figures(brim, trace):
    """Ann waits three times as long as Bob; what devices cost while jobs have them, and idle."""
    path = trace("job_id,submit_s,gpus,duration_s,user,team\n"
                 "a,0,8,3600,ann,x\nb,0,8,3600,bob,x\nc,0,8,3600,ann,y\nd,21600,1,60,bob,y\n")
    said = simulate(brim, path, "--price", "2", "--power", "500:50")
    run = said["policies"][0]
    users = {g["name"]: g for g in run["users"]}
    assert (users["ann"]["slowdown"], users["bob"]["slowdown"]) == (2, 1.5)  # 1 and 3; 2 and 1
    assert users["ann"]["device_hours"] == 16 and users["ann"]["wait_s"] == 3600
    assert [g["name"] for g in run["teams"]] == ["x", "y"]
    assert run["fairness"] == round(3.5**2 / (2 * (2**2 + 1.5**2)), 6)
    assert run["fairness_of"] == "users"
    # six hours up to the last submission, of which three are idle
    assert (run["cost_usd"], run["cost_idle_usd"]) == (6 * 8 * 2, 3 * 8 * 2)
    assert run["energy_kwh"] == 8 * (3 * 0.5 + 3 * 0.05)
    assert "by team" in brim.out("sim", path, "--nodes", "1x8", "--by", "team")
    assert "names no user" in brim.out("sim", trace(SMALL), "--nodes", "1x8", "--by", "user")


def test_what_devices_cost(brim, trace):
    path = trace("job_id,submit_s,gpus,duration_s,kinds\na,0,8,3600,A100-40GB\nb,3600,4,60,T9\n")
    said = brim.out("sim", path, "--nodes", "1x8:A100-40GB,1x4:T9")
    assert "40GB: 1.99 dollars an hour (lambda, 2026-09-20); 400 W busy (its TDP)" in said
    assert "T9: no price known (--price); no power known (--power)" in said
    run = json.loads(brim.out("sim", path, "--json", "--nodes", "1x8:A100-40GB,1x4:T9", "--price",
                              "T9=0.5", "--power", "100"))["policies"][0]
    assert run["cost_usd"] == 8 * 1.99 + 4 * 0.5 and run["cost_idle_usd"] == 4 * 0.5
    assert run["energy_kwh"] == round(0.8 + 4 * 0, 3)
    assert simulate(brim, trace(SMALL))["policies"][0]["cost_usd"] is None
    for option, why in [("--price=x", "dollars an hour"), ("--power=1:2:3", "watts of a device"),
                        ("--gpu=H10", "unknown GPU 'H10'")]:
        one_line(brim("sim", path, option), 2, why)


def test_fragments(brim, trace):
    """One device of each node is taken: all that are free lie on nodes partly in use."""
    path = trace(HEAD + "a,0,1,1000\nb,0,1,1000\nc,1000,1,1\n")
    policy = trace("[policy]\norder = fifo\nplace = scatter\n", "p.ini")
    said = json.loads(brim.out("sim", path, "--json", "--nodes", "2x4", "--policy", policy))
    assert said["policies"][0]["fragmented"] == round(2 / 6, 6)
    said = json.loads(brim.out("sim", path, "--json", "--nodes", "1x4", "--policy", policy))
    assert said["policies"][0]["fragmented"] == 1


def test_page_answers(brim, tmp_path, trace):
    """What other nodes change, and what a target takes, are sentences with their prices."""
    path = trace(HEAD + "a,0,8,7200\nb,0,8,3600\n")
    page = tmp_path / "page.html"
    said = brim.out("sim", path, "--nodes", "1x8:A100-40GB", "--policy", "fifo", "--what-if",
                    "nodes=+1", "--target", "max-wait=1h", "--price", "2", "--html", page)
    change = "fifo: a job takes 90.0 min from submission to end instead of 2.50 h (40 % less)"
    assert change in said and change in page.read_text()
    assert "With nodes=+1 there are 2 nodes with 16 devices:" in page.read_text()
    assert "max-wait under fifo is 2.00 h today, and is to be at most 60.0 min:" in page.read_text()
    assert ("1 more node with 8 devices of kind A100-40GB: it is 0 s, for 16.00 dollars an hour"
            in page.read_text())
    assert brim.out("sim", path, "--nodes", "2x8", "--what-if", "-1").count(
        "fifo: a job takes 2.50 h from submission to end instead of 90.0 min (67 % more); nobody "
        "knows what the nodes cost") == 1


def test_page(brim, tmp_path, trace):
    """One file, three pictures of each policy, figures of each team; texts stay text."""
    path = trace("job_id,submit_s,gpus,duration_s,team\na,0,8,7200,<b>x</b>\nb,0,8,3600,y\n"
                 "c,9000,1,60,y\n")
    page = tmp_path / "page.html"
    brim.out("sim", path, "--nodes", "1x8:A100-40GB", "--compare", "sjf", "--html", page)
    text = page.read_text()
    assert text.count("<svg") == 6 and "<script" not in text and "<b>x" not in text
    assert "&lt;b&gt;x&lt;/b&gt; (5 in the mean)" in text  # 7200 of 10800 s with 8 devices, and 1
    assert "fifo is best of those that need no true lengths: a job takes 110 min" in text
    assert text.count('<th scope="row">sjf (true lengths)</th>') == 2  # picture and table
    assert text.count('<th scope="row">y</th>') == 2
    # the same with it and without
    options = ["sim", path, "--nodes", "1x8"]
    assert brim.out(*options, "--html", page) == brim.out(*options)
    done = brim("sim", path, "--html", tmp_path / "none" / "x.html")
    assert done.returncode == 1 and "none/x.html" in done.stderr


def test_other_nodes(brim, trace):
    path = trace(HEAD + "a,0,8,100\nb,0,8,100\nc,0,4,100\nd,0,4,100\n")
    nodes = ["--nodes", "1x8:A100-40GB,1x4:H100"]
    said = json.loads(brim.out("sim", path, "--json", *nodes, "--what-if", "nodes=+1"))
    assert said["policies"][0]["all"]["wait_s"] == (100 + 100 + 200) / 4
    assert (said["then"]["nodes"], said["then"]["devices"]) == (3, 20)
    assert said["then"]["policies"][0]["all"]["wait_s"] == 25
    for change, devices in [("+2x4:H100", 20), ("+1:H100,-1:A100-40GB", 8), ("+1x2:T4", 14),
                            ("nodes=-1", 8)]:
        said = json.loads(brim.out("sim", path, "--json", *nodes, "--what-if", change))
        assert said["then"]["devices"] == devices, change
    for change in ("16", "+0", "+x8", "+1x99", "-2", "+1:T4", ""):
        one_line(brim("sim", path, *nodes, "--what-if", change), 2, "--what-if")


def test_the_fewest_nodes(brim, tmp_path, trace):
    """As many as trying each number finds; and none where none is enough."""
    rows = "".join(f"{i},{i * 13 % 997},{1 + i % 8},{1 + i * 37 % 400}\n" for i in range(200))
    path = trace(HEAD + rows)
    options = ["sim", path, "--json", "--nodes", "2x8:H100", "--policy", "easy"]
    said = json.loads(brim.out(*options, "--target", "mean-wait=1m", "--with", "8:H100,4:A100"))
    need = said["target"]["add"][0]
    assert need["met"] and need["one_more_meets_it"] and need["simulations"] > 3
    assert said["target"]["today_s"] == said["policies"][0]["all"]["wait_s"] > 60
    for less, meets in [(0, True), (1, False)]:
        what = f"+{need['nodes'] - less}x8:H100"
        then = json.loads(brim.out(*options, "--what-if", what))["then"]
        assert (then["policies"][0]["all"]["wait_s"] <= 60) == meets
    assert need["usd_per_hour"] == pytest.approx(need["nodes"] * 8 * 3.99)
    # jobs with five to eight devices do not fit on those, but on what is there
    assert said["target"]["add"][1]["met"] is False
    text = brim.out("sim", path, "--nodes", "2x8", "--target", "completion=10s")
    assert "8 devices        no number: with " in text
    assert "today it is" in text
    done = brim("sim", path, "--target", "p90-wait=soon")
    one_line(done, 2, "a time is 90s")
    assert "written as 8 or 8:H100" in brim("sim", path, "--target", "p90-wait=1h", "--with",
                                            "x").stderr


def test_topology(brim, trace):
    """b has to be on two of four leaves; a takes one whole, where greedy begins at the first."""
    rows = "".join(f"h{i},0,8,1000,{i}\n" for i in (0, 3))
    path = trace(HEAD.replace("duration_s", "duration_s,priority") + rows
                 + "a,1,32,100,0\nb,2,48,100,0\n")
    said = json.loads(brim.out("sim", path, "--json", "--nodes", "16x8/4/2", "--policy", "topology",
                               "--compare", "greedy"))
    fewest, first = said["policies"]
    assert (fewest["gang_starts"], first["gang_starts"]) == (2, 2)
    assert (fewest["gang_leaves"], first["gang_leaves"]) == (3, 4)
    assert (fewest["gang_starts_on_several_leaves"],
            first["gang_starts_on_several_leaves"]) == (1, 2)
    wired = ["--nodes", "16x8/4", "--policy", "topology"]
    assert "on several leaves%" in brim.out("sim", path, *wired)
    assert "on several leaves%" not in brim.out("sim", path, "--nodes", "16x8")


def test_wiring_of_a_table(brim, trace):
    rows = "".join(f"n{i},96000,1000,8,A100,{i % 4 + 1}\n" for i in range(8))
    nodes = trace("sn,cpu_milli,memory_mib,gpu,model,leaf\n" + rows, "nodes.csv")
    path = trace(HEAD + "a,0,16,10\n")
    said = json.loads(brim.out("sim", path, "--json", "--nodes", nodes, "--policy", "topology",
                               "--compare", "greedy"))
    assert [run["gang_leaves"] for run in said["policies"]] == [1, 2]
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model,leaf\nn0,1,1,8,A100,left\n")
    done = brim("sim", path, "--nodes", nodes)
    assert done.returncode == 1 and ":2: domain, rack, leaf and spine are numbers" in done.stderr


KINDS = "job_id,submit_s,gpus,duration_s,kinds,priority\n"


def test_speeds_by_kind(brim, tmp_path, trace):
    """The fastest kind that is free; what is left of a job that moves takes longer there."""
    path = trace(KINDS + "a,0,8,100,A100:1|T4:0.25,0\nb,0,8,100,A100:1|T4:0.25,0\n"
                 "c,1,8,10,T4:2|A100,0\n")
    nodes = ["--nodes", "1x8:T4,1x8:A100"]
    said = brim.out("sim", path, *nodes, "--actions", "--policy", "fifo").splitlines()
    assert [line.split()[:3] + line.split()[7:9] for line in said] == [
        ["0.000", "job", "a", "on", "n1:"], ["0.000", "job", "b", "on", "n0:"],
        ["100.000", "job", "c", "on", "n1:"]]
    run = json.loads(brim.out("sim", path, *nodes, "--json", "--policy", "easy"))["policies"][0]
    assert run["end_s"] == 400 and run["all"]["completion_s"] == (100 + 400 + 109) / 3
    policy = tmp_path / "classes.ini"
    policy.write_text("[policy]\npriorities = yes\npreempt = victims\n")
    moves = trace(KINDS + "low,0,8,100,A100:1|T4:0.25,0\nhigh,50,8,300,A100,5\n", "moves.csv")
    said = json.loads(brim.out("sim", moves, *nodes, "--json", "--policy", policy, "--by", "class"))
    assert said["policies"][0]["preemptions"] == 1
    assert said["policies"][0]["all"]["completion_s"] == (50 + 200 + 300) / 2
    policy.write_text("[policy]\nkinds = placed\n")
    said = brim.out("sim", path, *nodes, "--actions", "--policy", policy).splitlines()
    assert said[0].split()[8] == "n0:"  # the first of those that are as full


def test_rows_that_cannot_be(brim, trace):
    """Each by its line and counted, whatever is wrong; the rest runs, in the order of time."""
    rows = ["late,100,1,5,", "early,0,1,5,A100", "neg,1,1,-5,", "long,1,1,1e30,", "old,1,1,4e8,",
            "none,1,1,5,H9", "slow,1,1,5,A100:0", "fast,1,1,5,A100:x", "some,1,1,5,H9:2|A100:1",
            "huge,1,99999999,5,", "big,1,999,5,", "text,1,two,5,", "short,1"]
    path = trace(KINDS.replace(",priority", "") + "\n".join(rows) + "\n")
    said = json.loads(brim.out("sim", path, "--json", "--nodes", "2x8:A100"))
    assert (said["trace"]["jobs"], said["trace"]["bad"]) == (4, 9)
    assert [note.split(":")[0] for note in said["trace"]["notes"]] == [
        f"line {n}" for n in (4, 5, 6, 7, 8, 9, 11, 13)]
    assert "kinds are names, or names:speeds" in said["trace"]["notes"][4]
    assert said["policies"][0]["impossible"] == 1 and said["policies"][0]["all"]["jobs"] == 3
    text = brim.out("sim", path, "--nodes", "2x8:A100")
    assert "9 rows left out" in text and "and 1 more" in text
    assert "1 job needs more than there is and was left out: big" in text
    path = trace(KINDS.replace(",priority", "") + "small,1,1,5,\n")
    assert "left out" not in brim.out("sim", path, "--nodes", "2x8:A100")


def test_windows(brim, trace):
    """Nothing starts on a node before its window; what runs then saves its work and moves."""
    path = trace(HEAD + "a,0,4,200\nb,0,4,70\nc,5,4,30\nd,6,4,30\n")
    windows = trace("time_s,node,duration_s,drain_s\n100,n0,50,40\n", "windows.csv")
    options = ["sim", path, "--nodes", "2x4", "--windows", windows]
    said = brim.out(*options, "--actions").splitlines()
    assert said[2:] == [
        "60.000 nothing starts on node n0 any more: its window begins in 40 s",
        "70.000 job c starts with 4 devices on n1: of those that wait it was submitted first",
        "100.000 the window of node n0 begins, for 50 s",
        "100.000 job a gives up 4 devices: the window of node n0 begins; what it did is saved",
        "100.000 job a starts with 4 devices on n1: of those that wait it was submitted first",
        "150.000 node n0 is back",
        "150.000 job d starts with 4 devices on n0: of those that wait it was submitted first",
    ]
    run = json.loads(brim.out(*options, "--json"))["policies"][0]
    assert (run["end_s"], run["preemptions"]) == (200, 1)
    assert run["failures"]["nodes"] == 0 and run["failures"]["done_again_device_hours"] == 0
    # a failure meanwhile makes it longer, not shorter
    failures = trace("time_s,node,duration_s\n90,n0,20\n", "failures.csv")
    said = brim.out(*options, "--failures", failures, "--actions")
    assert "90.000 node n0 fails" in said and "150.000 node n0 is back" in said
    assert "window of node n0 begins, for" not in said
    windows.write_text("time_s,node,duration_s\n100,n0,50\n")
    assert "a list of windows starts with time_s,node,duration_s,drain_s" in brim(*options).stderr
    windows.write_text("time_s,node,duration_s,drain_s\n100,n9,50,1\n")
    assert "windows.csv:2: there is no node n9" in brim(*options).stderr
