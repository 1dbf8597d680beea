"""brim why: runs and jobs that run, traces of operations, and what it says when there is nothing to
judge."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import one_line

TRACES = os.path.join(os.path.dirname(__file__), "..", "fuzz", "corpus", "trace")
TRACE = os.path.join(TRACES, "two-stages.tsv")


def test_trace(brim):
    text = brim.out("why", "--trace", TRACE)
    assert text.startswith("2 steps of 2 ranks with 2 stages, 120 operations\n")
    assert "VERDICT  no stragglers to speak of" in text and "S         1.000" in text


def test_trace_json(brim):
    told = json.loads(brim.out("why", "--json", "--trace", TRACE))
    assert told["schema"] == "brim.straggler.v1" and told["class"] == "none"
    assert abs(told["slowdown"] - 1) < 0.01
    assert len(told["by_stage"]) == 2 and len(told["by_rank"]) == 2


@pytest.mark.parametrize(
    "words, status, said",
    [
        (("--trace", os.path.join(TRACES, "interleaved.tsv")), 1, "interleaved schedules"),
        (("--trace", os.path.join(TRACES, "circle.tsv")), 1, "in a circle"),
        (("--trace", os.path.join(TRACES, "absent.tsv")), 1, "absent.tsv"),
        (("--trace", ""), 2, "empty name"),
        (("--trace", TRACE, "x"), 2, "neither a run"),
        (("--trace", TRACE, "--with", "x"), 2, "neither a run"),
        (("x", "y"), 2, "y"),
    ],
)
def test_wrong_usage(brim, words, status, said):
    one_line(brim("why", *words), status, said)


# ---- jobs that run ----

JOB = os.environ.get("STEP_JOB", "")
HALF = """
import time
while True:
    end = time.monotonic() + 0.3
    while time.monotonic() < end: pass
    time.sleep(0.4)
"""


@pytest.fixture
def state(tmp_path):
    return {"STATE_DIRECTORY": str(tmp_path / "state"), "BRIM_RUN": "", "BRIM_RING": ""}


@contextlib.contextmanager
def running(*command, env=None):
    p = subprocess.Popen(command, env=dict(os.environ, **(env or {})), stderr=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        yield p
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(x) for x in f.read().split()]


def wait_for_steps(brim, pid, env):
    for _ in range(100):
        found = children(pid)
        if found:
            told = brim("why", "--json", "--live", found[0], env=env)
            if told.returncode == 0 and "watching" not in told.stderr:
                return found[0], json.loads(told.stdout)
        time.sleep(0.1)
    raise AssertionError(told.stderr)


def test_live_under_brim_run(brim, state, tmp_path):
    """As another process, while the run is written, and with a folder of runs of its own."""
    run = ("run", "-q", "--interval", "100ms", "--", JOB, "6000", "3000", "7000")
    with running(brim.program, *run, env=state) as p:
        pid, told = wait_for_steps(brim, p.pid, dict(state, STATE_DIRECTORY=str(tmp_path / "x")))
        time.sleep(1.5)
        assert told["live"]["pid"] == pid and told["live"]["observed"] == "run"
        begin = time.monotonic()
        told = json.loads(brim.out("why", "--json", "--live", pid, env=state))
        assert time.monotonic() - begin < 2
        assert abs(told["share"]["wait"] - 0.3) < 0.05 and abs(told["step_seconds"] - 0.01) < 0.002
        assert told["live"]["still"] is False and told["live"]["seconds"] < 60
        text = brim.out("why", "--live", pid, env=state)
        assert "process %d, under brim run: the last" % pid in text and "VERDICT" in text
        os.kill(pid, signal.SIGSTOP)
        time.sleep(6.5)
        text = brim.out("why", "--live", pid, env=state)
        os.kill(pid, signal.SIGCONT)
        assert "no step has ended for " in text, text


def test_live_from_outside(brim, state):
    with running(sys.executable, "-c", HALF) as p:
        done = brim("why", "--json", "--live", p.pid, "--for", "8s", env=state)
        assert done.returncode == 0, done.stderr
        assert "from outside for 8 s" in done.stderr
        told = json.loads(done.stdout)
    assert told["live"]["observed"] == "outside" and told["run"] is None
    # beside builds they may stand before it
    (waits,) = [i for i in told["items"] if i["cause"] == "loader-waits"]
    assert waits["rank"] == -1 and abs(waits["share"] - 0.57) < 0.2, told
    assert abs(told["step_seconds"] - 0.7) < 0.1 and "repeats every" in told["inferred"], told
    assert not os.path.exists(state["STATE_DIRECTORY"])  # nothing is kept of it


def test_live_without_a_period(brim, state):
    """A shell is not the rank, and what sleeps is judged by the time."""
    with running("sh", "-c", "sleep 100; true") as p:
        done = brim("why", "--live", p.pid, "--for", "4s", env=state)
        assert done.returncode == 0, done.stderr
    assert "shares are of the time" in done.stdout and "steps/s" not in done.stdout
    assert "its own process is off the CPUs 100 % of the time" in done.stdout


def test_live_process_that_ends(brim, state):
    with running("sleep", "1") as p:
        done = brim("why", "--live", p.pid, "--for", "4s", env=state)
    assert done.returncode == 1 and done.stdout == ""
    assert "process %d ended before" % p.pid in done.stderr.splitlines()[-1]


def test_live_without_a_process(brim, state):
    with running("true") as p:
        p.wait()
    one_line(brim("why", "--live", p.pid, env=state), 1, "no process %d" % p.pid)
    one_line(brim("why", "--live", 2**31, env=state), 2, "number of a process")
    one_line(brim("why", "--live", 1, "--for", "1s", env=state), 2, "--for")
    one_line(brim("why", "--live", 1, "x", env=state), 2, "neither a run")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_live_of_another_user(brim, state, tmp_path):
    program = tmp_path / "brim"
    shutil.copy(brim.program, program)
    for folder in [tmp_path, *tmp_path.parents[:3]]:
        os.chmod(folder, 0o755)
    with running("sleep", "60") as p:
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        command = drop + [str(program), "why", "--live", str(p.pid)]
        done = subprocess.run(command, stdout=-1, stderr=-1, timeout=30, universal_newlines=True)
        if "Permission denied" in done.stderr:
            pytest.skip("the program is where another user cannot read it")
        one_line(done, 1, "belongs to root")
