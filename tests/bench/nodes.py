#!/usr/bin/env python3
"""brim top --nodes with 500 scripted agents, of which some do not answer.

Prints name, value, unit, limit and note with tabs between them: the median of five rounds, each
with a process of its own, all agents in one Python thread beside it.
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from peers import say  # noqa: E402
from scripted_agents import Agents, limited, report  # noqa: E402

NODES, ROUNDS = 500, 5
REFUSED, SILENT, LIMITED = 3, 2, 12


def fill(agents, dead):
    made = [*["refused"] * REFUSED, *["silent"] * SILENT] if dead else []
    made += [limited()] * LIMITED
    for what in made + [report()] * (NODES - len(made)):
        agents.add(what)


def ask(brim, agents):
    """(seconds, CPU seconds, what is told)"""
    begin, before = time.monotonic(), os.times()
    done = subprocess.run([brim, "top", "--json", "--nodes", "-"], input=agents.list, text=True,
                          stdout=subprocess.PIPE, timeout=60, check=True)
    took, after = time.monotonic() - begin, os.times()
    return took, after.children_user + after.children_system - (
        before.children_user + before.children_system), json.loads(done.stdout)


def measure(brim, dead):
    with Agents() as agents:
        fill(agents, dead)
        rounds = [ask(brim, agents) for _ in range(ROUNDS)]
    silent = REFUSED + SILENT if dead else 0
    for _, _, told in rounds:
        assert told["states"]["no answer"] == silent, told["sentence"]
        assert told["limited_by"]["storage"] == LIMITED, told["sentence"]
    return (statistics.median(took for took, _, _ in rounds),
            statistics.median(cpu for _, cpu, _ in rounds), rounds[0][2]["sentence"])


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192), most))
    brim = os.environ["BRIM"]
    took, cpu, _ = measure(brim, dead=False)
    say("nodes, all answer", took, "s", "<= 2", "%d scripted agents" % NODES)
    say("nodes, CPU time of brim top", 1e3 * cpu, "ms", "", "the same")
    took, _, sentence = measure(brim, dead=True)
    say("nodes, some are dead", took, "s", "<= 2", sentence.replace(",", ";"))


if __name__ == "__main__":
    main()
