#!/usr/bin/env python3
"""Slow each trainer's job down, in eight ways and not at all, and ask brim why what limits it.
Usage: bottlenecks.py BRIM CACHE VERSION [--only TRAINER] [--inject BOTTLENECK]. Needs root, control
groups of version 1 and /dev/fuse. Each answer goes into its cell of docs/frameworks.md as it comes;
the others stay as they are."""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "bench"))

import inject  # noqa: E402
import page as pages  # noqa: E402
from trainers import BOTTLENECKS, ENVIRONMENT, JOBS, LIMITED, TRAINERS  # noqa: E402

STEPS, WIDTH = 150, 1024  # a step takes some 15 ms
FILES, FILE_SIZE = 64, 256 << 10
SLOW_US = 800  # of each request of the slow server
PATIENCE = 300


class Failed(Exception):
    """The end of what a job said."""


class Bench:
    def __init__(self, a):
        self.a = a
        self.python = a.cache / ("torch-" + a.version) / "bin" / "python"
        self.slowfs = a.brim.resolve().parents[2] / "tests" / "bench" / "jobs" / "slowfs"
        if not self.slowfs.exists():
            sys.exit("no %s: it is built where libfuse3-dev is installed" % self.slowfs)
        self.work = pathlib.Path(inject.work_folder())
        self.data = self.work / "data"
        self.data.mkdir()
        for i in range(FILES):
            (self.data / ("%05d" % i)).write_bytes(os.urandom(FILE_SIZE))
        (self.work / "saved").mkdir()
        self.env = {**os.environ, **ENVIRONMENT, "OMP_WAIT_POLICY": "passive"}
        self.env.update(STATE_DIRECTORY=str(self.work / "state"), TMPDIR=str(self.work))

    def injected(self, name, ranks, stack):
        """The job's options, and the groups it belongs to, until the stack is closed."""
        how = {"sleep-ms": 0, "width": WIDTH, "steps": STEPS}
        groups = []
        if name == "samples that sleep":
            how["sleep-ms"] = 2
        elif name == "samples that compute":
            how["decode-ms"] = 2
        elif name == "files of a slow server":
            mount = inject.slow_mount(self.slowfs, self.data, self.work, SLOW_US, SLOW_US)
            how["data"], _ = stack.enter_context(mount)
        elif name == "half a CPU for each rank":
            groups = stack.enter_context(inject.quota(0.5 * ranks))
        elif name == "four busy neighbours":
            stack.enter_context(inject.busy(4))
        elif name == "garbage to collect":
            how["garbage"] = 300000
        elif name == "metrics in Python":
            how["work-ms"] = 15
        elif name == "a checkpoint each 2 steps":
            how["save"] = self.work / "saved"
        return ["--%s=%s" % each for each in how.items()], groups

    def run(self, name, words, ranks=1):
        """What the command said, with the options of the job behind it; no run came before."""
        shutil.rmtree(self.env["STATE_DIRECTORY"], ignore_errors=True)
        env = {**self.env, "OMP_NUM_THREADS": str(2 // ranks)}
        with contextlib.ExitStack() as stack:
            options, groups = self.injected(name, ranks, stack)

            def join():
                for path in groups:
                    inject.write(path, os.getpid())

            done = subprocess.run(
                [*map(str, words), *options],
                cwd=JOBS,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                preexec_fn=join,
                timeout=PATIENCE,
            )
        if done.returncode:
            raise Failed(done.stdout[-300:])
        return done.stdout

    def why(self, trainer, name):
        """The cause that is named first, and the sentence."""
        command, _ = TRAINERS[trainer]
        brim = self.a.brim.resolve()
        ranks = 2 if "torchrun" in trainer else 1
        try:
            self.run(name, [brim, "run", "--quiet", "--", self.python, *command], ranks)
        except Failed as e:
            return "failed", str(e)
        said = subprocess.check_output([brim, "why", "--json"], env=self.env, encoding="utf-8")
        verdict = json.loads(said)
        return verdict["items"][0]["cause"], verdict["sentence"]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("brim", type=pathlib.Path)
    p.add_argument("cache", type=pathlib.Path)
    p.add_argument("version")
    p.add_argument("--only", action="append", choices=LIMITED, metavar="TRAINER")
    p.add_argument("--inject", action="append", choices=BOTTLENECKS, metavar="BOTTLENECK")
    a = p.parse_args()
    bench, page, wrong = Bench(a), pages.Page(), 0
    torch = [v for v in page.beside if v.startswith(a.version + ".")]
    day = datetime.date.today().isoformat()
    page.limits_when = "Seen with torch %s on %s." % ((torch or [a.version])[0], day)
    for trainer in a.only or LIMITED:
        for name in a.inject or BOTTLENECKS:
            cause, sentence = bench.why(trainer, name)
            right = cause in BOTTLENECKS[name]
            wrong += not right
            print("%s, %s: %s: %s" % (trainer, name, cause, sentence), flush=True)
            page.limits.setdefault(name, {})[trainer] = cause if right else "**%s**" % cause
            page.write()
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
