#!/usr/bin/env python3
"""What brim why advises, followed: no job may become slower by it.

    script/bench advice [--jobs N] [--seed N] [--seconds N] [--rounds N]

Jobs are drawn: what a sample costs (CPU time or sleep), batch, model, workers, threads. Each runs
once under brim run; the settings that the first advice names (num_workers=11, OMP_NUM_THREADS=1)
are set as a user would, and the job runs by turns without and with them. Jobs whose advice names
no setting are drawn again, and counted. Needs torch."""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

BRIM = os.path.abspath(os.environ["BRIM"])
PYTHON = "/usr/bin/python3"
TRAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jobs", "train.py")
LEAST = 0.95  # of the steps a second without the advice
DRAWN_MOST = 4  # times the jobs asked for
SETTING = re.compile(r"\b(num_workers|[A-Z]+(?:_[A-Z]+)+)=(\w+)")


def say(text):
    print(text, file=sys.stderr, flush=True)


def draw(chance):
    """A job: options of train.py with their values, and OMP_NUM_THREADS or None."""
    cost = chance.choice(["--sleep-ms", "--decode-ms"])
    options = {
        "--model": chance.choice(["mlp", "cnn", "transformer"]),
        "--width": chance.choice([64, 128, 256]),
        "--batch": chance.choice([8, 16, 32]),
        "--workers": chance.choice([0, 0, 1, 2, 4, 20]),
        cost: round(10 ** chance.uniform(-0.7, 0.9), 2),
    }
    return options, chance.choice([None, None, 1, 2, 4])


def command(options, seconds, times):
    words = [str(w) for pair in options.items() for w in pair]
    return [PYTHON, TRAIN, "--seconds", "%g" % seconds, "--times", times] + words


def environment(state, more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "OMP_"))}
    env.update({"STATE_DIRECTORY": state, "PYTHONDONTWRITEBYTECODE": "1"})
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return env


def call(words, env):
    p = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
    if p.returncode:
        raise RuntimeError("%s: %s" % (" ".join(words), p.stderr[-800:]))
    return p.stdout


def rate(times):
    """Steps a second, without the first three: workers start in these."""
    with open(times) as f:
        ends = [float(x) for x in f]
    return (len(ends) - 4) / (ends[-1] - ends[3])


def advised(verdict):
    """The settings that the first advice with one names, and its sentence."""
    for cause in verdict["items"]:
        found = dict(SETTING.findall(cause.get("action") or ""))
        if found:
            return found, cause["cause"]
    return {}, ""


class Bench:
    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        self.times = os.path.join(folder, "times")
        self.state = os.path.join(folder, "state")

    def why(self, options, threads):
        env = environment(self.state, {"OMP_NUM_THREADS": threads})
        job = command(options, self.a.seconds, self.times)
        call([BRIM, "run", "--quiet", "--"] + job, env)
        return json.loads(call([BRIM, "why", "--json"], env))

    def once(self, options, variables):
        call(command(options, self.a.seconds, self.times), environment(self.state, variables))
        return rate(self.times)

    def ratio(self, options, threads, settings):
        """Speed with the advice to that without, by turns: the median of the rounds."""
        plain = {"OMP_NUM_THREADS": threads}
        other = dict(options)
        if "num_workers" in settings:
            other["--workers"] = settings["num_workers"]
        changed = dict(plain, **{k: v for k, v in settings.items() if k != "num_workers"})
        ratios = []
        for i in range(self.a.rounds):
            sides = [(options, plain), (other, changed)]
            speeds = [self.once(*side) for side in (sides if i % 2 else reversed(sides))]
            without, advised_speed = speeds if i % 2 else reversed(speeds)
            ratios.append(advised_speed / without)
        return statistics.median(ratios)


def follow(bench, a):
    """The ratios of so many jobs, and how many were drawn whose advice names no setting."""
    chance, ratios, silent = random.Random(a.seed), [], 0
    for _ in range(DRAWN_MOST * a.jobs):
        if len(ratios) == a.jobs:
            break
        options, threads = draw(chance)
        settings, cause = advised(bench.why(options, threads))
        if not settings:
            silent += 1
            continue
        ratios.append(bench.ratio(options, threads, settings))
        say("%.2f times: %s %s, %s: %s" % (ratios[-1], options, threads, cause, settings))
    return ratios, silent


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--jobs", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=6, help="of each run's loop")
    p.add_argument("--rounds", type=int, default=3, help="without and with the advice")
    a = p.parse_args()
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return
    with tempfile.TemporaryDirectory(prefix="brim-advice-") as folder:
        ratios, silent = follow(Bench(a, folder), a)
    note = "%d jobs; %d more had no setting to follow" % (len(ratios), silent)
    rows = [("worst", min(ratios), ">= %g" % LEAST, note)]
    rows.append(("median", statistics.median(ratios), "", ""))
    for name, value, limit, said in rows:
        print("why's advice, %s\t%.3g\ttimes\t%s\t%s" % (name, value, limit, said), flush=True)


if __name__ == "__main__":
    main()
