#!/usr/bin/env python3
"""A cluster to look at: twelve nodes of eight GPUs that are not there, jobs of some users that run
and wait, two drained nodes, an agent, and brim control with its page.

    picture.py up BRIM DIR      prints the address of the page, and runs until its input ends

Needs root, and Debian's slurm-wlm and munge, as cluster.py does."""

import os
import pathlib
import re
import subprocess
import sys

import cluster

POLICY = "[idle]\nwarn = 1s\nreclaim = 2s\naction = requeue\n"
# All nodes are this machine, so each has the same GPUs: two idle, one a third busy, one two thirds.
BUSY = {0: 0, 1: 0, 2: 0.31, 3: 0.64}
FAKE = "[fake]\ncount = 8\n[gpu *]\nbusy_ratio = 0.93\n" + "".join(
    "[gpu %d]\nbusy_ratio = %s\n" % one for one in BUSY.items()
)
DRAINED = {"n10": "memory errors", "n11": "GPU 3 fell off the bus, ticket 4711"}
# GPUs of a node, nodes, name, where
RUN = [
    (8, 4, "llama-70b-sft", None), (2, 1, "notebook", "n4"), (2, 1, "eval-mmlu", "n4"),
    (4, 1, "vit-pretrain", "n4"), (2, 1, "notebook", "n5"), (5, 1, "rl-rollouts", "n5"),
    (2, 1, "jupyter", "n6"), (6, 1, "diffusion", "n6"), (8, 2, "qwen-moe", "n[7-8]"),
    (8, 1, "whisper", "n9"),
]
WAIT = [
    (2, 1, "lora-7b", ()), (8, 8, "llama-405b", ()), (8, 4, "sd3-tune", ()),
    (1, 1, "after", ("-d", "afterok:1")), (6, 1, "t5-sweep", ("--hold",)),
]


class Picture:
    """What runs; down() ends it."""

    def __init__(self, brim, folder):
        self.brim, self.folder, self.running = brim, folder, []
        self.slurm = cluster.Cluster(cluster.Plan(str(folder / "slurm"), nodes=12, gpus=8)).up()

    def submit(self, gpus, nodes, name, *options):
        words = ("--gpus-per-node=%d" % gpus, "-N%d" % nodes, "--requeue", "-t", "600")
        return self.slurm.submit("sleep 3600\n", *words, "--job-name", name, *options)

    def start(self, *words):
        """The port that it says it serves."""
        log = self.folder / words[0]
        with open(log, "wb") as out:
            self.running.append(
                subprocess.Popen(
                    [self.brim, *words], env=dict(self.slurm.env, BRIM_CONF="/nonexistent"),
                    stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                )
            )
        there = lambda: re.search(r"http://127\.0\.0\.1:(\d+)/", log.read_text())
        return cluster.wait_for(there, "an address in %s" % log).group(1)

    def up(self):
        for name, text in (("policy", POLICY), ("operators", "token-of-a-picture"), ("fake", FAKE)):
            (self.folder / (name + ".ini")).write_text(text)
        for node, reason in DRAINED.items():
            self.slurm.run("scontrol", "update", "node=" + node, "state=drain", "reason=" + reason)
        for gpus, nodes, name, where in RUN:
            job = self.submit(gpus, nodes, name, *(("-w", where) if where else ()))
            self.slurm.wait_job(job, "RUNNING")
        for gpus, nodes, name, options in WAIT:
            self.submit(gpus, nodes, name, *options)
        fake = str(self.folder / "fake.ini")
        port = self.start("agent", "--listen", "127.0.0.1:0", "--store", "none", "--fake", fake)
        return self.start(
            "control", "run", "--every", "1s", "--mode", "propose", "--port", port, "--policy",
            str(self.folder / "policy.ini"), "--directory", str(self.folder / "book"), "--listen",
            "127.0.0.1:0", "--operators", str(self.folder / "operators.ini"),
        )

    def down(self):
        for p in self.running:
            p.terminate()
            p.wait()
        self.slurm.down()


def main():
    if len(sys.argv) != 4 or sys.argv[1] != "up":
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[3])
    why = cluster.missing(cluster.Plan(str(folder), gpus=8))
    if why:
        sys.exit("picture.py: " + why)
    one = Picture(os.path.abspath(sys.argv[2]), folder)
    try:
        print("http://127.0.0.1:%s/" % one.up(), flush=True)
        sys.stdin.read()
    finally:
        one.down()
    return 0


if __name__ == "__main__":
    sys.exit(main())
