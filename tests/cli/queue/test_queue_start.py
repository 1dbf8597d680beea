"""Jobs whose start takes long or never ends: what they open hangs. They are under their time limit
and can be cancelled like those that run."""

import contextlib
import fcntl
import os
import signal

import pytest
from queues import WAIT


@pytest.fixture
def leased(queue):
    """A script that cannot be executed while the test holds a lease of it: the kernel waits."""
    script = queue.work / "leased.sh"
    script.write_text("#!/bin/sh\necho 1 >>log\n" + WAIT)
    script.chmod(0o755)
    was = signal.signal(signal.SIGIO, signal.SIG_IGN)
    fd = os.open(str(script), os.O_RDONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        pytest.skip("no lease can be had here: %s" % error)
    yield str(script)
    with contextlib.suppress(OSError):
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    os.close(fd)
    signal.signal(signal.SIGIO, was)


def never_ran(queue):
    return not (queue.work / "log").exists()


def test_a_pipe_that_nobody_reads(queue):
    os.mkfifo(str(queue.work / "pipe"))
    for option in ("--output", "--error"):
        number = queue.submit(option, "pipe", "sh", "-c", "echo 1 >>log")
        reason = queue.until(number, "failed")["reason"]
        assert "cannot write its output to pipe: nobody reads that pipe" in reason
    assert never_ran(queue)


def test_a_pipe_that_somebody_reads(queue):
    os.mkfifo(str(queue.work / "pipe"))
    fd = os.open(str(queue.work / "pipe"), os.O_RDONLY | os.O_NONBLOCK)
    try:
        number = queue.submit("--output", "pipe", "sh", "-c", "echo heard")
        queue.until(number, "done")
        assert os.read(fd, 100) == b"heard\n"
    finally:
        os.close(fd)


def test_cancelled_while_it_starts(queue, leased):
    number = queue.submit("-d2", "--no-watch", leased)
    after = queue.submit("-d2", "--no-watch", "true")
    queue.until(number, "running")
    assert queue("cancel", str(number)).returncode == 0
    queue.until(number, "cancelled")
    queue.until(after, "done")
    assert never_ran(queue)


def test_at_its_limit_while_it_starts(queue, leased):
    number = queue.submit("--limit", "300ms", leased)
    queue.until(number, "timeout")
    assert never_ran(queue)


def test_stopped_for_another_while_it_starts(queue, leased):
    number = queue.submit("-d2", "--no-watch", "--requeue", leased)
    queue.until(number, "running")
    urgent = queue.submit("-d2", "-p1", "--no-watch", "true")
    queue.until(urgent, "done")
    assert never_ran(queue)
