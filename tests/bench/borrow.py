#!/usr/bin/env python3
"""What walls between virtual clusters cost: SenseTime's "Earth", minute by minute, May 2020.

Of the series of HeliosArtifact (CC-BY-4.0; not in this repository): in each minute, GPUs that are
idle in one virtual cluster are lent to those that wait in others, as far as both go. A job that
starts earlier also ends earlier: that is not in this count.

The series has no jobs. Where BRIM names the program, jobs of one GPU are made that give the same
series behind walls, and replayed behind walls and with lending ([quota] borrow), as they are and
with more of them: a set of jobs is the same work wherever it runs, so lending makes them wait less
and leaves room for more. Prints name, value, unit, limit and note with tabs between them.

    BRIM=build/src/cmd/brim BRIM_SHARED=FOLDER tests/bench/borrow.py
"""

import csv
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "script"))
import others  # noqa: E402

MORE = 0.1  # with so many more jobs, as a share, all of Earth is to be as full as was counted
PACKED = others.TRACES / "helios_earth_vc_sequences.tar.xz"


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def minutes():
    """By minute: (there, running, waiting, waiting in jobs of less than 8) of each cluster, in the
    same order."""
    table = {}
    with tarfile.open(PACKED) as tar:
        for member in tar:
            if not member.name.endswith(".csv"):
                continue
            text = io.TextIOWrapper(tar.extractfile(member), "utf-8")
            for row in csv.DictReader(text):
                table.setdefault(row["time"], []).append(tuple(
                    int(row[key]) for key in ("total_gpu_num", "running_gpu_num",
                                              "pending_gpu_num", "pending_gpu_num_less_8")))
    return list(table.values())


# ---- jobs that give the same series ----

def jobs_of(series, cluster, chance):
    """(minute of submission, minutes) of jobs of one GPU: the fewest that give a cluster's series.
    Who submitted first starts first; who ends is drawn."""
    waits, runs, jobs = [], [], []
    before = (0, 0)
    for now, row in enumerate(series):
        running, waiting = row[cluster][1], row[cluster][2]
        grows, more = running - before[0], waiting - before[1]
        starts = max(0, grows, -more)
        waits += [now] * (more + starts)
        for _ in range(starts - grows):
            k = chance.randrange(len(runs))
            submitted, began = runs[k]
            runs[k] = runs[-1]
            runs.pop()
            jobs.append((submitted, now - began))
        runs += [(submitted, now) for submitted in waits[:starts]]
        del waits[:starts]
        before = (running, waiting)
    return jobs + [(submitted, len(series) - began) for submitted, began in runs]


def replay(jobs, sizes, more, folder):
    """Behind walls, and with lending: their JSON. more: so many more jobs, as a share, drawn of
    those that there are."""
    chance = random.Random(2)
    extra = chance.sample(jobs, int(more * len(jobs)))
    trace, names = folder / "earth.csv", ("no", "yes")
    trace.write_text("job_id,submit_s,gpus,duration_s,class\n" + "".join(
        f"{i},{60 * submitted},1,{60 * lasts},{cluster}\n"
        for i, (submitted, lasts, cluster) in enumerate(sorted(jobs + extra))))
    for name in names:
        shares = "".join(f"share = {cluster} {size}\n" for cluster, size in sizes.items())
        (folder / f"{name}.ini").write_text(
            f"[policy]\norder = fifo\n[quota]\nborrow = {name}\n{shares}")
    said = subprocess.run(
        [os.environ["BRIM"], "sim", trace, "--nodes", f"{sum(sizes.values()) // 8}x8", "--json",
         "--policy", folder / "no.ini", "--compare", folder / "yes.ini"],
        check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(said.stdout)["policies"]


def bench_replay(series):
    chance = random.Random(1)
    sizes = {f"vc{k}": max(row[k][0] for row in series) for k in range(len(series[0]))}
    jobs = [(submitted, lasts, f"vc{k}") for k in range(len(sizes))
            for submitted, lasts in jobs_of(series, k, chance) if lasts > 0]
    with tempfile.TemporaryDirectory() as folder:
        for more in (0, 0.05, 0.1, 0.15):
            walls, lent = replay(jobs, sizes, more, pathlib.Path(folder))
            note = "%d jobs of 1 GPU; a job waits %.0f s, p90 %.0f s"
            extra = ", %.0f %% more jobs" % (more * 100) if more else ""
            for name, run in (("walls", walls), ("lending", lent)):
                limit = ">= 73" if name == "lending" and more == MORE else ""
                say(f"  replayed, {name}{extra}", 100 * run["allocated"], "%", limit,
                    note % (run["all"]["jobs"], run["all"]["wait_s"], run["all"]["wait_p90_s"]))


def main():
    if not PACKED.exists():
        print(f"there is no {PACKED}: Earth is left out", file=sys.stderr)
        return
    there = running = waiting = lent = lent_small = left = held_up = enough = 0
    series = minutes()
    for clusters in series:
        idle = sum(total - used for total, used, _, _ in clusters)
        want = sum(pending for _, _, pending, _ in clusters)
        small = sum(pending for _, _, _, pending in clusters)
        there += sum(total for total, _, _, _ in clusters)
        running += sum(used for _, used, _, _ in clusters)
        waiting += want
        lent += min(idle, want)
        lent_small += min(idle, small)
        left += want - min(idle, want)
        held_up += want > 0
        enough += 0 < want <= idle
    n = len(series)
    say("Earth, 16 virtual clusters: GPUs allocated", 100 * running / there, "%", "",
        "%d minutes, %.0f GPUs idle on average, %.1f waited for" % (
            n, (there - running) / n, waiting / n))
    say("  when idle GPUs are lent", 100 * (running + lent) / there, "%", ">= 73",
        "%.1f waited for" % (left / n))
    say("  to jobs of less than 8 GPUs only", 100 * (running + lent_small) / there, "%")
    say("  minutes in which someone waits", 100 * held_up / n, "%")
    say("  of those, all could be lent what they wait for", 100 * enough / max(held_up, 1), "%")
    if "BRIM" in os.environ:
        bench_replay(series)


if __name__ == "__main__":
    main()
