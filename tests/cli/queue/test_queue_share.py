"""Policies with [share] in the queue of a machine: two jobs that say they may are on the same
devices, and no longer when that costs the first one too much."""

import os
import sqlite3

import pytest
from conftest import one_line
from queues import WAIT, Queue
from served import wait_until

# The steps of a busy machine are late, too: the first one may be twice as slow.
POLICY = """[policy]
order = fifo
backfill = greedy
[share]
below = 50%
together = 90%
after = 1s
cost = 100%
"""
PLAY = """[fake]
count = 2
[gpu *]
busy_ratio = 0.4
memory_total_bytes = 80e9
memory_used_bytes = %g
"""
CONF = """fake = 2xH100-SXM5-80GB
policy = %s
play = %s
interval = 100ms
[run]
interval = 100ms
"""


@pytest.fixture
def queue(brim, tmp_path, request):
    """A queue of two invented accelerators whose jobs have so much of their memory in use."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    (tmp_path / "policy.ini").write_text(POLICY)
    (tmp_path / "play.ini").write_text(PLAY % getattr(request, "param", 30e9))
    made = Queue(brim, tmp_path, CONF % (tmp_path / "policy.ini", tmp_path / "play.ini"))
    yield made
    made.end()


def paced(queue, name, *options):
    """A job with steps, in a folder of its own."""
    (queue.work / name).mkdir()
    return queue.submit("-d1", "--requeue", "--share", "-C", str(queue.work / name), *options,
                        os.environ["PACED_JOB"], "40")


def seen(queue, name):
    path = queue.work / name / "seen"
    return path.read_text().split() if path.exists() else []


def ask(queue, sql):
    """A number out of what is stored."""
    with sqlite3.connect(str(queue.state / "queue.db")) as db:
        return db.execute(sql).fetchone()[0]


def pair(queue):
    """Two that have come to share; the one that was there, the one that came, who got devices."""
    jobs = {paced(queue, name): name for name in ("a", "b")}
    waits = queue.submit("-d1", "--no-watch", "sh", "-c", WAIT)
    queue.until(waits, "running")
    (guest,) = wait_until(lambda: [j for j in queue.jobs() if j.get("beside")])
    return guest["beside"], guest["id"], waits, jobs


def test_two_on_one_device(queue):
    host, guest, waits, jobs = pair(queue)
    job = queue.job(guest)
    assert job["place"] == queue.job(host)["place"] != queue.job(waits)["place"]
    assert (job["attempts"], queue.job(host)["attempts"]) == (2, 1)
    assert job["stopped"] == (
        "job %d gives up 1 device and shares those of job %d: both are at most 50 %% busy, "
        "together 90 %%, and job %d, which waits for 1 device, gets them" % (guest, host, waits))
    assert job["reason"] == "goes on on the devices of job %d, which it shares" % host
    wait_until(lambda: len(seen(queue, jobs[guest])) == 2)
    assert seen(queue, jobs[guest])[1] == seen(queue, jobs[host])[0]
    table = [line for line in queue("jobs").stdout.splitlines() if ", with job %d" % host in line]
    assert len(table) == 1 and table[0].split()[0] == str(guest)
    for _ in range(3):
        queue.kill_engine()
        assert queue.job(guest)["beside"] == host
    queue("cancel", str(host))
    queue.until(host, "cancelled")
    job = queue.job(guest)
    assert (job["state"], job["attempts"], "beside" in job) == ("running", 2, False)
    (queue.work / "go").touch()
    queue.until(waits, "done")
    last = queue.submit("-d1", "--no-watch", "true")
    queue.until(last, "done")


def test_undone_when_it_costs_too_much(queue):
    host, guest, waits, jobs = pair(queue)
    (queue.work / jobs[host] / "slow").touch()
    job = wait_until(lambda: queue.job(guest)["state"] == "waiting" and queue.job(guest))
    assert job["stopped"].startswith(
        "job %d gives up the devices that it shares: beside it the steps of job %d take "
        % (guest, host)), job
    assert job["stopped"].endswith(
        " % longer; neither shares any more, and it starts again in its turn"), job
    assert queue.job(host)["state"] == "running"
    (queue.work / jobs[host] / "slow").unlink()
    (queue.work / "go").touch()
    queue.until(guest, "running")
    assert queue.job(guest)["place"] != queue.job(host)["place"]
    assert queue.job(guest)["attempts"] == 3
    why = "it shares no more: it made another job too slow, or one made it so"
    assert [queue.job(n)["sharing"] for n in (host, guest)] == [why, why]


def test_why_a_job_shares_with_nobody(queue):
    """Who marks no steps is told so; who has been seen for long enough waits for somebody."""
    n = queue.submit("-d1", "--requeue", "--share", "sh", "-c", WAIT)
    queue.until(n, "running")
    why = "it shares with nobody so far: no step of it was seen, and of a job without steps "
    assert queue.job(n)["sharing"].startswith(why)
    assert "\nsharing    " + why in queue("jobs", str(n)).stdout
    a = paced(queue, "a")
    wait_until(lambda: queue.job(a)["state"] == "running" and "sharing" not in queue.job(a))
    (queue.work / "go").touch()
    queue.until(n, "done")
    other = queue.submit("-d1", "--no-watch", "sh", "-c", WAIT)
    queue.until(other, "done")
    assert "sharing" not in queue.job(other)


@pytest.mark.parametrize("options, why", [
    (("-d1", "--share"), "--share needs --devices and --requeue: "),
    (("--requeue", "--share"), "--share needs --devices and --requeue: "),
    (("-d1", "--requeue", "--share", "--no-watch"), "--share and --no-watch exclude each other: "),
    (("-d1", "--requeue", "--memory", "30"), "--memory needs --share"),
])
def test_wrong_usage(queue, options, why):
    one_line(queue("submit", *options, "true"), 2, why)


def test_more_memory_than_there_is(queue):
    one_line(queue("submit", "-d1", "--requeue", "--share", "--memory", "81", "true"), 1,
             "asks for 81 GB of each device, and devices here have 80")


@pytest.mark.parametrize("queue", [41e9], indirect=True)
def test_memory_that_does_not_fit(queue):
    """By what is seen it is too much, by what one of them says it is not."""
    a = paced(queue, "a")
    b = paced(queue, "b")
    waits = queue.submit("-d1", "--no-watch", "sh", "-c", WAIT)
    known = "SELECT count(*) FROM job WHERE alone_ms >= 1000 AND worked_ms >= 1000"
    wait_until(lambda: ask(queue, known) == 2)
    queue.submit("-d1", "--no-watch", "--hold", "true")  # which makes the engine decide
    assert [queue.job(n)["state"] for n in (a, b, waits)] == ["running", "running", "waiting"]
    queue("cancel", str(b))
    queue.until(waits, "running")
    c = paced(queue, "c", "--memory", "20")
    (queue.work / "go").touch()
    queue.until(c, "running")
    (queue.work / "go").unlink()
    last = queue.submit("-d1", "--no-watch", "sh", "-c", WAIT)
    queue.until(last, "running")
    assert {job["state"] for job in queue.jobs(str(a)) + queue.jobs(str(c))} <= {
        "running", "stopping"}


def test_cpus_are_not_shared(brim, tmp_path):
    (tmp_path / "policy.ini").write_text(POLICY)
    queue = Queue(brim, tmp_path, "")
    one_line(queue("queue", "--policy", str(tmp_path / "policy.ini"), "--private"), 1,
             "[share] is for accelerators")


IDLE = """[policy]
order = fifo
backfill = greedy
[idle]
reclaim = 1s
action = shrink
exempt = waits
"""
# One of that class has its device until it ends: it would change places with the idle one.
HOLDS = ("-d1", "--class", "waits", "--requeue", "--share")


@pytest.fixture
def idle(brim, tmp_path):
    """A queue of one invented accelerator that is idle, whose jobs have 30 of 80 GB."""
    (tmp_path / "policy.ini").write_text(IDLE)
    (tmp_path / "play.ini").write_text(
        PLAY.replace("count = 2", "count = 1").replace("0.4", "0") % 30e9)
    conf = CONF.replace("2xH100", "1xH100") % (tmp_path / "policy.ini", tmp_path / "play.ini")
    made = Queue(brim, tmp_path, conf)
    yield made
    made.end()


def parked(queue):
    """A job that is idle, one that waits for its device, and gets it."""
    (queue.work / "a").mkdir()
    (queue.work / "a" / "rest").touch()
    a = queue.submit("-d1", "--requeue", "--share", "-C", str(queue.work / "a"),
                     os.environ["PACED_JOB"], "40")
    wait_until(lambda: queue.job(a)["state"] == "running" and seen(queue, "a"))
    return a


def test_an_idle_job_is_parked(idle):
    a = parked(idle)
    b = idle.submit(*HOLDS, "--memory", "50", "sh", "-c", WAIT)
    idle.until(b, "running")
    job = idle.job(a)
    assert (job["state"], job["attempts"], job["place"]) == ("parked", 1, "GPU0")
    assert job["reason"] == (
        "job %d was idle and is parked: it keeps its memory on its 1 device, which job %d gets; "
        "when it works again it waits for devices" % (a, b))
    for _ in range(3):
        idle.kill_engine()
        assert idle.job(a)["state"] == "parked"
    (idle.work / "a" / "rest").unlink()
    job = wait_until(lambda: idle.job(a)["state"] == "waiting" and idle.job(a))
    assert job["stopped"].startswith("job %d works again and waits for devices: " % a), job
    assert idle.job(b)["state"] == "running"
    (idle.work / "go").touch()
    idle.until(b, "done")
    assert idle.until(a, "running")["attempts"] == 2


@pytest.mark.parametrize("options", [
    (*HOLDS, "--memory", "51"),  # does not fit beside 30 of 80 GB
    HOLDS,  # nobody knows
    ("-d1", "--class", "waits"),
])
def test_a_parked_job_makes_way(idle, options):
    a = parked(idle)
    b = idle.submit(*options, "sh", "-c", WAIT)
    idle.until(b, "running")
    job = wait_until(lambda: idle.job(a)["state"] == "waiting" and idle.job(a))
    assert job["attempts"] == 1 and "does not fit beside" in job["stopped"], job
    (idle.work / "go").touch()
    idle.until(b, "done")
    assert idle.until(a, "running")["attempts"] == 2
