"""Jobs whose guard is killed, or their first process with it, while ranks of theirs in sessions of
their own go on: a job has gone when its last process has, and not before."""

import os
import pathlib
import signal
import subprocess

import pytest
from queues import WAIT, Queue
from served import wait_until

# A job with a rank in a session of its own, which SIGTERM does not end; it tells when a rank of the
# attempt before is there.
JOB = """
[ -s rank ] && [ -e "/proc/$(cat rank)/exe" ] && echo beside >>log
rm -f rank
setsid sh -c 'trap "" TERM; echo $$ >rank.new; mv rank.new rank
              while :; do sleep 0.05; done' &
while ! [ -s rank ]; do sleep 0.02; done
echo "$BRIM_ATTEMPT" >>log
"""
GO_ON = JOB + WAIT + '\nkill -9 "$(cat rank)"'


def is_there(pid):
    return pathlib.Path("/proc/%s/exe" % pid).exists()


def note(queue, number, key, attempt=1):
    """What the start of an attempt tells: pid or group."""
    text = (queue.state / "jobs" / str(number) / ("start.%d" % attempt)).read_bytes()
    return dict(f.split(b"=", 1) for f in text.split(b"\0") if f)[key.encode()].decode()


def guard_of(queue, number, attempt=1):
    return int((queue.state / "jobs" / str(number) / ("claim.%d" % attempt)).read_text().split()[0])


def attempts(queue):
    path = queue.work / "log"
    return path.read_text().split() if path.exists() else []


def groups_of(number, guard):
    name = "brim-job-%d.%d" % (number, guard)
    return [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if folder.endswith("/" + name)]


@pytest.fixture(params=["group", "no group"])
def killed(request, brim, tmp_path):
    """A queue with control groups and one without, whose engine sees none."""
    queue = Queue(brim, tmp_path)
    engine = None
    if request.param == "no group":
        hide = 'mount -t tmpfs none /sys/fs/cgroup || exit 99\nexec "$0" queue --private'
        engine = subprocess.Popen(["unshare", "--mount", "sh", "-c", hide, brim.program],
                                  env=dict(os.environ, **queue.env), stderr=subprocess.DEVNULL)
        wait_until(lambda: (queue.state / "socket").exists() or engine.poll() is not None)
        if engine.poll() is not None:
            pytest.skip("control groups cannot be hidden here")
    queue.has_groups = not engine
    yield queue
    queue.end()
    if engine:
        engine.wait(60)


def start(queue, *args, script=GO_ON):
    number = queue.submit(*args, "sh", "-c", script)
    wait_until(lambda: attempts(queue) == ["1"])
    group = note(queue, number, "group")
    if queue.has_groups and not group:
        pytest.skip("no control group can be made here")
    assert bool(group) == queue.has_groups
    return number, int((queue.work / "rank").read_text())


def test_guard_and_first_process_killed(killed):
    number, rank = start(killed, "--requeue")
    guard, first = guard_of(killed, number), int(note(killed, number, "pid"))
    os.kill(guard, signal.SIGKILL)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: attempts(killed)[-1:] == ["2"])
    assert attempts(killed) == ["1", "2"] and not is_there(rank)
    assert not groups_of(number, guard)
    (killed.work / "go").touch()
    assert killed.until(number, "done")["attempts"] == 2


def test_cancelled_after_its_guard_was_killed(killed):
    number, rank = start(killed, "-d2", "--no-watch")
    after = killed.submit("-d2", "--no-watch", "sh", "-c",
                          "[ -e /proc/%d/exe ] && echo beside >>log; true" % rank)
    guard = guard_of(killed, number)
    os.kill(guard, signal.SIGKILL)
    assert killed("cancel", str(number)).returncode == 0
    assert killed.until(number, "lost")["exit"] is None
    assert not is_there(rank) and not groups_of(number, guard)
    killed.until(after, "done")
    assert attempts(killed) == ["1"]


def test_a_time_limit_after_its_guard_was_killed(killed):
    number, rank = start(killed, "--requeue", "--limit", "2s")
    guard = guard_of(killed, number)
    os.kill(guard, signal.SIGKILL)
    assert killed.until(number, "timeout")["attempts"] == 1
    assert not is_there(rank) and not groups_of(number, guard)


@pytest.mark.parametrize("killed", ["group"], indirect=True)  # the next engine would see them
def test_an_engine_that_comes_after_its_guard(killed):
    number, rank = start(killed, "--requeue")
    engine, guard = killed.engine(), guard_of(killed, number)
    for pid in (engine, guard, int(note(killed, number, "pid"))):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_there(engine))
    killed.jobs()
    wait_until(lambda: attempts(killed)[-1:] == ["2"])
    assert attempts(killed) == ["1", "2"] and not is_there(rank)
    assert not groups_of(number, guard)


@pytest.mark.parametrize("killed", ["group"], indirect=True)
def test_an_engine_that_a_job_starts(killed):
    """It is no part of that job, and goes on when the job has ended: without control groups the
    guard ends all that descends from it."""
    script = ('kill -9 "$(cat "$1/lock")"; "$2" submit sh -c "%s" >id; '
              'cat "$1/lock" >engine; while ! [ -e on ]; do sleep 0.02; done')
    outer = killed.submit("sh", "-c", script % "while ! [ -e go ]; do sleep 0.02; done", "sh",
                          str(killed.state), killed.brim.program)
    engine = wait_until(lambda: (killed.work / "engine").exists()
                        and (killed.work / "engine").read_text().strip())
    inner = int((killed.work / "id").read_text())
    (killed.work / "on").touch()
    killed.until(outer, "done")
    killed.until(inner, "running")
    assert is_there(engine) and killed.engine() == int(engine)
    assert b"BRIM_JOB=" not in pathlib.Path("/proc/%s/environ" % engine).read_bytes()
    (killed.work / "go").touch()
    assert killed.until(inner, "done")["attempts"] == 1
