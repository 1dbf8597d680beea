#!/usr/bin/env python3
"""Run each trainer on each PyTorch alone, under brim run and under brim optimize, and loops without
PyTorch under brim run, and tell what was seen. Usage: cells.py BRIM CACHE [VERSION|loops...]
[--only TRAINER]. Each answer goes into its cell of docs/frameworks.md as it comes; the others stay
as they are."""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import page as pages
from trainers import ENVIRONMENT, JOBS, LOOPS, TRAINERS

SEEDS = (0, 1, 2)
STEPS, LONG = 60, 1800  # of a watched run, of an optimized one
LOOP_STEPS, SEEN_LEAST = 600, 0.95  # of a loop without PyTorch; the share that is to be seen
PATIENCE = 900


class Failed(Exception):
    """In words for a cell of the table."""


class Cell:
    def __init__(self, brim, python, command):
        self.brim, self.python, self.command = brim, str(python), command

    def run(self, steps, seed, *before):
        """What the job printed of its end: 'steps N weights HASH'."""
        with tempfile.TemporaryDirectory() as state:
            env = {**os.environ, **ENVIRONMENT, "STATE_DIRECTORY": state, "OMP_NUM_THREADS": "1"}
            words = [*self.command, "--steps", str(steps), "--seed", str(seed)]
            done = subprocess.run(
                [*map(str, before), self.python, *words],
                cwd=JOBS,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                timeout=PATIENCE,
            )
        found = re.search(r"^steps (\d+) weights (\w+)$", done.stdout, re.M)
        if done.returncode or not found:
            last = "it ended with %d and told no weights" % done.returncode
            error = r"^(?:\[rank\d+\]: )?(\w*(?:Error|Exception): .*)"
            named = re.findall(error, done.stderr, re.M)
            raise Failed((named or [last])[-1][:100])
        own = [line for line in done.stderr.splitlines() if line.startswith("brim: the shim")]
        if own:
            raise Failed(own[0])
        return int(found.group(1)), found.group(2)

    def told(self, steps, seed, verb):
        """The same, and what brim says of it."""
        with tempfile.NamedTemporaryFile(suffix=".json") as said:
            end = self.run(steps, seed, self.brim, verb, "--json=" + said.name, "--")
            return end, json.loads(pathlib.Path(said.name).read_text(encoding="utf-8"))

    def look(self):
        """What works, in one dictionary."""
        cell = {"exact": True}
        for seed in SEEDS:
            alone = self.run(STEPS, seed)
            watched, run = self.told(STEPS, seed, "run")
            cell["exact"] &= alone == watched
            if run["steps"] != alone[0]:
                raise Failed("%d of %d steps were seen" % (run["steps"] or 0, alone[0]))
            share = run["share"]
            stages = "wait", "forward", "backward", "optimizer"
            cell["missing"] = [s for s in stages if not share[s] > 0]
            cell["other"] = share["other"]
            cell["why"] = run["verdict"]
        alone = self.run(LONG, 0)
        tuned, said = self.told(LONG, 0, "optimize")
        cell["exact"] &= alone == tuned
        said = said["optimize"]
        before, after = said["before"]["steps_per_s"], said["after"]["steps_per_s"]
        cell["kept"] = [
            "%s=%s" % (s["knob"], s["value"]) for s in said["settings"] if s["outcome"] == "adopted"
        ]
        cell["gain"] = after / before if cell["kept"] and after and before else 1.0
        cell["restarts"] = sum(s["starts"] for s in said["settings"])
        return cell


    def look_outside(self, place):
        """The same for a loop without PyTorch, whose batches are made in this file."""
        exact, seen, named = True, [], True
        for seed in SEEDS:
            alone = self.run(LOOP_STEPS, seed)
            watched, run = self.told(LOOP_STEPS, seed, "run")
            exact &= alone == watched
            seen.append(run["steps"] or 0)
            named &= place in run["verdict"]
        words = ["%d to %d of %d steps" % (min(seen), max(seen), LOOP_STEPS)]
        words += ["named" if named else "not named", "equal" if exact else "**weights differ**"]
        return ", ".join(words), exact and named and min(seen) >= SEEN_LEAST * LOOP_STEPS


def versions_of(python, packages):
    code = "import importlib.metadata as m, sys\nfor n in sys.argv[1:]:\n"
    code += "    try: print(n, m.version(n))\n    except m.PackageNotFoundError: pass"
    out = subprocess.run([python, "-c", code, *packages], stdout=subprocess.PIPE, text=True)
    return dict(line.split() for line in out.stdout.splitlines())


def shown(cell):
    """In words for the table, whose columns are told by "|"."""
    if "failed" in cell:
        return cell["failed"].replace("|", "/")
    words = ["steps, stages" if not cell["missing"] else "no " + ", ".join(cell["missing"])]
    words.append("equal" if cell["exact"] else "**weights differ**")
    words.append("%.1fx" % cell["gain"] if cell["kept"] else "nothing kept")
    return ", ".join(words)


def fill(page, a, version, only):
    """The column of a version; how many of its cells failed."""
    python = a.cache / ("torch-" + version) / "bin" / "python"
    packages = sorted({needs for _, needs in TRAINERS.values() if needs})
    found = versions_of(python, ["torch", *packages])
    torch, failed = found.pop("torch", version), 0
    beside = ", ".join("%s %s" % each for each in sorted(found.items())) or "nothing"
    interpreter = "%d.%d" % sys.version_info[:2]
    page.beside[torch] = [interpreter, beside, datetime.date.today().isoformat()]
    column = page.cells.setdefault(torch, {})
    for name, (command, needs) in TRAINERS.items():
        if only and name not in only:
            continue
        if needs and needs not in found:
            column[name] = "not installed"
            continue
        try:
            cell = Cell(a.brim.resolve(), python, command).look()
        except (Failed, subprocess.TimeoutExpired) as e:
            cell = {"failed": str(e)}
        failed += "failed" in cell or not cell["exact"]
        column[name] = shown(cell)
        print("    torch %s, %s: %s" % (version, name, shown(cell)), flush=True)
        page.write()
    return failed


def fill_loops(page, a, only):
    """The rows of loops without PyTorch; how many of them failed."""
    python, failed = a.cache / "loops" / "bin" / "python", 0
    for name, (script, packages, place) in LOOPS.items():
        if only and name not in only:
            continue
        try:
            said, right = Cell(a.brim.resolve(), python, (script,)).look_outside(place)
        except (Failed, subprocess.TimeoutExpired) as e:
            said, right = str(e).replace("|", "/"), False
        failed += not right
        found = versions_of(python, packages)
        beside = ", ".join("%s %s" % (each, found.get(each, "is missing")) for each in packages)
        page.loops[name] = [said, beside, datetime.date.today().isoformat()]
        print("    %s: %s" % (name, said), flush=True)
        page.write()
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("brim", type=pathlib.Path)
    p.add_argument("cache", type=pathlib.Path)
    p.add_argument("versions", nargs="*")
    p.add_argument("--only", action="append")
    a = p.parse_args()
    page = pages.Page()
    versions = [v for v in a.versions if v != "loops"]
    failed = sum(fill(page, a, version, a.only) for version in versions)
    if "loops" in a.versions:
        failed += fill_loops(page, a, a.only)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
