#!/usr/bin/env python3
"""One job on several nodes under brim: one card, the slow node named, a loader's setting changed on
all ranks at one step, and brims that are killed at any moment while the job ends as it would have.

    script/bench nodes_job [--nodes N] [--kills N] [--steps N]

Nodes are network namespaces with host names of their own, on links of 100 Mbit/s. The ranks are
started as a launcher would, one on each node, each below a brim of its own. Needs root, torch,
iproute2."""

import argparse
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import inject

BRIM = os.path.abspath(os.environ["BRIM"])
PYTHON = os.environ.get("NODES_PYTHON", "/usr/bin/python3")
HERE = os.path.dirname(os.path.abspath(__file__))
JOB = os.path.join(HERE, "jobs", "nodes_ddp.py")
RATE_BIT = 100_000_000
STEP_END, SWITCH = 2, 12
OPTIMIZE = ["optimize", "--interval", "200ms", "--try", "loader.workers=5"]


def say(text):
    print(text, file=sys.stderr, flush=True)


def line(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


class Nodes:
    def __init__(self, spaces, work):
        self.spaces, self.work, self.port = spaces, work, 29500

    def environment(self, rank, **more):
        drop = ("BRIM_", "SLURM_", "OMP_", "LD_LIBRARY")
        env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        env.update(more, PYTHONDONTWRITEBYTECODE="1")
        env["STATE_DIRECTORY"] = os.path.join(self.work, "state%d" % rank)
        return env

    def start(self, job, brim=()):
        """One rank on each node: [process]."""
        self.port += 1
        ranks = []
        for rank, space in enumerate(self.spaces):
            env = self.environment(
                rank, RANK=str(rank), WORLD_SIZE=str(len(self.spaces)), LOCAL_RANK="0",
                LOCAL_WORLD_SIZE="1", MASTER_ADDR="10.214.0.1", MASTER_PORT=str(self.port),
                GLOO_SOCKET_IFNAME="eth0", BRIM_TOKEN="x" * 32,
            )
            inside = "hostname node%d && exec \"$@\"" % (rank + 1)
            room = ["nsenter", "--net=" + space, "unshare", "--uts", "sh", "-c", inside, "sh"]
            under = [BRIM, *brim, "--json=" + self.card(rank), "--"] if brim else []
            command = [*room, *under, PYTHON, JOB, *job]
            ranks.append(
                subprocess.Popen(
                    command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, universal_newlines=True,
                )
            )
        return ranks

    def card(self, rank):
        return os.path.join(self.work, "card%d" % rank)

    def cards(self):
        """What was told of the job, by those that told of it."""
        told = []
        for rank in range(len(self.spaces)):
            if os.path.exists(self.card(rank)):
                with open(self.card(rank)) as f:
                    told.append(json.load(f))
                os.unlink(self.card(rank))
        return told


def end(ranks):
    """The weights of all ranks, which are the same; the end of a rank whose brim was killed is that
    of its output."""
    seen = set()
    for p in ranks:
        out, err = p.communicate(timeout=600)
        found = [w.split()[-1] for w in out.splitlines() if " weights " in w]
        if not found:
            raise RuntimeError("a rank did not end: %s%s" % (out[-300:], err[-900:]))
        seen.update(found)
    return seen


def switches(path):
    """{request: the steps that a rank had made when it carried it out}, from its marks."""
    with open(path, "rb") as f:
        data = f.read()
    header, text, size, capacity = struct.unpack_from("<4I", data, 12)
    records = []
    for slot in range(capacity):
        seq, _, kind, code, _, value = struct.unpack_from(
            "<QqHHIQ", data, header + text + slot * size
        )
        if seq:
            records.append((seq, kind, code, value))
    steps, at = 0, {}
    for _, kind, code, value in sorted(records):
        steps += kind == STEP_END
        if kind == SWITCH and code == 0:
            at[value] = steps
    return at


def optimize(nodes, steps):
    rings = os.path.join(nodes.work, "rings")
    os.makedirs(rings, exist_ok=True)
    ranks = nodes.start(["--steps", str(steps), "--rings", rings], OPTIMIZE)
    weights = end(ranks)
    cards = nodes.cards()
    hosts = cards[0]["run"]["hosts"] if cards else []
    at = [switches(os.path.join(rings, name)) for name in sorted(os.listdir(rings))]
    requests = set.intersection(*[set(a) for a in at]) if at else set()
    same = sum(len({a[r] for a in at}) == 1 for r in requests)
    kept = [
        "%s=%s" % (s["knob"], s["value"])
        for s in (cards[0]["optimize"]["settings"] if cards else [])
        if s["outcome"] == "adopted"
    ]
    count = len(nodes.spaces)
    line("nodes: cards of one job", len(cards), "cards", "<= 1", ", ".join(sorted(hosts)))
    line("nodes: hosts on it", len(hosts), "hosts", ">= %d" % count, "kept: " + ", ".join(kept))
    line(
        *("nodes: changes at one step on all ranks", 100.0 * same / max(len(requests), 1), "%"),
        *(">= 100", "%d requests, by the marks of %d ranks" % (len(requests), len(at)))
    )
    return weights


def slow_node(nodes):
    slow = len(nodes.spaces) - 2
    job = ["--steps", "400", "--fetch", "0", "--slow", str(slow)]
    ranks = nodes.start(job, ["run", "--interval", "200ms"])
    end(ranks)
    cards = nodes.cards()
    told = cards[0]["verdict"] or "" if cards else ""
    named = "rank %d on node%d" % (slow, slow + 1) in told
    line("nodes: the slow node is named", float(named), "", ">= 1", told[:160])


def kills(nodes, count, steps, want, chance):
    equal, met = 0, []
    for i in range(count):
        begin = time.monotonic()
        ranks = nodes.start(["--steps", str(steps)], OPTIMIZE)
        victim = chance.randrange(len(ranks))
        wait = chance.uniform(0.1, 0.8) * want[1]
        time.sleep(wait)
        alive = ranks[victim].poll() is None
        if alive:
            os.kill(ranks[victim].pid, signal.SIGKILL)
        good = end(ranks) == want[0]
        equal += good
        met.append(alive)
        nodes.cards()
        say(
            "kill %d: brim of node%d after %.1f s%s: %s, %.1f s"
            % (i + 1, victim + 1, wait, "" if alive else " (it had ended)",
               "equal" if good else "DIFFERENT", time.monotonic() - begin)
        )
    line(
        *("nodes: weights as without brim, a brim killed", 100.0 * equal / max(count, 1), "%"),
        *(">= 100", "%d jobs, %d brims met alive" % (count, sum(met)))
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--nodes", type=int, default=4)
    p.add_argument("--kills", type=int, default=20)
    p.add_argument("--steps", type=int, default=1500)
    p.add_argument("--kill-steps", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    work = inject.work_folder()
    with inject.bridged(a.nodes, RATE_BIT) as spaces:
        nodes = Nodes(spaces, work)
        alone = end(nodes.start(["--steps", str(a.steps)]))
        line("nodes: ranks agree without brim", len(alone), "", "<= 1")
        under = optimize(nodes, a.steps)
        line("nodes: weights as without brim", float(under == alone), "", ">= 1", *alone)
        slow_node(nodes)
        begin = time.monotonic()
        want = end(nodes.start(["--steps", str(a.kill_steps)]))
        took = time.monotonic() - begin
        kills(nodes, a.kills, a.kill_steps, (want, took), random.Random(a.seed))
        # What those that were killed have left in /dev/shm goes with the next one.
        subprocess.run([BRIM, "run", "--quiet", "--", "true"], env=nodes.environment(0), check=True)


if __name__ == "__main__":
    main()
