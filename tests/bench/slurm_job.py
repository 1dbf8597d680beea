#!/usr/bin/env python3
"""One job that a real Slurm starts on several nodes, under brim, without a token: the brims meet by
MUNGE. One card, all hosts on it, a loader's setting changed on all ranks, weights as without brim.

    script/bench slurm_job [--nodes N] [--steps N]

Nodes are network namespaces with host names of their own; slurmctld and a slurmd on each. Needs
root, torch, iproute2, slurm-wlm and munge (Debian's packages)."""

import argparse
import contextlib
import glob
import json
import os
import subprocess
import sys
import time

import inject
from nodes_job import JOB, PYTHON, line, say

BRIM = os.path.abspath(os.environ["BRIM"])
RATE_BIT = 100_000_000
PATIENCE_S = 60
# Debian's names are alternatives' (slurmd-wlm); a daemon that is called so leaves its Gres= out.
DAEMONS = ("slurmctld", "slurmd")
UNDER = "export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=0; exec \"$@\""

CONF = """ClusterName=bench
SlurmctldHost=node1(10.214.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool-%n
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd-%n.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class Slurm:
    def __init__(self, spaces, work):
        self.spaces, self.work, self.port = spaces, work, 29500
        self.running = []
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
        self.env["SLURM_CONF"] = os.path.join(work, "slurm.conf")

    def on(self, node, *command):
        """A command line, on a node."""
        name = "hostname node%d && exec \"$@\"" % (node + 1)
        space = self.spaces[node]
        return ["nsenter", "--net=" + space, "unshare", "--uts", "sh", "-c", name, "sh", *command]

    def start(self, *command):
        log = open(os.path.join(self.work, "daemons.log"), "a")
        self.running.append(
            subprocess.Popen(
                command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=inject.die_with_parent,
            )
        )

    def up(self):
        """How long that took."""
        bin_ = os.path.join(self.work, "bin")
        for folder in ("bin", "state"):
            os.makedirs(os.path.join(self.work, folder), exist_ok=True)
        for name in DAEMONS + ("slurmstepd",):
            os.symlink("/usr/sbin/%s-wlm" % name, os.path.join(bin_, name))
        with open(self.env["SLURM_CONF"], "w") as f:
            f.write(CONF.format(work=self.work))
            for i in range(len(self.spaces)):
                f.write("NodeName=node%d NodeAddr=10.214.0.%d CPUs=4\n" % (i + 1, i + 1))
        with open(os.path.join(self.work, "cgroup.conf"), "w") as f:
            f.write("CgroupPlugin=cgroup/v1\n")
        names = os.path.join(self.work, "hosts")
        with open(names, "w") as f:
            f.write("127.0.0.1 localhost\n")
            for i in range(len(self.spaces)):
                f.write("10.214.0.%d node%d\n" % (i + 1, i + 1))
        subprocess.run(["mount", "--bind", names, "/etc/hosts"], check=True)
        key = os.path.join(self.work, "munge.key")
        with open(key, "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
            f.write(os.urandom(1024))
        os.makedirs("/run/munge", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run/munge"], check=True)
        os.chmod("/run/munge", 0o755)
        self.start(
            "munged", "--foreground", "--force", "--key-file=" + key,
            "--seed-file=" + os.path.join(self.work, "munge.seed"),
            "--log-file=" + os.path.join(self.work, "munged.log"),
        )
        self.start(*self.on(0, os.path.join(bin_, "slurmctld"), "-D"))
        for i in range(len(self.spaces)):
            slurmd = [os.path.join(bin_, "slurmd"), "-D", "-N", "node%d" % (i + 1)]
            self.start(*self.on(i, *slurmd, "-d", os.path.join(bin_, "slurmstepd")))
        begin, idle = time.monotonic(), ("sinfo", "-h", "-N", "-t", "idle", "-o", "%N")
        while self.ask(*idle).count("\n") < len(self.spaces):
            if time.monotonic() - begin > PATIENCE_S:
                raise RuntimeError("Slurm did not come up: see %s" % self.work)
            time.sleep(0.1)
        return time.monotonic() - begin

    def ask(self, *command):
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                self.on(0, *command), env=self.env, stdin=subprocess.DEVNULL, timeout=5,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
            )
            return done.stdout
        return ""

    def down(self):
        begin = time.monotonic()
        while self.ask("squeue", "-h").strip() and time.monotonic() - begin < PATIENCE_S:
            time.sleep(0.1)  # what a step has left to do is slurmstepd's, which is no child of ours
        for p in reversed(self.running):
            p.terminate()
        for p in self.running:
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()

    def job(self, steps, brim=()):
        """(weights of all ranks, what the brims said)."""
        self.port += 1
        env = dict(
            self.env, MASTER_ADDR="10.214.0.1", MASTER_PORT=str(self.port), OMP_NUM_THREADS="1",
            GLOO_SOCKET_IFNAME="eth0", PYTHONDONTWRITEBYTECODE="1", STATE_DIRECTORY=self.work,
        )
        count = str(len(self.spaces))
        card = "--json=" + os.path.join(self.work, "card")
        under = [BRIM, *brim, card, "--"] if brim else []
        done = subprocess.run(
            self.on(0, "srun", "-N", count, "-n", count, "--export=ALL", *under, "sh", "-c", UNDER,
                    "sh", PYTHON, JOB, "--steps", str(steps)),
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=600,
        )
        weights = [w.split()[-1] for w in done.stdout.splitlines() if " weights " in w]
        if done.returncode or len(weights) != len(self.spaces):
            raise RuntimeError("the job did not end: %s" % done.stderr[-900:])
        return set(weights), done.stderr


def measure(slurm, steps):
    alone, _ = slurm.job(steps)
    under, said = slurm.job(steps, ["optimize", "--interval", "200ms", "--try", "loader.workers=5"])
    with open(os.path.join(slurm.work, "card")) as f:
        card = json.load(f)
    hosts = card["run"]["hosts"]
    kept = [
        "%s=%s" % (s["knob"], s["value"])
        for s in card["optimize"]["settings"] if s["outcome"] == "adopted"
    ]
    say(said)
    count = len(slurm.spaces)
    line("slurm: hosts on the card", len(hosts), "hosts", ">= %d" % count, ", ".join(sorted(hosts)))
    line("slurm: settings kept", len(kept), "", ">= 1", ", ".join(kept))
    line("slurm: weights as without brim", float(under == alone), "", ">= 1", *alone)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--nodes", type=int, default=4)
    p.add_argument("--steps", type=int, default=1500)
    a = p.parse_args()
    if not os.environ.get("SLURM_JOB_ROOM"):
        # Mounts of its own: /run/munge, and the names of namespaces.
        room = ["unshare", "--mount", sys.executable, *sys.argv]
        os.execvpe("unshare", room, dict(os.environ, SLURM_JOB_ROOM="1"))
    missing = [d for d in DAEMONS if not glob.glob("/usr/sbin/%s-wlm" % d)]
    if missing:
        raise SystemExit("skipped: no %s (Debian: slurm-wlm, munge)" % ", ".join(missing))
    work = inject.work_folder()
    with inject.bridged(a.nodes, RATE_BIT) as spaces:
        slurm = Slurm(spaces, work)
        try:
            line("slurm: from nothing to idle nodes", slurm.up(), "s", "<= 30")
            measure(slurm, a.steps)
        finally:
            slurm.down()


if __name__ == "__main__":
    main()
