"""docs/frameworks.md: its tables, read and written."""

import pathlib
import re

from trainers import BOTTLENECKS, LIMITED, LOOPS, TRAINERS

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "frameworks.md"

HEAD = """# What works with which PyTorch and trainer

Made by `script/frameworks` with the scripts in `tests/frameworks/jobs`, each as its
trainer's own documentation has it. A sample takes 2 ms, asleep; the job has no workers.

- **steps, stages**: `brim run` saw each step, and where its time went.
- **equal**: every bit of the weights is the same without brim, under `brim run` (3
  seeds), and under `brim optimize`.
- **6.0x**: what `brim optimize` gained, by live settings of the loader: nothing was
  edited, no job was started again.
"""


LOOPS_HEAD = """
## Loops without PyTorch

Their steps are counted from outside, by the loop that makes them ([runs](runs.md)). A sample takes
2 ms as above. **named**: `brim run` named the file and function that wait; **equal**: as above.
"""


LIMITS_HEAD = """
## What limits it

Each trainer's job with a wider model, slowed down on purpose, on 2 CPUs, and the cause that
[`brim why`](why.md) names first; **bold** where that is another one ([causes](why/causes.md)). Two
ranks of so small a model communicate for a quarter of the step and more, and the Trainer of
Transformers clips gradients and calls back in its own loop for as much: they are named where what
is injected costs less, or nothing is.
"""


class Page:
    """A table of trainers, with a column for each PyTorch; of what was installed beside each; of
    loops without PyTorch; of what limits a job, with a column for each trainer."""

    def __init__(self, path=PAGE):
        self.path = path
        self.cells, self.beside = {}, {}  # by the version of torch; cells: by the trainer
        self.loops = {}  # by their name: what was seen, with what, when
        self.limits = {}  # by what was injected, by the trainer: the cause that was named
        self.limits_when = ""
        if path.exists():
            self.read(path.read_text(encoding="utf-8"))

    def read(self, text):
        tables = {}
        for line in text.splitlines():
            if line.startswith("| "):
                row = [w.strip() for w in line.strip("|").split("|")]
                if row[0] in ("trainer", "torch", "loop", "injected"):
                    tables[row[0]] = rows = []
                rows.append(row)
        (_, *versions), *trainers = tables["trainer"]
        for name, *cells in trainers:
            for version, cell in zip(versions, cells):
                self.cells.setdefault(version.split()[-1], {})[name] = cell
        self.beside = {row[0]: row[1:] for row in tables["torch"][1:]}
        self.loops = {row[0]: row[1:] for row in tables.get("loop", [])[1:]}
        (_, *names), *limits = tables.get("injected", [[""]])
        for name, *cells in limits:
            self.limits[name] = dict(zip(names, cells))
        self.limits_when = "".join(re.findall(r"^Seen with .*$", text, re.M))

    def text(self):
        versions = sorted(self.cells, key=lambda v: [int(n) for n in v.split(".")])
        lines = [HEAD, "| trainer | %s |" % " | ".join("torch " + v for v in versions)]
        lines.append("|%s" % ("---|" * (len(versions) + 1)))
        for name in TRAINERS:
            row = [self.cells[v].get(name, "not run") for v in versions]
            lines.append("| %s | %s |" % (name, " | ".join(row)))
        lines += ["", "| torch | Python | beside it | when |", "|---|---|---|---|"]
        lines += ["| %s | %s |" % (v, " | ".join(self.beside[v])) for v in versions]
        lines += [LOOPS_HEAD, "| loop | seen | with | when |", "|---|---|---|---|"]
        for name in LOOPS:
            row = self.loops.get(name, ["not run", "", ""])
            lines.append("| %s | %s |" % (name, " | ".join(row)))
        if self.limits:
            lines += [LIMITS_HEAD, self.limits_when, ""]
            lines += ["| injected | %s |" % " | ".join(LIMITED)]
            lines += ["|%s" % ("---|" * (len(LIMITED) + 1))]
        for name in BOTTLENECKS if self.limits else ():
            row = [self.limits.get(name, {}).get(each, "not run") for each in LIMITED]
            lines.append("| %s | %s |" % (name, " | ".join(row)))
        return "\n".join(lines) + "\n"

    def write(self):
        """Whole, or not at all."""
        draft = self.path.with_suffix(".draft")
        draft.write_text(self.text(), encoding="utf-8")
        draft.replace(self.path)


