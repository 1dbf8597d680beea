"""What the tests of the program share."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from queues import Queue
from served import Agent, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "script"))
MACHINES = ROOT / "tests" / "fixtures" / "machines"
# Whole outputs, and what they are made of.
GOLDEN = ROOT / "tests" / "fixtures" / "golden"
# Made-up traces; the same in public ones is others' data (the fixture below).
TRACES = ROOT / "tests" / "fixtures" / "traces"
DAYS, TURNS = TRACES / "days.csv", TRACES / "turns.csv"
PODS, NODES = TRACES / "pods.csv", TRACES / "nodes.csv"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leaves out what is marked 'once' where the program has sanitizers (docs/tests.md)."""
    if os.environ.get("SANITIZED"):
        left_out = [item for item in items if item.get_closest_marker("once")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


class Brim:
    """The program under test: each call is bounded in time, sees no configuration of a user, and
    keeps what it keeps in a folder of the test."""

    def __init__(self, program, state):
        self.program, self.state = program, state

    def __call__(self, *args, env=None, **how):
        base = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE_", "LD_"))}
        base["BRIM_CONF"] = "/nonexistent/brim.conf"
        base["SLURM_CONF"] = "/nonexistent/slurm.conf"  # jobs are for no cluster of this machine
        base["STATE_DIRECTORY"] = str(self.state)
        base.update(env or {})
        command = [self.program, *[str(a) for a in args]]
        how.setdefault("timeout", 300)
        how.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(
            command, env=base, stdout=how.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
            universal_newlines=True, **how
        )

    def out(self, *args, **how):
        """What a call that must succeed prints."""
        done = self(*args, **how)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout


@pytest.fixture
def brim(tmp_path):
    if "BRIM" not in os.environ:
        pytest.skip("BRIM does not name the program")
    return Brim(os.environ["BRIM"], tmp_path / "kept")


@pytest.fixture
def start(brim, tmp_path):
    """start(*args, command="agent", store="none"): agents that end with the test."""
    started = []

    def one(*args, **how):
        folder = tmp_path / ("agent%d" % len(started))
        folder.mkdir()
        started.append(Agent(brim.program, folder, *args, **how))
        return started[-1]

    yield one
    for each in started:
        each.end()


@pytest.fixture
def agent(start):
    """One without a store that samples five times a second."""
    return start("--interval", "200ms")


@pytest.fixture
def stored(start, tmp_path):
    """An agent that stores, with a few ticks in its store."""
    agent = start("--interval", "100ms", store=tmp_path / "agent.db")
    wait_until(lambda: agent.value("stored_ticks_total") >= 10)
    return agent


@pytest.fixture
def queue(brim, tmp_path):
    """One that ends with the test."""
    made = Queue(brim, tmp_path)
    yield made
    made.end()


@pytest.fixture(scope="module")
def made_state(tmp_path_factory):
    """Where brim finds runs and profiles."""
    folder = tmp_path_factory.mktemp("state")
    subprocess.run([os.environ["MADE_RUNS"], str(folder / "runs")], check=True)
    shutil.copytree(str(GOLDEN / "profiles"), str(folder / "profiles"))
    return {"STATE_DIRECTORY": str(folder)}


@pytest.fixture
def policy(tmp_path):
    """policy(text): the path of a file of brim sim with it."""

    def write(text, name="mine"):
        path = tmp_path / f"{name}.ini"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def trace(tmp_path, request):
    """The path of a file with the module's TRACE."""
    path = tmp_path / "trace.csv"
    path.write_text(request.module.TRACE)
    return path


@pytest.fixture
def others(tmp_path):
    """others(name): the path of a table of others' (script/others.py), which is not in the tree; a
    test that wants one is skipped where it is not here."""
    import others as data

    def one(name):
        text = data.table(name)
        if text is None:
            pytest.skip(data.MISSING)
        path = tmp_path / f"{name}.csv"
        path.write_bytes(text)
        return path

    return one


def actions(brim, trace, policy):
    """What brim sim does on one node, a line each."""
    return brim.out("sim", trace, "--nodes", "1x8", "--actions", "--policy", policy).splitlines()


def one_line(done, status, *words):
    """A refusal: the status, nothing on stdout, one line on stderr that has the words."""
    assert done.returncode == status, (done.returncode, done.stderr)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert str(word) in done.stderr, done.stderr
