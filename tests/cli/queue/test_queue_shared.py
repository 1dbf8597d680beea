"""A queue of root's for all users of a machine, and what one of them can do to it."""

import fcntl
import grp
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
from conftest import one_line
from queues import Queue
from served import wait_until

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


def run_engine(queue):
    engine = subprocess.Popen([queue.brim.program, "queue"], env=dict(os.environ, **queue.env),
                              stderr=subprocess.DEVNULL)
    wait_until(lambda: (queue.state / "socket").exists())
    return engine


@pytest.fixture
def shared(brim):
    """A queue of root's for all users, in a folder that they can get to."""
    if os.geteuid() != 0:
        pytest.skip("only root has a queue for all users")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="brim-queue-"))
    folder.chmod(0o755)
    queue = Queue(brim, folder)
    queue.run = run_engine(queue)
    queue.work.chmod(0o777)
    yield queue
    if queue.run.poll() is None:
        queue.end()
        queue.run.wait(60)
    shutil.rmtree(str(folder))


def as_nobody(queue, *args):
    try:
        done = queue(*args, **NOBODY)
    except (PermissionError, TypeError):
        pytest.skip("the program cannot be run as another user here")
    if "Permission denied" in done.stderr and "lock" not in done.stderr:
        pytest.skip(done.stderr)
    return done


def test_another_user(shared):
    theirs = as_nobody(shared, "submit", "id", "-u")
    number = int(theirs.stdout)
    shared.until(number, "done")
    assert shared.output(number) == "65534\n"
    assert shared.job(number)["user"] == "nobody"
    ours = shared.submit("--hold", "sh", "-c", "echo secret")
    for verb in (("cancel",), ("hold",), ("release",), ("priority", "0")):
        done = shared(*verb, str(ours), **NOBODY)
        one_line(done, 1)
        assert "another user's" in done.stderr
    assert shared.job(ours)["state"] == "held"
    one_line(shared("submit", "-p", "1", "true", **NOBODY), 1)
    listed = shared("jobs", "--all", "--json", **NOBODY)
    assert "secret" not in listed.stdout
    order = shared.state / "jobs" / str(ours) / "order"
    assert order.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_queue_of_ones_own(brim):
    """What most have who are not root: engine, guard and job are theirs."""
    with tempfile.TemporaryDirectory(prefix="brim-queue-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        queue = Queue(brim, folder)
        for path in (queue.folder, queue.work):
            os.chown(path, NOBODY["user"], NOBODY["group"])
        number = int(as_nobody(queue, "submit", "id", "-u").stdout)
        queue.until(number, "done", "failed")
        assert queue.output(number) == "65534\n"
        assert (queue.state / "jobs").stat().st_uid == NOBODY["user"]
        assert queue.job(number)["user"] == "nobody"
        queue.stop_engine()


def test_a_group_is_a_team_for_its_members(shared):
    one_line(as_nobody(shared, "submit", "--team", "root", "true"), 1,
             "--team root: only members of the group root may say so")
    group = grp.getgrgid(65534).gr_name
    for args, team in ((("--team", "no group of this machine"), "no group of this machine"),
                       (("--team", group), group),
                       ((), group if group != "nobody" else None)):
        number = int(as_nobody(shared, "submit", *args, "true").stdout)
        assert shared.job(number)["team"] == team
    assert shared.job(shared.submit("--team", group, "true"))["team"] == group


def stop(queue):
    queue.run.send_signal(signal.SIGTERM)
    assert queue.run.wait(60) == 0


def test_it_stays_shared_when_its_engine_is_stopped(shared):
    number = int(as_nobody(shared, "submit", "true").stdout)
    shared.until(number, "done")
    stop(shared)
    assert (shared.state / "shared").exists()
    for command in (("submit", "true"), ("jobs",)):
        done = as_nobody(shared, *command)
        one_line(done, 1, "nobody runs the queue of this machine")
    shared.run = run_engine(shared)
    assert int(as_nobody(shared, "submit", "true").stdout) == number + 1


def test_only_its_operator_retires_it(shared):
    one_line(shared("queue", "--retire"), 1, "an engine runs the queue in")
    shared.submit("--hold", "true")
    stop(shared)
    one_line(shared("queue", "--private"), 1, "brim queue --retire ends that")
    one_line(shared("queue", "--retire"), 1, "1 job of the queue in")
    one_line(as_nobody(shared, "queue", "--retire"), 1, "lock")
    assert (shared.state / "shared").exists()
    shared.run = run_engine(shared)
    assert shared("cancel", "1").returncode == 0
    stop(shared)
    assert shared("queue", "--retire").returncode == 0
    assert not (shared.state / "shared").exists()
    one_line(shared("queue", "--retire"), 1, "is not one for all users")


def test_nobody_else_can_hold_its_lock(shared):
    """Also not with a file that an earlier brim made."""
    assert (shared.state / "lock").stat().st_mode & 0o777 == 0o600
    stop(shared)
    (shared.state / "lock").chmod(0o644)
    shared.run = run_engine(shared)
    assert (shared.state / "lock").stat().st_mode & 0o777 == 0o600
    # Nor any other file by which the engine could be kept waiting.
    for path in shared.state.rglob("*"):
        if path.is_file() and path.name not in ("shared", "stopped"):
            assert path.stat().st_mode & 0o077 == 0, path
    with open(str(shared.state / "lock"), "rb") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
