"""Jobs with --min-devices in the queue of a machine: stopped, and started with other devices."""

import os
import signal

import pytest
from conftest import one_line
from queues import WAIT, Queue, counted, counting
from served import wait_until

ELASTIC = """[policy]
order = fifo
backfill = greedy
[elastic]
every = 100ms
"""
QUOTA = """[policy]
order = fifo
backfill = greedy
[quota]
by = team
borrow = yes
share = vision 4
share = nlp 4
"""
IDLE = """[policy]
order = fifo
backfill = greedy
[idle]
reclaim = 1s
action = %s
"""
SAYS = 'echo "$BRIM_DEVICES $CUDA_VISIBLE_DEVICES" >>had\n'
# It leaves when there is a file 'leave', some time after it was asked to.
STAYS = 'trap "while ! [ -e leave ]; do sleep 0.02; done; exit 75" TERM\n' + SAYS + WAIT


@pytest.fixture
def queue(brim, tmp_path, request):
    """A queue of eight invented accelerators with the policy that a test is marked with."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    text, more = request.param if isinstance(request.param, tuple) else (request.param, "")
    (tmp_path / "policy.ini").write_text(text)
    (tmp_path / "play.ini").write_text(
        "[fake]\ncount = 8\n" + "".join("[gpu %d]\nbusy_ratio = 0\n" % i for i in range(8)))
    made = Queue(brim, tmp_path, "fake = 8xH100-SXM5-80GB\npolicy = %s\n%s"
                 % (tmp_path / "policy.ini", more % {"folder": tmp_path} if more else ""))
    yield made
    made.end()


def policy(text, more=""):
    return pytest.mark.parametrize("queue", [(text, more)], ids=["queue"], indirect=True)


def had(queue):
    return (queue.work / "had").read_text().split("\n")[:-1]


def stretches(queue, script, *args, least=2):
    """The number of such a job, which is ready to be asked to leave."""
    number = queue.submit("-d8", "--min-devices", least, "--requeue", "--no-watch", *args,
                          "bash", "-c", script)
    ready = queue.work / ("at" if "trace" in script else "had")
    wait_until(ready.exists)
    return number


@policy(ELASTIC)
def test_a_job_gives_devices_and_gets_them_back(queue):
    large = stretches(queue, SAYS + counting("TERM"))
    other = queue.submit("-d4", "--no-watch", "sh", "-c", WAIT)
    assert queue.until(other, "running")["place"] == "GPU4,GPU5,GPU6,GPU7"
    job = queue.until(large, "running")
    assert (job["attempts"], job["has"], job["place"]) == (2, 4, "GPU0,GPU1,GPU2,GPU3")
    assert "job %d goes from 8 to 4 devices" % large in job["stopped"], job
    assert "needs      8 devices, 2 at least, " in queue("jobs", str(large)).stdout
    (queue.work / "go").touch()
    job = wait_until(lambda: queue.job(large)["attempts"] == 3 and queue.until(large, "running"))
    assert job["has"] == 8
    assert job["stopped"].endswith("nobody waits for those that are free"), job
    wait_until(lambda: len(had(queue)) == 3)
    assert had(queue) == ["8 0,1,2,3,4,5,6,7", "4 0,1,2,3", "8 0,1,2,3,4,5,6,7"]
    (queue.work / "finish").touch()
    queue.until(large, "done")
    assert counted(queue)


@policy(ELASTIC)
def test_one_that_waits_starts_on_fewer(queue):
    first = queue.submit("-d6", "-c1", "--no-watch", "sh", "-c", WAIT)
    queue.until(first, "running")
    few = stretches(queue, SAYS + WAIT, "-c2")
    assert queue.job(few)["has"] == 2
    (queue.work / "go").touch()
    queue.until(few, "done")
    assert had(queue)[0] == "2 6,7"


@policy(QUOTA)
def test_one_above_its_share_keeps_what_is_left(queue):
    large = stretches(queue, SAYS + counting("TERM"), "--team", "vision")
    within = queue.submit("-d4", "--team", "nlp", "--no-watch", "sh", "-c", WAIT)
    queue.until(within, "running")
    job = wait_until(lambda: queue.job(large)["attempts"] == 2 and queue.until(large, "running"))
    assert job["has"] == 4
    assert job["stopped"].startswith("job %d goes from 8 to 4 devices: it is above" % large), job
    assert queue.job(within)["state"] == "running"
    (queue.work / "finish").touch()
    queue.until(large, "done")
    assert counted(queue)
    (queue.work / "go").touch()


@policy(QUOTA)
def test_what_is_left_is_too_little(queue):
    large = stretches(queue, SAYS + counting("TERM"), "--team", "vision", least=5)
    within = queue.submit("-d4", "--team", "nlp", "--no-watch", "sh", "-c", WAIT)
    queue.until(within, "running")
    wait_until(lambda: queue.job(large)["reason"].startswith("waits for 8 devices"))
    (queue.work / "finish").touch()
    (queue.work / "go").touch()
    queue.until(large, "done")
    assert [line.split()[0] for line in had(queue)] == ["8", "8"]


PLAY = "interval = 100ms\nplay = %(folder)s/play.ini\n"


@policy(IDLE % "shrink", PLAY)
def test_an_idle_job_shrinks(queue):
    lazy = stretches(queue, SAYS + counting("TERM"))
    wait_until(lambda: (queue.job(lazy)["idle_s"] or 0) > 1.2)
    waits = queue.submit("-d4", "--no-watch", "sh", "-c", WAIT)
    queue.until(waits, "running")
    job = wait_until(lambda: queue.job(lazy)["attempts"] == 2 and queue.until(lazy, "running"))
    assert job["has"] == 4 and job["stopped"].startswith(
        "job %d goes from 8 to 4 devices: they were idle for" % lazy), job
    (queue.work / "finish").touch()
    queue.until(lazy, "done")
    (queue.work / "go").touch()
    assert counted(queue)


@policy(IDLE % "requeue", PLAY)
def test_an_idle_job_that_is_requeued_has_none(queue):
    lazy = stretches(queue, SAYS + counting("TERM"))
    wait_until(lambda: (queue.job(lazy)["idle_s"] or 0) > 1.2)
    waits = queue.submit("-d4", "--no-watch", "sh", "-c", WAIT)
    queue.until(waits, "running")
    wait_until(lambda: queue.job(lazy)["reason"].startswith("waits for 8 devices"))
    (queue.work / "finish").touch()
    (queue.work / "go").touch()
    queue.until(lazy, "done")
    assert [line.split()[0] for line in had(queue)] == ["8", "8"]


@policy(ELASTIC)
@pytest.mark.parametrize("victim", ["engine", "guard", "both"])
def test_killed_while_it_is_being_resized(queue, victim):
    """What it goes on with was stored before it was asked to leave."""
    large = stretches(queue, STAYS)
    guard = queue.state / "jobs" / str(large)
    other = queue.submit("-d4", "--no-watch", "sh", "-c", WAIT)
    queue.until(large, "stopping")
    if victim != "engine":
        (claim,) = [path for path in guard.iterdir() if path.name.startswith("claim")]
        os.kill(int(claim.read_text().split()[0]), signal.SIGKILL)
    if victim != "guard":
        queue.kill_engine()
    assert queue.job(large)["state"] == "stopping"
    (queue.work / "leave").touch()
    queue.until(other, "running")
    job = wait_until(lambda: queue.job(large)["attempts"] == 2 and queue.until(large, "running"))
    assert (job["has"], job["attempts"]) == (4, 2)
    wait_until(lambda: len(had(queue)) == 2)
    (queue.work / "go").touch()
    queue.until(large, "done")
    assert [line.split()[0] for line in had(queue)][:2] == ["8", "4"]  # then all, if it is last


@policy(ELASTIC)
def test_cancelled_while_it_is_being_resized(queue):
    large = stretches(queue, STAYS)
    other = queue.submit("-d4", "--no-watch", "sh", "-c", WAIT)
    queue.until(large, "stopping")
    assert queue("cancel", str(large)).returncode == 0
    (queue.work / "leave").touch()
    queue.until(large, "cancelled")
    queue.until(other, "running")
    (queue.work / "go").touch()


@policy(ELASTIC)
def test_held_while_it_is_being_resized(queue):
    large = stretches(queue, STAYS)
    other = queue.submit("-d4", "--no-watch", "sh", "-c", WAIT)
    queue.until(large, "stopping")
    assert queue("hold", str(large)).returncode == 0
    (queue.work / "leave").touch()
    queue.until(large, "held")
    queue.until(other, "running")
    (queue.work / "go").touch()
    queue.until(other, "done")
    assert queue("release", str(large)).returncode == 0
    queue.until(large, "done")
    assert [line.split()[0] for line in had(queue)] == ["8", "8"]


@pytest.mark.parametrize("args, words", [
    (("-d4", "--min-devices", "2"), "--min-devices needs --requeue"),
    (("-d4", "--min-devices", "4", "--requeue"), "--min-devices is less than --devices"),
    (("--min-devices", "1", "--requeue"), "--min-devices is less than --devices"),
    (("-d4", "--min-devices", "0", "--requeue"), "--min-devices"),
])
def test_wrong_usage(brim, tmp_path, args, words):
    one_line(brim("submit", *args, "true", env={"STATE_DIRECTORY": str(tmp_path)}), 2, words)
