#!/usr/bin/env python3
"""Kill brim optimize, or the job below it, at moments of chance; script/soak runs it.

    BRIM=... TUNED_JOB=... tests/soak/optimize_kill.py [--kills 100] [--from 0] [--seed 1]

Each kill is one of a seed, so that any of them can be looked at again alone. By turns the job is
the one of the tests and a PyTorch job with a loader; by chance it or brim is killed. A job that
is killed must leave brim with the right end of it and a profile that is whole or not there. A
brim that is killed must leave a job that goes on to its end, with the numbers of an untouched one.
After both there may be no process, shared memory, cgroup or temporary file that the next brim run
does not remove. /dev/shm is one of its own, so that nothing else on the machine is counted."""

import argparse
import ctypes
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
SUBREAPER, NEW_MOUNTS, PRIVATE = 36, 0x20000, 1 << 18 | 1 << 14
END_S = 60.0  # the longest that a job may take from its kill to its end
GONE_S = 15.0  # until no process of it may be there: idle workers look each 5 s

KNOWN = """[profile]
name = "known"
machine = "8 x H100-SXM5-80GB"

[loader.workers]
value = "6"
gain = 3
"""
TUNED = [os.environ["TUNED_JOB"], "4000", "2000", "500"]
TORCH = [PYTHON, str(HERE / "jobs" / "train_hash.py"), "--steps", "900"]


def is_there(path):
    try:
        os.stat(path)
    except OSError:
        return False
    return True


def own_shm():
    """A /dev/shm that nobody else writes to; False where that is not permitted."""
    libc = ctypes.CDLL(None, use_errno=True)
    return (
        libc.unshare(NEW_MOUNTS) == 0
        and libc.mount(b"none", b"/", None, PRIVATE, None) == 0
        and libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=512m") == 0
    )


def tagged(tag):
    """Processes whose environment has the tag: of a trial, whoever started them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                if tag.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def child_of(pid):
    """The first child, once it runs another program than its parent; None: there is none yet."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            child = int(f.read().split()[0])
        same = os.readlink("/proc/%d/exe" % child) == os.readlink("/proc/%d/exe" % pid)
    except (OSError, IndexError):
        return None
    return None if same else child


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def what(out):
    """Of what a job printed, all that may not depend on how fast it was."""
    words = out.split()
    return words[:2] if words[:1] == ["weights"] else words[:1]


class Trial:
    """One job below one brim, and one kill."""

    def __init__(self, work, number, seed, torch):
        chance = random.Random("%d %d" % (seed, number))
        self.torch = torch and number % 2 == 1
        self.kills_job = chance.random() < 0.5
        # at the start, in a trial's blocks, when something was kept
        self.after = chance.choice(["", "trying", "trying", ", kept"])
        self.delay_s = chance.uniform(0, 1.5)
        self.known = chance.random() < 0.3  # it has a profile, of another machine
        self.folder = pathlib.Path(work) / ("trial%d" % number)
        self.tmp = self.folder / "tmp"
        self.state = self.folder / "state"
        self.tmp.mkdir(parents=True)
        self.state.mkdir()
        self.out, self.card = self.folder / "out", self.folder / "card.json"
        self.profile = self.folder / "known.ini"
        self.profile.write_text(KNOWN)
        self.tag = "BRIM_SOAK_TAG=%s" % uuid.uuid4()
        self.wrong, self.said, self.late = [], "", False

    def __str__(self):
        return "%s job%s, %s killed %.2f s after %s" % (
            "torch" if self.torch else "tuned",
            " with a profile" if self.known else "",
            "job" if self.kills_job else "brim",
            self.delay_s,
            "it said '%s'" % self.after if self.after else "its start",
        )

    def check(self, good, text):
        if not good:
            self.wrong.append(text)

    def environment(self):
        drop = ("BRIM_", "SLURM_", "RANK", "WORLD_SIZE", "TUNED", "LD_")
        env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        env.update(STATE_DIRECTORY=str(self.state), BRIM_CONF="/nonexistent/brim.conf")
        env.update([self.tag.split("=")], TMPDIR=str(self.tmp), PYTHONDONTWRITEBYTECODE="1")
        return env

    def listen(self, stream, heard):
        for line in stream:
            self.said += line
            if self.after and self.after in line:
                heard.set()
        heard.set()

    def run(self):
        options = ["--interval", "100ms", f"--json={self.card}"]
        options += ["--profile", str(self.profile)] if self.known else []
        command = [os.environ["BRIM"], "optimize", *options, "--"]
        heard = threading.Event()
        with open(self.out, "w") as out:
            brim = subprocess.Popen(
                command + (TORCH if self.torch else TUNED), env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                universal_newlines=True,
            )
        threading.Thread(target=self.listen, args=(brim.stderr, heard), daemon=True).start()
        wait_for(lambda: child_of(brim.pid) or brim.poll() is not None, 10)
        job = child_of(brim.pid)
        if self.after:
            heard.wait(END_S)
        time.sleep(self.delay_s)
        self.late = brim.poll() is not None or not is_there("/proc/%d" % job)
        try:
            if not self.late:
                os.kill(job if self.kills_job else brim.pid, signal.SIGKILL)
            self.ends(brim, job)
        finally:
            left = [pid for pid in tagged(self.tag) if pid != os.getpid()]
            for pid in left:
                os.kill(pid, signal.SIGKILL)

    def ends(self, brim, job):
        """The kill was made: what is to come of it, and what may not be left."""
        try:
            status = brim.wait(END_S)
        except subprocess.TimeoutExpired:
            self.check(False, "brim did not end")
            return
        if self.late:
            self.check(status == 0, "brim ended with %d" % status)
        elif self.kills_job:
            self.check(status == 128 + signal.SIGKILL, "brim ended with %d" % status)
            self.check_card()
        else:
            self.check_orphan(job)
        self.check_profile()
        gone = wait_for(lambda: not tagged(self.tag), GONE_S)
        names = [] if gone else [self.name_of(pid) for pid in tagged(self.tag)]
        self.check(gone, "processes are left: %s" % names)
        self.check_files(brim.pid)

    @staticmethod
    def name_of(pid):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as f:
                return "%d %s" % (pid, f.read().replace(b"\0", b" ").decode()[-60:])
        except OSError:
            return str(pid)

    def check_orphan(self, job):
        """Its parent is gone: it is ours now (PR_SET_CHILD_SUBREAPER)."""
        done = []

        def reaped():
            pid, status = os.waitpid(job, os.WNOHANG)
            done.append(status)
            return pid == job

        if not wait_for(reaped, END_S):
            self.check(False, "the job hangs without brim")
            return
        self.check(done[-1] == 0, "the job ended with status %d" % done[-1])

    def check_card(self):
        try:
            card = json.loads(self.card.read_text())
        except (OSError, ValueError) as e:
            self.check(False, "the card: %s" % e)
            return
        self.check((card["run"]["end"], card["run"]["status"]) == ("killed", signal.SIGKILL),
                   "the card says %s %s" % (card["run"]["end"], card["run"]["status"]))
        tried = "trying" in self.said
        outcomes = [k["outcome"] for k in card["optimize"]["settings"]]
        self.check(not tried or outcomes, "a trial was begun, and the card has none")
        kept = sum(", kept" in line for line in self.said.splitlines())
        self.check(outcomes.count("adopted") == kept,
                   "%d settings were kept, the card has %s" % (kept, outcomes))

    def check_profile(self):
        """Whole, and of what the card says was kept; or not there."""
        adopted = {}
        if self.card.exists():
            settings = json.loads(self.card.read_text())["optimize"]["settings"]
            adopted = {k["knob"]: k["value"] for k in settings if k["outcome"] == "adopted"}
        found = {}
        files = list(self.state.glob("profiles/*"))
        self.check(all(f.suffix == ".ini" for f in files), "files beside profiles: %s" % files)
        left = [str(f) for f in self.folder.glob("known.ini?*")]
        self.check(not left, "files beside the profile: %s" % left)
        if self.known and self.profile.read_text() != KNOWN:
            files.append(self.profile)
        elif self.known and adopted:
            self.check(False, "the profile is of before, kept were %s" % adopted)
        for file in files:
            shown = subprocess.run(
                [os.environ["BRIM"], "profile", "show", str(file)], env=self.environment(),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
            )
            self.check(shown.returncode == 0, "the profile: %s" % shown.stderr.strip())
            lines = file.read_text().splitlines()
            for at, line in enumerate(lines):
                if line.startswith("value = "):
                    heads = [x for x in lines[:at] if x.startswith("[")]
                    found[heads[-1].strip("[]")] = line[8:].strip('"')
        self.check(found == adopted, "the profile has %s, kept were %s" % (found, adopted))

    def check_files(self, pid):
        """What the next brim run leaves."""
        subprocess.run([os.environ["BRIM"], "run", "-q", "--", "true"], env=self.environment())
        shm = os.listdir("/dev/shm")
        self.check(not shm, "left in /dev/shm: %s" % shm)
        left = [str(f.relative_to(self.tmp)) for f in self.tmp.rglob("*")]
        self.check(not left, "left in TMPDIR: %s" % left)
        left = list(self.state.rglob("*.new"))
        self.check(not left, "left in the state folder: %s" % left)
        groups = [d for d, _, _ in os.walk("/sys/fs/cgroup") if "brim" in d and str(pid) in d]
        self.check(not groups, "cgroups are left: %s" % groups)

    def finish(self, wanted):
        """What the job printed, where it was let run to its end."""
        if self.late or not self.kills_job:
            out = self.out.read_text()
            self.check(what(out) == wanted[self.torch],
                       "the job printed %s, untouched %s" % (what(out), wanted[self.torch]))
        return not self.wrong


HAS_TORCH = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))"


def untouched():
    """What each job prints where nobody kills it; both at once, for nobody asks how fast."""
    jobs = {False: TUNED}
    if subprocess.run([PYTHON, "-c", HAS_TORCH]).returncode == 0:
        jobs[True] = TORCH
    started = {
        torch: subprocess.Popen(command, stdout=subprocess.PIPE, universal_newlines=True)
        for torch, command in jobs.items()
    }
    wanted = {torch: what(process.communicate()[0]) for torch, process in started.items()}
    assert all(process.returncode == 0 for process in started.values()), wanted
    return wanted


def parse():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--kills", type=int, default=int(os.environ.get("SOAK_OPTIMIZE_KILLS", "100")))
    p.add_argument("--from", type=int, default=0, dest="first", help="the first one's number")
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def main():
    a = parse()
    if not own_shm():
        print("skipped: a /dev/shm of one's own needs root")
        return
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    wanted = untouched()
    killed = late = failed = 0
    number = a.first
    with tempfile.TemporaryDirectory() as work:
        while killed < a.kills:
            trial = Trial(work, number, a.seed, True in wanted)
            trial.run()
            if not trial.finish(wanted):
                failed += 1
                print("FAILED %d: %s: %s" % (number, trial, "; ".join(trial.wrong)), flush=True)
            killed += not trial.late
            late += trial.late
            number += 1
    print("%-6s %d of %d kills passed, and %d jobs that ended before theirs; the next is --from %d"
          % ("FAILED" if failed else "ok", killed - failed, killed, late, number), flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
