#!/usr/bin/env python3
"""One job on several nodes that a real launcher starts, under brim: one card, all hosts on it, a
loader's setting changed on all ranks, weights as without brim. Slurm's hosts meet by MUNGE, without
a token; Open MPI's by --meet.

    script/bench launchers [--nodes N] [--steps N] [--only slurm|mpi]

Nodes are network namespaces with host names of their own; slurmctld and a slurmd on each, or what
mpirun takes for ssh enters them. Needs root, torch, iproute2; slurm-wlm and munge, openmpi-bin
(Debian's packages)."""

import argparse
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

import inject
from nodes_job import JOB, OPTIMIZE, PYTHON, RATE_BIT, line, say

BRIM = os.path.abspath(os.environ["BRIM"])
PATIENCE_S = 60
# Debian's names are alternatives' (slurmd-wlm); a daemon that is called so leaves its Gres= out.
DAEMONS = ("slurmctld", "slurmd")
# What the job asks the environment for, by what the launcher tells.
RANKS = "export RANK=$%s WORLD_SIZE=$%s LOCAL_RANK=0; exec \"$@\""
UNDER_SLURM = RANKS % ("SLURM_PROCID", "SLURM_NTASKS")
UNDER_MPI = RANKS % ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
# Enters the namespace of 10.214.0.N, whose host is nodeN.
AGENT = """#!/bin/sh
n=${1##*.}
shift
exec nsenter --net=/run/netns/PREFIX-n$((n - 1)) unshare --uts \\
    sh -c "hostname node$n; $*"
"""

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


class Launcher:
    name = None

    def __init__(self, spaces, work):
        self.spaces, self.work, self.port = spaces, work, 29500
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
        self.env.update(
            MASTER_ADDR="10.214.0.1", OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="eth0",
            PYTHONDONTWRITEBYTECODE="1", STATE_DIRECTORY=work,
        )

    def on(self, node, *command):
        """A command line, on a node."""
        name = "hostname node%d && exec \"$@\"" % (node + 1)
        space = self.spaces[node]
        return ["nsenter", "--net=" + space, "unshare", "--uts", "sh", "-c", name, "sh", *command]

    def card(self):
        return os.path.join(self.work, "card-" + self.name)

    def under(self, brim, *more):
        return [BRIM, *brim, *more, "--json=" + self.card(), "--"] if brim else []

    def run(self, *command):
        """(weights of all ranks, what the brims said)."""
        done = subprocess.run(
            self.on(0, *command), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=600,
        )
        weights = re.findall(r"weights (\w{16})", done.stdout)
        if done.returncode or len(weights) != len(self.spaces):
            said = (done.stdout + done.stderr)[-900:]
            raise RuntimeError("%s ended with %d: %s" % (command[0], done.returncode, said))
        return set(weights), done.stderr


class Slurm(Launcher):
    name = "slurm"

    def __init__(self, spaces, work):
        super().__init__(spaces, work)
        self.running = []
        self.env["SLURM_CONF"] = os.path.join(work, "slurm.conf")

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
        self.port += 1
        self.env["MASTER_PORT"] = str(self.port)
        count = str(len(self.spaces))
        return self.run(
            *("srun", "-N", count, "-n", count, "--export=ALL", *self.under(brim)),
            *("sh", "-c", UNDER_SLURM, "sh", PYTHON, JOB, "--steps", str(steps))
        )


class Mpi(Launcher):
    name = "mpi"

    def up(self):
        self.agent = os.path.join(self.work, "agent.sh")
        with open(self.agent, "w") as f:
            f.write(AGENT.replace("PREFIX", inject.NAME))
        os.chmod(self.agent, 0o755)
        self.env["BRIM_TOKEN"] = "x" * 32
        return 0

    def down(self):
        pass

    def job(self, steps, brim=()):
        self.port += 1
        self.env["MASTER_PORT"] = str(self.port)
        handed = ("MASTER_", "OMP_", "GLOO_", "PYTHON", "STATE_", "BRIM_TOKEN")
        passed = [w for name in self.env if name.startswith(handed) for w in ("-x", name)]
        hosts = ",".join("10.214.0.%d:1" % (i + 1) for i in range(len(self.spaces)))
        return self.run(
            *("mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", self.agent),
            *("--mca", "oob_tcp_if_include", "eth0", "--mca", "btl_tcp_if_include", "eth0"),
            *("--bind-to", "none", "-H", hosts, *passed),
            *self.under(brim, "--meet", "10.214.0.1"),
            *("sh", "-c", UNDER_MPI, "sh", PYTHON, JOB, "--steps", str(steps))
        )


def measure(launcher, steps):
    line(launcher.name + ": from nothing to idle nodes", launcher.up(), "s", "<= 30")
    alone, _ = launcher.job(steps)
    under, said = launcher.job(steps, OPTIMIZE)
    say(said)
    with open(launcher.card()) as f:
        card = json.load(f)
    hosts = card["run"]["hosts"]
    kept = [
        "%s=%s" % (s["knob"], s["value"])
        for s in card["optimize"]["settings"] if s["outcome"] == "adopted"
    ]
    count, name = len(launcher.spaces), launcher.name
    listed = ", ".join(sorted(hosts))
    line(name + ": hosts on the card", len(hosts), "hosts", ">= %d" % count, listed)
    line(name + ": settings kept", len(kept), "", ">= 1", ", ".join(kept))
    line(name + ": weights as without brim", float(under == alone), "", ">= 1", *alone)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--nodes", type=int, default=4)
    p.add_argument("--steps", type=int, default=1500)
    p.add_argument("--only", choices=("slurm", "mpi"))
    a = p.parse_args()
    if not os.environ.get("LAUNCHERS_ROOM"):
        # Mounts of its own: /run/munge, and the names of namespaces.
        room = ["unshare", "--mount", sys.executable, *sys.argv]
        os.execvpe("unshare", room, dict(os.environ, LAUNCHERS_ROOM="1"))
    there = {
        Slurm: all(glob.glob("/usr/sbin/%s-wlm" % d) for d in DAEMONS) and shutil.which("munged"),
        Mpi: shutil.which("mpirun"),
    }
    work = inject.work_folder()
    with inject.bridged(a.nodes, RATE_BIT) as spaces:
        for kind, found in there.items():
            if a.only and a.only != kind.name:
                continue
            if not found:
                say("skipped: no %s (Debian: slurm-wlm, munge, openmpi-bin)" % kind.name)
                continue
            launcher = kind(spaces, work)
            try:
                measure(launcher, a.steps)
            finally:
                launcher.down()


if __name__ == "__main__":
    main()
