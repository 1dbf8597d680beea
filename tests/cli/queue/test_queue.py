"""brim submit, jobs, cancel, hold, release, priority, queue: a queue with real processes."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import pytest
from conftest import one_line
from queues import WAIT, Queue, counted, counting, on_a_disk, soak
from served import wait_until


def test_a_job_runs_as_it_was_submitted(queue):
    script = 'echo "$PWD $GREETING $BRIM_JOB $BRIM_ATTEMPT $(umask)"; echo oops >&2; exit 3'
    number = queue.submit("--name", "greet", "sh", "-c", script, env={"GREETING": "h\xe4llo"})
    job = queue.until(number, "failed")
    assert (job["exit"], job["reason"], job["name"]) == (3, "exit status 3", "greet")
    umask = subprocess.run(["sh", "-c", "umask"], stdout=subprocess.PIPE, text=True).stdout.strip()
    assert queue.output(number) == "%s h\xe4llo %d 1 %s\noops\n" % (queue.work, number, umask)


def test_brim_jobs_tells_what_the_engine_tells(queue):
    """So tests may ask the engine for what they wait for (queues.Queue.job)."""
    number = queue.submit("--name", "h\xe4llo", "sh", "-c", "exit 3")
    queue.until(number, "failed")
    assert queue.jobs(str(number)) == queue.jobs() == [queue.job(number)]
    assert queue.job(number)["exit"] == 3


def test_limits_are_those_of_its_shell(queue):
    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (97, 4096))

    queue.submit("--hold", "true")  # the engine has others
    number = queue.submit("--wait", "sh", "-c", "ulimit -n", preexec_fn=lower)
    assert queue.output(number) == "97\n"


def test_the_kernel_tells_the_engine_of_ends(queue):
    """It would look by itself, but only once a second."""
    number = queue.submit("sh", "-c", WAIT)
    queue.until(number, "running")
    folder = "ino:%x " % (queue.state / "ends").stat().st_ino
    watched = pathlib.Path("/proc/%d/fdinfo" % queue.engine()).iterdir()
    assert any("inotify wd:" in text and folder in text for text in map(read_if_there, watched))


def read_if_there(path):
    try:
        return path.read_text()
    except OSError:  # closed meanwhile
        return ""


def test_names_of_others(queue):
    number = queue.submit("--hold", "--name", "a\x1b[2Jb", "true")
    assert "a?[2Jb" in queue("jobs").stdout and "\x1b" not in queue("jobs", str(number)).stdout


def test_wait_tells_the_exit_status(queue):
    assert queue("submit", "--wait", "true").returncode == 0
    assert queue("submit", "--wait", "sh", "-c", "exit 7").returncode == 7
    assert queue("submit", "--wait", "sh", "-c", "kill -SEGV $$").returncode == 128 + signal.SIGSEGV
    # one that has gone until its turn comes
    script = queue.work / "gone"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    number = queue.submit("--hold", "./gone")
    script.unlink()
    queue("release", str(number))
    assert "./gone: No such file" in queue.until(number, "failed")["reason"]
    assert queue.job(number)["exit"] == 127


def test_what_can_only_fail_is_not_submitted(queue):
    (queue.work / "plain").touch()
    folder = str(queue.work)
    for args, words in (
        (["no-such-command"], "there is no command 'no-such-command' in PATH"),
        (["./none"], "cannot run ./none: No such file or directory"),
        (["./plain"], "cannot run ./plain: Permission denied"),
        ([folder], "cannot run %s: Is a directory" % folder),
        (["--chdir", "/missing", "true"], "cannot enter the folder /missing: No such file"),
        (["--chdir", "plain", "true"], "plain: it is none"),
    ):
        one_line(queue("submit", *args), 1, words)
    # What another job makes, or is made while this one is held, may not be there yet.
    queue.submit("--hold", "./none")
    queue.submit("--after", "afterany:1", "--chdir", "/missing", "./none")
    assert len(queue.jobs()) == 2
    (queue.work / "bin").mkdir()
    (queue.work / "bin" / "mine").write_text("#!/bin/sh\nexit 5\n")
    (queue.work / "bin" / "mine").chmod(0o755)
    path = {"PATH": "bin:" + os.environ["PATH"]}
    assert queue("submit", "--wait", "mine", env=path).returncode == 5
    assert queue("submit", "--wait", "--chdir", "bin", "./mine").returncode == 5


def test_files_for_its_output(queue):
    options = ["--array", "3-4", "--output", "%A-%a.out", "--error", "%j.err"]
    queue.submit("--wait", *options, "sh", "-c", "echo $BRIM_ARRAY_TASK; echo err >&2")
    assert (queue.work / "1-3.out").read_text() == "3\n"
    assert (queue.work / "1_4.err").read_text() == "err\n"
    one_line(queue("submit", "--output", "none/x", "true"), 1, "--output: cannot write none/x: No")
    (queue.work / "some").mkdir()
    number = queue.submit("--hold", "--output", "some/x", "true")  # which goes while it waits
    (queue.work / "some").rmdir()
    queue("release", str(number))
    assert "cannot write its output to some/x" in queue.until(number, "failed")["reason"]


def test_devices_are_its_own(queue):
    script = 'echo "$CUDA_VISIBLE_DEVICES"; ' + WAIT
    first = queue.submit("-d1", "-c1", "--no-watch", "sh", "-c", script)
    second = queue.submit("-d1", "--no-watch", "sh", "-c", script)
    third = queue.submit("-d2", "-c1", "--no-watch", "sh", "-c", script)
    without = queue.submit("--hold", "sh", "-c", 'echo "[$CUDA_VISIBLE_DEVICES]"')
    queue.until(first, "running")
    waits = queue.job(third)
    assert waits["state"] == "waiting"
    assert waits["reason"].startswith("waits for 2 devices and 1 CPU: ")
    (queue.work / "go").touch()
    queue("release", str(without))
    queue.until(third, "done")
    queue.until(without, "done")
    assert {queue.output(first), queue.output(second)} <= {"0\n", "1\n"}
    assert queue.output(third) == "0,1\n"
    assert queue.output(without) == "[]\n"
    assert queue.job(third)["place"] == "GPU0,GPU1"


def test_with_devices_it_is_watched(queue):
    runs = {"XDG_STATE_HOME": str(queue.work)}
    number = queue.submit("--wait", "-d1", "--name", "seen", "sh", "-c", "sleep 0.3", env=runs)
    assert queue.job(number)["exit"] == 0
    assert "seen" in queue("runs").stdout
    unseen = queue("submit", "--wait", "-d1", "--no-watch", "--name", "unseen", "true", env=runs)
    assert unseen.returncode == 0
    assert "unseen" not in queue("runs").stdout
    assert queue("submit", "--wait", "-d1", "sh", "-c", "exit 5", env=runs).returncode == 5


def test_cpus_are_bound(brim, tmp_path):
    queue = Queue(brim, tmp_path, "")
    usable = os.sched_getaffinity(0)
    number = queue.submit("--wait", "-c1", sys.executable, "-c",
                          "import os; print(*os.sched_getaffinity(0))")
    assert int(queue.output(number)) in usable
    everything = queue.submit("--wait", "-c", len(usable), sys.executable, "-c",
                              "import os; print(*sorted(os.sched_getaffinity(0)))")
    assert queue.output(everything).split() == [str(cpu) for cpu in sorted(usable)]
    one_line(queue("submit", "-c", len(usable) + 1, "true"), 1, "this machine has")
    one_line(queue("submit", "-d", "1", "true"), 1, "no accelerators")
    queue.end()


def test_an_array_and_what_comes_after_it(queue):
    script = 'echo b >>log; sleep 0.05; echo e >>log; exit "$BRIM_ARRAY_TASK"'
    array = queue.submit("--array", "0-3%1", "sh", "-c", script)
    ok = queue.submit("--after", "afterok:%d" % array, "true")
    not_ok = queue.submit("--after", "afternotok:%d" % array, "sh", "-c", "echo b >>log")
    late = queue.submit("--after", "afterok:%d,afterany:%d" % (not_ok, array), "true")
    queue.until(late, "done")
    assert (queue.work / "log").read_text().split() == ["b", "e"] * 4 + ["b"]
    never = queue.job(ok)
    assert never["state"] == "never"
    assert "afterok:%d cannot be met any more" % array in never["reason"]
    assert [j["exit"] for j in queue.jobs(str(array))] == [0, 1, 2, 3]
    assert queue.job("%d_2" % array)["exit"] == 2


def test_priorities_and_holding(queue):
    first = queue.submit("-d2", "--no-watch", "sh", "-c", WAIT)
    say = ["-d2", "--no-watch", "sh", "-c", 'echo "$BRIM_JOB" >>order']
    second, third, fourth = queue.submit(*say), queue.submit(*say), queue.submit("-p3", *say)
    fifth = queue.submit("--hold", *say)
    queue("hold", str(second))
    assert queue("priority", "7", str(third)).returncode == 0
    assert [queue.job(n)["state"] for n in (first, second, fifth)] == ["running", "held", "held"]
    assert "brim release" in queue.job(second)["reason"]
    (queue.work / "go").touch()
    queue.until(fourth, "done")
    queue("priority", "--", "-2", str(second))
    assert queue("priority", "-1", str(second)).returncode == 0
    assert queue.job(second)["priority"] == -1
    queue("release", str(second), str(fifth))
    queue.until(fifth, "done")
    queue.until(second, "done")
    order = [int(n) for n in (queue.work / "order").read_text().split()]
    assert order[:2] == [third, fourth] and sorted(order[2:]) == [second, fifth]


def test_deadlines(brim, tmp_path):
    """Who is due earlier goes first, and takes the devices of who has more time."""
    (tmp_path / "due.ini").write_text("[policy]\norder = deadline\npreempt = victims\n"
                                      "length = limit\n")
    queue = Queue(brim, tmp_path,
                  "fake = 2xH100-SXM5-80GB\npolicy = %s\n" % (tmp_path / "due.ini"))
    gate = ["-d2", "--no-watch", "--deadline", "1m", "sh", "-c",
            "while ! [ -e go ]; do sleep 0.02; done"]
    first = queue.submit(*gate)
    later = queue.submit("-d2", "--no-watch", "--requeue", "--deadline", "3h", "bash", "-c",
                         counting("USR1", 400))
    soon = queue.submit("-d2", "--no-watch", "--deadline", "2h", "true")
    (queue.work / "go").touch()
    queue.until(soon, "done")
    queue.until(later, "running")
    assert queue.job(soon)["ended"] <= queue.job(later)["started"]
    wait_until(lambda: (queue.work / "at").exists())
    (queue.work / "go").unlink()
    urgent = queue.submit(*gate)
    job = wait_until(lambda: queue.job(later)["state"] == "waiting" and queue.job(later))
    assert re.search(r"; the other's deadline is in ([1-5]?\d|60) s$", job["stopped"]), job
    (queue.work / "go").touch()
    (queue.work / "finish").touch()
    queue.until(later, "done")
    job = queue.job(urgent)
    assert 55 < job["deadline"] - job["submitted"] < 65 and queue.job(first)["deadline"]
    assert re.search(r"^deadline   20\S+Z, met$", queue("jobs", str(urgent)).stdout, re.M)
    late = queue.submit("--deadline", "1ms", "--wait", "sleep", "0.1")
    assert re.search(r"^deadline   20\S+Z, missed by ", queue("jobs", str(late)).stdout, re.M)
    queue.end()


def test_preemption_and_the_checkpoint(queue):
    counts = queue.submit("-d2", "--no-watch", "--requeue", "--checkpoint-signal", "USR1",
                          "bash", "-c", counting("USR1", 400))
    wait_until(lambda: (queue.work / "at").exists())
    urgent = queue.submit("-p5", "-d1", "--no-watch", "sh", "-c", "sleep 0.2")
    queue.until(urgent, "done")
    job = queue.until(counts, "running")
    assert job["attempts"] == 2
    wait_until(lambda: queue.job(counts)["state"] == "running")
    (queue.work / "finish").touch()
    queue.until(counts, "done")
    assert counted(queue)


def test_what_may_not_be_stopped_is_not(queue):
    runs = queue.submit("-d2", "--no-watch", "sh", "-c", WAIT)
    queue.until(runs, "running")
    urgent = queue.submit("-p5", "-d1", "--no-watch", "true")
    time.sleep(0.2)
    assert queue.job(urgent)["state"] == "waiting"
    (queue.work / "go").touch()
    queue.until(urgent, "done")
    assert queue.job(runs)["attempts"] == 1


def test_a_time_limit_and_its_warning(queue):
    script = "trap 'echo warned' USR1; trap 'echo asked; exit 4' TERM; while :; do sleep 0.02; done"
    number = queue.submit("--limit", "600ms", "--warn", "300ms", "--checkpoint-signal", "USR1",
                          "bash", "-c", script)
    job = queue.until(number, "timeout")
    assert queue.output(number).startswith("warned\n") and "asked\n" in queue.output(number)
    assert job["exit"] == 4 and "time limit" in job["reason"]


def test_cancel_ends_all_of_it(queue):
    script = "sleep 300 & echo $! >pids; setsid sleep 300 & echo $! >>pids; wait"
    number = queue.submit("sh", "-c", script)
    pids = wait_until(lambda: (queue.work / "pids").exists()
                      and len((queue.work / "pids").read_text().split()) == 2
                      and (queue.work / "pids").read_text().split())
    assert queue("cancel", str(number)).returncode == 0
    job = queue.until(number, "cancelled")
    assert job["exit"] == 128 + signal.SIGTERM
    assert not [pid for pid in pids if pathlib.Path("/proc/" + pid + "/exe").exists()]
    one_line(queue("cancel", str(number)), 1, "has ended already")
    waits = queue.submit("--hold", "true")
    queue("cancel", str(waits))
    assert queue.job(waits)["reason"] == "cancelled before it ran"


def test_jobs_outlive_the_engine(queue):
    number = queue.submit("sh", "-c", "echo b >>log; " + WAIT)
    wait_until(lambda: (queue.work / "log").exists())
    queue.kill_engine()
    assert queue.job(number)["state"] == "running"
    queue.kill_engine()
    (queue.work / "go").touch()
    wait_until(lambda: (queue.state / "socket").exists())
    assert queue.until(number, "done")["attempts"] == 1
    assert (queue.work / "log").read_text() == "b\n"


def test_an_engine_comes_back_by_itself(queue):
    first = queue.submit("-d2", "--no-watch", "sh", "-c", WAIT)
    queue.submit("-d2", "--no-watch", "sh", "-c", "echo ran >log")
    wait_until(lambda: (queue.state / "jobs" / str(first) / "start.1").exists())
    queue.kill_engine()  # while first's guard is there to see that nobody answers
    (queue.work / "go").touch()
    wait_until(lambda: (queue.work / "log").exists())


def test_an_engine_that_dies_when_a_job_has_ended(queue):
    """The guard leaves its word while that engine is still there, and does not rely on it."""
    first = queue.submit("-d2", "--no-watch", "sh", "-c", WAIT)
    queue.submit("-d2", "--no-watch", "sh", "-c", "echo ran >log")
    wait_until(lambda: (queue.state / "jobs" / str(first) / "start.1").exists())
    engine = queue.engine()
    os.kill(engine, signal.SIGSTOP)
    (queue.work / "go").touch()
    wait_until(lambda: (queue.state / "ends" / ("%s.1" % first)).exists())
    time.sleep(0.2)  # a guard that looks once has looked
    os.kill(engine, signal.SIGKILL)
    wait_until(lambda: (queue.work / "log").exists())


def guard_of(queue, number, attempt=1):
    return int((queue.state / "jobs" / str(number) / ("claim.%d" % attempt)).read_text().split()[0])


def test_a_guard_that_is_killed(queue):
    script = "echo b >>log; " + WAIT
    number = queue.submit("sh", "-c", script)
    wait_until(lambda: (queue.work / "log").exists())
    os.kill(guard_of(queue, number), signal.SIGKILL)
    wait_until(lambda: "guard was killed" in queue.job(number)["reason"])
    assert queue.job(number)["state"] == "running"  # its process is there: it is not run twice
    (queue.work / "go").touch()
    job = queue.until(number, "lost")
    assert job["exit"] is None and "nobody saw how it ended" in job["reason"]
    (queue.work / "go").unlink()
    again = queue.submit("--requeue", "sh", "-c", script)
    wait_until(lambda: (queue.work / "log").read_text() == "b\nb\n")
    os.kill(guard_of(queue, again), signal.SIGKILL)
    (queue.work / "go").touch()
    assert queue.until(again, "done")["attempts"] == 2


def test_killed_again_and_again(brim):
    soak()


def test_only_asking(queue):
    assert queue.brim("jobs", env=queue.env).stdout == "no jobs\n"
    assert not queue.state.exists()
    now = queue("submit", "--dry-run", "-d1", "true").stdout
    assert now == "would start now, on GPU0\n"
    runs = queue.submit("-d2", "--no-watch", "--limit", "1h", "sleep", "300")
    queue.until(runs, "running")
    later = queue("submit", "--dry-run", "-d1", "true").stdout
    # Its first minutes may have passed: they do on a machine that has other things to do.
    assert re.match(r"would start in 3[0-6]\d\d s ", later) and later.endswith(", on GPU0\n"), later
    queue.submit("-d2", "-p1", "--no-watch", "sleep", "300")
    unknown = queue("submit", "--dry-run", "-d1", "true").stdout
    assert "nobody knows" in unknown
    assert len(queue.jobs()) == 2


def test_what_is_shown(queue):
    number = queue.submit("sh", "-c", "exit 2")
    queue.until(number, "failed")
    table = queue("jobs").stdout.splitlines()
    assert table[0].split() == ["JOB", "NAME", "USER", "STATE", "PRIO", "DEVS", "RAN", "WHERE",
                                "OR", "WHY"]
    assert table[1].split()[:2] == ["1", "sh"] and table[1].endswith("exit status 2")
    one = queue("jobs", "1").stdout
    assert one.startswith("job 1, sh, of ") and "/jobs/1/output" in one
    assert "GREETING" not in queue("jobs", "1", "--json").stdout


@pytest.mark.parametrize("args, status, words", [
    (("submit",), 2, "say which command"),
    (("submit", "--array", "3-1", "true"), 2, "--array 3-1"),
    (("submit", "--after", "12", "true"), 2, "--after 12"),
    (("submit", "--after", "afterok:99", "true"), 1, "there is no job 99"),
    (("submit", "--checkpoint-signal", "KILL", "true"), 2, "TERM, USR1"),
    (("submit", "--warn", "5s", "true"), 2, "longer --limit"),
    (("submit", "--deadline", "0s", "true"), 2, "--deadline must be at least 1ms"),
    (("submit", "-d", "3", "true"), 1, "asks for 3 devices, and this machine has 2"),
    (("submit", "-p", "101", "true"), 2, "from -100 to 100"),
    (("submit", "-p", "x", "true"), 2, "from -100 to 100"),
    (("jobs", "99"), 1, "there is no job 99"),
    (("jobs", "x"), 2, "'x' is no number of a job"),
    (("cancel",), 2, "say which job"),
    (("cancel", "99"), 1, "there is no job 99"),
    (("priority", "x", "1"), 2, "say which priority"),
    (("queue", "--policy", "fastest"), 2, "fastest: no such policy"),
    (("queue", "--policy", "rebuild-srtf"), 2, "only brim sim can do"),
    (("queue", "--policy", "srsf-steps"), 2, "length = steps is for brim sim"),
])
def test_bad_input(queue, args, status, words):
    queue.submit("--hold", "true")
    done = queue(*args)
    one_line(done, status)
    assert words in done.stderr


def test_a_queue_that_was_never_used(queue):
    one_line(queue("cancel", "1"), 1)
    one_line(queue("jobs", "1"), 1)
    assert json.loads(queue("jobs", "--json").stdout)["jobs"] == []
    assert not queue.state.exists()


def test_a_second_engine(queue):
    queue.submit("--hold", "true")
    done = queue("queue")
    one_line(done, 1)
    assert "another engine runs the queue" in done.stderr


def test_a_damaged_file(queue):
    queue.submit("--hold", "true")
    queue.stop_engine()
    for name in ("queue.db-wal", "queue.db-shm"):
        if (queue.state / name).exists():
            (queue.state / name).unlink()
    good = (queue.state / "queue.db").read_bytes()
    (queue.state / "queue.db").write_bytes(b"no database " * 1000)
    done = queue("queue")
    one_line(done, 1)
    assert "move that file away" in done.stderr and "queue.db" in done.stderr
    (queue.state / "queue.db").write_bytes(good)
    assert queue.jobs()[0]["state"] == "held"


def test_a_full_disk(queue, tmp_path):
    """Nothing is half stored, what is there stays, and the queue goes on when there is room."""
    script = """
    "$BRIM" submit --hold true || exit 1
    cat /dev/zero >"$1/filler" 2>/dev/null
    for i in 1 2 3 4 5 6 7 8; do "$BRIM" submit --hold true 2>>"$2" >>"$2.ids"; done
    rm "$1/filler"
    "$BRIM" submit --hold true >>"$2.ids" || exit 2
    "$BRIM" jobs --json >"$2.jobs"
    kill "$(cat "$1/queue/lock")"
    while [ -e "$1/queue/socket" ]; do sleep 0.02; done
    """
    disk, said = tmp_path / "disk", tmp_path / "said"
    disk.mkdir()
    done = on_a_disk("600k", script, disk, said)
    assert done.returncode == 0, done.stderr
    assert "the disk is full" in said.read_text() or "No space left" in said.read_text()
    jobs = json.loads(pathlib.Path(str(said) + ".jobs").read_text())["jobs"]
    told = [1] + [int(n) for n in pathlib.Path(str(said) + ".ids").read_text().split()]
    assert [j["id"] for j in jobs] == told
    assert {j["state"] for j in jobs} == {"held"}
