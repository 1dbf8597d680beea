#!/usr/bin/env python3
"""Kill -9 the engine of the queue at moments of chance while short jobs run; script/soak runs it.

    BRIM=... tests/soak/local_kill.py [--jobs 500] [--kills 100] [--seed 1] [--idle | --resize]

Jobs are real processes: plain ones, which write a line when they begin and one when they end, with
exit statuses of all kinds; an array; and ones that count with a checkpoint, give way to those of a
higher priority, and go on from there. While they are submitted and run the engine is killed,
whatever it does. With --idle the policy takes CPUs from jobs that are idle, and some of those that
count sleep between numbers, longer than that. With --resize jobs have invented devices, and those
that count go on with fewer or more of them. Then each plain job must have begun once and ended
once, each one that counts must have counted each number once and in order, no device may have had
two jobs at once, and the queue must tell each one's exit status."""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import groups

PLAIN = 'echo s >>"$0"; sleep "$1"; echo e >>"$0"; exit "$2"'
ARRAY = 'echo s >>"$0.$BRIM_ARRAY_TASK"; sleep 0.02; echo e >>"$0.$BRIM_ARRAY_TASK"'
# A checkpoint is whole or not there; a number is told once its checkpoint is on the disk.
COUNT = """
i=$(cat "$0.at" 2>/dev/null || echo 0)
asked=0
trap 'asked=1' TERM
while [ "$i" -lt "$1" ]; do
    sleep 0.02
    i=$((i + 1))
    echo "$i" >"$0.new"
    echo "$i" >>"$0"
    mv "$0.new" "$0.at"
    [ "$asked" = 1 ] && [ "$i" -lt "$1" ] && exit 75
done
exit 0
"""
# One that sleeps is idle, and is asked for its checkpoint while it does.
NAP = COUNT.replace("sleep 0.02", "sleep 1.5")
# It has its devices alone, as many as it is told.
HOLDS = """
trap 'asked=1' TERM
devices=$(echo "$CUDA_VISIBLE_DEVICES" | tr , ' ')
for d in $devices; do mkdir "${0%/*}/device$d" || echo "device $d was given twice" >>"$0"; done
trap 'for d in $devices; do rmdir "${0%/*}/device$d"; done' EXIT
[ $(echo $devices | wc -w) = "$BRIM_DEVICES" ] || echo "not $BRIM_DEVICES: $devices" >>"$0"
"""
POLICY = """[policy]
order = fifo
priorities = yes
preempt = victims
"""
IDLE = POLICY + """[idle]
warn = 300ms
reclaim = 600ms
action = requeue
"""
RESIZE = POLICY + """[elastic]
every = 50ms
"""
END_S = 240.0  # from the last submission until all must have ended
COUNTERS = 6
NUMBERS = 30
NAPS = 4


class Queue:
    def __init__(self, program, folder, text, more):
        self.program = program
        self.folder = folder
        conf = folder / "brim.conf"
        policy = folder / "policy.ini"
        policy.write_text(text)
        conf.write_text("[queue]\nidle = 5s\n%s" % more +
                        ("policy = %s\n" % policy if text else ""))
        self.env = dict(os.environ, STATE_DIRECTORY=str(folder), BRIM_CONF=str(conf))

    def call(self, *args):
        return subprocess.run(
            [self.program, *args], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=120,
        )

    def out(self, *args):
        done = self.call(*args)
        if done.returncode:
            raise SystemExit("brim %s: %s" % (" ".join(args[:4]), done.stderr))
        return done.stdout

    def jobs(self):
        return json.loads(self.out("jobs", "--all", "--json"))["jobs"]

    def engine(self):
        """The engine that holds the lock; None."""
        try:
            pid = int((self.folder / "queue" / "lock").read_text())
            name = pathlib.Path("/proc/%d/cmdline" % pid).read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        return pid if b"queue" in name and str(self.folder).encode() in b" ".join(name) else None


    def end(self):
        """The engine ends, before its folder goes."""
        pid, end = self.engine(), time.monotonic() + END_S
        if pid:
            os.kill(pid, signal.SIGTERM)
        while pid and os.path.exists("/proc/%d/stat" % pid) and time.monotonic() < end:
            time.sleep(0.02)


class Killer(threading.Thread):
    """Kills the engine again and again until it has done so often enough."""

    def __init__(self, queue, kills, chance):
        super().__init__()
        self.queue, self.kills, self.chance = queue, kills, chance
        self.done = 0
        self.last = 0
        self.over = threading.Event()

    def run(self):
        while self.done < self.kills and not self.over.is_set():
            self.over.wait(self.chance.uniform(0, 0.2))
            pid = self.queue.engine()
            if pid is None or pid == self.last:
                # nobody woke it yet: the next command does
                if self.chance.random() < 0.2:
                    self.queue.call("jobs")
                continue
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            self.last = pid
            self.done += 1


def submit(queue, work, n, naps, resize, chance):
    """All of them, in a random order: what must become of each id."""
    wanted = {}
    holds = HOLDS if resize else ""
    few = ["-d2", "-c1", "--no-watch"] if resize else []
    many = ["-d8", "--min-devices", "2", "--no-watch"] if resize else []
    kinds = ["plain"] * (n - n // 5 - COUNTERS) + ["array"]
    chance.shuffle(kinds)
    for i in range(COUNTERS):  # early, so that others come that go before them
        kinds.insert(3 * i, "count")
    for i in range(naps):
        kinds.insert(5 * i + 2, "nap")
    for number, kind in enumerate(kinds):
        trace = work / ("%s%d" % (kind, number))
        if kind == "plain":
            status = chance.choice([0, 0, 0, 1, 3, 75])
            urgent = ["-p", "10"] if chance.random() < 0.3 else []
            job = queue.out(
                "submit", *urgent, *few, "sh", "-c", holds + PLAIN, str(trace),
                "%.3f" % chance.uniform(0, 0.06), str(status),
            )
            wanted[int(job)] = (kind, trace, status)
        elif kind in ("count", "nap"):
            script, most = (COUNT, NUMBERS) if kind == "count" else (NAP, NAPS)
            job = queue.out("submit", "--requeue", *many, "sh", "-c", holds + script, str(trace),
                            str(most))
            wanted[int(job)] = (kind, trace, 0)
        else:
            tasks = n // 5
            numbers = "0-%d%%2" % (tasks - 1)
            job = int(queue.out("submit", "--array", numbers, "sh", "-c", ARRAY, str(trace)))
            for task in range(tasks):
                wanted[job + task] = (kind, pathlib.Path("%s.%d" % (trace, task)), 0)
    return wanted


def wait(queue):
    end = time.monotonic() + END_S
    while True:
        jobs = queue.jobs()
        left = [j for j in jobs if j["state"] in ("waiting", "running", "stopping", "held")]
        if not left or time.monotonic() > end:
            return jobs, left
        time.sleep(0.3)


def lines(path):
    try:
        return path.read_text().split()
    except OSError:
        return []


def check(wanted, jobs):
    """Sentences about what is wrong."""
    told = {j["id"]: j for j in jobs}
    bad = []
    if len(told) != len(wanted):
        bad.append("%d jobs were submitted, the queue tells of %d" % (len(wanted), len(told)))
    for job, (kind, trace, status) in sorted(wanted.items()):
        j = told.get(job)
        if j is None:
            bad.append("job %d is lost" % job)
            continue
        if j["exit"] != status or j["state"] != ("failed" if status else "done"):
            bad.append("job %d: exit %s, %s: %s" % (job, j["exit"], j["state"], j["reason"]))
        most = {"count": NUMBERS, "nap": NAPS}.get(kind)
        want = [str(i + 1) for i in range(most)] if most else ["s", "e"]
        if lines(trace) != want:
            bad.append("job %d (%s) wrote %s" % (job, kind, lines(trace)))
        if not most and j["attempts"] != 1:
            bad.append("job %d had %d attempts" % (job, j["attempts"]))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--kills", type=int, default=int(os.environ.get("SOAK_LOCAL_KILLS", "100")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("--resize", action="store_true")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="brim-local-kill-") as work:
        folder = pathlib.Path(work)
        (folder / "trace").mkdir()
        text = IDLE if options.idle else RESIZE if options.resize else ""
        more = ("interval = 100ms\n" if options.idle else
                "fake = 8xH100-SXM5-80GB\n" if options.resize else "")
        queue = Queue(os.environ["BRIM"], folder, text, more)
        begin = time.monotonic()
        killer = Killer(queue, options.kills, random.Random(options.seed + 1))
        killer.start()
        try:
            naps = 6 if options.idle else 0
            wanted = submit(queue, folder / "trace", options.jobs, naps, options.resize, chance)
            jobs, left = wait(queue)
        finally:
            killer.over.set()
            killer.join()
        bad = ["job %s is %s: %s" % (j["job"], j["state"], j["reason"]) for j in left]
        bad += check(wanted, jobs)
        queue.out("jobs")
        queue.end()
        groups.drop(queue.folder / "queue")
        attempts = sum(j["attempts"] for j in jobs)
        states = collections.Counter(j["state"] for j in jobs)
        print(
            "%d jobs, %d attempts, %d kills of the engine in %.0f s: %s; %d wrong"
            % (len(jobs), attempts, killer.done, time.monotonic() - begin, dict(states), len(bad))
        )
        if options.idle:
            stopped = sum("were idle" in j.get("stopped", "") for j in jobs)
            print("  %d jobs were stopped because they were idle" % stopped)
            if not stopped:
                bad.append("no idle job was stopped")
        if options.resize:
            log = (queue.folder / "queue" / "engine.log").read_text()
            resized = log.count(" goes from ")
            print("  jobs were resized %d times" % resized)
            if not resized:
                bad.append("no job was resized")
        for sentence in bad[:20]:
            print("  " + sentence)
        if killer.done < options.kills:
            print("  only %d kills: the jobs ended before" % killer.done)
    return 1 if bad or killer.done < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
