#!/usr/bin/env python3
"""Ask brim why and other profilers what limits a job that is slowed down on purpose, and how much
slower each makes it. Usage: peers.py BRIM CACHE VERSION. Writes docs/why/peers.md; needs what
bottlenecks.py needs, and traceml-ai and py-spy in the virtual environment."""

import argparse
import collections
import datetime
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import bottlenecks
from bottlenecks import ROOT, Failed
from trainers import BOTTLENECKS

PAGE = ROOT / "docs" / "why" / "peers.md"
PAIRS = 5

# What points to the place, and what names the cause. The row "nothing": that it computes.
PLACES = {
    "samples that sleep": (r"dataloader_next|DataLoader|INPUT|getitem", r"loader-waits|sleep"),
    "samples that compute": (r"dataloader_next|DataLoader|INPUT|getitem", r"loader-cpu|spend"),
    "files of a slow server": (r"dataloader_next|DataLoader|INPUT|getitem", r"storage-latency"),
    "half a CPU for each rank": (r"$^", r"cpu-quota"),
    "four busy neighbours": (r"$^", r"cpu-neighbours"),
    "garbage to collect": (r"on_train_batch_end|step \(samples|RESIDUAL", r"^gc"),
    "metrics in Python": (r"on_train_batch_end|RESIDUAL", r"^loop|spend"),
    "a checkpoint each 2 steps": (r"on_train_batch_end|RESIDUAL", r"^checkpoint|_save"),
    "nothing": (r"COMPUTE|aten|optim|backward|step|forward|_engine", r"none|NO CLEAR"),
}

HEAD = """# Beside other profilers

> **The question:** what does brim say of my job that the profiler I have does not?

Made by `script/frameworks peers`: the same small job, slowed down on purpose in eight ways, and
what each tool puts first in what it prints. **Bold** names the cause, plain text points to the
place, and what is in (brackets) leads elsewhere.
"""

TAIL = """
"slower by" is the median of %d pairs of whole runs, of a step's mean behind the first 20.

Where the others are better:

- PyTorch's own profiler (here through Accelerate) tells single operators and, on a GPU, single
  kernels, with their shapes. brim stops at the stage and the line that waits.
- `py-spy` looks into any Python process, of any program, and draws a flame graph of all of it.
  With its defaults it leaves out threads that sleep. brim names one line.
- Lightning's profiler times each of its hooks, and needs no program beside it.
- TraceML compares two runs' summaries and watches memory that creeps, layer by layer. brim
  compares runs too (`brim runs`), and does not look into layers.

None of them sees what is outside the process: a quota, neighbours, the file server. None of them
changes anything; `brim optimize` does, and measures it.
"""


class Peers:
    def __init__(self, a):
        self.bench = bottlenecks.Bench(a)
        self.bin = self.bench.python.parent
        self.bench.env["PATH"] = "%s:%s" % (self.bin, self.bench.env["PATH"])
        self.logs = self.bench.work / "logs"

    # ---- how each is started, and what it puts first ----

    def brim(self, name):
        program = str(self.bench.a.brim.resolve())
        said = self.bench.run(name, [program, "run", "--quiet", "--", *self.plain])
        words = [program, "why", "--json"]
        verdict = json.loads(subprocess.check_output(words, env=self.bench.env))
        where = re.search(r"(\w+\.py:\d+)", verdict["sentence"])
        return said, verdict["items"][0]["cause"] + (", " + where.group(1) if where else "")

    @property
    def plain(self):
        return [self.bench.python, "plain.py"]

    def alone(self, name):
        return self.bench.run(name, self.plain), ""

    def traceml(self, name):
        shutil.rmtree(self.logs, ignore_errors=True)
        words = ["traceml", "run", "--logs-dir", self.logs, "traceml_loop.py", "--args"]
        said = self.bench.run(name, words)
        told = "".join(p.read_text() for p in self.logs.rglob("training.stdout.log"))
        verdict = re.search(r"Verdict: ([A-Z -]+?)(?: *\(\w+\))? *\|", said)
        return said + told, verdict.group(1) if verdict else "nothing"

    def lightning_alone(self, name):
        return self.bench.run(name, [self.bench.python, "lightning_trainer.py"]), ""

    def lightning(self, name):
        words = [self.bench.python, "lightning_trainer.py", "--profiler=simple"]
        said = self.bench.run(name, words)
        cells = r"^\|  (\S.*?) *\t\|  [\d.e-]+ *\t\|  \d+ *\t\|  ([\d.e-]+)"
        whole = r"^Total|run_training|optimizer_step"  # others are within
        rows = [r for r in re.findall(cells, said, re.M) if not re.search(whole, r[0])]
        best = max(rows, key=lambda r: float(r[1]))[0]
        return said, re.sub(r"^\[\w+\]\.?|\{.*\}", "", best)

    def accelerate_alone(self, name):
        return self.bench.run(name, [self.bench.python, "accelerate_loop.py"]), ""

    def accelerate(self, name):
        said = self.bench.run(name, [self.bench.python, "accelerate_loop.py", "--profile=1"])
        table = said.split("# of Calls", 1)[1].splitlines()
        return said, re.split(r"  +", table[2].strip())[0]

    def pyspy(self, name):
        raw = self.bench.work / "raw"
        said = self.bench.run(name, ["py-spy", "record", "-f", "raw", "-o", raw, "--", *self.plain])
        leaves = collections.Counter()
        for line in raw.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            if "plain.py:" in stack and "importlib" not in stack:  # of the loop
                leaves[stack.rsplit(";", 1)[-1]] += int(count)
        return said, leaves.most_common(1)[0][0] if leaves else "nothing"

    # ---- the table ----

    def step(self, one):
        """Seconds of a step of the job when nothing is injected."""
        return float(re.search(r"^(?:\[.*\] *)?step ([\d.]+) s", one("nothing")[0], re.M).group(1))

    def slower(self, tool, alone):
        ratios = []
        for k in range(PAIRS):
            order = (tool, alone) if k % 2 else (alone, tool)
            took = {one: self.step(one) for one in order}
            ratios.append(took[tool] / took[alone])
        return "%+.1f %%" % (100 * statistics.median(ratios) - 100)


def shown(name, said):
    place, cause = PLACES[name]
    said = said.replace("|", "/")
    if re.search(cause, said):
        return "**%s**" % said
    return said if re.search(place, said) else "(%s)" % said


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("brim", type=pathlib.Path)
    p.add_argument("cache", type=pathlib.Path)
    p.add_argument("version")
    a = p.parse_args()
    peers = Peers(a)
    code = "import importlib.metadata as m, sys\nfor n in sys.argv[1:]: print(m.version(n))"
    names = ["torch", "traceml-ai", "lightning", "accelerate", "py-spy"]
    words = [peers.bench.python, "-c", code, *names]
    have = dict(zip(names, subprocess.check_output(words, text=True).split()))
    tools = {
        "`brim why`": (peers.brim, peers.alone),
        "TraceML %s" % have["traceml-ai"]: (peers.traceml, peers.alone),
        'Lightning %s, `profiler="simple"`' % have["lightning"]: (
            peers.lightning,
            peers.lightning_alone,
        ),
        "Accelerate %s, `profile()`" % have["accelerate"]: (
            peers.accelerate,
            peers.accelerate_alone,
        ),
        "py-spy %s, `record`" % have["py-spy"]: (peers.pyspy, peers.alone),
    }
    lines = ["| injected | %s |" % " | ".join(tools), "|%s" % ("---|" * (len(tools) + 1))]
    for name in BOTTLENECKS:
        cells = []
        for tool, (one, _) in tools.items():
            try:
                cells.append(shown(name, one(name)[1]))
            except Failed as e:
                cells.append("(failed)")
                print(e, file=sys.stderr)
            print("%s, %s: %s" % (name, tool, cells[-1]), flush=True)
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    cells = [peers.slower(*each) for each in tools.values()]
    lines.append("| slower by | %s |" % " | ".join(cells))
    day = datetime.date.today().isoformat()
    seen = "\nSeen with torch %s on 2 CPUs on %s.\n" % (have["torch"], day)
    PAGE.write_text(HEAD + seen + "\n" + "\n".join(lines) + "\n" + TAIL % PAIRS, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
