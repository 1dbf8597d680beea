#!/usr/bin/env python3
"""False accepts on real PyTorch jobs: trials between two values that are the same.

    script/bench same [--trials 1000] [--block-ms 8] [--seconds 100]

Jobs of fast steps, one after the other, until there are that many trials. Each change is a request
that a job carries out (threads.intra=1, which it has). A session shares 5 % between five trials: of
1,000 that change nothing 10 may be accepted. Blocks are shorter than a session's 0.3 s, so that
trials are many; the number of steps in them is at least the same."""

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = "/usr/bin/python3"
BUILD = os.path.join(os.path.dirname(os.path.abspath(os.environ["BRIM"])), "..", "..")
SAME = os.path.join(BUILD, "tests", "bench", "jobs", "same")
KINDS = [
    ["--model", "mlp", "--width", "64", "--batch", "4"],
    ["--model", "mlp", "--width", "256", "--batch", "4"],
    ["--model", "cnn", "--width", "64", "--batch", "4"],
]


def one(options, trials, a):
    """How many trials a job's time was enough for, and how many were accepted."""
    rings = tempfile.mkdtemp(prefix="brim-same-", dir="/dev/shm")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "PYTHON"))}
    env.update(BRIM_RING=rings, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    env.update(PYTHONPATH=os.path.join(ROOT, "plugins", "torch"))
    env.update(BRIM_LIB=os.path.join(BUILD, "plugins", "torch"))
    job = [PYTHON, os.path.join(HERE, "jobs", "train.py"), "--seconds", "%g" % a.seconds]
    same = subprocess.Popen(
        [SAME, rings, "threads.intra=1", "%d" % trials, "%d" % a.block_ms],
        stdout=subprocess.PIPE, universal_newlines=True,
    )
    same.stdout.readline()
    running = subprocess.Popen(job + options, env=env, stdout=subprocess.DEVNULL)
    try:
        said = same.communicate(timeout=a.seconds + 120)[0].split()
    finally:
        running.kill()
        running.wait()
        same.kill()
        shutil.rmtree(rings)
    if same.returncode:
        sys.exit(1)
    print("%s: %s" % (" ".join(options), " ".join(said)), file=sys.stderr, flush=True)
    return int(said[1]), int(said[3])


def beyond(accepted, trials, chance):
    """The probability of as many or more, were each accepted with that chance."""
    less = sum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(accepted)
    )
    return 1 - less


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--trials", type=int, default=1000)
    p.add_argument("--block-ms", type=int, default=8)
    p.add_argument("--seconds", type=float, default=100, help="of each job, at most")
    p.add_argument("--jobs", type=int, default=100, help="at most")
    p.add_argument("--from", type=int, default=0, dest="first", help="which kind of job is first")
    a = p.parse_args()
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return
    trials = accepted = jobs = 0
    while trials < a.trials and jobs < a.jobs:
        more, wrong = one(KINDS[(a.first + jobs) % len(KINDS)], a.trials - trials, a)
        trials, accepted, jobs = trials + more, accepted + wrong, jobs + 1
    note = "%d of %d trials in %d jobs; as many with chance %.2f at 1 %%" % (
        *(accepted, trials, jobs), beyond(accepted, trials, 0.01)
    )
    print("\t".join(["same: false accepts", "%.3g" % (100 * accepted / trials), "%", "<= 2", note]))


if __name__ == "__main__":
    main()
