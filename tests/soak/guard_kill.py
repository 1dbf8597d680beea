#!/usr/bin/env python3
"""Kill -9 engine, guards, first processes, and guards with their first processes, at moments of
chance, below the jobs of two users; script/soak runs it, as root.

    BRIM=... tests/soak/guard_kill.py [--jobs 300] [--kills 200] [--seed 1]

Each job has ranks in sessions of their own; some ignore SIGTERM, some outlive their first process.
All processes of an attempt hold a lock of the job and one of the device that they were given, for
as long as they live. Then no attempt may have found a lock held (a job beside itself, a device
given twice), each job must have ended as what was done to it says, and no control group may be
left."""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import groups

USERS = (("nobody", 65534, 65534), ("daemon", 1, 1))
JOB = """
exec 9>>"$0.lock" 8>>"$1/gpu.$CUDA_VISIBLE_DEVICES"
flock -n 9 || echo beside >>"$0"
flock -n 8 || echo twice >>"$0"
echo "s$BRIM_ATTEMPT" >>"$0"
for rank in 0 1; do
    setsid sh -c "$3"' sleep "$0"; sleep 0.1' "$2" &
done
[ -n "$4" ] || wait
echo e >>"$0"
"""
DEVICES = 2
END_S = 600.0


class Engine(threading.Thread):
    """Runs the queue for all users as a service does: again as soon as it has gone."""

    def __init__(self, program, env, log):
        super().__init__()
        self.args, self.env, self.log = [program, "queue"], env, log
        self.over = threading.Event()
        self.now = None
        self.runs = 0

    def run(self):
        while not self.over.is_set():
            self.now = subprocess.Popen(self.args, env=self.env, stderr=self.log)
            self.runs += 1
            self.now.wait()

    def end(self):
        self.over.set()
        self.now.send_signal(signal.SIGTERM)
        self.join()


class Killer(threading.Thread):
    """Kills until it has done so often enough; remembers whose first process it killed."""

    def __init__(self, state, engine, kills, chance):
        super().__init__()
        self.state, self.engine, self.kills, self.chance = state, engine, kills, chance
        self.done = collections.Counter()
        self.firsts = set()
        self.over = threading.Event()

    def attempts(self):
        """(job, guard, first process) of the attempts whose guard lives."""
        found = []
        for claim in self.state.glob("jobs/*/claim.*"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                if not re.fullmatch(r"claim\.\d+", claim.name):
                    continue
                guard = int(claim.read_text().split()[0])
                if pathlib.Path("/proc/%d/comm" % guard).read_text() != "brim-guard\n":
                    continue
                note = (claim.parent / claim.name.replace("claim", "start")).read_bytes()
                first = int(re.search(rb"pid=(\d+)", note).group(1))
                found.append((int(claim.parent.name), guard, first))
        return found

    def kill_one(self):
        what = self.chance.choice(("engine", "guard", "first", "both"))
        if what == "engine":
            os.kill(self.engine.now.pid, signal.SIGKILL)
            self.done[what] += 1
            return
        attempts = self.attempts()
        if not attempts:
            return
        job, guard, first = self.chance.choice(attempts)
        if what != "guard":
            self.firsts.add(job)
        with contextlib.suppress(ProcessLookupError):
            if what != "first":
                os.kill(guard, signal.SIGKILL)
            if what != "guard":
                os.kill(first, signal.SIGKILL)
            self.done[what] += 1

    def run(self):
        while sum(self.done.values()) < self.kills and not self.over.is_set():
            self.over.wait(self.chance.uniform(0, 0.4))
            with contextlib.suppress(ProcessLookupError):
                self.kill_one()


class Queue:
    def __init__(self, program, folder):
        self.program, self.folder, self.state = program, folder, folder / "queue"
        conf = folder / "brim.conf"
        conf.write_text("[queue]\nfake = %dxH100-SXM5-80GB\n" % DEVICES)
        self.env = dict(os.environ, STATE_DIRECTORY=str(folder), BRIM_CONF=str(conf))

    def out(self, *args, **how):
        """What it prints; asked again while the engine is away."""
        for _ in range(20):
            done = subprocess.run(
                [self.program, *args], env=self.env, stdin=subprocess.DEVNULL, cwd="/",
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                timeout=120, **how
            )
            if done.returncode == 0:
                return done.stdout
        raise SystemExit("brim %s: %s" % (" ".join(args[:4]), done.stderr))

    def jobs(self):
        return json.loads(self.out("jobs", "--all", "--json"))["jobs"]


def submit(queue, work, n, chance):
    """All of them: the trace of each id."""
    traces = {}
    for number in range(n):
        _, uid, gid = chance.choice(USERS)
        trace = work / ("job%d" % number)
        stubborn = 'trap "" TERM;' if chance.random() < 0.15 else ""
        leaves = "yes" if chance.random() < 0.2 else ""
        seconds = "%.2f" % chance.uniform(0.1, 0.8)
        job = queue.out(
            "submit", "--requeue", "-d1", "--no-watch", "sh", "-c", JOB, str(trace), str(work),
            seconds, stubborn, leaves, user=uid, group=gid, extra_groups=[],
        )
        traces[int(job)] = trace
    return traces


def wait(queue):
    end = time.monotonic() + END_S
    while True:
        jobs = queue.jobs()
        left = [j for j in jobs if not j["ended"]]
        if not left or time.monotonic() > end:
            return jobs, left
        time.sleep(0.5)


def check(traces, jobs, firsts):
    """Sentences about what is wrong."""
    told = {j["id"]: j for j in jobs}
    bad = []
    if set(told) != set(traces):
        bad.append("%d jobs were submitted, the queue tells of %d" % (len(traces), len(told)))
    for job, trace in sorted(traces.items()):
        lines = trace.read_text().split() if trace.exists() else []
        j = told.get(job, {"state": "not told", "reason": "", "exit": None})
        if "beside" in lines:
            bad.append("job %d ran beside itself: %s" % (job, lines))
        if "twice" in lines:
            bad.append("job %d was given a device that another one had: %s" % (job, lines))
        if len(set(lines)) < len([x for x in lines if x.startswith("s")]):
            bad.append("job %d began an attempt twice: %s" % (job, lines))
        if j["state"] == "done" and lines[-1:] == ["e"]:
            continue
        if j["state"] == "failed" and j["exit"] == 128 + signal.SIGKILL and job in firsts:
            continue
        bad.append("job %d is %s, exit %s, %s: %s"
                   % (job, j["state"], j["exit"], j["reason"], lines))
    return bad


def left_groups(state):
    """Control groups of the queue's jobs."""
    guards = {"brim-job-%s.%s" % (claim.parent.name, claim.read_text().split()[0])
              for claim in state.glob("jobs/*/claim.*")}
    return [folder for folder, _, _ in os.walk("/sys/fs/cgroup")
            if os.path.basename(folder) in guards]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--kills", type=int, default=int(os.environ.get("SOAK_GUARD_KILLS", "200")))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("only root has a queue for all users: not run")
        return 0
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="brim-guard-kill-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        work = folder / "work"
        work.mkdir()
        work.chmod(0o777)
        for device in range(DEVICES):
            (work / ("gpu.%d" % device)).touch()
            (work / ("gpu.%d" % device)).chmod(0o666)
        queue = Queue(os.environ["BRIM"], folder)
        begin = time.monotonic()
        with open(str(folder / "log"), "w") as log:
            engine = Engine(queue.program, queue.env, log)
            engine.start()
            while not (queue.state / "socket").exists():
                time.sleep(0.02)
            killer = Killer(queue.state, engine, options.kills, random.Random(options.seed + 1))
            killer.start()
            try:
                traces = submit(queue, work, options.jobs, chance)
                jobs, left = wait(queue)
            finally:
                killer.over.set()
                killer.join()
            bad = ["job %s is %s: %s" % (j["job"], j["state"], j["reason"]) for j in left]
            bad += check(traces, jobs, killer.firsts)
            engine.end()
        found = left_groups(queue.state)
        bad += ["the control group %s is left" % group for group in found]
        groups.drop(queue.state)
        kills = sum(killer.done.values())
        print("%d jobs of %d users, %d attempts, %d kills %s, %d engines in %.0f s: %s; %d wrong"
              % (len(jobs), len(USERS), sum(j["attempts"] for j in jobs), kills,
                 dict(killer.done), engine.runs, time.monotonic() - begin,
                 dict(collections.Counter(j["state"] for j in jobs)), len(bad)))
        for sentence in bad[:20]:
            print("  " + sentence)
        if kills < options.kills:
            print("  only %d kills: the jobs ended before" % kills)
    return 1 if bad or kills < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
