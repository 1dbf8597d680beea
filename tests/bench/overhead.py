#!/usr/bin/env python3
"""What brim run costs a job that computes on all CPUs, sampled once a second.

1. The time of a step with and without brim, of one and the same job: brim is stopped and continued
   (SIGSTOP, SIGCONT) in phases of a second, one sample in each, in the order ABBA or BAAB, which is
   drawn, so that neither the start of a process nor where its memory lies is a part of the
   difference, nor what drifts. Marks are made in both. A block of four phases gives a ratio of mean
   step times (a median would leave out what comes once a second); told is the middle of the blocks
   and 95 % about it (paired.py), until half of that is below 0.1 % or the time is over. Blocks in
   which others used more than 1 % of the CPUs are left out, whatever they say.
2. The CPU time that the same work takes, of all threads, from the same blocks: whoever is on a CPU
   meanwhile is not in it, so that it varies less; it has what brim costs by caches and interrupts.
3. The CPU time that brim takes beside it in a second, and that of the job's marks: no machine's
   noise is in them. 2 and 3 are what it costs where work is divided freely; who computes on all
   CPUs and waits for the last one loses as much as brim takes of one CPU.
4. The same as 1 of the first and the last half of each block: what the machine adds by itself.
5. How much longer the steps are about brim's wakes (one a second, for a sample) than the others of
   the tenth of a second before and behind: in the phases with brim, less the same at the same
   moments in those without. Slower drift is in none of it; what brim does, it does then.

    script/bench overhead [--minutes N] [--seed N]
"""

import argparse
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import paired

BRIM = os.path.abspath(os.environ["BRIM"])
PHASE, SETTLE = 1.0, 0.15  # a whole second, so that each has as many samples
ORDERS = ("ABBA", "BAAB")  # A: with brim
FOREIGN, BLOCKS_LEAST, BLOCKS_MOST = 0.01, 20, 400
HALF_WIDTH = 0.1  # percent
STEP_US = 2000
WAKE_S = 1.0  # of a job that computes (run/job/sample_rate.h)
CALM_S = 13  # until it is taken for one
ABOUT_S, BESIDE_S = 0.012, 0.1  # behind a wake: a sample takes 1 to 2 ms


def find_job():
    folder = os.path.dirname(BRIM)
    while folder != "/":
        at = os.path.join(folder, "tests", "bench", "jobs", "spin")
        if os.path.exists(at):
            return at
        folder = os.path.dirname(folder)
    sys.exit("overhead: the job 'spin' was not built beside %s" % BRIM)


def cpu_of(pid):
    """Seconds on a CPU, of all threads of a process, to the nanosecond."""
    total = 0
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, thread)) as f:
            total += int(f.read().split()[0])
    return total / 1e9


def busy():
    """Seconds on all CPUs together, of whoever was on them, the hypervisor's among them."""
    with open("/proc/stat") as f:
        ticks = [int(x) for x in f.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


class Used:
    """CPU time of brim, and of those that are neither brim nor its job nor we."""

    def __init__(self, brim):
        with open("/proc/%d/task/%d/children" % (brim, brim)) as f:
            self.pids = [int(x) for x in f.read().split()]
        self.brim = brim
        self.at = self.now()

    def now(self):
        own = sum(os.times()[:2]) + sum(cpu_of(pid) for pid in self.pids)
        brim = cpu_of(self.brim)
        return brim, busy() - own - brim

    def since(self):
        now = self.now()
        return [b - a for a, b in zip(self.at, now)]


def next_wake(pid):
    """When brim's timer is due, by time.monotonic(): it keeps its beat while brim is stopped."""
    for number in os.listdir("/proc/%d/fdinfo" % pid):
        with open("/proc/%d/fdinfo/%s" % (pid, number)) as f:
            now, text = time.monotonic(), f.read()
        found = re.search(r"it_value: \((\d+), (\d+)\)\nit_interval: \((\d+), (\d+)\)", text)
        if found and int(found[3]) + int(found[4]) / 1e9 == WAKE_S:
            return now + int(found[1]) + int(found[2]) / 1e9
    sys.exit("overhead: brim run has no timer of %g s" % WAKE_S)


def sleep_until(at):
    left = at - time.monotonic()
    if left > 0:
        time.sleep(left)


class Output:
    """The job's segments as far as it has written them: (end, seconds, CPU seconds, steps...)."""

    def __init__(self, path):
        self.file, self.rest = open(path), ""
        self.segments, self.last = [], ""

    def read(self):
        text = self.rest + self.file.read()
        lines = text.split("\n")
        self.rest = lines.pop()
        for line in lines:
            words = line.split()
            if words[0] == "marks":
                self.last = line
            else:
                self.segments.append([int(x) / 1e9 for x in words])

    def means(self, begin, end):
        """(seconds, CPU seconds) of a segment: those that lie in that time as a whole."""
        found = [s for s in self.segments if s[0] - s[1] >= begin and s[0] <= end]
        if len(found) < 10:
            sys.exit("overhead: the job was hardly running in a phase")
        return [sum(s[k] for s in found) / len(found) for k in (1, 2)]

    def lost(self, begin, wake, end):
        """Seconds by which the steps about the wake between two times are longer than the others
        near it; None when that wake was cut off."""
        steps = []
        for s in self.segments:
            at = s[0] - s[1]
            for took in s[3:]:
                steps.append((at, at + took))
                at += took
        wake += math.ceil((begin - wake) / WAKE_S) * WAKE_S
        if wake + ABOUT_S > end:
            return None
        near = [b - a for a, b in steps if b > wake and a < wake + ABOUT_S]
        first, last = max(begin, wake - BESIDE_S), min(end, wake + BESIDE_S)
        beside = [b - a for a, b in steps if first <= a and b <= wake]
        beside += [b - a for a, b in steps if wake + ABOUT_S <= a and b <= last]
        return sum(near) - len(near) * statistics.median(beside)

    def drop(self, end):
        self.segments = [s for s in self.segments if s[0] > end]


class Blocks:
    def __init__(self, p, out, rng):
        self.p, self.out, self.rng = p, out, rng
        self.wall, self.cpu, self.alike, self.lost = [], [], [], []  # percent, a block each
        self.wake = next_wake(p.pid)
        self.made, self.used, self.watched = 0, 0, 0
        self.at = time.monotonic()

    def phase(self, kind):
        self.p.send_signal(signal.SIGCONT if kind == "A" else signal.SIGSTOP)
        self.at += SETTLE
        sleep_until(self.at)
        counts = Used(self.p.pid)
        begin, self.at = time.monotonic(), self.at + PHASE
        sleep_until(self.at)
        end = time.monotonic()
        brim, others = counts.since()
        if kind == "A":
            self.used += brim
            self.watched += end - begin
        return begin, end, others / (end - begin) / os.cpu_count()

    def block(self):
        order = self.rng.choice(ORDERS)
        phases = [self.phase(kind) for kind in order]
        time.sleep(0.05)  # for the segments of the last phase to be written
        self.at += 0.05
        self.out.read()
        found = [self.out.means(begin, end) for begin, end, _ in phases]
        lost = [self.out.lost(begin, self.wake, end) for begin, end, _ in phases]
        self.out.drop(phases[-1][1])
        others = max(phase[2] for phase in phases)

        def ratio(first, second, k):
            a, b = (sum(found[i][k] for i in who) for who in (first, second))
            return 100 * (a / b - 1)

        with_brim = [i for i in range(4) if order[i] == "A"]
        without = [i for i in range(4) if order[i] == "B"]
        self.made += 1
        told = (self.made, order, ratio(with_brim, without, 0), ratio(with_brim, without, 1))
        print("block %d %s wall %+.3f %%, CPU %+.3f %%" % told, end="", file=sys.stderr)
        print(", others %.1f %%" % (100 * others), file=sys.stderr)
        if others <= FOREIGN:
            self.wall.append(told[2])
            self.cpu.append(told[3])
            self.alike.append(ratio((0, 1), (2, 3), 0))
            if None not in lost:
                signs = [1 if kind == "A" else -1 for kind in order]
                self.lost.append(50 / WAKE_S * sum(a * b for a, b in zip(signs, lost)))


def measure(folder, minutes, rng):
    """The blocks, and the last line of the job."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("BRIM_")}
    env["STATE_DIRECTORY"] = folder
    limit = 60 * minutes
    job = [find_job(), "%g" % (limit + 10), "%d" % os.cpu_count(), "%d" % STEP_US]
    command = [BRIM, "run", "--quiet", "--interval", "1s", "--"] + job
    path = os.path.join(folder, "out")
    with open(path, "w") as out:
        p = subprocess.Popen(command, env=env, stdout=out)
    try:
        begin = time.monotonic()
        time.sleep(CALM_S)
        blocks = Blocks(p, Output(path), rng)
        a_block = 4 * (PHASE + SETTLE) + 0.1
        while time.monotonic() - begin + a_block < limit and len(blocks.wall) < BLOCKS_MOST:
            blocks.block()
            if blocks.made % 5 == 0 and paired.is_narrow(blocks.wall, HALF_WIDTH, BLOCKS_LEAST):
                break
        p.send_signal(signal.SIGCONT)
        time.sleep(0.2)
        p.send_signal(signal.SIGUSR1)  # goes on to the job: enough
        p.wait(60)
    except BaseException:
        p.send_signal(signal.SIGCONT)
        p.terminate()  # goes on to the job
        p.wait()
        raise
    blocks.out.read()
    return blocks, blocks.out.last.split()


def line(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.3f" % value, unit, limit, note]), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5, help="that it takes at most")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="brim-overhead-") as folder:
        blocks, words = measure(folder, a.minutes, random.Random(a.seed))
    marks = float(words[1]) * float(words[3]) * 1e-9
    direct = 100 * (blocks.used / blocks.watched + marks)
    high = {}
    for name, values in (
        ("longer steps", blocks.wall),
        ("more CPU time of the same work", blocks.cpu),
        ("longer steps, like halves", blocks.alike),
        ("longer steps about its wakes", blocks.lost),
    ):
        if len(values) <= 5:
            continue
        value, low, high[name] = paired.interval(values)
        told = "95 %% within %+.3f and %+.3f, %d of %d blocks"
        told %= (low, high[name], len(values), blocks.made)
        limit = "<= 0.1" if values is blocks.lost else ""
        line("brim run: " + name, value, "%", limit, told)
    note = "of one CPU: %.3f %% brim, %.3f %% marks (%s a second)"
    note %= (100 * blocks.used / blocks.watched, 100 * marks, words[1])
    line("brim run: CPU time beside a job", direct, "%", "<= 0.5", note)
    line("brim run: of all CPUs", direct / os.cpu_count(), "%", "<= 0.1")
    cpu = high.get("more CPU time of the same work")
    if cpu is not None:
        note = "upper end of what the same work takes more, and brim's share of all CPUs"
        line("brim run: both, at most", max(0, cpu) + direct / os.cpu_count(), "%", "", note)


if __name__ == "__main__":
    main()
