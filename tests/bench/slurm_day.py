#!/usr/bin/env python3
"""How busy a scripted day of jobs keeps the GPUs of a real Slurm, with Slurm's scheduler alone and
with brim control beside it, and what brim sim says of both. Prints lines of five fields with tabs
between them, for script/bench.

    script/bench slurm_day [--seeds 1,2,3] [--hours 24] [--scale 240] [--away] [--keep FILE]

Needs root, slurm-wlm, munge and iproute2; without them nothing is measured. A day takes six
minutes: --scale of its seconds pass in one. Both sides run at the same time, on a Slurm each with
eight nodes of eight GPUs, which are invented; jobs are real processes that say how busy they keep
theirs (jobs/scripted_job.c). Both have the settings of Debian's Slurm (FIFO with backfill) but for
how often it looks, which goes faster, too: every second is every four minutes of the day. Jobs name
no limits. Beside one of them are an agent on each node and brim control in mode act.

A GPU counts as busy while its job works. What is measured is device time in which jobs worked, as
each of them wrote it down while it did, of all the device time of the day.

The day: 27 of 30 jobs train, on 1, 2, 4 or 8 GPUs (12, 6, 6 and 3 of 27), for 3 hours in the mean
(log-normal, a quarter of an hour to half a day). One of three stops working in between, and keeps
its GPUs for 4 to 14 hours, until somebody looks: a rank is gone, a debugger waits, a program does
not end. Started anew it goes on. One of ten jobs is a session of 4 to 10 hours on 1 or 2 GPUs that
works for 20 minutes and pauses for 90 by turns; its account is exempt. A quarter of the jobs is
there when the day begins, the others come at any time of it. They ask for 1.7 times the work that
all GPUs can do.

What this rests on: of the samples of GPU utilization that AcmeTrace publishes for Philly, Seren and
Kalos a third is at 1 % or less, and Philly's mean is 47 %. Slurm alone keeps about as much busy of
the day, and all that is lost of it is lost by jobs that do nothing: in Philly a third is, and the
rest are jobs that keep their GPUs busy for a part of the time, which no [idle] section changes. How
long devices stay idle at a time, and why, the samples do not tell. --away makes the day of jobs
whose owners are away in place of such that hang: what is idle is so for as long, started anew or
not. Slurm's FIFO starts a job that was requeued before all others, so that it is idle again.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("BRIM", "brim")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e" / "slurm"))
import cluster  # noqa: E402
import control_site  # noqa: E402
import slurm_config  # noqa: E402
import utilization  # noqa: E402

NODES, GPUS, HOUR = 8, 8, 3600
DEVICES = NODES * GPUS
SIZES = ((1, 12), (2, 6), (4, 6), (8, 3))  # GPUs, and how many trainings in a deck have so many
SESSIONS = (1, 1, 2)  # GPUs of the sessions in a deck
LOAD, EARLY, HANGS = 1.7, 4, 3  # of the jobs one of EARLY, one of HANGS
WORK, HANG = 1000, -1  # what a stretch says: thousandths, or that the job hangs
LOAD_S = 0.3  # scripted_job reads its checkpoint for so long, whatever the scale
ALONE = "[policy]\nname = %s\norder = fifo\nbackfill = greedy\nrestart = %ds\n"
IDLE = "[idle]\nwarn = 15m\nreclaim = 30m\naction = requeue\nexempt = interactive\n"
MOST, LEAST, APART = 50, 72, 5
LATE_S = 0.3
# Debian's defaults are a look every 60 s, every 30 s for backfill; at most 100 jobs in one
SCHEDULER = "SchedulerParameters=sched_interval=1,sched_min_interval=20000,bf_interval=1," \
    "bf_continue\n"
SCRIPT = """first=$((%d * ${SLURM_JOB_NODELIST#n}))
IFS=,
for gpu in $SLURM_JOB_GPUS; do all=$all,$((first + gpu)); done
export CUDA_VISIBLE_DEVICES=${all#,}
exec %s %s %d %g 0
"""


# ---- the jobs ----

def training(chance, length, hangs):
    """What one does that works for so many seconds: [(seconds, thousandths)]."""
    if not hangs:
        return [(round(length), WORK)]
    before = round(chance.uniform(0.05, 0.95) * length)
    return [(before, WORK), (round(chance.uniform(4, 14) * HOUR), HANG),
            (max(round(length) - before, 60), WORK)]


def session(chance):
    stretches, at, end = [], 0, chance.uniform(4, 10) * HOUR
    while at < end:
        work = round(min(max(chance.expovariate(1 / 1200), 120), HOUR))
        pause = round(min(max(chance.expovariate(1 / 5400), 300), 4 * HOUR))
        stretches += [(work, WORK), (pause, 0)]
        at += work + pause
    return [*stretches, (300, WORK)]


def make_deck(chance):
    """Thirty jobs, so that each day has as many of each kind: [(GPUs, account, stretches)]."""
    n, law = sum(count for _, count in SIZES), statistics.NormalDist(8.9, 0.9)
    draws = [math.exp(law.inv_cdf((i + chance.random()) / n)) for i in range(n)]
    lengths = [min(max(draw, 900), 12 * HOUR) for draw in draws]
    chance.shuffle(lengths)
    deck = [(gpus, "interactive", session(chance)) for gpus in SESSIONS]
    for gpus, count in SIZES:
        deck += [(gpus, "training", training(chance, lengths.pop(), i % HANGS == 0))
                 for i in range(count)]
    chance.shuffle(deck)
    return deck


def make_jobs(seed, hours, away=False):
    """[(submitted, GPUs, account, stretches)] by submission; away: no job hangs, their owners are
    away."""
    chance = random.Random(seed)
    jobs, work, deck = [], 0, []
    while work < LOAD * DEVICES * hours * HOUR:
        deck = deck or make_deck(chance)
        gpus, account, stretches = deck.pop()
        if away:
            stretches = [(s, max(milli, 0)) for s, milli in stretches]
        jobs.append((chance.random() * hours * HOUR, gpus, account, stretches))
        work += gpus * seconds(stretches, lambda milli: milli > 0)
    jobs.sort(key=lambda job: job[0])
    early = len(jobs) // EARLY
    jobs = [(0 if i < early else at, *rest) for i, (at, *rest) in enumerate(jobs)]
    jobs[-1] = (hours * HOUR, *jobs[-1][1:])
    return jobs


def seconds(stretches, which):
    return sum(s for s, milli in stretches if which(milli))


def write_trace(jobs, path):
    with open(path, "w", encoding="ascii") as out:
        out.write("job_id,submit_s,gpus,duration_s,class,activity\n")
        for number, (at, gpus, account, stretches) in enumerate(jobs, 1):
            out.write("%d,%.3f,%d,%d,%s,%s\n" % (
                number, at, gpus, seconds(stretches, lambda _: True), account,
                " ".join("%d:%s" % (s, "hang" if milli < 0 else "%g" % (milli / 10))
                         for s, milli in stretches)))


def policy(name, scale):
    return ALONE % (name, LOAD_S * scale) + (IDLE if name == "control" else "")


def predict(folder, jobs, scale):
    """{"alone": what brim sim says, "control": ...}"""
    write_trace(jobs, folder / "trace.csv")
    for name in ("alone", "control"):
        (folder / (name + ".ini")).write_text(policy(name, scale), "ascii")
    said = subprocess.run(
        [utilization.BRIM, "sim", str(folder / "trace.csv"), "--nodes", "%dx%d" % (NODES, GPUS),
         "--json", "--policy", str(folder / "alone.ini"), "--compare", str(folder / "control.ini")],
        check=True, stdout=subprocess.PIPE, text=True)
    return {run["policy"]: run for run in json.loads(said.stdout)["policies"]}


# ---- a live side ----

class Side(control_site.Site):
    """A cluster, its invented GPUs, and what jobs do there; with agents and a control, or not."""

    def __init__(self, slurm, folder, scale, controlled):
        self.slurm, self.folder, self.scale, self.running = slurm, folder, scale, []
        self.shown, self.ids, self.held = {}, {}, []
        (folder / "devices").mkdir()
        (folder / "token").write_text(control_site.TOKEN)
        (folder / "policy.ini").write_text(
            utilization.scaled(policy("control", scale), scale), "ascii")
        if not controlled:
            return
        self.look()
        for node in range(NODES):
            at = "%s:9410" % slurm_config.address(node)
            words = ["agent", "--listen", at, "--token-file", str(folder / "token"), "--store",
                     "none", "--interval", "500ms", "--log", "error"]
            self.start("slurmd n%d" % node, *words, "--fake", str(folder / ("n%d.ini" % node)))
        words = self.words("act", "book")
        self.start("slurmctld", "control", "run", "--every", "1s", *words)

    def look(self):
        """Show GPUs as busy as their jobs keep them."""
        busy = {}
        for path in (self.folder / "devices").iterdir():
            try:
                busy[int(path.name.split(".")[0])] = int(path.read_text("ascii").split()[0])
            except (OSError, IndexError, ValueError):
                continue  # it ends, or begins
        self.held.append(len(busy) / DEVICES)
        for node in range(NODES):
            text = "[fake]\ncount = %d\n" % GPUS + "".join(
                "[gpu %d]\nbusy_ratio = %.3f\n" % (i, busy.get(node * GPUS + i, 0) / 1000)
                for i in range(GPUS))
            if self.shown.get(node) == text:
                continue
            self.shown[node] = text
            draft = self.folder / "draft.ini"
            draft.write_text(text, "ascii")
            draft.rename(self.folder / ("n%d.ini" % node))

    def submit(self, number, job):
        _, gpus, account, stretches = job
        (self.folder / ("act.%d" % number)).write_text(
            "".join("%d %d\n" % one for one in stretches), "ascii")
        script = SCRIPT % (GPUS, utilization.BUILT / "scripted_job", self.folder, number,
                           self.scale)
        self.ids[number] = self.slurm.submit(
            script, "--gpus-per-node=%d" % gpus, "--nodes=1", "--requeue", "--account", account,
            "--job-name", "j%d" % number)

    def let_partition(self, state):
        self.slurm.run("scontrol", "update", "PartitionName=batch", "State=" + state)

    def submit_early(self, jobs):
        """Those that are there when the day begins: they wait until then."""
        self.let_partition("DOWN")
        for number, job in enumerate(jobs, 1):
            if job[0] == 0:
                self.submit(number, job)

    def submit_others(self, jobs, begin):
        for number, job in enumerate(jobs, 1):
            if job[0] > 0:
                time.sleep(max(begin + job[0] / self.scale - time.time(), 0))
                self.submit(number, job)

    def states(self):
        """{job: its state}, of those that Slurm remembers."""
        said = self.slurm.run("squeue", "-h", "-t", "all", "-o", "%i %T")[1]
        return {int(job): state for job, state in map(str.split, said.splitlines())}

    def did(self, number, begin, end):
        path = self.folder / ("did.%d" % number)
        return utilization.worked(utilization.lines_of(path), begin, end) if path.exists() else 0

    def check(self, jobs, actions):
        """What is wrong: jobs that are exempt and were not let alone, or that failed, and such that
        are done and did not do their work, or did some of it twice."""
        wrong, touched = [], {a["job"] for a in actions}
        for number, job in enumerate(jobs, 1):
            if job[2] == "interactive" and self.ids[number] in touched:
                wrong.append("job %d is exempt" % number)
            state = self.states_at_end.get(self.ids[number], "COMPLETED")  # else long forgotten
            if state in ("PENDING", "RUNNING", "COMPLETING"):
                continue
            wanted = job[1] * seconds(job[3], lambda milli: milli > 0)
            did = self.did(number, 0, math.inf)
            late = job[1] * LATE_S * self.scale  # it looks 25 times a second, when a CPU is free
            if state != "COMPLETED" or abs(did - wanted) > 0.05 * wanted + late:
                wrong.append("job %d: %s, did %.0f of %.0f s" % (number, state, did, wanted))
        return wrong

    def day(self, jobs):
        """The share of all devices that was busy, and what was done for that."""
        self.submit_early(jobs)
        begin = time.time()
        end = begin + jobs[-1][0] / self.scale
        self.let_partition("UP")
        asking = threading.Thread(target=self.submit_others, args=(jobs, begin), daemon=True)
        asking.start()
        while time.time() < end or asking.is_alive():
            self.look()
            time.sleep(0.1)
        time.sleep(1)  # what was done up to then is told
        self.states_at_end = self.states()
        actions = self.actions("book")
        busy = sum(self.did(i, begin, end) for i in self.ids) / (DEVICES * jobs[-1][0])
        done = [a["action"] for a in actions if a["state"] == "done"]
        return {"busy": busy, "held": statistics.fmean(self.held), "warned": done.count("warn"),
                "requeued": done.count("requeue"), "failed": len(actions) - len(done),
                "wrong": self.check(jobs, actions)}

    def end(self):
        """Jobs end by themselves at SIGTERM, and leave nothing."""
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        self.end_jobs()
        self.down()


def run_side(folder, jobs, scale, controlled):
    plan = cluster.Plan(str(folder / "slurm"), nodes=NODES, gpus=GPUS, namespaces=True)
    plan.extra = SCHEDULER
    (folder / "side").mkdir(parents=True)
    with cluster.Cluster(plan) as slurm:
        side = Side(slurm, folder / "side", scale, controlled)
        try:
            return side.day(jobs)
        finally:
            side.end()


# ---- what is said of it ----

def row(name, value, unit, limit, note):
    print("%s\t%.4g\t%s\t%s\t%s" % (name, value, unit, limit, note), flush=True)


def run_day(folder, seed, a):
    jobs = make_jobs(seed, a.hours, a.away)
    said = predict(folder, jobs, a.scale)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        sides = {name: pool.submit(run_side, folder / name, jobs, a.scale, name == "control")
                 for name in ("alone", "control")}
        live = {name: side.result() for name, side in sides.items()}
    for name, side in live.items():
        side.update(seed=seed, jobs=len(jobs), predicted=said[name]["busy"],
                    predicted_held=said[name]["allocated"],
                    predicted_requeues=said[name]["preemptions"])
        print("slurm_day: seed %d, %s: %s" % (seed, name, side), file=sys.stderr)
    return live


def tell(days, name, limit):
    runs = [day[name] for day in days]
    busy = [100 * run["busy"] for run in runs]
    apart = [100 * (run["predicted"] - run["busy"]) for run in runs]
    worst = max(busy) if limit.startswith("<") else min(busy)
    row("slurm day: busy, " + name, worst, "%", limit, "the worst; " + ", ".join(
        "seed %d: %.1f (%d jobs, %d requeues)" % (run["seed"], b, run["jobs"], run["requeued"])
        for run, b in zip(runs, busy)))
    row("slurm day: brim sim is off by, " + name, max(map(abs, apart)), "points", "<= %d" % APART,
        "predicted less live: " + ", ".join("%.1f" % x for x in apart))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--hours", type=float, default=24)
    p.add_argument("--scale", type=float, default=240, help="seconds of the day that pass in one")
    p.add_argument("--away", action="store_true", help="owners are away; no job hangs")
    p.add_argument("--keep", type=pathlib.Path, help="what each seed did, as JSON")
    a = p.parse_args()
    why = cluster.missing(cluster.Plan("", namespaces=True))
    if why:
        print("slurm_day: skipped: %s" % why, file=sys.stderr)
        return 0
    days = []
    for seed in map(int, a.seeds.split(",")):
        with tempfile.TemporaryDirectory(prefix="brim-bench-day-") as folder:
            days.append(run_day(pathlib.Path(folder), seed, a))
        if a.keep:
            a.keep.write_text(json.dumps(days, indent=1) + "\n", "ascii")
    tell(days, "alone", "<= %d" % MOST)
    tell(days, "control", ">= %d" % LEAST)
    wrong = [words for day in days for side in day.values() for words in side["wrong"]]
    row("slurm day: jobs that were harmed", len(wrong), "", "<= 0", "; ".join(wrong[:5]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
