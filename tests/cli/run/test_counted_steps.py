"""Steps of programs that mark none, counted from outside by the loop that makes them."""

import glob
import json
import os
import signal
import subprocess
import sys
import time

import pytest

STEP_JOB = os.environ.get("STEP_JOB", "")
# Says how many rounds it made when it is asked to end.
LOOP = """
import signal, sys, time
made = 0
def end(*_):
    print(made, flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
def batches(n):
    for i in range(n):
        yield i
def train():
    global made
    for batch in batches(10**9):
        for layer in range(4):
            time.sleep(0.003)
        made += 1
train()
"""
THEN_MARKS = """
import glob, os, sys, time
for i in range(10**9):
    time.sleep(0.005)
    if glob.glob(sys.argv[1]):
        os.execv(sys.argv[2], [sys.argv[2], "150", "1000", "1000"])
"""


@pytest.fixture
def state(tmp_path):
    return {"STATE_DIRECTORY": str(tmp_path / "state"), "BRIM_RUN": "", "BRIM_RING": ""}


def stored(state):
    return os.path.join(state["STATE_DIRECTORY"], "runs", "*", "part-*-0.steps")


def wait_for(pattern, seconds=120):
    end = time.monotonic() + seconds
    while not glob.glob(pattern):
        assert time.monotonic() < end, "nothing was counted"
        time.sleep(0.05)


def test_steps_of_a_loop_are_counted(brim, state):
    command = [brim.program, "run", "--json", "--interval", "200ms", "--"]
    run = subprocess.Popen([*command, sys.executable, "-c", LOOP], env=dict(os.environ, **state),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(stored(state))
        run.send_signal(signal.SIGTERM)  # brim passes it on
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    made, card = int(out.split("\n", 1)[0]), json.loads(out.split("\n", 1)[1])
    assert 0 < card["steps"] <= made + 1, (card["steps"], made, err)  # one had begun
    assert card["inferred"] == "counted from outside, by the loop in train of <string>: no steps " \
        "were marked"
    why = json.loads(brim.out("why", "--json", env=state))
    assert why["inferred"] == card["inferred"] and why["steps_per_s"] > 0


def test_marks_take_the_place_of_what_was_counted(brim, state, tmp_path):
    if not STEP_JOB:
        pytest.skip("STEP_JOB does not name the program")
    path = tmp_path / "card.json"
    done = brim("run", "--json=%s" % path, "--interval", "200ms", "--", sys.executable, "-c",
                THEN_MARKS, stored(state), STEP_JOB, env=state)
    assert done.returncode == 0, done.stderr
    card = json.loads(path.read_text())
    assert (card["steps"], card["inferred"]) == (150, None)
    why = json.loads(brim.out("why", "--json", env=state))
    assert why["inferred"] is None and why["share"]["other"] < 0.02, "none has time without a stage"


def other_python():
    """One whose memory is another one's, where there are two."""
    more = glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[1-4]*/bin/python3"))
    for path in ("/usr/bin/python3", *sorted(more)):
        if os.path.exists(path) and os.path.realpath(path) != os.path.realpath(sys.executable):
            return path
    return sys.executable


def test_a_program_that_becomes_another_one(brim, state, tmp_path):
    """A launcher that runs a training script in its place is found again."""
    script = tmp_path / "train.py"
    script.write_text(LOOP)
    launch = "import os, time\nfor i in range(300): time.sleep(0.005)\nos.execv(%r, [%r, %r])"
    words = launch % (sys.executable, sys.executable, str(script))
    command = [brim.program, "run", "-q", "--interval", "200ms", "--", other_python(), "-c", words]
    run = subprocess.Popen(command, env=dict(os.environ, **state), stdout=subprocess.DEVNULL)
    try:
        wait_for(stored(state))
    finally:
        run.terminate()
        run.wait(timeout=60)
    assert "by the loop in train of" in json.loads(brim.out("why", "--json", env=state))["inferred"]


def test_steps_of_a_loop_from_outside(brim, state):
    with subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.DEVNULL) as job:
        try:
            done = brim("why", "--json", "--live", job.pid, "--for", "8s", env=state)
        finally:
            job.terminate()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    if "counted" not in told["inferred"]:
        pytest.skip("others keep the CPUs so busy that the loop was hardly looked at")
    assert "by the loop in train of <string>" in told["inferred"]
    assert told["step_seconds"] > 0.01 and "the time" not in told["inferred"]
