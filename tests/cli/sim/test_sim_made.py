"""brim sim on the made-up traces of the tree: against a simulator that is written here, and against
what brim said before. The same against published simulators: test_sim_golden.py."""

import csv
import json
import subprocess
import sys

import pytest
from conftest import DAYS, NODES, PODS, ROOT, TRACES, TURNS

# policy: mean completion, mean wait, 99th percentile of waits, preemptions
DAYS_AS_BEFORE = {
    "srtf": (6933, 1608, 51145, 1303),
    "tiresias": (11085, 5762, 63596, 1216),
    "las": (6646, 1344, 38212, 649),
    "easy": (7925, 2644, 30441, 0),
}
# policy: mean completion, the last end
TURNS_AS_BEFORE = {
    "rebuild-srtf": (34548, 241111),
    "rebuild-srsf": (34047, 248664),
    "rebuild-tiresias": (70592, 216998),
    "srsf": (34826, 250999),
    "srsf-steps": (34122, 250618),
    "interleave": (30736, 193684),
    "interleave-steps": (30740, 193669),
    "interleave-las": (47472, 162630),
}


def policies(brim, path, nodes, names, *options):
    said = brim.out("sim", path, "--json", "--nodes", nodes, "--policy", names[0],
                    "--compare", ",".join(names[1:]), *options)
    return {run["policy"]: run for run in json.loads(said)["policies"]}


def test_the_traces_are_what_their_script_writes(tmp_path):
    subprocess.run([sys.executable, TRACES / "generate.py", tmp_path], check=True)
    written = sorted(tmp_path.iterdir())
    assert [path.name for path in written] == sorted(path.name for path in TRACES.glob("*.csv"))
    for path in written:
        assert path.read_bytes() == (TRACES / path.name).read_bytes(), path.name


# ---- a simulator without preemption, written for this test ----

def place(free, each, gpus):
    """Devices by node: on the fullest node that has them, else whole nodes and the rest on the
    emptiest of the others; None when there is no place."""
    if gpus <= each:
        fitting = [n for n, left in enumerate(free) if left >= gpus]
        return {min(fitting, key=lambda n: free[n]): gpus} if fitting else None
    whole = [n for n, left in enumerate(free) if left == each][: gpus // each]
    got = dict.fromkeys(whole, each)
    rest = gpus - each * len(whole)
    if len(whole) < gpus // each:
        return None
    if rest:
        others = [n for n in range(len(free)) if n not in got and free[n] >= rest]
        if not others:
            return None
        got[max(others, key=lambda n: free[n])] = rest
    return got


def waits_of(jobs, nodes, each, shortest):
    """Seconds that each of (submission, devices, length) waits; none overtakes who goes before."""
    free, waiting, running, waits = [each] * nodes, [], [], {}
    moments = {job[0] for job in jobs}
    while moments:
        now = min(moments)
        moments.discard(now)
        for _, got in [run for run in running if run[0] <= now]:
            for node, gpus in got.items():
                free[node] += gpus
        running = [run for run in running if run[0] > now]
        waiting += [i for i, job in enumerate(jobs) if job[0] == now]
        if shortest:
            waiting.sort(key=lambda i: (jobs[i][2], i))
        while waiting:
            submit, gpus, length = jobs[waiting[0]]
            got = place(free, each, gpus)
            if got is None:
                break
            for node, some in got.items():
                free[node] -= some
            running.append((now + length, got))
            moments.add(now + length)
            waits[waiting.pop(0)] = now - submit
    return [waits[i] for i in range(len(jobs))]


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


@pytest.mark.parametrize("nodes, each", [(8, 8), (10, 8), (16, 4)])
def test_another_simulator_says_the_same(brim, nodes, each):
    with open(DAYS, encoding="ascii") as f:
        jobs = [(int(row["submit_s"]), int(row["gpus"]), int(row["duration_s"]))
                for row in csv.DictReader(f)]
    runs = policies(brim, DAYS, f"{nodes}x{each}", ["fifo", "sjf"])
    for name, run in runs.items():
        waits = waits_of(jobs, nodes, each, name == "sjf")
        completions = [wait + job[2] for wait, job in zip(waits, jobs)]
        want = {
            "wait_s": sum(waits) / len(waits),
            "wait_p50_s": quantile(waits, 0.5),
            "wait_p90_s": quantile(waits, 0.9),
            "wait_p99_s": quantile(waits, 0.99),
            "wait_max_s": max(waits),
            "completion_s": sum(completions) / len(completions),
        }
        said = {key: run["all"][key] for key in want}
        assert said == pytest.approx(want, abs=0.01), name
        assert max(waits) > 1000, "the trace has jobs that wait"


# ---- what brim said before ----

def test_days_as_before(brim):
    runs = policies(brim, DAYS, "8x8", list(DAYS_AS_BEFORE))
    said = {name: (*(round(run["all"][key]) for key in ("completion_s", "wait_s", "wait_p99_s")),
                   run["preemptions"])
            for name, run in runs.items()}
    assert said == DAYS_AS_BEFORE


def test_deep_queue_as_before(brim):
    """More jobs wait than conservative backfill plans in a pass; by a plan of all of them."""
    said = json.loads(brim.out("sim", DAYS, "--json", "--nodes", "4x8", "--policy",
                               "conservative"))["policies"][0]["all"]
    assert (said["jobs"], round(said["completion_s"]), round(said["wait_p99_s"])) == (
        1200, 143942, 375973)


def test_turns_as_before(brim):
    runs = policies(brim, TURNS, "2x8", list(TURNS_AS_BEFORE))
    said = {name: (round(run["all"]["completion_s"]), round(run["end_s"]))
            for name, run in runs.items()}
    assert said == TURNS_AS_BEFORE
    mean = {name: run["all"]["completion_s"] for name, run in runs.items()}
    # policies under which jobs share are ahead of those that know the same and let none share
    assert mean["interleave"] < min(mean["srsf"], mean["rebuild-srsf"])
    assert mean["interleave-steps"] < mean["srsf-steps"]
    assert mean["interleave-las"] < mean["rebuild-tiresias"]


def test_pods_as_before(brim):
    said = brim.out("sim", PODS, "--nodes", NODES, "--pack", "--json", "--policy", "best-fit",
                    "--compare", "fgd,balance")
    share = {run["policy"]: round(run["allocated_at_load"] * 100, 2)
             for run in json.loads(said)["policies"]}
    assert share == {"best-fit": 98.06, "fgd": 99.10, "balance": 99.01}
