#!/usr/bin/env python3
"""How often brim names the line that takes the time: twenty jobs, each once under brim run and once
found by brim why --live as a job that brim did not start.

    script/bench lines [--only JOB,...] [--seconds N]

Needs torch, and the right to read other processes' memory for --live (root, or ptrace_scope 0).
What was named goes to stderr; stdout has the lines for script/bench's table. A line is named right
when the first of 'where' is it, or a range of at most a dozen lines around it in that function."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import slow_lines

BRIM = os.path.abspath(os.environ["BRIM"])
PYTHON = "/usr/bin/python3"
WIDEST = 12
STARTS = 60


def say(text):
    print(text, file=sys.stderr, flush=True)


class Job:
    """A job in a folder of its own, until the block ends."""

    def __init__(self, work, name, before=()):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder, exist_ok=True)
        self.file = os.path.join(self.folder, "train.py")
        self.end = os.path.join(self.folder, "end")
        text, self.slow = slow_lines.source(name)
        with open(self.file, "w") as f:
            f.write(text)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "OMP_"))}
        self.env["STATE_DIRECTORY"] = os.path.join(work, "state")
        self.command = [*before, PYTHON, self.file, self.end]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(self, *_):
        with open(self.end, "w"):
            pass
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
    def why(self, *options):
        text = subprocess.check_output(
            [BRIM, "why", "--json", *options], env=self.env, stderr=subprocess.DEVNULL, timeout=120
        )
        return json.loads(text)

    def trains(self):
        """Wait until it does."""
        for _ in range(STARTS * 10):
            if os.path.exists(self.end + ".begun"):
                return
            time.sleep(0.1)
        raise RuntimeError("%s does not train" % self.file)

    def judged(self, verdict):
        """Whether the first line is the slow one, and what was said."""
        where = verdict.get("where") or [{}]
        first, last = where[0].get("line", 0), where[0].get("last_line", 0)
        right = (
            os.path.basename(where[0].get("file", "")) == "train.py"
            and any(first <= line <= last for line in self.slow)
            and last - first <= WIDEST
        )
        said = where[0].get("text") or verdict.get("where_off") or "no line"
        return right, "%s; %s" % (said, verdict["sentence"])


def by_shim(work, name, seconds):
    with Job(work, name, [BRIM, "run", "--quiet", "--"]) as job:
        job.trains()
        time.sleep(seconds)
    return job.judged(job.why())


def by_live(work, name, seconds):
    with Job(work, name) as job:
        job.trains()
        verdict = job.why("--live", str(job.process.pid), "--for", "%ds" % seconds)
    return job.judged(verdict)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(slow_lines.JOBS))
    parser.add_argument("--seconds", type=int, default=8)
    options = parser.parse_args()
    names = options.only.split(",")
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        say("torch is not here: no lines are named")
        return
    for how, judge in (("brim run", by_shim), ("--live", by_live)):
        right = 0
        with tempfile.TemporaryDirectory(prefix="brim-bench-") as work:
            for name in names:
                good, said = judge(work, name, options.seconds)
                right += good
                say("%-9s %-10s %s %s" % (how, name, "right" if good else "WRONG", said))
        limit = ">= %d" % (len(names) - 1)
        print("lines: named right, %s\t%d\tof %d\t%s\tjobs with a known slow line"
              % (how, right, len(names), limit))


main()
