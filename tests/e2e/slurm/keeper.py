"""The process that has all daemons of one Slurm of the tests: keeper.py PLAN [--tied PID], a Plan
of cluster.py as JSON. Prints "up" when they are started. What they start comes to it when its
parents end (a subreaper), so that at its end, by SIGTERM or with the process PID, nothing is left.
Network namespaces have no names: they end with the processes in them."""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import slurm_config
from cluster import Plan, wait_for

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None)
# Debian's names are alternatives' (slurmd-wlm). A daemon that is called so does not know itself,
# and leaves out each Gres= of slurm.conf.
DAEMONS = ("slurmctld", "slurmd", "slurmstepd", "slurmdbd")


def begin_daemon():
    """Ends with the keeper, and hears the signals that the keeper waits for."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def program(name):
    for path in ("/usr/sbin/%s-wlm" % name, "/usr/sbin/" + name):
        if os.path.exists(path):
            return path
    return shutil.which(name)


def descendants(pid):
    """Of a process, each with all its own."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            stat = pathlib.Path("/proc", entry, "stat").read_bytes()
            parents.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(entry))
    found, todo = [], [pid]
    while todo:
        mine = parents.get(todo.pop(), [])
        found += mine
        todo += mine
    return found


class Keeper:
    def __init__(self, plan):
        self.plan = plan
        self.commands = {}  # of daemons by name
        self.running = {}
        self.answered = 0
        self.env = dict(os.environ, SLURM_CONF=plan.folder + "/etc/slurm.conf")
        self.env.update(MYSQL_UNIX_PORT=plan.folder + "/db/socket")

    def at(self, name):
        return os.path.join(self.plan.folder, name)

    def start(self, name, *command):
        command = command or self.commands[name]
        self.commands[name] = command
        with open(self.at("log/" + name.replace(" ", "-") + ".out"), "ab") as log:
            self.running[name] = subprocess.Popen(
                command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=begin_daemon, cwd=self.plan.folder,
            )
        pids = {n: p.pid for n, p in self.running.items()}
        new = self.at("run/pids.json.new")
        slurm_config.write(new, json.dumps(pids))
        os.rename(new, self.at("run/pids.json"))

    def check(self, *command):
        subprocess.run(command, env=self.env, check=True, stdin=subprocess.DEVNULL,
                       stdout=sys.stderr, timeout=60)

    # ---- namespaces ----

    def inside(self, holder):
        """What runs a command where a holder is."""
        if not self.plan.namespaces:
            return ()
        pid = str(self.running[holder].pid)
        return ("nsenter", "-t", pid, "--net", "--uts", "--mount", "--")

    def hold(self, name):
        """A process that has namespaces, and does nothing in them."""
        ready = self.at("run/%s.ready" % name)
        script = "mount --bind %s /etc/hosts && hostname %s && ip link set lo up && : >%s && " \
            "exec sleep infinity" % (self.at("etc/hosts"), name, ready)
        self.start(name, "unshare", "--net", "--uts", "--mount", "sh", "-c", script)
        wait_for(lambda: os.path.exists(ready), "namespaces of " + name)

    def make_spaces(self):
        self.hold("hub")
        inside = self.inside("hub")
        self.check(*inside, "ip", "link", "add", "br0", "type", "bridge")
        self.check(*inside, "ip", "addr", "add", slurm_config.HUB + "/16", "dev", "br0")
        self.check(*inside, "ip", "link", "set", "br0", "up")
        for node in range(self.plan.nodes):
            self.connect("n%d" % node, "p%d" % node, slurm_config.address(node))

    def connect(self, name, port, address):
        self.hold(name)
        inside, hub = self.inside(name), self.inside("hub")
        there = str(self.running[name].pid)
        self.check(*hub, *("ip link add %s type veth peer name eth0 netns" % port).split(), there)
        self.check(*hub, *("ip link set %s master br0 up" % port).split())
        self.check(*inside, *("ip addr add %s/16 dev eth0" % address).split())
        self.check(*inside, *"ip link set eth0 up".split())

    # ---- daemons ----

    def start_munge(self):
        at = self.at
        self.start(
            "munged", "munged", "--foreground", "--force", "--key-file=" + at("munge/key"),
            "--socket=" + at("munge/socket"), "--pid-file=" + at("run/munged.pid"),
            "--seed-file=" + at("munge/seed"), "--log-file=" + at("log/munged.log"),
        )
        wait_for(lambda: os.path.exists(at("munge/socket")), "munged")

    def start_accounting(self):
        data, socket = self.at("db/data"), self.at("db/socket")
        os.mkdir(self.at("db"))
        self.check("mariadb-install-db", "--no-defaults", "--user=root", "--datadir=" + data,
                   "--auth-root-authentication-method=socket", "--skip-test-db")
        self.start("mariadbd", "mariadbd", "--no-defaults", "--user=root", "--datadir=" + data,
                   "--socket=" + socket, "--pid-file=" + self.at("run/mariadbd.pid"),
                   "--skip-networking", "--innodb-buffer-pool-size=64M")
        wait_for(lambda: os.path.exists(socket), "mariadbd")
        self.check("mariadb", "--no-defaults", "--socket=" + socket, "-e",
                   "create database slurm_acct_db; create user slurm@localhost identified by "
                   "'slurm'; grant all on slurm_acct_db.* to slurm@localhost")
        self.start("slurmdbd", *self.inside("hub"), self.at("bin/slurmdbd"), "-D")

        def answers():
            command = [*self.inside("hub"), "sacctmgr", "-n", "show", "cluster"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                return subprocess.run(command, env=self.env, timeout=10).returncode == 0
            return False

        wait_for(answers, "slurmdbd")
        self.check(*self.inside("hub"), "sacctmgr", "-i", "add", "cluster", "brimtest")
        self.check(*self.inside("hub"), "sacctmgr", "-i", "add", "account", "team")
        self.check(*self.inside("hub"), "sacctmgr", "-i", "add", "user", "root", "account=team")

    def up(self):
        slurm_config.write_all(self.plan)
        for name in DAEMONS:
            if program(name):
                os.symlink(program(name), self.at("bin/" + name))
        if self.plan.auth == "munge":
            self.start_munge()
        if self.plan.namespaces:
            self.make_spaces()
        if self.plan.accounting:
            self.start_accounting()
        self.start("slurmctld", *self.inside("hub"), self.at("bin/slurmctld"), "-D")
        for i in range(self.plan.nodes):
            node = "n%d" % i
            slurmd = [self.at("bin/slurmd"), "-D", "-N", node, "-d", self.at("bin/slurmstepd")]
            self.start("slurmd " + node, *self.inside(node), *slurmd)

    def down(self):
        """Nothing of it needs to be told: what it keeps is below the folder."""
        while True:
            left = descendants(os.getpid())
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.reap()
            if not left:
                return
            time.sleep(0.01)

    def reap(self):
        """Children that have ended, of which some came from daemons: Slurm waits for them to go."""
        by_pid = {p.pid: p for p in self.running.values()}
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid in by_pid:
                    by_pid[pid].returncode = os.waitstatus_to_exitcode(status)

    def obey(self):
        """What the cluster's user has written since the last time."""
        while os.path.exists(self.at("told-%d" % self.answered)):
            what, which = json.loads(pathlib.Path(self.at("told-%d" % self.answered)).read_text())
            if what == "start":
                self.start(which)
            else:
                state = {"cut": "down", "heal": "up"}[what]
                self.check(*self.inside(which), "ip", "link", "set", "eth0", state)
            pathlib.Path(self.at("done-%d" % self.answered)).touch()
            self.answered += 1


def main(args):
    wanted = {signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    if args[1:2] == ["--tied"]:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != int(args[2]):
            return
    keeper = Keeper(Plan(**json.loads(args[0])))
    slurm_config.write(keeper.at("keeper.pid"), "%d\n" % os.getpid())
    try:
        keeper.up()
        os.write(1, b"up\n")
        os.close(1)
        while signal.sigwait(wanted) in (signal.SIGUSR1, signal.SIGCHLD):
            keeper.reap()
            keeper.obey()
    finally:
        keeper.down()


if __name__ == "__main__":
    main(sys.argv[1:])
