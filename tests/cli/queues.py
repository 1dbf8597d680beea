"""A queue of a test's own, with real processes; the jobs and the bad luck that its tests share."""

import contextlib
import importlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest
from served import wait_until

SOAK = pathlib.Path(__file__).resolve().parents[1] / "soak" / "local_kill.py"
sys.path.append(str(SOAK.parent))
groups = importlib.import_module("groups")
# A job of sh that runs until there is a file 'go'.
WAIT = "while ! [ -e go ]; do sleep 0.02; done"
COUNT = """
i=$(cat at 2>/dev/null || echo 0)
asked=0
trap 'asked=1' %s
while [ "$i" -lt %d ]; do
    sleep 0.02; i=$((i + 1)); echo "$i" >>trace; echo "$i" >at
    [ "$asked" = 1 ] && exit 75
    [ -e finish ] && break
done
exit 0
"""


def counting(signal, most=4000):
    """A job of bash that counts into 'trace', one number at least, until there is a file 'finish'.
    At that signal it leaves, and goes on from there when it is started again."""
    return COUNT % (signal, most)


def counted(queue):
    """Whether no number was left out, and none said twice."""
    numbers = [int(n) for n in (queue.work / "trace").read_text().split()]
    return numbers == list(range(1, len(numbers) + 1))


def on_a_disk(size, script, *args, **more):
    """Run a script of bash in which "$1", where a queue has its state, is a disk of that size of
    the test's own; "$2" and so on are the other arguments. Skips where there can be none."""
    script = 'mount -t tmpfs -o size=%s none "$1" || exit 99\n%s' % (size, script)
    env = dict(os.environ, STATE_DIRECTORY=str(args[0]), BRIM_CONF="/nonexistent")
    env.update(more)
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", script, "bash", *[str(a) for a in args]], env=env,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300,
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("no disk of its own can be made: " + done.stderr)
    return done


def soak(*options):
    """The short form of the soak test."""
    done = subprocess.run(
        [sys.executable, str(SOAK), "--jobs", "50", "--kills", "10", *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=500,
    )
    assert done.returncode == 0, done.stdout


class Queue:
    """A queue of its own, which has two invented accelerators."""

    def __init__(self, brim, folder, conf="fake = 2xH100-SXM5-80GB\n", **env):
        self.brim, self.folder, self.work = brim, folder / "state", folder / "work"
        self.state = self.folder / "queue"
        for path in (self.folder, self.work):
            path.mkdir()
        (folder / "brim.conf").write_text("[queue]\nidle = 5s\n" + conf)
        self.env = {"STATE_DIRECTORY": str(self.folder), "BRIM_CONF": str(folder / "brim.conf")}
        self.env.update(env)

    def __call__(self, *args, **how):
        how.setdefault("cwd", str(self.work))
        return self.brim(*args, env=dict(self.env, **how.pop("env", {})), **how)

    def submit(self, *args, **how):
        done = self("submit", *args, **how)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    def jobs(self, *args):
        done = self("jobs", "--all", "--json", *args)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["jobs"]

    def job(self, number):
        """As brim jobs has it. The engine is asked here: tests wait for what becomes of a job, and
        to start the program takes longer than its answer, with sanitizers a hundred times. It is
        started where nobody answers, which starts an engine."""
        try:
            (job,) = json.loads(self.ask(verb="jobs", job=number)["text"])["jobs"]
        except (OSError, EOFError):
            (job,) = self.jobs(str(number))
        return job

    def ask(self, **fields):
        """The fields of the engine's answer to a request, which is a connection (queue/job/wire.h);
        the folder's descriptor is for paths that are too long for an address."""
        text = b"".join(b"%s=%s\0" % (k.encode(), str(v).encode()) for k, v in fields.items())
        with contextlib.ExitStack() as stack:
            folder = os.open(self.state, os.O_PATH | os.O_DIRECTORY)
            stack.callback(os.close, folder)
            engine = stack.enter_context(socket.socket(socket.AF_UNIX))
            engine.settimeout(60)
            engine.connect("/proc/self/fd/%d/socket" % folder)
            engine.sendall(len(text).to_bytes(4, "little") + text)
            stream = stack.enter_context(engine.makefile("rb"))
            head = stream.read(4)
            told = stream.read(int.from_bytes(head, "little"))
        if not told or len(told) < int.from_bytes(head, "little"):
            raise EOFError("the engine went before it had answered")
        pairs = (field.partition(b"=") for field in told.split(b"\0")[:-1])
        answer = {k.decode(): v.decode("utf-8", "backslashreplace") for k, _, v in pairs}
        assert answer["status"] == "0", answer
        return answer

    def all_ended(self):
        try:
            begin = 1
            while begin:
                answer = self.ask(verb="jobs", since=0, **{"from": begin}, most=20000)
                if not all(job["ended"] for job in json.loads(answer["text"])["jobs"]):
                    return False
                begin = int(answer["next"])
        except (OSError, EOFError):  # it is started by those who ask for it
            return all(job["ended"] for job in self.jobs())
        return True

    def until(self, number, *states):
        """The job once it is in one of the states."""
        def found():
            job = self.job(number)
            return job["state"] in states and job

        return wait_until(found)

    def output(self, number):
        return (self.state / "jobs" / str(number) / "output").read_text()

    def engine(self):
        return int((self.state / "lock").read_text())

    def kill_engine(self):
        pid = self.engine()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not pathlib.Path("/proc/%d/exe" % pid).exists())

    def stop_engine(self):
        pid = self.engine()
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not pathlib.Path("/proc/%d/exe" % pid).exists())

    def log(self):
        return (self.state / "engine.log").read_text()

    def end(self):
        if not self.state.exists():
            return
        for job in self.jobs():
            if job["state"] in ("waiting", "running", "held", "stopping"):
                self("cancel", str(job["id"]))
        wait_until(self.all_ended)
        os.kill(self.engine(), signal.SIGTERM)
        groups.drop(self.state)
