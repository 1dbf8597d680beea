"""A queue of a test's own, with real processes."""

import json
import os
import pathlib
import signal

from served import wait_until


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
        (job,) = self.jobs(str(number))
        return job

    def until(self, number, *states):
        return wait_until(lambda: self.job(number)["state"] in states and self.job(number), 20)

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
        wait_until(lambda: not pathlib.Path("/proc/%d/exe" % pid).exists(), 30)

    def log(self):
        return (self.state / "engine.log").read_text()

    def end(self):
        if not self.state.exists():
            return
        for job in self.jobs():
            if job["state"] in ("waiting", "running", "held", "stopping"):
                self("cancel", str(job["id"]))
        wait_until(lambda: all(j["ended"] for j in self.jobs()), 30)
        os.kill(self.engine(), signal.SIGTERM)
