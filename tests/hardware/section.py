"""What a section of script/hardware finds, and how it runs what it looks at."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOBS = pathlib.Path(__file__).resolve().parent / "jobs"
RIGHT, WRONG, NOTED = "right", "WRONG", ""
END_S = 5  # for what is told to end


class Row(typing.NamedTuple):
    """One thing that was looked at: what brim says of it, and what it is compared with."""

    what: str
    brim: str
    beside: str
    judged: str  # RIGHT, WRONG, NOTED


class Failed(Exception):
    """A section cannot go on; in words for the table."""


class Skipped(Exception):
    """A section has nothing to judge here; in words for the table."""


class Found:
    """What a section has found so far; what it has is kept when it fails."""

    def __init__(self, title):
        self.title, self.rows, self.end, self.seconds = title, [], "", 0.0

    def note(self, what, brim, beside=""):
        self.rows.append(Row(what, str(brim), str(beside), NOTED))

    def judge(self, what, brim, beside, is_right):
        self.rows.append(Row(what, str(brim), str(beside), RIGHT if is_right else WRONG))

    def count(self, judged):
        return sum(row.judged == judged for row in self.rows)


class Done(typing.NamedTuple):
    status: int
    out: str
    err: str

    def last_line(self):
        """What it says of its end: on stderr, or else on stdout."""
        said = self.err.strip() or self.out.strip() or "it says nothing"
        return said.splitlines()[-1][:160]


def session_of(pid):
    with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as f:
        return int(f.read().rpartition(")")[2].split()[3])


def members(session):
    """The processes of a session: a job that brim has started is in another group, not another
    session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if session_of(pid) == session:
                found.append(int(pid))
    return found


def tell(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def end_session(process):
    """End what was started with it. What it ignores for END_S, it does not survive."""
    tell(members(process.pid), signal.SIGTERM)
    until = time.monotonic() + END_S
    while time.monotonic() < until and (process.poll() is None or members(process.pid)):
        time.sleep(0.05)
    tell(members(process.pid), signal.SIGKILL)
    process.wait()


class Here:
    """The machine, the program that is looked at, and the time that is left."""

    def __init__(self, python, dry, work, keep, seconds):
        self.python, self.dry, self.keep_at = python, dry, keep
        self.work = pathlib.Path(work)
        self.brim = None  # the section 'build' finds it
        self.ends_at = self.section_ends_at = time.monotonic() + seconds
        self.meta = {}
        self.tools = JOBS  # where load.py and rates.py are, which a GPU alone can run
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "FAKE_"))}
        self.env["STATE_DIRECTORY"] = str(self.work / "state")
        self.env["BRIM_CONF"] = "/nonexistent/brim.conf"
        if dry:  # elsewhere PyTorch may be compiled when it is imported first, and once is enough
            self.env["PYTHONDONTWRITEBYTECODE"] = "1"

    def left(self):
        return self.section_ends_at - time.monotonic()

    def start(self, *words, **env):
        return subprocess.Popen(
            [str(word) for word in words],
            env={**self.env, **env},
            cwd=JOBS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )

    def run(self, *words, limit=120, **env):
        """Run a command to its end, which comes within the limit and the time of the section."""
        limit = max(min(limit, self.left()), 0.1)
        try:
            process = self.start(*words, **env)
        except OSError as e:
            raise Failed("%s: %s" % (words[0], e.strerror)) from e
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as e:
            name = " ".join(pathlib.Path(str(w)).name for w in words[:2])
            raise Failed("%s took longer than %.0f s" % (name, limit)) from e
        finally:
            if process.returncode is None:
                end_session(process)
        return Done(process.returncode, out, err)

    def must(self, *words, **how):
        done = self.run(*words, **how)
        if done.status:
            name = " ".join(pathlib.Path(str(w)).name for w in words[:2])
            raise Failed("%s ended with %d: %s" % (name, done.status, done.last_line()))
        return done

    def json(self, *words, **how):
        return json.loads(self.must(*words, **how).out)

    def told(self, verb, *words, limit=120, **env):
        """(what a job under brim run or brim optimize printed, the JSON that brim writes)"""
        path = self.work / "card.json"
        done = self.must(self.brim, verb, "-q", "--json=%s" % path, *words, limit=limit, **env)
        return done, json.loads(path.read_text(encoding="utf-8"))

    def keep(self, name, text):
        """Raw output, for whoever wants to read it later."""
        if self.keep_at:
            self.keep_at.mkdir(parents=True, exist_ok=True)
            (self.keep_at / name).write_text(text, encoding="utf-8")
