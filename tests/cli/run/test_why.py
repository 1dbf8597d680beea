"""brim why: runs and jobs that run, traces of operations, and what it says when there is nothing to
judge."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT, one_line
from served import readable_copy

TRACES = str(ROOT / "tests" / "fuzz" / "corpus" / "trace")
TRACE = os.path.join(TRACES, "two-stages.tsv")
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


def test_trace(brim):
    text = brim.out("why", "--trace", TRACE)
    assert text.startswith("2 steps of 2 ranks with 2 stages, 120 operations\n")
    assert "VERDICT  no stragglers to speak of" in text
    assert "slowdown  1.000 times" in text and "nan" not in text


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
        (("--trace", ""), 2, "--trace needs a value"),
        (("--trace", TRACE, "x"), 2, "neither a run"),
        (("--trace", TRACE, "--with", "x"), 2, "neither a run"),
        (("x", "y"), 2, "y"),
    ],
)
def test_wrong_usage(brim, words, status, said):
    one_line(brim("why", *words), status, said)


# ---- stored runs ----


def run_job(brim, state, *numbers):
    done = brim("run", "-q", "--interval", "200ms", "--", JOB, *numbers, env=state)
    assert done.returncode == 0, done.stderr


def without_the_machine(state):
    """Of stored runs what was seen of the machine goes: what else it did decides nothing then."""
    for path in pathlib.Path(state["STATE_DIRECTORY"]).glob("runs/*/*.moments"):
        path.unlink()


def test_stored_run(brim, state):
    run_job(brim, state, 150, 3000, 7000)
    without_the_machine(state)
    text = brim.out("why", env=state)
    assert re.match(r"run \d{8}-\d{6}-[0-9a-f]{4}  step_job  1 rank\n", text), text
    assert "wait 30 %, forward 70 %" in text
    assert re.search(r"[0-9.]+ steps/s, [0-9.]+ samples/s", text), text
    assert "\nVERDICT  waits for data, and " in text, text
    assert re.search(r"^1\. [a-z-]+  costs 30 % of the step, at most 1\.43x", text, re.M), text
    assert max(map(len, text.splitlines()[:3])) <= 100
    told = json.loads(brim.out("why", "--json", env=state))
    assert told["schema"] == "brim.verdict.v1" and told["name"] == "step_job"
    assert told["run"] == text.split()[1] and "live" not in told
    assert abs(told["share"]["wait"] - 0.3) < 0.01 and abs(sum(told["share"].values()) - 1) < 0.01
    assert abs(told["items"][0]["gain"] - 1.43) < 0.01, told
    for name in (told["run"], told["run"][:15], "step_job", "last"):
        assert brim.out("why", name, env=state) == text
    folder = os.path.join(state["STATE_DIRECTORY"], "runs", told["run"])
    assert brim.out("why", folder, env=state) == text


@pytest.mark.timed
def test_the_verdict_on_a_run_of_now(brim, state):
    """With all that was seen of the machine beside it."""
    run_job(brim, state, 150, 3000, 7000)
    text = brim.out("why", env=state)
    assert "\nVERDICT  " in text
    cause = r"^\d\. [a-z-]+  costs (2[5-9]|3[0-5]) % of the step, at most 1\.[345]"
    assert re.search(cause, text, re.M), text


def test_the_machine_beside_a_run(brim, state):
    """What was seen of it while the job ran is stored, and judged."""
    run_job(brim, state, 150, 3000, 7000)
    told = json.loads(brim.out("why", "--json", env=state))
    assert abs(told["share"]["wait"] - 0.3) < 0.01 and told["items"], told


@pytest.mark.timed
def test_unmarked_run(brim, state):
    """Steps that are inferred have no stages; who the rank is comes from the processes."""
    job = "import sys, threading, os\nthreading.Timer(8, os._exit, [0]).start()\n" + HALF
    done = brim("run", "-q", "--", "sh", "-c", '"$0" -c "$1"; true', sys.executable, job, env=state)
    assert done.returncode == 0, done.stderr
    told = json.loads(brim.out("why", "--json", env=state))
    if not told["inferred"]:
        pytest.skip("others keep the CPUs so busy that nothing repeats itself")
    (waits,) = [i for i in told["items"] if i["cause"] == "loader-waits"]
    assert "off the CPUs" in waits["evidence"] and abs(waits["share"] - 0.57) < 0.2, told
    assert "repeats every" in told["inferred"]


def test_with_another_run(brim, state):
    """Of the same command the one before is compared without being asked."""
    run_job(brim, state, 150, 100, 9900)
    time.sleep(1.1)
    run_job(brim, state, 150, 100, 13900)
    without_the_machine(state)
    first, second = sorted(os.listdir(os.path.join(state["STATE_DIRECTORY"], "runs")))
    assert "slower-than-before" not in brim.out("why", env=state)  # another command
    told = json.loads(brim.out("why", "--json", "--with", first, env=state))
    (slower,) = [i for i in told["items"] if i["cause"] == "slower-than-before"]
    assert abs(slower["share"] - 0.286) < 0.01, told
    assert first in slower["sentence"]
    assert "slower" not in brim.out("why", first, "--with", second, env=state)


def test_no_run(brim, state):
    one_line(brim("why", env=state), 1, "no run is kept yet: brim run")
    one_line(brim("why", "nothing", env=state), 1, "no run is kept yet: brim run")
    one_line(brim("why", "/nonexistent/x", env=state), 1, "/nonexistent/x")
    run_job(brim, state, 20, 1000, 1000)
    one_line(brim("why", "--with", "nothing", env=state), 1, "there is no run 'nothing'")
    one_line(brim("report", "nothing", env=state), 1, "there is no run 'nothing'")


def test_report(brim, state, tmp_path):
    run_job(brim, state, 150, 3000, 7000)
    without_the_machine(state)
    page = tmp_path / "page.html"
    assert brim.out("report", "-o", page, env=state) == ""
    text = page.read_text()
    told = json.loads(brim.out("why", "--json", env=state))
    assert text.lower().startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    assert told["run"] in text and "step_job" in text
    assert "of the step waits for data" in text
    assert not re.search(r"<(script|link|img|iframe)\b|https?://(?!www\.w3\.org)", text)  # alone
    assert brim.out("report", "last", env=state) == text
    one_line(brim("report", "-o", tmp_path / "no" / "page.html", env=state), 1, "page.html")


# ---- jobs that run ----



def end_session(leader):
    """All of it: a job under brim run has a group of its own, and goes on without its observer."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(int(pid)) == leader:
                os.kill(int(pid), signal.SIGKILL)


@contextlib.contextmanager
def running(*command, env=None):
    p = subprocess.Popen(command, env=dict(os.environ, **(env or {})), stderr=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        yield p
    finally:
        end_session(p.pid)
        p.wait()


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(x) for x in f.read().split()]


def wait_for_steps(brim, pid, env):
    told = None
    for _ in range(1200):
        found = children(pid)
        if found:
            told = brim("why", "--json", "--live", found[0], env=env)
            if told.returncode == 0 and "watching" not in told.stderr:
                return found[0], json.loads(told.stdout)
        time.sleep(0.1)
    raise AssertionError(told.stderr if told else "the job did not start")


def wait_for_text(brim, words, *args, env, seconds=60):
    """What brim prints, once it has those words."""
    end = time.monotonic() + seconds
    text = brim.out(*args, env=env)
    while words not in text and time.monotonic() < end:
        time.sleep(0.2)
        text = brim.out(*args, env=env)
    assert words in text, text
    return text


def test_live_under_brim_run(brim, state, tmp_path):
    """As another process, while the run is written, and with a folder of runs of its own."""
    run = ("run", "-q", "--interval", "100ms", "--", JOB, "60000", "3000", "7000")
    with running(brim.program, *run, env=state) as p:
        pid, told = wait_for_steps(brim, p.pid, dict(state, STATE_DIRECTORY=str(tmp_path / "x")))
        assert told["live"]["pid"] == pid and told["live"]["observed"] == "run"
        told = json.loads(brim.out("why", "--json", "--live", pid, env=state))
        assert abs(told["share"]["wait"] - 0.3) < 0.01 and abs(told["step_seconds"] - 0.01) < 0.001
        assert told["live"]["still"] is False
        text = brim.out("why", "--live", pid, env=state)
        assert "process %d, under brim run: the last" % pid in text and "VERDICT" in text
        os.kill(pid, signal.SIGSTOP)
        wait_for_text(brim, "no step has ended for ", "why", "--live", pid, env=state)
        os.kill(pid, signal.SIGCONT)


@pytest.mark.timed
def test_live_takes_no_time(brim, state):
    run = ("run", "-q", "--interval", "100ms", "--", JOB, "6000", "3000", "7000")
    with running(brim.program, *run, env=state) as p:
        pid, _ = wait_for_steps(brim, p.pid, state)
        time.sleep(1.5)
        begin = time.monotonic()
        told = json.loads(brim.out("why", "--json", "--live", pid, env=state))
        assert time.monotonic() - begin < 2 and told["live"]["seconds"] < 60


def test_live_from_outside(brim, state):
    """Whether anything repeats itself is the machine's affair; nothing is kept of it."""
    with running(sys.executable, "-c", HALF) as p:
        done = brim("why", "--json", "--live", p.pid, "--for", "3s", env=state)
        assert done.returncode == 0, done.stderr
        assert "from outside for 3 s" in done.stderr
    told = json.loads(done.stdout)
    assert told["live"]["observed"] == "outside" and told["run"] is None
    assert not os.path.exists(state["STATE_DIRECTORY"])


@pytest.mark.timed
def test_a_period_from_outside(brim, state):
    with running(sys.executable, "-c", HALF) as p:
        done = brim("why", "--json", "--live", p.pid, "--for", "8s", env=state)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
    if not told["inferred"]:
        pytest.skip("others keep the CPUs so busy that nothing repeats itself")
    # beside builds they may stand before it
    (waits,) = [i for i in told["items"] if i["cause"] == "loader-waits"]
    assert waits["rank"] == -1 and abs(waits["share"] - 0.57) < 0.2, told
    assert abs(told["step_seconds"] - 0.7) < 0.1 and "repeats every" in told["inferred"], told


def test_live_without_a_period(brim, state):
    """A shell is not the rank, what sleeps is judged by the time, and nothing is promised of it."""
    with running("sh", "-c", "sleep 100; true") as p:
        done = brim("why", "--live", p.pid, "--for", "4s", env=state)
        assert done.returncode == 0, done.stderr
    assert "shares are of the time" in done.stdout and "steps/s" not in done.stdout
    assert "VERDICT  it does no steps that could be seen, and uses nothing" in done.stdout
    assert "faster" not in done.stdout, done.stdout


def test_live_process_that_ends(brim, state):
    with running("sleep", "300") as p:
        looks = subprocess.Popen([brim.program, "why", "--live", str(p.pid), "--for", "60s"],
                                 env=dict(os.environ, **state), stdout=-1, stderr=-1, text=True)
        assert "from outside" in looks.stderr.readline()
        p.kill()
        p.wait()
        out, err = looks.communicate(timeout=90)
    assert looks.returncode == 1 and out == ""
    assert "process %d ended before" % p.pid in err.splitlines()[-1]


def test_live_without_a_process(brim, state):
    with running("true") as p:
        p.wait()
    one_line(brim("why", "--live", p.pid, env=state), 1, "no process %d" % p.pid)
    one_line(brim("why", "--live", 0, env=state), 2, "--live must be from 1")
    one_line(brim("why", "--live", 2**31, env=state), 2, "--live must be from 1")
    one_line(brim("why", "--live", 1, "--for", "1s", env=state), 2, "--for")
    one_line(brim("why", "--live", 1, "x", env=state), 2, "neither a run")


def holds_ptrace():
    caps = re.search(r"^CapEff:\s*(\w+)", open("/proc/self/status").read(), re.M).group(1)
    return os.geteuid() == 0 and int(caps, 16) >> 19 & 1


@pytest.mark.skipif(not holds_ptrace(), reason="needs root with the right to trace, to drop it")
def test_live_without_the_right_to_trace(brim, state):
    """Root of a container: to be root, as another user is told, would be no help."""
    drop = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
    with running("sleep", "300") as p:
        done = subprocess.run([*drop, brim.program, "why", "--live", str(p.pid)],
                              env=dict(os.environ, **state), stdout=-1, stderr=-1, timeout=60,
                              text=True)
    one_line(done, 1, "this root is without the right to trace (CAP_SYS_PTRACE), or")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_live_of_another_user(brim, state):
    with running("sleep", "300") as p, readable_copy(brim.program) as program:
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        command = drop + [program, "why", "--live", str(p.pid)]
        done = subprocess.run(command, cwd="/", stdout=-1, stderr=-1, timeout=60, text=True)
        one_line(done, 1, "belongs to root")
