#!/usr/bin/env python3
"""brim control on a real Slurm of two nodes: how long it takes from its decision until the job that
waited runs, and whether anything is done twice or lost when it is killed at random moments while it
acts. Prints lines of five fields with tabs between them, for script/bench.

    script/bench slurm_control [--kills N] [--rounds N] [--seed N]

Needs root, slurm-wlm, munge and iproute2; without them nothing is measured. A hundred kills take a
quarter of an hour: most controls have acted before theirs."""

import argparse
import contextlib
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e" / "slurm"))
import cluster  # noqa: E402
import control_site  # noqa: E402


def row(name, value, unit, limit, note):
    print("%s\t%.4g\t%s\t%s\t%s" % (name, value, unit, limit, note), flush=True)


def started_s(site, job):
    """When Slurm says that a job began to run: whole seconds, so polled here."""
    begin = time.monotonic()
    while site.slurm.job(job)["JobState"] != "RUNNING":
        time.sleep(0.02)
        if time.monotonic() - begin > cluster.PATIENCE_S:
            raise TimeoutError("job %d does not start" % job)
    return time.monotonic()


def idle_and_due(site, book):
    """Three jobs, the first of which has kept its GPUs idle for longer than it may."""
    idle, busy, waits = site.jobs()
    while True:
        said = site.once("observe", book)
        if any(j["id"] == idle and j["idle_s"] > control_site.RECLAIM_S for j in said["jobs"]):
            return idle, busy, waits


def begin_once(site, book):
    pid = str(site.slurm.pids()["slurmctld"])
    words = ["control", "once", *site.words("act", book)]
    return subprocess.Popen(
        ["nsenter", "-t", pid, "--net", "--uts", control_site.BRIM, *words], env=site.slurm.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )


def time_rounds(site, n):
    """From the start of the command that decides until the job that waited is seen to run."""
    took = []
    for i in range(n):
        _, _, waits = idle_and_due(site, "r%d" % i)
        begin = time.monotonic()
        begin_once(site, "r%d" % i).wait()
        took.append(started_s(site, waits) - begin)
        site.end_jobs()
    return took


def kill_round(site, book, kills, at):
    """Kill controls until the waiting job runs; how many were killed, and what is wrong."""
    idle, busy, waits = idle_and_due(site, book)
    done = 0
    while done < kills and site.slurm.job(waits)["JobState"] != "RUNNING":
        control = begin_once(site, book)
        with contextlib.suppress(subprocess.TimeoutExpired):
            control.wait(at.uniform(0.002, 0.04))
        if control.poll() is None:
            control.send_signal(signal.SIGKILL)
            done += 1
        control.wait()
    site.once("act", book)
    started_s(site, waits)
    site.once("act", book)
    acts = [a["state"] for a in site.actions(book) if a["action"] == "requeue"]
    wrong = site.slurm.job(idle)["Restarts"] != "1"
    wrong += site.slurm.job(busy)["JobState"] != "RUNNING"
    wrong += acts.count("done") != 1 or "due" in acts
    site.end_jobs()
    return done, wrong


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--kills", type=int, default=100)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="brim-bench-slurm-") as folder:
        work = pathlib.Path(folder)
        plan = cluster.Plan(str(work / "slurm"), nodes=2, gpus=control_site.GPUS, namespaces=True)
        why = cluster.missing(plan)
        if why:
            print("slurm_control: skipped: %s" % why, file=sys.stderr)
            return 0
        (work / "control").mkdir()
        with cluster.Cluster(plan) as slurm:
            site = control_site.Site(slurm, work / "control")
            try:
                took = time_rounds(site, a.rounds)
                note = "median of %d; the worst %.2f s" % (len(took), max(took))
                row("control: decision to running", statistics.median(took), "s", "<= 1", note)
                at, kills, rounds, wrong = random.Random(a.seed), 0, 0, 0
                while kills < a.kills:
                    n, bad = kill_round(site, "k%d" % rounds, a.kills - kills, at)
                    kills, rounds, wrong = kills + n, rounds + 1, wrong + bad
                note = "%d requeues, %d kills, seed %d" % (rounds, kills, a.seed)
                row("control: killed while it acts, wrong", wrong, "", "<= 0", note)
            finally:
                site.down()
    return 0


if __name__ == "__main__":
    os.environ.setdefault("BRIM", "brim")
    sys.exit(main())
