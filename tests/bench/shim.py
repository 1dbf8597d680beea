#!/usr/bin/env python3
"""What the PyTorch shim costs: a mark by each way of marking, a step, a start of Python.

Thread CPU time, the least of many repetitions: other work on the machine does not count; of a step
the median of five processes. Needs torch (Debian: python3-torch) for the step. Prints name, value,
unit, limit and note with tabs between them; script/bench makes the table.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIM = os.path.join(ROOT, "plugins", "torch")
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(os.environ["BRIM"])))
LIBRARIES = [os.path.join(BUILD, "src/step"), os.path.join(BUILD, "plugins/torch")]
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
LIMITS = {"extension": "<= 150", "library": "<= 600", "python": "<= 2500"}

MARKS = """
import sys, time
from brim_torch.marks import codes, ring
sink = ring.choose(sys.argv[1])
assert sink.open("bench")
mark, code = sink.mark, codes.begin(codes.FORWARD)
best = 1e9
for _ in range(50):
    begin = time.thread_time_ns()
    for _ in range(2000):
        mark(code)
    best = min(best, (time.thread_time_ns() - begin) / 2000)
print(best)
"""

# One step of a loop whose loader, model and optimizer do nothing: the hooks stand out.
STEP = """
import time, torch
from torch.utils.data import DataLoader
torch.set_num_threads(1)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
data = torch.ones(4000, 1)
loader = DataLoader(data, batch_size=1)
def steps(iterator, n):
    for _ in range(n):
        x = next(iterator)
        model(x).sum().backward()
        optimizer.step()
iterator = iter(loader)
steps(iterator, 200)
best = 1e9
for _ in range(60):
    begin = time.thread_time_ns()
    steps(iterator, 60)
    best = min(best, (time.thread_time_ns() - begin) / 60)
print(best)
"""

# What looking at the control file adds to a step: how often a real loop looks, times a look. The
# difference of two loops is below their noise.
LOOK = (
    "import os, sys\nsys.path.append(%r)\nfrom control_file import ControlFile\n"
    "ControlFile(os.environ['BRIM_RING'])\n" % (os.path.join(ROOT, "tests", "e2e"),)
    + STEP.split("best = ")[0]
    + """
from brim_torch import shim
loop = shim.installed[0].loop
looks, look = [], loop.look
def counted():
    looks.append(loop.steps)
    look()
loop.look = counted
begin = loop.steps
steps(iterator, 3000)
count, of = len(looks), loop.steps - begin
best = 1e9
for _ in range(50):
    begin = time.thread_time_ns()
    for _ in range(1000):
        loop.steps += 64
        look()
    best = min(best, (time.thread_time_ns() - begin) / 1000)
print(best * count / of)
"""
)


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def python(folder, text, *arguments, shim=True, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "PYTHON"))}
    env["BRIM_LIB"] = ":".join(LIBRARIES)
    env["PYTHONPYCACHEPREFIX"] = os.path.join(folder, "cache")
    if shim:
        env.update(BRIM_RING=folder, PYTHONPATH=SHIM, **more)
    done = subprocess.run(
        [PYTHON, "-c", text, *arguments], env=env, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return float(done.stdout or "nan")


def least_start(folder, **how):
    best = 1e9
    for _ in range(60):
        begin = time.perf_counter()
        python(folder, "pass", **how)
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def main():
    with tempfile.TemporaryDirectory(prefix="brim-bench-") as folder:
        for sink, limit in LIMITS.items():
            say("shim: a mark, " + sink, python(folder, MARKS, sink), "ns", limit, "CPU")
        start = least_start(folder) - least_start(folder, shim=False)
        say("shim: start of Python", start, "ms", "<= 2", "over a start without, cached")
        if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            return
        bare, took = [], {sink: [] for sink in LIMITS}
        for _ in range(5):  # in turn; the median, for processes differ by 1 us
            bare.append(python(folder, STEP, shim=False))
            for sink in LIMITS:
                took[sink].append(python(folder, STEP, BRIM_SINK=sink))
        without = statistics.median(bare)
        for sink in LIMITS:
            more = statistics.median(took[sink]) - without
            limit = "<= 5000" if sink == "extension" else ""
            say("shim: a step, " + sink, more, "ns", limit, "of %.0f ns" % without)
        for sink in LIMITS:
            looks = statistics.median(python(folder, LOOK, BRIM_SINK=sink) for _ in range(3))
            say("shim: control file, " + sink, looks, "ns", "<= 100", "of a step, nothing asked")


main()
