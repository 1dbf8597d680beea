"""brim submit --wait: the queue's engine answers when the job has ended, whatever happens to it."""

import json
import os
import select
import socket
import struct
import subprocess

import pytest
from queues import WAIT

MANY = 50


class Asked:
    """A request "wait" at the engine's socket."""

    def __init__(self, queue, label):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(queue.state / "socket"))
        self.socket.settimeout(60)
        text = b"verb=wait\0job=%s\0" % str(label).encode()
        self.socket.sendall(struct.pack("<I", len(text)) + text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def is_answered(self):
        return bool(select.select([self.socket], [], [], 0)[0])

    def answer(self):
        said = b""
        while True:
            part = self.socket.recv(65536)
            if not part:
                break
            said += part
        assert struct.unpack("<I", said[:4])[0] == len(said) - 4
        return dict(field.split(b"=", 1) for field in said[4:].split(b"\0") if field)


def states(answer):
    assert answer[b"status"] == b"0", answer
    return [job["state"] for job in json.loads(answer[b"text"])["jobs"]]


@pytest.fixture
def waiter(queue):
    """waiter(ARGUMENT...): brim submit --wait that has printed its job's number; (process, job)."""
    started = []

    def start(*args):
        process = subprocess.Popen(
            [queue.brim.program, "submit", "--wait", *args], cwd=str(queue.work),
            env=dict(os.environ, **queue.env), stdout=subprocess.PIPE, universal_newlines=True,
        )
        started.append(process)
        return process, int(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_job_that_has_ended_is_answered_at_once(queue):
    number = queue.submit("true")
    queue.until(number, "done")
    with Asked(queue, number) as asked:
        assert states(asked.answer()) == ["done"]


def test_a_job_that_runs_is_answered_at_its_end(queue):
    number = queue.submit("sh", "-c", WAIT)
    queue.until(number, "running")
    with Asked(queue, number) as asked:
        assert queue.job(number)["state"] == "running"
        assert not asked.is_answered()
        (queue.work / "go").touch()
        assert states(asked.answer()) == ["done"]


def test_a_job_that_is_held_is_answered_when_it_is_cancelled(queue):
    number = queue.submit("--hold", "true")
    with Asked(queue, number) as asked:
        assert queue("cancel", str(number)).returncode == 0
        assert states(asked.answer()) == ["cancelled"]


def test_an_array_is_answered_when_its_last_job_has_ended(queue):
    number = queue.submit("--array", "0-2", "sh", "-c", "[ $BRIM_ARRAY_TASK = 1 ] || " + WAIT)
    with Asked(queue, number) as asked, Asked(queue, "%d_1" % number) as one:
        assert states(one.answer()) == ["done"]
        assert not asked.is_answered()
        (queue.work / "go").touch()
        assert states(asked.answer()) == ["done"] * 3


def test_a_job_that_is_not_there_is_an_error(queue):
    queue.submit("--hold", "true")
    for label in ("4711", "1_9", "x", ""):
        with Asked(queue, label) as asked:
            said = asked.answer()
            assert said[b"status"] != b"0" and said[b"error"], label


def test_the_end_is_seen_through_engines_that_are_killed(queue, waiter):
    process, number = waiter("sh", "-c", WAIT + "; exit 5")
    queue.until(number, "running")
    for _ in range(3):
        queue.kill_engine()
        queue.until(number, "running")
    queue.kill_engine()
    (queue.work / "go").touch()
    assert process.wait(timeout=60) == 5


def test_a_client_that_goes_is_forgotten(queue, waiter):
    process, number = waiter("sh", "-c", WAIT)
    queue.until(number, "running")
    process.kill()
    process.wait()
    with Asked(queue, number):
        pass
    (queue.work / "go").touch()
    assert queue.until(number, "done")["attempts"] == 1


def test_many_wait_for_one_job(queue):
    number = queue.submit("sh", "-c", WAIT)
    queue.until(number, "running")
    all_asked = [Asked(queue, number) for _ in range(MANY)]
    try:
        assert queue.job(number)["state"] == "running"
        assert not any(asked.is_answered() for asked in all_asked)
        (queue.work / "go").touch()
        for asked in all_asked:
            assert states(asked.answer()) == ["done"]
    finally:
        for asked in all_asked:
            asked.socket.close()


def test_more_than_an_engine_holds_wait_for_one_job(queue, waiter):
    """The engine drops the oldest, which ask again."""
    process, number = waiter("sh", "-c", WAIT)
    queue.until(number, "running")
    all_asked = [Asked(queue, number) for _ in range(2 * MANY)]
    try:
        assert queue.job(number)["state"] == "running"
        (queue.work / "go").touch()
        assert process.wait(timeout=60) == 0
    finally:
        for asked in all_asked:
            asked.socket.close()
