#!/usr/bin/env python3
"""What brim run costs a job that computes on all CPUs, sampled once a second, in two ways.

1. The time of a step with and without brim, of one and the same job: brim is stopped and continued
   (SIGSTOP, SIGCONT) in the order ABBA, three seconds each, so that neither the start of a process
   nor where its memory lies is a part of the difference. Marks are made in both. Each block gives
   a ratio of mean step times (a median would leave out what comes once a second); told is the
   median of the blocks, with 95 % of a bootstrap over them. Blocks in which others used more than
   1 % of the CPUs are left out; with fewer than five left nothing is told. The same of two halves
   that are alike shows what the machine adds by itself.
2. The CPU time that brim takes beside it in a second, and that of the job's marks: no machine's
   noise is in them. Who computes on all CPUs and waits for the last one loses that much at most.

    script/bench overhead          BLOCKS=20 in the environment: of 13 s each
"""

import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BRIM = os.path.abspath(os.environ["BRIM"])
BLOCKS = int(os.environ.get("BLOCKS", "20"))
STEP_US = int(os.environ.get("STEP_US", "2000"))
PHASE, SETTLE = 3.0, 0.2  # whole seconds, so that each has as many samples
ORDER = "ABBA"  # A: with brim
FOREIGN, BLOCKS_LEAST = 0.01, 5


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
    """Seconds on all CPUs together, of whoever was on them."""
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


def sleep_until(at):
    left = at - time.monotonic()
    if left > 0:
        time.sleep(left)


def run(folder, blocks):
    """The job's output, the phases as (kind, from, to, share of others), and brim's CPU time per
    second in A."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("BRIM_")}
    env["STATE_DIRECTORY"] = folder
    seconds = 4 + blocks * len(ORDER) * (PHASE + SETTLE)
    job = [find_job(), "%g" % seconds, "%d" % os.cpu_count(), "%d" % STEP_US]
    command = [BRIM, "run", "--quiet", "--interval", "1s", "--"] + job
    with open(os.path.join(folder, "out"), "w+") as out:
        p = subprocess.Popen(command, env=env, stdout=out)
        phases, used, watched = [], 0, 0
        try:
            at = time.monotonic() + 3
            sleep_until(at)
            for kind in ORDER * blocks:
                p.send_signal(signal.SIGCONT if kind == "A" else signal.SIGSTOP)
                at += SETTLE
                sleep_until(at)
                counts = Used(p.pid)
                begin, at = time.monotonic(), at + PHASE
                sleep_until(at)
                took = time.monotonic() - begin
                brim, others = counts.since()
                phases.append((kind, begin, begin + took, others / took / os.cpu_count()))
                if kind == "A":
                    used += brim
                    watched += took
            p.send_signal(signal.SIGCONT)
            p.wait(60)
        except BaseException:
            p.send_signal(signal.SIGCONT)
            p.terminate()  # goes on to the job
            p.wait()
            raise
        out.seek(0)
        return out.read().splitlines(), phases, used / watched


def means(lines, phases):
    """Mean time of a segment in each phase: those that lie in it as a whole."""
    segments = [tuple(int(x) / 1e9 for x in line.split()) for line in lines]
    found, i = [], 0
    for _, begin, end, _ in phases:
        took = []
        while i < len(segments) and segments[i][0] <= end:
            if segments[i][0] - segments[i][1] >= begin:
                took.append(segments[i][1])
            i += 1
        if len(took) < 10:
            sys.exit("overhead: the job was hardly running in a phase")
        found.append(statistics.mean(took))
    return found


def interval(values, rng, draws=5000):
    """The median, and 95 % of the medians of draws with replacement."""
    drawn = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(draws))
    return statistics.median(values), drawn[draws // 40], drawn[-draws // 40 - 1]


def line(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.3f" % value, unit, limit, note]), flush=True)


def main():
    rng = random.Random(1)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="brim-overhead-") as folder:
        lines, phases, cpu = run(folder, BLOCKS)
    words = lines.pop().split()
    marks = float(words[1]) * float(words[3]) * 1e-9
    times = means(lines, phases)
    ratios, alike = [], []
    for i in range(0, len(times), len(ORDER)):
        a, b, c, d = times[i : i + len(ORDER)]
        others = max(phase[3] for phase in phases[i : i + len(ORDER)])
        ratio = 100 * ((a + d) / (b + c) - 1)
        print("block %+.3f %%, others %.1f %%" % (ratio, 100 * others), file=sys.stderr)
        if others <= FOREIGN:
            ratios.append(ratio)
            alike.append(100 * ((a + b) / (d + c) - 1))
    for name, values in (("longer steps", ratios), ("the same of like halves", alike)):
        if len(values) < BLOCKS_LEAST:
            continue
        value, low, high = interval(values, rng)
        told = "95 %% within %+.3f and %+.3f, %d of %d blocks"
        line("brim run: " + name, value, "%", "", told % (low, high, len(values), BLOCKS))
    note = "of one CPU: %.3f %% brim, %.3f %% marks (%s a second)"
    line(
        "brim run: CPU time beside a job",
        100 * (cpu + marks),
        "%",
        "<= 0.5",
        note % (100 * cpu, 100 * marks, words[1]),
    )
    line("brim run: of all CPUs", 100 * (cpu + marks) / os.cpu_count(), "%", "<= 0.1")


if __name__ == "__main__":
    main()
