#!/usr/bin/env python3
"""brim control on a real Slurm: how long it takes from its decision until the job that waited runs,
until a node with a lost GPU is drained and its job requeued, and until that job runs elsewhere; how
long a cycle takes on 256 slurmd; and whether anything is done twice or lost when it is killed at
random moments while it acts. Prints lines of five fields with tabs between them, for script/bench.

    script/bench slurm_control [--kills N] [--rounds N] [--nodes N] [--seed N]

A kill has a round of 24 jobs that keep a GPU each idle on three nodes, three jobs that wait for a
node each, and one that works on the fourth: 24 owners are told and 24 jobs requeued, which controls
do that are killed one after the other, until one is not needed any more. When a control is killed
is drawn by turns from the time in which one that nobody killed acted, and from the deeds that are
left. After each round the next control looks: each job that was idle was told, and requeued once,
in Slurm and in the book; the jobs that waited run; the one that works was let alone; nothing is
being done any more.

Needs root, slurm-wlm, munge and iproute2; without them nothing is measured."""

import argparse
import contextlib
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e" / "slurm"))
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent / "jobs"))
import cluster  # noqa: E402
import control_site  # noqa: E402
import slurm_speed  # noqa: E402

GPUS = control_site.GPUS
IDLE_NODES = 3
ACTED = re.compile(rb"job \d+ (keeps|gives up) \d+ devices?")


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


def begin(site, book, what, output=subprocess.DEVNULL):
    """brim control, where slurmctld is."""
    pid = str(site.slurm.pids()["slurmctld"])
    words = ["control", what, *site.words("act", book)]
    return subprocess.Popen(
        ["nsenter", "-t", pid, "--net", "--uts", control_site.BRIM, *words], env=site.slurm.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output,
    )


# ---- how long it takes ----

def idle_and_due(site, book):
    """Three jobs, the first of which has kept its GPUs idle for longer than it may."""
    idle, busy, waits = site.jobs()
    while True:
        said = site.once("observe", book)
        if any(j["id"] == idle and j["idle_s"] > control_site.RECLAIM_S for j in said["jobs"]):
            return idle, busy, waits


def time_rounds(site, n):
    """From the start of the command that decides until the job that waited is seen to run."""
    took = []
    for i in range(n):
        _, _, waits = idle_and_due(site, "r%d" % i)
        began = time.monotonic()
        begin(site, "r%d" % i, "once").wait()
        took.append(started_s(site, waits) - began)
        site.end_jobs()
    return took


# ---- kills ----

class Round:
    """What is there when a control begins to act."""

    def __init__(self, site, book):
        self.site, self.book = site, book
        self.busy = self.submit("--gpus-per-node=%d" % GPUS, "-w", "n%d" % IDLE_NODES)
        first = self.submit("--gpus-per-node=1", "--array=1-%d" % (IDLE_NODES * GPUS),
                            "--exclude=n%d" % IDLE_NODES)
        self.idle = cluster.wait_for(lambda: self.tasks(first), "all tasks of the array")
        self.waits = [self.submit("--gpus-per-node=%d" % GPUS) for _ in range(IDLE_NODES)]
        cluster.wait_for(self.are_due, "idle jobs")

    def submit(self, *options):
        return self.site.slurm.submit("exec sleep 3600\n", "--requeue", *options)

    def tasks(self, array):
        """The jobs of an array, when all of them run."""
        said = self.site.slurm.run("squeue", "-h", "-r", "-t", "RUNNING", "-o", "%F %A")[1]
        rows = [list(map(int, line.split())) for line in said.splitlines()]
        found = [job for of, job in rows if of == array]
        return found if len(found) == IDLE_NODES * GPUS else None

    def are_due(self):
        """Under --mode propose nobody is told yet."""
        said = self.site.once("propose", self.book)["jobs"]
        due = [j["id"] for j in said if (j["idle_s"] or 0) > control_site.RECLAIM_S]
        return set(self.idle) <= set(due)

    def left(self):
        """How many of those that were idle have not been requeued."""
        return sum(state == "RUNNING" for state in self.states(self.idle))

    def states(self, jobs):
        said = self.site.slurm.run("squeue", "-h", "-r", "-t", "all", "-o", "%A %T")[1]
        of = dict(line.split() for line in said.splitlines())
        return [of[str(job)] for job in jobs]

    def wrong(self):
        """What is not as it should be, in sentences."""
        found = []
        for _ in range(2):  # the first one settles what it finds, the second one has all done
            self.site.once("act", self.book)
        for job in self.waits:
            self.site.slurm.wait_job(job, "RUNNING")
        self.site.once("act", self.book)
        actions = self.site.actions(self.book)
        for job in self.idle:
            did = [a["action"] for a in actions if a["job"] == job and a["state"] == "done"]
            known = self.site.slurm.job(job)
            if (did.count("requeue"), known["Restarts"]) != (1, "1"):
                found.append("job %d: %d requeues in the book, %s restarts" %
                             (job, did.count("requeue"), known["Restarts"]))
            if did.count("warn") > 1 or known.get("AdminComment") != "brim:":
                found.append("job %d was not told, or is in the book as told twice" % job)
        known = self.site.slurm.job(self.busy)
        if (known["JobState"], known["Restarts"]) != ("RUNNING", "0"):
            found.append("the job that works was touched")
        if any(a["state"] == "due" for a in actions):
            found.append("something is still due")
        if any(a["job"] == self.busy for a in actions):
            found.append("something was decided about the job that works")
        return found


def measure(site, book):
    """When a control that nobody kills acts for the first and the last time, in seconds after its
    start."""
    one = Round(site, book)
    began = time.monotonic()
    control = begin(site, book, "run", subprocess.PIPE)
    times = []
    for line in control.stderr:
        if ACTED.search(line):
            times.append(time.monotonic() - began)
        if len(times) == 2 * len(one.idle):
            break
    site.stop(control)
    control.stderr.close()
    site.end_jobs()
    return times[0], times[-1]


def kill_one(one, span, at, by_deeds):
    """One control is killed: whether it was acting, by the book. When: a time after its start, or
    (by_deeds) after so many of the requeues that are left."""
    before, log = one.left(), one.site.folder / "killed.log"
    deeds, pause = 0, at.uniform(*span)
    if by_deeds:
        deeds, pause = at.randint(1, before), at.uniform(0, (span[1] - span[0]) / len(one.idle))
    with open(log, "wb") as output:
        control = begin(one.site, one.book, "run", output)
    end = time.monotonic() + cluster.PATIENCE_S
    while log.read_bytes().count(b" gives up ") < deeds and time.monotonic() < end:
        time.sleep(0.001)
    with contextlib.suppress(subprocess.TimeoutExpired):
        control.wait(pause)
    control.send_signal(signal.SIGKILL)
    control.wait()
    return any(a["state"] == "due" for a in one.site.actions(one.book))


def kill_round(site, book, most, span, at):
    """Kill controls until all is done; how many, how many of them while they acted, what is
    wrong."""
    one = Round(site, book)
    kills = acting = 0
    while kills < most and one.left() > 0:
        acting += kill_one(one, span, at, kills % 2)
        kills += 1
    wrong = one.wrong()
    site.end_jobs()
    return kills, acting, wrong


def kill_rounds(site, n, seed):
    spans = [measure(site, "m%d" % i) for i in range(3)]
    span = tuple(statistics.median(times) for times in zip(*spans))
    print("slurm_control: acts from %.3f to %.3f s after its start" % span, file=sys.stderr)
    at, kills, acting, rounds, wrong = random.Random(seed), 0, 0, 0, []
    while kills < n:
        more, inside, found = kill_round(site, "k%d" % rounds, n - kills, span, at)
        kills, acting, rounds, wrong = kills + more, acting + inside, rounds + 1, wrong + found
        print("slurm_control: round %d: %d of %d kills, %d while it acted; %s" % (
            rounds, kills, n, acting, "; ".join(found) or "all right"), file=sys.stderr)
    return kills, acting, rounds, wrong


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--kills", type=int, default=100)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--nodes", type=int, default=256)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="brim-bench-slurm-") as folder:
        work = pathlib.Path(folder)
        timed = cluster.Plan(str(work / "two"), nodes=2, gpus=GPUS, namespaces=True)
        killed = cluster.Plan(str(work / "four"), nodes=IDLE_NODES + 1, gpus=GPUS, namespaces=True)
        why = cluster.missing(timed)
        if why:
            print("slurm_control: skipped: %s" % why, file=sys.stderr)
            return 0
        with there(timed, work / "timed", (0, 0.9)) as site:
            took = time_rounds(site, a.rounds)
            note = "median of %d; the worst %.2f s" % (len(took), max(took))
            row("control: decision to running", statistics.median(took), "s", "<= 1", note)
            drains(site, a.rounds)
        many(work, a.nodes)
        with there(killed, work / "killed", (0,) * IDLE_NODES + (0.9,)) as site:
            kills, acting, rounds, wrong = kill_rounds(site, a.kills, a.seed)
            note = "%d kills, %d of them while deeds were due; %d requeues, seed %d; %s" % (
                kills, acting, rounds * IDLE_NODES * GPUS, a.seed, "; ".join(wrong[:3]))
            row("control: killed while it acts, wrong", len(wrong), "", "<= 0", note.rstrip("; "))
    return 0


def drains(site, rounds):
    site.play("n0", 0.9)
    took = [slurm_speed.drain_once(site, i, begin) for i in range(rounds)]
    acted, again = ([t[i] for t in took] for i in (0, 1))
    note = "median of %d; the worst %.2f s" % (rounds, max(acted))
    row("control: node drained, job requeued", statistics.median(acted), "s", "<= 0.5", note)
    note = "cred_expire is 5 s here; the worst %.1f s" % max(again)
    row("control: requeued job runs again", statistics.median(again), "s", "<= 10", note)


def many(work, nodes):
    (work / "many").mkdir()
    up_s, took, said = slurm_speed.cycles(work / "many", nodes, GPUS, 7)
    note = "%d slurmd, %d GPUs, %d jobs; up in %.1f s; the worst %.2f s" % (
        nodes, said["gpus"], said["jobs_holding"] + said["jobs_waiting"], up_s, max(took))
    row("control: a cycle on many slurmd", statistics.median(took), "s", "", note)


@contextlib.contextmanager
def there(plan, folder, busy):
    """A cluster of that plan, with agents."""
    folder.mkdir()
    with cluster.Cluster(plan) as slurm:
        site = control_site.Site(slurm, folder, busy)
        try:
            yield site
        finally:
            site.down()


if __name__ == "__main__":
    os.environ.setdefault("BRIM", "brim")
    sys.exit(main())
