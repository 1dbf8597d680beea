#!/usr/bin/env python3
"""What it brings and costs to change the loader of a running job: samples of 10 ms in batches of
16, an epoch of which the first half is loaded without workers, the second with 13; switches to and
fro; a step where nothing was ever asked for is measured by shim.py. Prints name, value, unit, limit
and note with tabs between them. Needs torch (Debian: python3-torch)."""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIM = os.path.join(ROOT, "plugins", "torch")
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable

JOB = """
import statistics, time, torch
from torch.utils.data import DataLoader, Dataset
from brim_torch import shim
from brim_torch.loader import workers
class Slow(Dataset):
    def __len__(self):
        return 16 * 400
    def __getitem__(self, i):
        time.sleep(0.01)
        return torch.ones(3, 32, 32) * i, i % 10
model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, 2), torch.nn.ReLU(), torch.nn.Flatten(),
    torch.nn.Linear(3600, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loop = shim.installed[0].loop
ends, took = [], {}
plan = {20: 4, 40: 0, 44: 4, 48: 0, 52: 4, 60: 13}
def look():
    ends.append(time.monotonic())
    value = plan.get(loop.steps)
    if value is not None:
        workers.set_workers(loop, str(value))
        took.setdefault(value, []).append(time.monotonic() - ends[-1])
loop.every_step = look
for x, y in DataLoader(Slow(), batch_size=16, shuffle=True):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
rate = lambda a, b: 16 * (b - a) / (ends[b] - ends[a])
print(rate(2, 19), rate(24, 39), rate(100, 380), took[4][0], statistics.median(took[4][1:]),
    statistics.median(took[0]), took[13][0])
"""

ROWS = (
    ("rate without workers", 1, "samples/s", "-"),
    ("rate with 4 workers", 1, "samples/s", "-"),
    ("rate with 13 workers", 1, "samples/s", "-"),
    ("first switch, 0 to 4", 1e3, "ms", "-"),
    ("later switch, 0 to 4", 1e3, "ms", "<= 5"),
    ("later switch, 4 to 0", 1e3, "ms", "<= 5"),
    ("switch, 4 to 13", 1e3, "ms", "-"),
)


def main():
    has_torch = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True)
    if has_torch.returncode:
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as rings:
        env = dict(os.environ, PYTHONPATH=SHIM, BRIM_RING=rings)
        said = subprocess.run([PYTHON, "-c", JOB], env=env, capture_output=True, encoding="utf-8")
    if said.returncode:
        sys.exit(said.stderr)
    for (name, scale, unit, limit), value in zip(ROWS, map(float, said.stdout.split())):
        print("%s\t%.4g\t%s\t%s\t" % (name, value * scale, unit, limit))


if __name__ == "__main__":
    main()
