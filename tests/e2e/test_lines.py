"""brim names the line that takes the time: of a job under brim run, of a loader's worker, and of a
job that brim did not start. Each job does its slow line until it is told to end, which is when the
run's file has that line; it sleeps there, so that it needs no CPU."""

import contextlib
import glob
import importlib.util
import json
import os
import subprocess
import sys
import time

import pytest

BRIM = os.environ.get("BRIM", "")
SEEN = 20  # samples of a line that its run has to have
PATIENCE = 90

pytestmark = pytest.mark.skipif(
    not (3, 11) <= sys.version_info[:2] <= (3, 14), reason="calls of this Python are not read"
)

PLAIN = """
import os, sys, threading

def log_images():
    threading.Event().wait(0.03)  # slow

def main():
    while not os.path.exists(sys.argv[1]):
        log_images()

main()
"""

TORCH = """
import os, sys, time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        if %(load)d:
            time.sleep(0.03)  # slow load
        return torch.full((4,), float(i %% 7))

def log_images():
    if not %(load)d:
        time.sleep(0.03)  # slow log

def main():
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x in DataLoader(Slow(), batch_size=2, num_workers=%(load)d):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        log_images()
        if os.path.exists(sys.argv[1]):
            break

if __name__ == "__main__":
    main()
"""


class Job:
    """A job in a folder, with or without brim run."""

    def __init__(self, folder, text):
        self.file = os.path.join(str(folder), "train.py")
        self.end = os.path.join(str(folder), "end")
        self.state = os.path.join(str(folder), "state")
        with open(self.file, "w") as f:
            f.write(text)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "PYTHON"))}
        self.env.update(STATE_DIRECTORY=self.state, BRIM_CONF="/nonexistent/brim.conf")

    def line(self, mark):
        with open(self.file) as f:
            return [n for n, text in enumerate(f, 1) if text.rstrip().endswith("# " + mark)][0]

    @contextlib.contextmanager
    def runs(self, *before):
        process = subprocess.Popen(
            [*before, sys.executable, self.file, self.end],
            env=self.env, cwd=os.path.dirname(self.file),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            with open(self.end, "w"):
                pass
            assert process.wait(PATIENCE) == 0

    def stored(self, line):
        """Whether the run's file has that line often enough."""
        for path in glob.glob(os.path.join(self.state, "runs", "*", "part-*.ini")):
            with open(path) as f:
                for section in f.read().split("[line]\n")[1:]:
                    words = dict(row.split(" = ") for row in section.split("[")[0].splitlines())
                    if words["line"] == str(line) and int(words["seen"]) >= SEEN:
                        return True
        return False

    def watched(self, line):
        """Run it under brim run until its file has the line; what brim why says then."""
        with self.runs(BRIM, "run", "--quiet", "--") as process:
            until = time.monotonic() + PATIENCE
            while not self.stored(line):
                assert process.poll() is None and time.monotonic() < until, "the line is not stored"
                time.sleep(0.1)
        return self.why()

    def why(self, *options):
        done = subprocess.run(
            [BRIM, "why", *options], env=self.env, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def may_look():
    """Whether the memory of a process that is not ours to trace may be read."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as f:
            return f.read().strip() == "0" or os.geteuid() == 0
    except OSError:
        return True


def test_plain_python(tmp_path):
    job = Job(tmp_path, PLAIN)
    line = job.line("slow")
    text = job.watched(line)
    assert "train.py:%d in log_images (threading.Event.wait)" % line in " ".join(text.split())
    where = json.loads(job.why("--json"))["where"]
    assert where[0]["file"] == job.file and where[0]["line"] == line
    assert where[0]["function"] == "log_images" and where[0]["stage"] == "other"
    assert where[0]["samples"] >= SEEN and where[0]["of_stage"] > 0.5


def test_from_outside(tmp_path):
    job = Job(tmp_path, PLAIN)
    with job.runs() as process:
        said = json.loads(job.why("--live", str(process.pid), "--for", "10s", "--json"))
    if not may_look():
        assert "where" not in said and said["where_off"]
        return
    assert said["where"][0]["line"] == job.line("slow")
    assert "py-spy" not in json.dumps(said)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize(
    "mark, workers, stage", [("slow log", 0, "other"), ("slow load", 1, "worker")]
)
def test_torch(tmp_path, mark, workers, stage):
    """The marks say in which stage; of a loader with workers, theirs is the line."""
    job = Job(tmp_path, TORCH % {"load": workers})
    line = job.line(mark)
    job.watched(line)
    told = json.loads(job.why("--json"))
    assert told["where"][0]["line"] == line and told["where"][0]["stage"] == stage
    # On a busy machine others' CPU time may stand first, which is about no line.
    about = [item for item in told["items"] if item.get("where")]
    assert all(item["where"]["line"] == line for item in about), told["sentence"]
    assert all("train.py:%d" % line in item["sentence"] for item in about)
    assert not any("py-spy" in item["action"] for item in about)
