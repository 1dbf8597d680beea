"""The queue of a machine in bad luck: a clock that is set, a disk that is full, a database that is
old or damaged, an engine that died between two steps, and jobs that do not behave."""

import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import time

import pytest
from conftest import ROOT, one_line
from queues import WAIT, Queue, on_a_disk
from served import wait_until

# What brim 0.1 made of a new queue.
FIRST = (ROOT / "tests" / "fixtures" / "queue" / "version-1.sql").read_text()


def change(queue, sql, *values):
    """Change the database of an engine that is not there."""
    with sqlite3.connect(str(queue.state / "queue.db")) as db:
        db.execute(sql, values)
    db.close()


def is_there(pid):
    return pathlib.Path("/proc/%s/exe" % pid).exists()


# ---- an engine that dies between storing and acting ----


def test_a_start_that_was_only_stored(queue):
    number = queue.submit("--hold", "sh", "-c", "echo $BRIM_ATTEMPT >>log")
    queue.stop_engine()
    change(queue, "UPDATE job SET state = 1, held = 0, attempt = 1, since_ms = ?",
           int(time.time() * 1000))
    job = queue.until(number, "done")
    assert job["attempts"] == 1 and (queue.work / "log").read_text() == "1\n"


def test_a_stop_that_was_only_stored(queue):
    script = "trap 'exit 75' TERM; echo b >>log; " + WAIT
    number = queue.submit("--requeue", "--hold", "sh", "-c", script)
    queue("release", str(number))
    wait_until(lambda: (queue.work / "log").exists())
    queue.stop_engine()
    change(queue, "UPDATE job SET stop = 1")
    wait_until(lambda: queue.job(number)["attempts"] == 2)
    wait_until(lambda: (queue.work / "log").read_text() == "b\nb\n")
    (queue.work / "go").touch()
    assert queue.until(number, "done")["attempts"] == 2


def test_an_end_that_nobody_stored(queue):
    number = queue.submit("sh", "-c", WAIT)
    queue.until(number, "running")
    os.kill(queue.engine(), signal.SIGSTOP)
    try:
        (queue.work / "go").touch()
        wait_until(lambda: (queue.state / "ends" / ("%d.1" % number)).exists())
    finally:
        os.kill(queue.engine(), signal.SIGKILL)
    assert queue.until(number, "done")["attempts"] == 1


# ---- jobs that do not behave ----


def test_one_that_ignores_signals(queue):
    script = "trap '' TERM INT HUP USR1 USR2; echo b >>log; while :; do sleep 0.05; done"
    number = queue.submit("--limit", "300ms", "sh", "-c", script)
    job = queue.until(number, "timeout")
    assert job["exit"] == 128 + signal.SIGKILL and job["ran_s"] > 10


def test_one_that_leaves_a_daemon(queue):
    daemon = ("trap '' TERM; echo $$ >pid; exec 0<&- 1>&- 2>&-; while :; do sleep 0.05; done")
    script = "setsid sh -c \"$1\" & while ! [ -s pid ]; do sleep 0.02; done; exit 0"
    number = queue.submit("-d2", "--no-watch", "sh", "-c", script, "sh", daemon)
    after = queue.submit("-d2", "--no-watch", "true")
    pid = wait_until(lambda: (queue.work / "pid").exists()
                     and (queue.work / "pid").read_text().strip())
    wait_until(lambda: queue.job(number)["state"] == "done")
    assert not is_there(pid) and queue.job(number)["exit"] == 0
    queue.until(after, "done")  # not before the devices are free


def test_names_that_are_hostile(queue):
    names = ["a\nb", "c\x1b[2Jd", "\x9b2J", "\u202edcba", "\u2028", "ä" * 31, "ÿ", " ",
             "'; DROP TABLE job; --", "%s%n", "\u202d" * 20]
    numbers = [queue.submit("--hold", "--name", name, "true") for name in names]
    table = queue("jobs").stdout.split("\n")
    assert len(table) == len(names) + 2
    for line in table:
        assert not set(line) & set("\x1b\x9b\u202e\u202d\u2028"), line
    columns = {line.index(" held ") for line in table[1:-1]}
    assert len(columns) == 1, table
    assert [queue.job(n)["name"] for n in numbers] == names
    numbers.append(queue.submit("--hold", "--name", "no\udcffutf-8", "true"))
    assert queue.job(numbers[-1])["name"] == "no\ufffdutf-8"
    assert " no\ufffdutf-8 " in queue("jobs").stdout
    for number in numbers:
        assert "\x1b" not in queue("jobs", str(number)).stdout
    one_line(queue("submit", "--name", "x" * 10000, "true"), 2, "--name is longer than 63 bytes")
    one_line(queue("cancel", "1\n\x1b[2J"), 2, "is no number of a job")


def test_a_command_with_a_long_name(queue):
    path = queue.work / ("ä" * 100)
    path.write_text("#!/bin/sh\nexit 4\n")
    path.chmod(0o755)
    number = queue.submit(str(path))
    assert queue.until(number, "failed")["exit"] == 4
    assert queue.job(number)["name"] == "ä" * 31


def test_requests_that_no_client_makes(queue):
    queue.submit("--hold", "true")
    base = [b"verb=submit", b"arg=true", b"cwd=/", b"name=n"]
    for fields in ([b"signal=9"], [b"signal=0"], [b"signal=99999"], [b"devices=-1"],
                   [b"limit=-5"], [b"grace=9223372036854775807"], [b"array=0-99999"],
                   [b"token=" + b"x" * 100]):
        text = b"".join(f + b"\0" for f in base + fields)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(queue.state / "socket"))
            s.sendall(struct.pack("<I", len(text)) + text)
            answer = b"".join(iter(lambda: s.recv(65536), b""))
        assert b"error=" in answer, (fields, answer)
    assert len(queue.jobs()) == 1


def test_one_that_an_array_submits(queue):
    names = "[\\$BRIM_ARRAY,\\$BRIM_ARRAY_TASK,\\$BRIM_JOB]"
    script = '"$BRIM_PROGRAM" submit --hold sh -c "echo %s"' % names
    queue.submit("--wait", "--array", "7", "sh", "-c", script,
                 env={"BRIM_PROGRAM": queue.brim.program})
    queue("release", "2")
    queue.until(2, "done")
    assert queue.output(2) == "[,,2]\n"


# ---- CPUs ----


def test_no_cpu_is_given_twice(queue):
    """Also when the one that starts later was submitted first."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    script = "grep Cpus_allowed_list /proc/self/status; " + WAIT
    first = queue.submit("--hold", "-d1", "-c1", "--no-watch", "sh", "-c", script)
    second = queue.submit("-d1", "-c1", "--no-watch", "sh", "-c", script)
    wait_until(lambda: (queue.state / "jobs" / str(second) / "output").exists()
               and queue.output(second))
    queue("release", str(first))
    wait_until(lambda: (queue.state / "jobs" / str(first) / "output").exists()
               and queue.output(first))
    assert queue.output(first) != queue.output(second)
    (queue.work / "go").touch()
    queue.until(first, "done")


# ---- the clock ----


@pytest.fixture
def clocked(brim, tmp_path):
    """A queue, and the file that says by how many seconds its clock is set."""
    if "FAKE_CLOCK_LIB" not in os.environ or os.environ.get("SANITIZED"):
        pytest.skip("FAKE_CLOCK_LIB does not name the library, or it cannot be preloaded")
    clock = tmp_path / "clock"
    made = Queue(brim, tmp_path, LD_PRELOAD=os.environ["FAKE_CLOCK_LIB"], FAKE_CLOCK=str(clock))
    yield made, clock
    made.end()


def test_a_clock_that_is_set(clocked):
    queue, clock = clocked
    runs = queue.submit("-d2", "--limit", "4s", "--no-watch", "sh", "-c", WAIT)
    queue.until(runs, "running")
    clock.write_text("-3600\n")
    waits = queue.submit("-d2", "--no-watch", "true")
    queue.kill_engine()
    job = queue.until(runs, "timeout")  # no sooner and no later than it said
    assert job["exit"] == 128 + signal.SIGTERM
    assert queue.until(waits, "done")["attempts"] == 1
    clock.write_text("7200\n")
    last = queue.submit("--after", "afterany:%d" % waits, "true")
    queue.until(last, "done")


def test_a_guard_that_is_missed_when_the_clock_was_set(clocked):
    """Its start is in the future then: that is no reason to wait for it until that is over."""
    queue, clock = clocked
    number = queue.submit("--hold", "sh", "-c", "echo ran >>log")
    folder, away = queue.state / "jobs" / str(number), queue.state / "away"
    folder.rename(away)
    folder.symlink_to(queue.state / "none")  # no guard can claim anything there
    queue("release", str(number))
    wait_until(lambda: queue.job(number)["state"] == "running")
    clock.write_text("-3600\n")
    folder.unlink()
    away.rename(folder)
    assert queue.until(number, "done")["attempts"] == 1
    assert (queue.work / "log").read_text() == "ran\n"


# ---- the disk and the database ----


def test_an_end_on_a_full_disk(brim, tmp_path):
    """What runs goes on; its end is stored when there is room."""
    script = """
    cd "$2" || exit 1
    "$BRIM" submit --requeue sh -c 'echo b >>log; while ! [ -e go ]; do sleep 0.02; done' || exit 1
    while ! [ -e log ]; do sleep 0.02; done
    cat /dev/zero >"$1/filler" 2>/dev/null
    touch go
    sleep 3
    "$BRIM" jobs --json >full.json
    rm "$1/filler"
    for i in $(seq 200); do
        "$BRIM" jobs --json >room.json
        grep -q '"done"' room.json && break
        sleep 0.1
    done
    kill "$(cat "$1/queue/lock")"
    while [ -e "$1/queue/socket" ]; do sleep 0.02; done
    """
    disk, work = tmp_path / "disk", tmp_path / "work"
    disk.mkdir()
    work.mkdir()
    done = on_a_disk("900k", script, disk, work)
    assert done.returncode == 0, done.stderr
    (full,) = json.loads((work / "full.json").read_text())["jobs"]
    (room,) = json.loads((work / "room.json").read_text())["jobs"]
    assert full["state"] == "running"
    assert (room["state"], room["attempts"]) == ("done", 1)
    assert (work / "log").read_text() == "b\n"


def test_a_full_disk(brim, tmp_path):
    script = """
    cat /dev/zero >"$1/filler" 2>/dev/null
    mkdir -p "$1/queue"
    exec "$BRIM" submit true
    """
    done = on_a_disk("64k", script, tmp_path)
    one_line(done, 1, "disk", "is full")


def test_a_full_disk_is_told_at_once(brim, tmp_path):
    """One engine is tried, not twelve: by the numbers of processes that two commands take."""
    script = """
    cat /dev/zero >"$1/filler" 2>/dev/null
    mkdir -p "$1/queue"
    exec unshare --pid --fork --mount-proc bash -c '
        "$BRIM" submit true; "$BRIM" jobs; cut -d" " -f5 /proc/loadavg'
    """
    done = on_a_disk("64k", script, tmp_path)
    assert done.stderr.count("is full\n") == 2, done.stderr
    assert int(done.stdout) < 40


def test_a_job_that_fills_the_disk(brim, tmp_path):
    """It has ended, and nobody can store that: who waits, or looks, is told why."""
    script = """
    trap 'kill $(cat "$1/queue/lock")' EXIT
    : >"$2/wait"
    "$BRIM" submit --wait --no-watch sh -c 'tr "\\0" x </dev/zero | head -c 3000000' 2>"$2/wait" &
    until grep "is full" "$2/wait"; do sleep 0.05; done
    "$BRIM" jobs >"$2/jobs" 2>"$2/told"
    rm "$1/queue/jobs/1/output"
    wait $!
    echo $?
    "$BRIM" jobs --all --json 1
    """
    disk, work = tmp_path / "disk", tmp_path / "work"
    disk.mkdir()
    work.mkdir()
    done = on_a_disk("2m", script, disk, work)
    said, text = done.stdout.split("{", 1)
    why = ("brim: warning: the disk of %s/queue is full: before there is room no job starts, and "
           "one that has ended counts as running\n" % disk)
    assert (work / "told").read_text() == why
    assert set((work / "wait").read_text().splitlines(keepends=True)) == {why}
    assert "running" in (work / "jobs").read_text()
    (job,) = json.loads("{" + text)["jobs"]
    assert job["ended"] and said.split()[-1] == str(job["exit"])
    assert done.stderr == ""


def old_queue(brim, tmp_path, rows=""):
    queue = Queue(brim, tmp_path)
    queue.state.mkdir()
    db = sqlite3.connect(str(queue.state / "queue.db"))
    db.executescript(FIRST + rows)
    db.close()
    return queue


def version(queue):
    """Of its tables."""
    with sqlite3.connect(str(queue.state / "queue.db")) as db:
        (number,) = db.execute("PRAGMA user_version").fetchone()
    db.close()
    return number


def test_a_database_of_an_earlier_brim(brim, tmp_path):
    queue = old_queue(brim, tmp_path)
    jobs = queue.jobs()
    assert [(j["id"], j["state"], j["name"]) for j in jobs] == [(1, "done", "old"),
                                                               (2, "held", "waits")]
    number = queue.submit("--wait", "true")
    assert number == 3 and queue.job(3)["state"] == "done"
    queue("release", "2")
    queue.until(2, "failed")  # its order is not there
    queue.stop_engine()
    (tmp_path / "today").mkdir()
    today = Queue(brim, tmp_path / "today")
    today.submit("--hold", "true")
    today.stop_engine()
    assert version(queue) == version(today) > 3
    today.end()
    assert queue.job(1)["name"] == "old" and queue.job(1)["deadline"] is None
    queue.end()


def test_a_database_of_a_later_brim(brim, tmp_path):
    queue = old_queue(brim, tmp_path, "PRAGMA user_version = 99;")
    one_line(queue("queue"), 1, "was written by a later brim")
    with sqlite3.connect(str(queue.state / "queue.db")) as db:
        assert db.execute("SELECT count(*) FROM job").fetchone() == (2,)
    db.close()


def test_a_database_with_damage(brim, tmp_path):
    """Bits that fell over: it serves or it refuses in a line; it never goes without a word."""
    queue = old_queue(brim, tmp_path)
    good = (queue.state / "queue.db").read_bytes()
    chance = random.Random(7)
    refused = 0
    for _ in range(25):
        bad = bytearray(good)
        for _ in range(chance.choice([1, 20, 400])):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        if chance.random() < 0.2:
            del bad[chance.randrange(len(bad)):]
        for name in ("queue.db-wal", "queue.db-shm"):
            if (queue.state / name).exists():
                (queue.state / name).unlink()
        (queue.state / "queue.db").write_bytes(bad)
        engine = subprocess.Popen([brim.program, "queue"], env=dict(os.environ, **queue.env),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  universal_newlines=True)
        wait_until(lambda: engine.poll() is not None or (queue.state / "socket").exists())
        if engine.poll() is None:
            engine.terminate()
        said = engine.communicate(timeout=60)[1]
        assert engine.returncode in (0, 1), (engine.returncode, said)
        refused += engine.returncode
        assert engine.returncode == 0 or said.count("\n") == 1, said
    assert refused > 5
    (queue.state / "queue.db").unlink()


def test_many_jobs(queue):
    """Ten thousand that wait."""
    many_jobs(queue)


@pytest.mark.timed
def test_many_jobs_take_no_time(queue):
    submitted, one, listed, last = many_jobs(queue)
    slow = 20 if os.environ.get("SANITIZED") else 1
    assert (submitted < 5 * slow, one < slow, listed < 2 * slow, last < slow) == (True,) * 4, (
        submitted, one, listed, last)


def many_jobs(queue):
    """The seconds that it takes to submit ten thousand, one more, to list them, and to submit one
    when a thousand wait for the ten thousand."""
    took = []

    def timed(*args):
        begin = time.monotonic()
        done = queue(*args, timeout=300)
        took.append(time.monotonic() - begin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    timed("submit", "--hold", "--array", "0-9999", "true")
    number = timed("submit", "--hold", "true").strip()
    assert len(timed("jobs").splitlines()) == 10002
    queue.submit("--array", "0-999", "--after", "afterok:1", "true")
    last = timed("submit", "--hold", "true").strip()
    queue("cancel", number, last, "1")
    return took


# ---- a database that is lost ----


def lose(queue):
    """The engine ends, and its database goes."""
    queue.stop_engine()
    for path in queue.state.glob("queue.db*"):
        path.unlink()


def test_numbers_of_a_lost_database_are_not_given_again(queue):
    """What old jobs wrote stays theirs, and their claims stop no new one."""
    for word in ("one", "two"):
        queue.submit("--wait", "echo", word)
    lose(queue)
    number = queue.submit("sh", "-c", "echo three")
    assert number == 3
    queue.until(number, "done")
    assert [queue.output(n) for n in (1, 2, 3)] == ["one\n", "two\n", "three\n"]
    assert [job["id"] for job in queue.jobs()] == [3]
    assert "does not know the jobs 1 to 2 of which files are in" in queue.log()
    queue.stop_engine()
    assert queue.submit("--hold", "true") == 4
    assert queue.log().count("does not know the jobs") == 1


def test_an_older_database_in_its_place(queue):
    queue.submit("--wait", "echo", "one")
    queue.stop_engine()
    old = {path: path.read_bytes() for path in queue.state.glob("queue.db*")}
    queue.submit("--wait", "echo", "two")
    queue.stop_engine()
    for path, was in old.items():
        path.write_bytes(was)
    assert queue.submit("--wait", "echo", "three") == 3
    assert [queue.output(n) for n in (1, 2, 3)] == ["one\n", "two\n", "three\n"]


@pytest.mark.parametrize("killed", [False, True])
def test_a_job_that_outlives_the_database(queue, killed):
    """Its devices are not given to others: nobody knows which they are."""
    number = queue.submit("sh", "-c", "echo $$ >pid; " + WAIT)
    wait_until(lambda: (queue.work / "pid").exists() and (queue.work / "pid").read_text().strip())
    if killed:
        os.kill(int((queue.state / "jobs" / str(number) / "claim.1").read_text().split()[0]),
                signal.SIGKILL)
    lose(queue)
    pid = (queue.work / "pid").read_text().strip()
    why = "job 1 of %s runs (process %s), and its queue.db does not know it" % (queue.state, pid)
    one_line(queue("submit", "true"), 1, why)
    one_line(queue("queue", "--private"), 1, why)
    (queue.work / "go").touch()
    wait_until(lambda: not is_there(pid))
    wait_until(lambda: queue("submit", "true").returncode == 0)
    queue.until(2, "done")


def test_a_number_that_was_never_stored_is_given(queue):
    """An engine died after it had made the folder of a job and before it stored that."""
    queue.submit("--hold", "true")
    queue.kill_engine()
    folder = queue.state / "jobs" / "2"
    folder.mkdir()
    (folder / "order").write_text("half")
    assert queue.submit("--wait", "echo", "two") == 2
    assert queue.output(2) == "two\n"


# ---- a folder that is not its user's ----


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")
@pytest.mark.parametrize("name", [".", "lock", "queue.db", "queue.db-wal", "jobs", "ends"])
def test_a_queue_of_another_user_is_not_run(queue, name):
    """Its jobs may say that they are root's: an engine of root's would run them so."""
    number = queue.submit("--hold", "touch", "ran")
    queue.kill_engine()  # which leaves the log of its database
    path = queue.state / name
    os.chown(str(path), 65534, 65534)
    why = "the queue in %s is of another user (%s is of uid 65534): name another folder" % (
        queue.state, "it" if name == "." else name)
    one_line(queue("queue", "--private"), 1, why)
    one_line(queue("release", str(number)), 1, why)
    os.chown(str(path), 0, 0)
    assert queue("release", str(number)).returncode == 0
    queue.until(number, "done")


@pytest.mark.parametrize("name", ["", "/jobs", "/ends"])
def test_a_queue_that_any_user_may_change_is_not_run(queue, name):
    """Whoever may rename what lies there puts jobs of others into it; /tmp has a bit against it."""
    number = queue.submit("--hold", "true")
    queue.stop_engine()
    path = str(queue.state) + name
    before = os.stat(path).st_mode & 0o7777
    os.chmod(path, 0o777)
    why = "any user may put files into %s: 'chmod o-w' it, or name another folder" % path
    one_line(queue("queue", "--private"), 1, why)
    one_line(queue("release", str(number)), 1, why)
    os.chmod(path, 0o1777)
    assert queue("release", str(number)).returncode == 0
    queue.until(number, "done")
    os.chmod(path, before)


@pytest.mark.parametrize("command", [["submit", "--directory=missing/a/b", "true"],
                                     ["queue", "--directory=missing/a/b/"],
                                     ["queue", "--retire", "--directory", "missing/a/b"]])
def test_a_folder_that_is_named_is_made_alone(queue, command):
    """What it lies in is not made: that is a slip of the finger."""
    one_line(queue(*command), 1, "--directory missing/a/b",
             "there is no folder %s/missing/a: make it, or name another folder" % queue.work)
    assert list(queue.work.iterdir()) == []


# ---- limits of the shell that starts an engine ----


def limited(which, most):
    return lambda: resource.setrlimit(which, (most, most))


@pytest.mark.parametrize("which, most, why", [
    ("NOFILE", 31, "may have 31 files open and needs 32: raise the limit, with ulimit -n"),
    ("NOFILE", 12, "may have 12 files open and needs 32: raise the limit, with ulimit -n"),
    ("NOFILE", 7, "may have 7 files open and needs 32: raise the limit, with ulimit -n"),
    ("NOFILE", 5, "does not come up, and does not say why: brim queue --directory="),
    ("FSIZE", 1000, "disk I/O error: raise ulimit -f, by which files have 1000 bytes"),
    ("FSIZE", 0, "does not come up, and does not say why: brim queue --directory="),
])
def test_an_engine_that_has_too_little(queue, which, most, why):
    done = queue("submit", "true", preexec_fn=limited(getattr(resource, "RLIMIT_" + which), most))
    one_line(done, 1, "brim submit: the queue's engine does not come up", why)
    queue.until(queue.submit("true"), "done")


def test_an_engine_with_few_descriptors_answers(queue):
    """Clients that say nothing take none of those that jobs and the next client need."""
    queue.submit("--hold", "true", preexec_fn=limited(resource.RLIMIT_NOFILE, 32))
    silent = [socket.socket(socket.AF_UNIX) for _ in range(60)]
    for each in silent:
        each.connect(str(queue.state / "socket"))
    queue.until(queue.submit("true"), "done")
    assert queue("release", "1").returncode == 0
    queue.until(1, "done")
    for each in silent:
        each.close()


def sleeps(pid):
    """How often a process went to sleep by itself."""
    status = pathlib.Path("/proc/%d/status" % pid).read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M).group(1))


def test_an_engine_whose_descriptors_are_taken_comes_back(queue):
    """Nobody can be accepted for a while: said once, and the engine sleeps between its tries."""
    queue.submit("--hold", "true")
    most = resource.prlimit(queue.engine(), resource.RLIMIT_NOFILE)
    resource.prlimit(queue.engine(), resource.RLIMIT_NOFILE, (6, most[1]))
    one = socket.socket(socket.AF_UNIX)
    one.connect(str(queue.state / "socket"))
    wait_until(lambda: "nobody can be answered: Too many open files" in queue.log())
    before = sleeps(queue.engine())
    wait_until(lambda: sleeps(queue.engine()) >= before + 3)
    resource.prlimit(queue.engine(), resource.RLIMIT_NOFILE, most)
    one.close()
    assert queue.job(1)["state"] == "held"
    assert queue.log().count("nobody can be answered") == 1


def test_a_pipe_as_the_log_of_an_engine(queue):
    """It is not waited for: the engine writes no log."""
    queue.state.mkdir()
    os.mkfifo(str(queue.state / "engine.log"))
    queue.until(queue.submit("true"), "done")
