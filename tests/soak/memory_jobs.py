#!/usr/bin/env python3
"""PyTorch jobs near a memory limit below brim optimize; script/soak runs it.

    BRIM=... tests/soak/memory_jobs.py [--jobs 50] [--from 0] [--seed 1]

A job holds many Python objects, of which each forked worker makes copies. Its control group has
room for what it takes alone and a little more, less than its workers would take: it must end as it
does alone, with the same weights, and the kernel may kill nothing of it but workers of brim's. The
groups are of whichever version the machine's memory controller has; as many of each where it can
have both."""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
JOB = [PYTHON, str(HERE / "jobs" / "train_objects.py")]
END_S = 600
MIB = 1 << 20

V1 = pathlib.Path("/sys/fs/cgroup/memory")
V2 = pathlib.Path("/sys/fs/cgroup")


class Group:
    """A control group with a limit; None in find() where there is no controller."""

    def __init__(self, folder, limit, peak, killed):
        self.folder, self.limit, self.peak, self.killed = folder, limit, peak, killed
        folder.mkdir()

    def set(self, size):
        (self.folder / self.limit).write_text("%d" % size)

    def most(self):
        return int((self.folder / self.peak).read_text())

    def kills(self):
        found = re.search(r"^oom_kill (\d+)", (self.folder / self.killed).read_text(), re.M)
        return int(found[1]) if found else 0

    def enter(self):
        (self.folder / "cgroup.procs").write_text("%d" % os.getpid())


def make_group(name):
    if (V1 / "memory.limit_in_bytes").exists():
        return Group(V1 / name, "memory.limit_in_bytes", "memory.max_usage_in_bytes",
                     "memory.oom_control")
    if "memory" in (V2 / "cgroup.controllers").read_text().split():
        return Group(V2 / name, "memory.max", "memory.peak", "memory.events")
    return None


def environment(state):
    drop = ("BRIM_", "SLURM_", "RANK", "WORLD_SIZE", "TUNED", "LD_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    env.update(STATE_DIRECTORY=str(state), BRIM_CONF="/nonexistent/brim.conf",
               PYTHONDONTWRITEBYTECODE="1")
    return env


def run(command, group, state):
    return subprocess.run(
        command, preexec_fn=group.enter, env=environment(state), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=END_S,
    )


def in_group(name, limit, command, state):
    """(the process that ended, the most memory it took, processes that the kernel killed)"""
    group = make_group(name)
    try:
        if limit:
            group.set(limit)
        done = run(command, group, state)
        return done, group.most(), group.kills()
    finally:
        group.folder.rmdir()


def trial(number, seed, work):
    chance = random.Random("%d %d" % (seed, number))
    state = pathlib.Path(work) / str(number)
    state.mkdir()
    card = state / "card.json"
    job = [*JOB, "--rows", str(chance.randrange(10000, 60000)), "--columns", "100",
           "--sleep-ms", "%.1f" % chance.uniform(1, 4), "--steps", str(chance.randrange(400, 1200))]
    name = "brim-soak-%d-%d" % (os.getpid(), number)
    alone, most, kills = in_group(name, None, job, state)
    if alone.returncode != 0 or kills:
        return ["alone it ended with %d: %s" % (alone.returncode, alone.stderr[-300:])], ""
    limit = int(most * chance.uniform(1.1, 3)) + 16 * MIB
    command = [os.environ["BRIM"], "optimize", "--interval", "100ms", f"--json={card}", "--", *job]
    done, took, kills = in_group(name, limit, command, state)
    wrong = []
    if done.returncode != 0:
        wrong.append("it ended with %d: %s" % (done.returncode, done.stderr[-600:]))
    elif done.stdout != alone.stdout:
        wrong.append("'%s' alone, '%s' below brim" % (alone.stdout.strip(), done.stdout.strip()))
    settings = json.loads(card.read_text())["optimize"]["settings"] if card.exists() else []
    kept = ["%s=%s" % (k["knob"], k["value"]) for k in settings if k["outcome"] == "adopted"]
    return wrong, "alone %d MiB, limit %d, took %d, %d workers killed, kept %s" % (
        most // MIB, limit // MIB, took // MIB, kills, " ".join(kept) or "nothing")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--jobs", type=int, default=int(os.environ.get("SOAK_MEMORY_JOBS", 50)))
    p.add_argument("--from", type=int, default=0, dest="first")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    try:
        make_group("brim-soak-%d" % os.getpid()).folder.rmdir()
    except (OSError, AttributeError) as e:
        print("memory_jobs: skipped: no control group with a limit can be made here (%s)" % e)
        return 0
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        for number in range(a.first, a.first + a.jobs):
            wrong, what = trial(number, a.seed, work)
            bad += bool(wrong)
            print("job %d: %s%s" % (number, what, "".join("\n  WRONG: " + w for w in wrong)),
                  flush=True)
    print("memory_jobs: %d jobs near their limit, %d did not end as they do alone" % (a.jobs, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
