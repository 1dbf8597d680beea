"""brim run in containers that share /dev/shm and do not see each other's processes."""

import json
import os
import signal
import subprocess

import pytest
from served import wait_until

BRIM = os.environ.get("BRIM", "")
# The first process of a namespace has number 1, and ends all others with it.
ROOM = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
SAYS = 'echo "$BRIM_RING" >"$1.new"; mv "$1.new" "$1"; '
WAITS = SAYS + 'until [ -e "$2" ]; do sleep 0.05; done; test -e "$BRIM_RING/lock"'


@pytest.fixture
def container(tmp_path):
    """container(*job): brim run with it, in a namespace of its own."""
    if not BRIM:
        pytest.skip("BRIM does not name the program")
    probe = subprocess.run([*ROOM, "true"], stdout=-1, stderr=-1)
    if probe.returncode != 0:
        pytest.skip("no namespaces of processes here: %r" % probe.stderr)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
    env.update(STATE_DIRECTORY=str(tmp_path / "state"), BRIM_CONF="/nonexistent/brim.conf")
    started = []

    def one(*job):
        command = [*ROOM, BRIM, "run", "--quiet", "--", *[str(word) for word in job]]
        process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=-1, stderr=subprocess.STDOUT
        )
        started.append(process)
        return process

    yield one
    for process in started:
        process.kill()
        process.communicate()


def test_rings_of_another_container_stay(container, tmp_path):
    told, go = tmp_path / "told", tmp_path / "go"
    first = container("sh", "-c", WAITS, "sh", told, go)
    folder = wait_until(lambda: told.exists() and told.read_text().strip())
    for _ in range(2):
        assert container("true").wait(60) == 0
    assert os.path.isdir(folder), "the rings of a job that runs are gone"
    go.touch()
    assert first.wait(60) == 0, first.stdout.read()
    assert not os.path.exists(folder)


def ends(tmp_path):
    """How the runs ended, as this container sees them."""
    env = dict(os.environ, STATE_DIRECTORY=str(tmp_path / "state"))
    done = subprocess.run([BRIM, "runs", "--json"], env=env, stdout=subprocess.PIPE, check=True)
    return [one["end"] for one in json.loads(done.stdout)["runs"]]


def test_a_run_in_another_container_is_running(container, tmp_path):
    """Its observer has a number there that says nothing here."""
    told, go = tmp_path / "told", tmp_path / "go"
    first = container("sh", "-c", WAITS, "sh", told, go)
    wait_until(told.exists)
    wait_until(lambda: ends(tmp_path) == ["running"])
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    wait_until(lambda: ends(tmp_path) == ["lost"])
    assert container("true").wait(60) == 0


def test_rings_of_a_container_that_died_go(container, tmp_path):
    told = tmp_path / "told"
    first = container("sh", "-c", WAITS, "sh", told, tmp_path / "never")
    folder = wait_until(lambda: told.exists() and told.read_text().strip())
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    # The kernel ends what is in the namespace meanwhile, and the lock goes with the last of it.
    wait_until(lambda: container("true").wait(60) == 0 and not os.path.exists(folder))
