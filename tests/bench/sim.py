#!/usr/bin/env python3
"""brim sim: events a second, large traces and clusters, and what packing takes.

The jobs of Philly are data of others (script/others.py), left out where they are not here; the
other workloads are made here. Prints name, value, unit, limit and note with tabs between them;
script/bench makes the table.
"""

import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

BRIM = os.environ["BRIM"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "script"))
import others  # noqa: E402

SIZES = [1] * 70 + [2] * 8 + [4] * 8 + [8] * 10 + [16] * 3 + [64]


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def simulate(path, *options):
    """What it says, CPU seconds (one thread does it all), and the largest resident size in MB."""
    child = subprocess.Popen([BRIM, "sim", path, "--json", *options], stdout=subprocess.PIPE)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    took = usage.ru_utime + usage.ru_stime
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


def public(folder, name):
    """The path of a table of others' as a file in the folder; None where it is not here."""
    text = others.table(name)
    if text is None:
        print(f"{name} is left out: {others.MISSING}", file=sys.stderr)
        return None
    path = folder / f"{name}.csv"
    path.write_bytes(text)
    return path


def bench_week(folder):
    path = public(folder, "philly_week")
    if not path:
        return
    for policy in ("fifo", "easy", "srtf", "tiresias", "las"):
        said, took, _ = simulate(path, "--policy", policy)
        run = said["policies"][0]
        say(f"a week of Philly, {policy}", took, "s", "<= 2",
            "completion %.0f s, p99 of waits %.0f s" % (run["all"]["completion_s"],
                                                       run["all"]["wait_p99_s"]))


def bench_philly(folder):
    path = public(folder, "philly_82k")
    if not path:
        return
    for policy, limit in (("fifo", 1), ("easy", 3)):
        said, took, _ = simulate(path, "--policy", policy)
        say(f"82,247 jobs of Philly, {policy}", took, "s", "<= %d" % limit, "with reading them")


def names():
    """All policies that have names."""
    said = subprocess.run([BRIM, "sim", "--policies"], check=True, capture_output=True, text=True)
    return [line.split()[0] for line in said.stdout.splitlines()]


def bench_overload(folder):
    """1.6 times what there is, so that tens of thousands wait in the end."""
    for nodes in (64, 1250):
        path = made(folder / "overload.csv", 100000, 8 * nodes, 1.6)
        for policy in names():
            again = policy.startswith(("interleave", "rebuild", "srtf-history"))
            if nodes > 64 and again:
                continue  # looks at all that run in each pass: minutes
            _, took, _ = simulate(path, "--nodes", f"{nodes}x8", "--policy", policy)
            limit = "<= 20" if policy == "conservative" else "<= 5"
            say(f"100,000 jobs in overload on {8 * nodes:,} GPUs, {policy}", took, "s", limit,
                "with reading them")


def bench_large(folder):
    path = made(folder / "large.csv", 1000000, 100000, 1.6)
    _, reading, _ = simulate(path, "--pack", "--rounds", "1", "--load", "1")
    for policy in ("fifo", "easy"):
        said, took, memory = simulate(path, "--nodes", "12500x8", "--policy", policy)
        events = said["policies"][0]["events"]
        say(f"1,000,000 jobs on 100,000 GPUs, {policy}", took, "s", "<= 10")
        say("  memory", memory, "MB", "<= 2048")
        if policy == "fifo":
            say("  events a second", events / (took - reading), "1/s", ">= 1e6",
                "without the %.2g s that reading takes" % reading)


def plot(path, lines):
    """Seconds by devices as an SVG, both axes by powers of ten. lines: {policy: [(devices, s)]}."""
    wide, high, edge = 560, 360, 60
    xs = [math.log10(x) for points in lines.values() for x, _ in points]
    ys = [math.log10(y) for points in lines.values() for _, y in points]
    left, right = math.floor(min(xs)), math.ceil(max(xs))
    low, top = math.floor(min(ys)), math.ceil(max(ys))

    def at(x, y):
        return (edge + (math.log10(x) - left) / (right - left) * (wide - 2 * edge),
                high - edge - (math.log10(y) - low) / max(top - low, 1) * (high - 2 * edge))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
           'font-family="sans-serif" font-size="12">',
           f'<text x="{edge}" y="20">brim sim: seconds for ten jobs per device, by devices</text>']
    for power in range(left, right + 1):
        x, y = at(10 ** power, 10 ** low)
        out.append(f'<text x="{x:.0f}" y="{y + 20:.0f}" text-anchor="middle">'
                   f'{10 ** power:,}</text>')
    for power in range(low, top + 1):
        x, y = at(10 ** left, 10 ** power)
        out.append(f'<text x="{x - 8:.0f}" y="{y + 4:.0f}" text-anchor="end">'
                   f'{10.0 ** power:g}</text>'
                   f'<path d="M{x:.0f} {y:.0f}h{wide - 2 * edge}" stroke="#ccc"/>')
    for i, (policy, points) in enumerate(lines.items()):
        colour = ("#1f5fa8", "#b3541e", "#3a7d34")[i % 3]
        ends = [at(*point) for point in points]
        out.append('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (
            colour, " ".join("%.1f,%.1f" % end for end in ends)))
        out.append(f'<text x="{ends[-1][0] + 6:.0f}" y="{ends[-1][1] + 4:.0f}" fill="{colour}">'
                   f'{policy}</text>')
    path.write_text("\n".join(out) + "\n</svg>\n", encoding="utf-8")


def bench_growth(folder):
    """Ten jobs per device at 1.2 times what there is, from 1,000 devices on."""
    lines = {"fifo": [], "easy": [], "greedy": []}
    for nodes in (125, 400, 1250, 4000, 12500):
        path = made(folder / "growth.csv", 80 * nodes, 8 * nodes, 1.2)
        for policy, points in lines.items():
            _, took, _ = simulate(path, "--nodes", f"{nodes}x8", "--policy", policy)
            points.append((8 * nodes, took))
    for policy, points in lines.items():
        (x, y), (far, long) = points[0], points[-1]
        power = math.log(long / y) / math.log(far / x)
        say(f"growth with devices, {policy}", power, "power", "",
            ", ".join(f"{devices:,}: {s:.3g} s" for devices, s in points))
    plot(ROOT / "build/growth.svg", lines)
    print(f"the picture: {ROOT / 'build/growth.svg'}", file=sys.stderr)


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
    for policy in ("best-fit", "fgd", "balance"):
        said, took, _ = simulate(pods, "--nodes", nodes, "--pack", "--policy", policy)
        jobs = said["policies"][0]["jobs"]
        say(f"a place among 1,213 nodes, {policy}", took / jobs * 1e3, "ms", "<= 1",
            "mean of %d" % jobs)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for bench in (bench_week, bench_philly, bench_overload, bench_large, bench_growth,
                      bench_pass, bench_pack):
            bench(pathlib.Path(name))
