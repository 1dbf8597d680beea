#!/usr/bin/env python3
"""A real Slurm on one machine, without systemd, for tests and by hand:

    cluster.py up DIR [--nodes N] [--gpus G] [--namespaces] [--accounting]
    cluster.py down DIR

DIR is made, or empty; everything is below it. A process of its own, the keeper (keeper.py), has
all daemons: whatever ends it ends them and their jobs. Needs root, and Debian's slurm-wlm and
munge; --accounting slurmdbd and mariadb-server, too."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

KEEPER = pathlib.Path(__file__).resolve().with_name("keeper.py")
PATIENCE_S = 180  # for what comes as soon as it can on a machine that is busy
POLL_S = 0.05
CLIENT_S = 60  # with no controller Slurm's commands try for minutes


@dataclasses.dataclass
class Plan:
    """What is to be started. Nodes are called n0, n1 ..."""

    folder: str
    nodes: int = 4
    gpus: int = 0  # of each node
    bare: int = 0  # so many nodes, the last ones, have none
    cpus: int = 8
    gpu_type: str = "h100"
    namespaces: bool = False  # each node has its network and its host name
    accounting: bool = False
    auth: str = "munge"  # or "none"
    slurmd_timeout_s: int = 10
    plugstack: str = ""  # text of plugstack.conf
    extra: str = ""  # more lines of slurm.conf
    files: dict = dataclasses.field(default_factory=dict)  # beside it: their texts by name


def missing(plan):
    """Why there can be none here; None when there can."""
    if os.getuid() != 0:
        return "only root can start a Slurm whose devices are made with mknod"
    wanted = ["slurmctld", "slurmd", "srun"]
    wanted += ["munged"] if plan.auth == "munge" else []
    wanted += ["ip", "nsenter"] if plan.namespaces else []
    wanted += ["slurmdbd", "mariadbd"] if plan.accounting else []
    gone = [name for name in wanted if not shutil.which(name)]
    packages = "slurm-wlm, munge" + (", slurmdbd, mariadb-server" if plan.accounting else "")
    return "no %s (Debian: %s)" % (gone[0], packages) if gone else None


def wait_for(holds, what):
    """Poll until it holds, and return what it gave."""
    end = time.monotonic() + PATIENCE_S
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError("%s: not within %d s" % (what, PATIENCE_S))
        time.sleep(POLL_S)


class Cluster:
    """One that runs. Cluster(Plan(folder)).up() ... .down(), or with."""

    def __init__(self, plan):
        self.plan = plan
        self.folder = pathlib.Path(plan.folder)
        self.keeper = None
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "BRIM_"))}
        self.env["SLURM_CONF"] = str(self.folder / "etc" / "slurm.conf")

    def __enter__(self):
        return self.up()

    def __exit__(self, *_):
        self.down()

    def up(self, tied=True):
        """Start it, and wait until all nodes are idle. tied: it ends with this process."""
        self.folder.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, str(KEEPER), json.dumps(dataclasses.asdict(self.plan))]
        with open(self.folder / "keeper.log", "wb") as log:
            self.keeper = subprocess.Popen(
                words + (["--tied", str(os.getpid())] if tied else []), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log, start_new_session=True,
            )
        said = self.keeper.stdout.readline()
        self.keeper.stdout.close()
        try:
            if said != b"up\n":
                raise RuntimeError("Slurm did not come up:\n" + self.words())
            wait_for(self.is_whole, "idle nodes in %s" % self.folder)
        except BaseException:
            self.down()
            raise
        return self

    def words(self):
        """What the daemons said last."""
        logs = [self.folder / "keeper.log", *sorted((self.folder / "log").glob("*"))]
        return "\n".join("%s: %s" % (p.name, p.read_text(errors="replace")[-800:]) for p in logs)

    def is_whole(self):
        return self.nodes().count("idle") == self.plan.nodes

    def down(self):
        """End everything that was started, and wait until it has gone."""
        if self.keeper:
            self.keeper.terminate()
            self.keeper.wait()
            self.keeper = None

    def pids(self):
        """Of daemons by name: "slurmctld", "munged", "slurmd n0" ..."""
        return json.loads((self.folder / "run" / "pids.json").read_text())

    def tell(self, *words):
        """Have the keeper do something: ("start", NAME) a daemon that has ended, anew; or ("cut",
        NODE), ("heal", NODE) with namespaces."""
        number = len(list(self.folder.glob("told-*")))
        path = self.folder / ("told-%d" % number)
        path.with_suffix(".new").write_text(json.dumps(words))
        path.with_suffix(".new").rename(path)
        self.keeper.send_signal(signal.SIGUSR1)
        done = self.folder / ("done-%d" % number)
        wait_for(done.exists, "the keeper's answer to " + words[0])

    def run(self, *command, check=True, env=None, limit_s=CLIENT_S):
        """A client's command: (status, stdout, stderr); check: a status but 0 is an error."""
        if self.plan.namespaces:
            holder = str(self.pids()["hub"])
            command = ("nsenter", "-t", holder, "--net", "--uts", "--mount", *command)
        done = subprocess.run(
            command, env=dict(self.env, **(env or {})), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=limit_s,
            cwd=str(self.folder),
        )
        if check and done.returncode != 0:
            raise RuntimeError("%s: %d: %s" % (command, done.returncode, done.stderr))
        return done.returncode, done.stdout, done.stderr

    def nodes(self):
        """The state of each, in Slurm's words ("idle", "down*", "mixed" ...), in their order."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            words = ("sinfo", "-h", "-N", "-p", "batch", "-o", "%N %T")
            rows = [line.split() for line in self.run(*words, check=False)[1].splitlines()]
            return [state for _, state in sorted(rows, key=lambda row: int(row[0][1:]))]
        return []

    def submit(self, script, *options, env=None):
        """The number of a batch job whose script is that text below #!/bin/sh."""
        path = self.folder / ("job-%d.sh" % time.monotonic_ns())
        path.write_text("#!/bin/sh\n" + script)
        out = str(self.folder / "%j.out")
        said = self.run("sbatch", "--parsable", "-o", out, *options, str(path), env=env)[1]
        return int(said.split(";")[0])

    def output(self, job):
        return (self.folder / ("%d.out" % job)).read_text()

    def job(self, job):
        """What scontrol shows of it: {"JobState": "RUNNING", ...}."""
        said = self.run("scontrol", "-o", "show", "job", str(job))[1]
        return dict(word.split("=", 1) for word in said.split() if "=" in word)

    def wait_job(self, job, *states):
        """Wait until it is in one of the states, and return what is known of it."""
        def there():
            known = self.job(job)
            return known if known["JobState"] in states else None

        return wait_for(there, "job %d %s" % (job, " or ".join(states)))

    def wait_end(self, job):
        return self.wait_job(job, "COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT")


def is_keeper(pid, folder):
    with contextlib.suppress(OSError):
        words = pathlib.Path("/proc/%d/cmdline" % pid).read_bytes().split(b"\0")
        return str(KEEPER).encode() in words and any(os.fsencode(folder) in w for w in words)
    return False


def take_down(folder):
    pid = int(pathlib.Path(folder, "keeper.pid").read_text())
    if is_keeper(pid, folder):
        os.kill(pid, signal.SIGTERM)
        wait_for(lambda: not is_keeper(pid, folder), "the end of the keeper (%d)" % pid)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("what", choices=("up", "down"))
    p.add_argument("folder")
    p.add_argument("--nodes", type=int, default=4)
    p.add_argument("--gpus", type=int, default=0)
    p.add_argument("--namespaces", action="store_true")
    p.add_argument("--accounting", action="store_true")
    p.add_argument("--auth", choices=("munge", "none"), default="munge")
    a = p.parse_args()
    folder = os.path.abspath(a.folder)
    if a.what == "down":
        return take_down(folder)
    plan = Plan(folder, a.nodes, a.gpus, namespaces=a.namespaces, accounting=a.accounting,
                auth=a.auth)
    why = missing(plan)
    if why:
        sys.exit("cluster.py: " + why)
    begin = time.monotonic()
    Cluster(plan).up(tied=False)
    print("export SLURM_CONF=%s/etc/slurm.conf" % folder)
    print("up after %.2f s: %d nodes" % (time.monotonic() - begin, a.nodes), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
