#!/usr/bin/env python3
"""What brim run costs a job: the time of a step with and without it, of pairs in the order ABBA, on
a job that computes on all CPUs, sampled once a second. The confidence interval is that of the mean
of the pairs' ratios (Student's t). Needs torch."""

import math
import os
import statistics
import subprocess
import sys
import tempfile

BRIM = os.path.abspath(os.environ["BRIM"])
JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jobs", "train.py")
PYTHON = "/usr/bin/python3"
PAIRS = int(os.environ.get("PAIRS", "20"))
SECONDS = os.environ.get("SECONDS_EACH", "6")
# of two sides, 95 %: from tables of Student's t by degrees of freedom
T95 = {5: 2.571, 7: 2.365, 9: 2.262, 11: 2.201, 15: 2.131, 19: 2.093, 29: 2.045, 39: 2.023}


def t95(n):
    return T95[max(k for k in T95 if k <= max(5, n - 1))]


def step(watched, env):
    options = ["--model", "mlp", "--width", "768", "--batch", "64", "--seconds", SECONDS]
    command = [PYTHON, JOB] + options
    if watched:
        command = [BRIM, "run", "--quiet", "--interval", "1s", "--"] + command
    words = subprocess.check_output(command, env=env, encoding="utf-8").split()
    return float(words[words.index("median_s") + 1])


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "OMP_"))}
    env["OMP_NUM_THREADS"] = "%d" % os.cpu_count()
    ratios = []
    with tempfile.TemporaryDirectory(prefix="brim-overhead-") as folder:
        env["STATE_DIRECTORY"] = folder
        for i in range(PAIRS):
            order = (False, True) if i % 2 == 0 else (True, False)
            took = {watched: step(watched, env) for watched in order}
            ratios.append(100 * (took[True] / took[False] - 1))
            print("pair %d: %+.2f %%" % (i + 1, ratios[-1]), file=sys.stderr)
    mean = statistics.mean(ratios)
    half = t95(len(ratios)) * statistics.stdev(ratios) / math.sqrt(len(ratios))
    note = "95 %% within %+.2f and %+.2f, median %+.2f, load %.1f" % (
        mean - half,
        mean + half,
        statistics.median(ratios),
        os.getloadavg()[0],
    )
    print("brim run: longer steps\t%.3f\t%%\t\t%s" % (mean, note))


if __name__ == "__main__":
    main()
