#!/usr/bin/env python3
"""What brim run costs a step of a PyTorch job, by pairs of whole runs: the same script alone and
under brim run, in an order that is drawn, until so many pairs are there.

    script/bench step_cost [--pairs N] [--steps N] [--python PROGRAM] [--seed N]

Jobs: a DataLoader with AdamW at steps of some 300 us, the same without a loader, and steps of some
5 ms. Of each run the CPU time of a step counts, of the thread that trains (the middle half of its
steps, so that what the machine does meanwhile is in none); of a pair the difference. Told is the
middle of all pairs and 95 % about it (paired.py). --python: an interpreter with another PyTorch."""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import paired

BRIM = os.path.abspath(os.environ["BRIM"])
LEAST_US, SHARE = 3.0, 0.001  # the limit: so much, and so much of a step

JOB = """
import sys, time, torch
from torch.utils.data import DataLoader, TensorDataset
kind, steps = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(1)
torch.manual_seed(0)
width = 512 if kind == "long" else 64
model = torch.nn.Sequential(torch.nn.Linear(32, width), torch.nn.ReLU(),
                            torch.nn.Linear(width, width), torch.nn.ReLU(),
                            torch.nn.Linear(width, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
batch = 256 if kind == "long" else 8
data = TensorDataset(torch.randn(batch * steps, 32), torch.randn(batch * steps, 1))
x0, y0 = data[:batch]
pairs = ((x0, y0) for _ in range(steps)) if kind == "bare" else DataLoader(data, batch_size=batch)
took, last = [], time.thread_time_ns()
for x, y in pairs:
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    now = time.thread_time_ns()
    took.append(now - last)
    last = now
took = sorted(took[len(took) // 10:])
middle = took[len(took) // 4: 3 * len(took) // 4]
print(sum(middle) / len(middle) / 1e3)
"""


class Pairs:
    def __init__(self, a, folder):
        self.a, self.folder = a, folder

    def step_us(self, kind, steps, watched):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "PYTHON"))}
        env["STATE_DIRECTORY"] = os.path.join(self.folder, "state")
        env["PYTHONPYCACHEPREFIX"] = os.path.join(self.folder, "cache")
        job = [self.a.python, "-c", JOB, kind, "%d" % steps]
        words = [BRIM, "run", "--quiet", "--"] + job if watched else job
        p = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
        if p.returncode:
            raise RuntimeError("%s: %s" % (" ".join(words[:4]), p.stderr[-800:]))
        return float(p.stdout.split()[-1])

    def differences(self, kind, steps, chance):
        """(differences, steps alone), in us."""
        more, alone = [], []
        for _ in range(self.a.pairs):
            order = [False, True]
            chance.shuffle(order)
            took = {watched: self.step_us(kind, steps, watched) for watched in order}
            more.append(took[True] - took[False])
            alone.append(took[False])
        return more, alone


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pairs", type=int, default=20)
    p.add_argument("--steps", type=int, default=4000)
    p.add_argument("--python", default="/usr/bin/python3")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    if subprocess.run([a.python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return
    chance = random.Random(a.seed)
    with tempfile.TemporaryDirectory(prefix="brim-step-cost-") as folder:
        pairs = Pairs(a, folder)
        for kind, name, part in (("loader", "a DataLoader and AdamW", 1), ("bare", "AdamW", 1),
                                 ("long", "long steps", 8)):
            more, alone = pairs.differences(kind, a.steps // part, chance)
            middle, low, high = paired.interval(more)
            step = paired.middle(alone)
            limit = LEAST_US + SHARE * step
            told = "<= %.3g" % limit if high - low < 2 * limit else ""
            note = "of %.0f us; 95 %%: %.2f to %.2f; %d pairs" % (step, low, high, len(more))
            print("a step under brim run, %s\t%.3g\tus\t%s\t%s%s"
                  % (name, middle, told, note, "" if told else ": too wide to judge"), flush=True)


if __name__ == "__main__":
    main()
