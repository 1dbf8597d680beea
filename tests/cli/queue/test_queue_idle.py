"""Policies with [idle] in the queue of a machine: jobs are looked at, told, stopped; and what the
queue cannot carry out is refused."""

import json
import os
import pathlib
import re
import signal
import sqlite3
import time

import pytest
from conftest import one_line
from queues import WAIT, Queue, counted, counting, on_a_disk, soak
from served import wait_until

POLICY = """[policy]
order = fifo
backfill = greedy
[idle]
warn = 1s
reclaim = 2s
action = %s
"""
PLAY = """[fake]
count = 2
[gpu 0]
busy_ratio = %g
[gpu 1]
busy_ratio = %g
"""
NVML = """[gpu 0]
bdf = 1:00.0
name = H100
[gpu 1]
bdf = 2:00.0
name = H100
[live 0]
utilization = 0
memory_utilization = 0
[live 1]
utilization = 93
memory_utilization = 40
"""


def make(brim, folder, action="requeue", play=None, **env):
    """Queue with a policy; play: how busy its two invented accelerators are; None: CPUs."""
    (folder / "policy.ini").write_text(POLICY % action)
    conf = "policy = %s\ninterval = 100ms\n" % (folder / "policy.ini")
    if play:
        (folder / "play.ini").write_text(PLAY % play)
        conf += "fake = 2xH100-SXM5-80GB\nplay = %s\n" % (folder / "play.ini")
    return Queue(brim, folder, conf, **env)


@pytest.fixture
def idle(brim, tmp_path):
    """idle(action, play): a queue that ends with the test."""
    made = []

    def one(*args, **env):
        made.append(make(brim, tmp_path, *args, **env))
        return made[-1]

    yield one
    for queue in made:
        queue.end()


def sensors(pid):
    """The processes of that name that an engine has started."""
    found = pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()
    return [int(child) for child in found
            if pathlib.Path("/proc/" + child + "/comm").read_text() == "brim-sensor\n"]


def told(queue, number):
    return wait_until(lambda: queue.job(number).get("told") and queue.job(number))


def test_its_owner_is_told_once(idle):
    queue = idle("warn", (0, 0.9))
    lazy = queue.submit("-d1", "--no-watch", "sleep", "300")  # without --requeue
    busy = queue.submit("-d1", "--no-watch", "sleep", "300")
    job = told(queue, lazy)
    assert job["state"] == "running" and job["use"] == 0
    assert re.match(r"job %d keeps 1 device idle for [\d.]+ s$" % lazy, job["reason"]), job
    for _ in range(3):
        queue.kill_engine()
        assert queue.job(lazy)["told"] == job["told"]
        time.sleep(0.3)
    assert queue.log().count("job %d keeps" % lazy) == 1, queue.log()
    other = wait_until(lambda: queue.job(busy).get("use") and queue.job(busy))
    assert (other["use"], other["idle_s"], other["told"]) == (0.9, None, None)
    table = queue("jobs").stdout.splitlines()
    assert re.search(r" GPU0, idle for [\d.]+ s$", table[1]) and table[2].endswith(" GPU1")
    one = queue("jobs", str(lazy)).stdout
    assert "\nbusy       0 %, idle for " in one and "\ntold       20" in one
    assert queue.job(lazy)["attempts"] == 1


def test_told_again_after_it_worked(idle, tmp_path):
    queue = idle("warn", (0, 0))
    lazy = queue.submit("-d1", "--no-watch", "sleep", "300")
    first = told(queue, lazy)["told"]
    (tmp_path / "play.ini").write_text(PLAY % (1, 1))
    queue.kill_engine()
    wait_until(lambda: queue.job(lazy)["use"] == 1)
    assert queue.job(lazy)["idle_s"] is None and queue.job(lazy)["told"] == first
    (tmp_path / "play.ini").write_text(PLAY % (0, 0))
    queue.kill_engine()
    wait_until(lambda: queue.job(lazy)["idle_s"])
    wait_until(lambda: (queue.job(lazy)["told"] or first) > first)
    assert queue.log().count("job %d keeps" % lazy) == 2, queue.log()


def test_an_idle_job_gives_way(idle):
    queue = idle("requeue", (0, 0))
    counts = queue.submit("-d2", "--no-watch", "--requeue", "bash", "-c", counting("TERM"))
    told(queue, counts)
    waits = queue.submit("-d1", "--no-watch", "sh", "-c", WAIT)
    queue.until(waits, "running")
    wait_until(lambda: queue.job(counts)["reason"].startswith("waits for 2 devices"))
    (queue.work / "go").touch()
    job = queue.until(counts, "running")
    assert job["attempts"] == 2
    why = r"they were idle for [\d.]+ s, and are for job %d" % waits
    assert re.search(why, job["stopped"]), job
    assert "\nstopped    job %d gives up 2 devices" % counts in queue("jobs", str(counts)).stdout
    (queue.work / "finish").touch()
    queue.until(counts, "done")
    assert counted(queue)


def test_a_class_that_is_let_alone(idle, tmp_path):
    queue = idle("requeue", (0, 0))
    with open(str(tmp_path / "policy.ini"), "a") as policy:
        policy.write("exempt = web\n")
    serves = queue.submit("-d1", "--no-watch", "--class", "web", "--requeue", "sleep", "300")
    lazy = queue.submit("-d1", "--no-watch", "--requeue", "sleep", "300")
    waits = queue.submit("-d1", "--no-watch", "sh", "-c", WAIT)
    queue.until(waits, "running")
    assert queue.job(lazy)["state"] == "waiting"
    job = queue.job(serves)
    assert (job["state"], job["attempts"], job["told"]) == ("running", 1, None)
    (queue.work / "go").touch()


def test_what_is_not_taken(idle):
    """From one that may not be stopped, and from one that works."""
    queue = idle("requeue", (0, 0.5))
    lazy = queue.submit("-d1", "--no-watch", "sh", "-c", WAIT)
    busy = queue.submit("-d1", "--no-watch", "--requeue", "sh", "-c", WAIT)
    waits = queue.submit("-d1", "--no-watch", "true")
    told(queue, lazy)
    time.sleep(2.5)
    assert queue.job(waits)["state"] == "waiting"
    assert [queue.job(n)["attempts"] for n in (lazy, busy)] == [1, 1]
    (queue.work / "go").touch()
    queue.until(waits, "done")


def test_asking_when(idle):
    queue = idle("requeue", (0, 0))
    lazy = queue.submit("-d2", "--no-watch", "--requeue", "sleep", "300")
    wait_until(lambda: (queue.job(lazy)["idle_s"] or 0) > 2.2)
    said = queue("submit", "--dry-run", "-d1", "true").stdout
    assert said == ("would start as soon as job %d, which would be stopped for it, has gone, "
                    "on GPU0\n" % lazy)
    assert queue.job(lazy)["attempts"] == 1


def test_cpus(idle):
    """Without accelerators: the CPU time of all that a job has started."""
    cpus = len(os.sched_getaffinity(0))
    if cpus < 2:
        pytest.skip("needs two CPUs")
    queue = idle("warn")
    spins = queue.submit("-c1", "sh", "-c", "sh -c 'while :; do :; done' & wait")
    lazy = queue.submit("-c", cpus - 1, "sleep", "300")
    assert told(queue, lazy)["use"] == 0

    def computes():
        """At some moment: others may leave it little of a CPU."""
        job = queue.job(spins)
        return (job["use"] or 0) > 0 and job["idle_s"] is None

    wait_until(computes)


def test_a_driver(idle, tmp_path):
    """The real code against a driver that a library plays: it is asked by a process of its own."""
    if "FAKE_NVML_DIR" not in os.environ:
        pytest.skip("FAKE_NVML_DIR does not name the library")
    (tmp_path / "nvml.ini").write_text(NVML)
    queue = idle("warn", None, LD_LIBRARY_PATH=os.environ["FAKE_NVML_DIR"],
                 FAKE_NVML=str(tmp_path / "nvml.ini"))
    lazy = queue.submit("-d1", "--no-watch", "sleep", "300")
    busy = queue.submit("-d1", "--no-watch", "sleep", "300")
    assert told(queue, lazy)["place"] == "GPU0"
    job = wait_until(lambda: queue.job(busy).get("use") and queue.job(busy))
    assert (job["use"], job["told"]) == (0.93, None)


def test_a_device_that_does_not_tell(idle, tmp_path):
    """Of two devices one is idle: whether the job is idle is not known."""
    queue = idle("warn", (0, 0))
    (tmp_path / "play.ini").write_text("[fake]\ncount = 1\n[gpu 0]\nbusy_ratio = 0\n")
    both = queue.submit("-d2", "--no-watch", "sleep", "300")
    queue.until(both, "running")
    (sensor,) = wait_until(lambda: sensors(queue.engine()))
    time.sleep(2)
    job = queue.job(both)
    assert (job["use"], job["idle_s"], job["told"]) == (None, None, None)


def test_the_sensor_goes_with_its_engine(idle):
    queue = idle("warn", (0, 0))
    number = queue.submit("-d1", "--no-watch", "sleep", "300")
    wait_until(lambda: queue.job(number).get("use") is not None)
    engine = queue.engine()
    (sensor,) = sensors(engine)
    queue.kill_engine()
    wait_until(lambda: not pathlib.Path("/proc/%d/exe" % sensor).exists())
    wait_until(lambda: queue.job(number).get("use") is not None)
    (sensor,) = sensors(queue.engine())
    os.kill(sensor, signal.SIGKILL)
    wait_until(lambda: "nobody tells how busy devices are" in queue.log())
    queue("cancel", str(number))
    queue.until(number, "cancelled")
    assert queue.log().count("nobody tells") == 1


def test_nobody_looks_without_the_section(brim, tmp_path):
    queue = Queue(brim, tmp_path)
    number = queue.submit("-d1", "--no-watch", "sleep", "300")
    queue.until(number, "running")
    time.sleep(0.5)
    assert not sensors(queue.engine())
    assert queue.job(number)["use"] is None
    queue.end()


@pytest.mark.parametrize("unseen_s, idle_s", [(10, 1000), (500, 0)])
def test_an_engine_that_was_away(idle, unseen_s, idle_s):
    """What the engine before it saw counts; a time that nobody saw counts as work."""
    queue = idle("warn", (0, 0))
    number = queue.submit("-d1", "--no-watch", "sleep", "300")
    wait_until(lambda: queue.job(number).get("idle_s"))
    queue.stop_engine()
    now = int(time.time() * 1000)
    with sqlite3.connect(str(queue.state / "queue.db")) as db:
        db.execute("UPDATE job SET since_ms = ?, used = ?, seen_ms = ?",
                   (now - 2000000, "%d-%d" % (now - 2000000, now - 1000000),
                    now - unseen_s * 1000))
    db.close()
    job = wait_until(lambda: queue.job(number).get("use") is not None and queue.job(number))
    seen = wait_until(lambda: queue.job(number).get("idle_s"))
    assert idle_s <= seen < idle_s + 60, job


def test_a_full_disk(brim, tmp_path):
    """What cannot be stored is said once, and done when there is room."""
    script = """
    cd "$2" || exit 1
    "$BRIM" queue 2>log &
    while ! [ -e "$1/queue/socket" ]; do sleep 0.02; done
    "$BRIM" submit sh -c 'while ! [ -e idle ]; do :; done; exec sleep 300' || exit 1
    sleep 0.5
    cat /dev/zero >"$1/filler" 2>/dev/null
    touch idle
    sleep 3
    "$BRIM" jobs --json >full.json
    rm "$1/filler"
    for i in $(seq 200); do
        "$BRIM" jobs --json >room.json
        grep -q '"told": [0-9]' room.json && break
        sleep 0.1
    done
    "$BRIM" cancel 1
    sleep 0.5
    kill %1
    wait
    """
    disk, work = tmp_path / "disk", tmp_path / "work"
    disk.mkdir()
    work.mkdir()
    (tmp_path / "policy.ini").write_text(POLICY % "warn")
    (tmp_path / "brim.conf").write_text("[queue]\ninterval = 100ms\npolicy = %s\n"
                                        % (tmp_path / "policy.ini"))
    on_a_disk("900k", script, disk, work, BRIM_CONF=str(tmp_path / "brim.conf"))
    said = (work / "log").read_text()
    (full,) = json.loads((work / "full.json").read_text())["jobs"]
    (room,) = json.loads((work / "room.json").read_text())["jobs"]
    assert (full["state"], full["told"]) == ("running", None)
    assert (room["state"], room["attempts"]) == ("running", 1) and room["told"], said
    assert 1 <= said.count("the disk is full") <= 2 and said.count("keeps 1 CPU") <= 1, said


REFUSED = {
    "rebuild": ("[policy]\norder = srtf\npreempt = rebuild\nlength = oracle\n",
                ":3: [policy] preempt = rebuild: it moves jobs that run"),
}


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_what_it_cannot_carry_out_is_refused(brim, tmp_path, kind):
    text, words = REFUSED[kind]
    path = tmp_path / "policy.ini"
    path.write_text(text)
    one_line(brim("queue", "--policy", path, env={"STATE_DIRECTORY": str(tmp_path)}), 1,
             "%s%s" % (path, words))
    assert not (tmp_path / "queue").exists()


def test_a_submission_to_a_queue_that_is_refused(brim, tmp_path):
    queue = make(brim, tmp_path)
    (tmp_path / "policy.ini").write_text(REFUSED["rebuild"][0])
    done = queue("submit", "true")
    assert done.returncode == 1 and "preempt = rebuild: it moves" in done.stderr, done.stderr


@pytest.mark.parametrize("options, words", [
    (("--interval", "10ms"), "--interval must be from 100ms to 1m"),
    (("--play", "/nonexistent"), "--play: cannot read /nonexistent: No such file"),
])
def test_bad_options(brim, tmp_path, options, words):
    done = brim("queue", *options, env={"STATE_DIRECTORY": str(tmp_path)})
    assert done.returncode in (1, 2) and words in done.stderr


def test_killed_again_and_again(brim):
    soak("--idle")
