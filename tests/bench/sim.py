#!/usr/bin/env python3
"""brim sim: events a second, large traces and clusters, and what packing takes.

All 82,247 jobs of Philly are read from the folder that BRIM_TRACES names, where there is one; the
other workloads are made here. Prints name, value, unit, limit and note with tabs between them;
script/bench makes the table.
"""

import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

BRIM = os.environ["BRIM"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = pathlib.Path(os.environ.get("BRIM_TRACES", ROOT.parent / "shared/data/traces"))
WEEK = ROOT / "tests/fixtures/traces/philly_week.csv.gz"
SIZES = [1] * 70 + [2] * 8 + [4] * 8 + [8] * 10 + [16] * 3 + [64]


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def simulate(path, *options):
    """What it says, seconds from start to end, and the largest resident size in MB."""
    begin = time.perf_counter()
    child = subprocess.Popen([BRIM, "sim", path, "--json", *options], stdout=subprocess.PIPE)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - begin
    if status:
        sys.exit("brim sim %s: status %d" % (path, status))
    return json.loads(said), took, usage.ru_maxrss / 1e3


def made(path, jobs, devices, load):
    """Jobs of Philly's sizes with lengths of a heavy tail, that ask for load x devices."""
    chance = random.Random(1)
    rows, work = [], 0
    for _ in range(jobs):
        size = chance.choice(SIZES)
        length = min(864000, max(1, int(chance.lognormvariate(6.5, 1.8))))
        rows.append((size, length))
        work += size * length
    span = work / devices / load
    submits = sorted(int(chance.random() * span) for _ in range(jobs))
    with open(path, "w", encoding="ascii") as out:
        out.write("job_id,submit_s,gpus,duration_s\n")
        for i, (size, length) in enumerate(rows):
            out.write(f"{i},{submits[i]},{size},{length}\n")
    return path


def bench_week(folder):
    path = folder / "week.csv"
    path.write_bytes(gzip.decompress(WEEK.read_bytes()))
    for policy in ("fifo", "easy", "srtf", "tiresias", "las"):
        said, took, _ = simulate(path, "--policy", policy)
        run = said["policies"][0]
        say(f"a week of Philly, {policy}", took, "s", "<= 2",
            "completion %.0f s, p99 of waits %.0f s" % (run["all"]["completion_s"],
                                                       run["all"]["wait_p99_s"]))


def bench_philly(folder):
    packed = TRACES / "philly_82k.csv.gz"
    if not packed.exists():
        print(f"there is no {packed}: all of Philly is left out", file=sys.stderr)
        return
    path = folder / "philly.csv"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    for policy, limit in (("fifo", 1), ("easy", 3)):
        said, took, _ = simulate(path, "--policy", policy)
        say(f"82,247 jobs of Philly, {policy}", took, "s", "<= %d" % limit, "with reading them")


def bench_large(folder):
    path = made(folder / "large.csv", 1000000, 100000, 1.6)
    _, reading, _ = simulate(path, "--pack", "--rounds", "1", "--load", "1")
    for policy in ("fifo", "easy"):
        said, took, memory = simulate(path, "--nodes", "12500x8", "--policy", policy)
        events = said["policies"][0]["events"]
        say(f"1,000,000 jobs on 100,000 GPUs, {policy}", took, "s", "<= 60")
        say("  memory", memory, "MB", "<= 2048")
        if policy == "fifo":
            say("  events a second", events / (took - reading), "1/s", ">= 1e6",
                "without the %.2g s that reading takes" % reading)


def bench_pass(folder):
    """Passes over 10,000 jobs that wait for 10,000 nodes that one job each holds."""
    path = folder / "pass.csv"
    rows = [f"h{i},0,8,100000" for i in range(10000)]
    rows += [f"w{i},{1 + i // 100},{1 + i % 64},{1000 + i}" for i in range(10000)]
    path.write_text("job_id,submit_s,gpus,duration_s\n" + "\n".join(rows) + "\n")
    for policy in ("greedy", "easy", "las"):
        said, took, _ = simulate(path, "--nodes", "10000x8", "--policy", policy)
        passes = said["policies"][0]["passes"]
        say(f"a pass over 10,000 nodes, {policy}", took / passes * 1e3, "ms", "<= 100",
            "%d passes with up to 10,000 jobs waiting" % passes)


def bench_pack(folder):
    chance = random.Random(2)
    nodes, pods = folder / "nodes.csv", folder / "pods.csv"
    kinds = [("T4", 4, 96000), ("V100", 8, 96000), ("A10", 1, 128000), ("G2", 8, 96000)]
    rows = [chance.choice(kinds) for _ in range(1213)]
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\n" + "".join(
        f"n{i},{cpus},393216,{devices},{kind}\n" for i, (kind, devices, cpus) in enumerate(rows)))
    pods.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n" + "".join(
        "p%d,%d,0,1,%d\n" % (i, chance.choice([2, 4, 6, 8, 12]) * 1000,
                            chance.choice([100, 200, 300, 460, 500, 800, 1000, 1000, 1000]))
        for i in range(8000)))
    for policy in ("best-fit", "fgd"):
        said, took, _ = simulate(pods, "--nodes", nodes, "--pack", "--policy", policy)
        jobs = said["policies"][0]["jobs"]
        say(f"a place among 1,213 nodes, {policy}", took / jobs * 1e3, "ms", "<= 1",
            "mean of %d" % jobs)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for bench in (bench_week, bench_philly, bench_large, bench_pass, bench_pack):
            bench(pathlib.Path(name))
