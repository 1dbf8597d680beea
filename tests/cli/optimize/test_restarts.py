"""brim optimize --restarts: settings that need a restart race in short runs of the job, and the job
runs to its end with what has won."""

import glob
import os
import shlex
import signal
import subprocess
import time

import pytest
from test_optimize import BRIM, JOB, Optimized, last, read_line, rings_of, wait_for
from terminal import Terminal

START = "[knob.start]\napply = env\ntarget = TUNED_START\nvalues = %s\nrisk = %s\n"
READERS = "[knob.readers]\nflag = --readers\nvalues = 8\n"


class Restarted(Optimized):
    """Each start of the job writes TUNED_START into a file."""

    def __init__(self, folder):
        super().__init__(folder)
        self.starts, self.knobs = folder / "starts", folder / "knobs.ini"
        self.declare("fast")

    def declare(self, values, risk="safe", more=""):
        self.knobs.write_text(START % (values, risk) + more)

    def options(self, restarts, *more):
        return ("--restarts", str(restarts), "--knobs", str(self.knobs), *more)

    def job(self, *numbers, before=""):
        line = 'echo "$TUNED_START." >> %s; %sexec "$0" "$@"' % (self.starts, before)
        return ["sh", "-c", line, JOB, *numbers]

    def started(self):
        return self.starts.read_text().split() if self.starts.exists() else []


@pytest.fixture
def brim(tmp_path):
    if not BRIM or not JOB:
        pytest.skip("BRIM and TUNED_JOB do not name the programs")
    yield Restarted(tmp_path)


def outcomes(done):
    return {"%s=%s" % (k["knob"], k["value"]): k["outcome"] for k in done.settings}


def profiles(brim):
    return glob.glob(str(brim.folder / "profiles" / "*"))


# ---- what it finds ----


def test_what_wins_is_what_the_job_runs_with(brim):
    done = brim.run(*brim.job(600, 0, 3000), options=brim.options(8))
    assert done.returncode == 0, done.stderr
    assert brim.started() == [".", ".", "fast.", "fast.", ".", ".", "fast.", "fast."]
    (one,) = done.settings
    assert (one["knob"], one["value"], one["outcome"]) == ("start", "fast", "adopted")
    assert one["starts"] == 3 and one["steps"] > 3 * 40
    assert 0.3 < one["low"] < one["gain"] < one["high"], one
    seen = done.seen["optimize"]
    assert seen["short_runs"] == 6 and seen["trials"] == 0
    assert seen["after"]["steps_per_s"] > 1.3 * seen["before"]["steps_per_s"]
    assert last(done)[0] == 600
    assert "the job is ended, and short runs" in done.stderr
    assert "run 1 of 7 at most: the job as it is" in done.stderr
    assert "run 2 of 7 at most: the job with start=fast: the job's file" in done.stderr
    assert done.stderr.count(" a sample, of ") == 6
    assert "  kept      start ? -> fast:" in done.stderr and " in 3 starts" in done.stderr
    (profile,) = profiles(brim)
    again = subprocess.run(
        [BRIM, "run", "-q", "--profile", profile, "--knobs", str(brim.knobs), "--",
         *[str(c) for c in brim.job(5, 0, 100)]],
        env=brim.env, stdout=subprocess.PIPE, timeout=60,
    )
    assert again.returncode == 0 and brim.started()[-1] == "fast."


def test_a_flag(brim):
    brim.knobs.write_text(READERS)
    done = brim.run(JOB, 800, 8000, 500, options=brim.options(7, "--budget", "60s"))
    one = done.settings[0]
    assert (one["knob"], one["outcome"]) == ("readers", "adopted"), done.stderr
    assert one["gain"] > 2
    assert done.seen["run"]["command"].endswith("--readers 8")
    assert "again" in done.stderr and "--readers" not in done.stderr.split("again")[-1]


def test_what_fails_or_is_slow_is_dropped(brim):
    brim.declare("crash, slow")
    done = brim.run(*brim.job(300, 0, 2000), options=brim.options(12))
    assert done.returncode == 0 and last(done)[0] == 300
    assert outcomes(done) == {"start=crash": "failed", "start=slow": "rejected"}
    crash = next(k for k in done.settings if k["value"] == "crash")
    assert "exit status 3" in crash["note"] and crash["starts"] == 1
    assert brim.started()[-1] == "." and brim.started().count("crash.") == 1
    assert "the job is started as it was" in done.stderr
    assert "nothing kept" in done.stderr and not profiles(brim)


def test_a_refusal_at_the_start(brim):
    brim.declare("deny")
    done = brim.run(*brim.job(300, 0, 2000), options=brim.options(12))
    (one,) = done.settings
    assert (one["outcome"], one["note"]) == ("failed", "this job can not be started so")
    assert one["starts"] == 1 and brim.started()[-1] == "."


def test_starts_are_limited(brim):
    brim.declare("slow, fast, crash, lie")
    done = brim.run(*brim.job(300, 0, 2000), options=brim.options(7))
    assert len(brim.started()) <= 8
    assert list(outcomes(done).values()).count("not tried") == 3
    assert "more promising ones take all starts" in done.stderr


# ---- numbers ----


def test_a_loss_that_gets_worse(brim):
    """There are starts for what such a short step may look like, too: torch.compile."""
    brim.declare("lie, fast", risk="numeric")
    done = brim.run(
        *brim.job(300, 0, 2000), mode="help", options=brim.options(16, "--allow", "numeric")
    )
    assert outcomes(done)["start=lie"] == "failed", done.stderr
    assert outcomes(done)["start=fast"] == "adopted"
    assert "above the job's" in next(k for k in done.settings if k["value"] == "lie")["note"]
    assert brim.started()[-1] == "fast."


def test_numbers_want_a_word_and_a_loss(brim):
    brim.declare("fast", risk="numeric")
    done = brim.run(*brim.job(200, 0, 2000), mode="help", options=brim.options(12))
    assert brim.started() == ["."] and outcomes(done)["start=fast"] == "not tried"
    assert "--allow numeric" in done.settings[0]["note"]
    done = brim.run(*brim.job(200, 0, 2000), options=brim.options(12, "--allow", "numeric"))
    assert brim.started() == [".", "."] and outcomes(done)["start=fast"] == "not tried"
    assert "tells no loss" in done.settings[0]["note"]


# ---- when there is no race ----


def test_without_the_word_the_job_is_never_ended(brim):
    done = brim.run(*brim.job(200, 0, 2000), options=("--knobs", str(brim.knobs)))
    assert brim.started() == ["."]
    assert outcomes(done) == {"start=fast": "not tried"}
    assert "--restarts 12 would try it" in done.settings[0]["note"]


def test_a_checkpoint_was_written(brim):
    done = brim.run(*brim.job(200, 0, 2000), mode="save", options=brim.options(12))
    assert brim.started() == ["."] and last(done)[0] == 200
    assert outcomes(done) == {"start=fast": "not tried"}
    assert "has written a checkpoint" in done.settings[0]["note"]


def test_nothing_to_race(brim):
    brim.knobs.write_text("")
    done = brim.run(*brim.job(200, 0, 2000), options=brim.options(12))
    assert brim.started() == ["."] and done.settings == []


def test_what_the_user_has_set_stays(brim):
    done = brim.run(*brim.job(200, 0, 2000), options=brim.options(12), TUNED_START="slow")
    assert brim.started() == ["slow."]
    assert "TUNED_START is 'slow' in the environment" in done.settings[0]["note"]


# ---- its end ----


def in_race(brim, *command, **how):
    """A race that is under way."""
    job = brim.start(*command, options=brim.options(12), **how)
    read_line(job.stderr, "run 2 of")
    wait_for(lambda: len(brim.started()) >= 3)
    time.sleep(0.2)
    return job


TERM = pytest.param(signal.SIGTERM, marks=pytest.mark.once)


@pytest.mark.parametrize("number", [signal.SIGINT, TERM])
def test_an_interrupt_ends_the_race(brim, number):
    job = in_race(brim, *brim.job(9000, 0, 2000))
    job.send_signal(number)
    out, err = job.communicate(timeout=60)
    assert job.returncode == 128 + number
    assert "it was interrupted" in err and "is started" not in err
    assert len(brim.started()) == 3 and not profiles(brim) and not rings_of(job.pid)


def test_an_interrupt_of_a_job_that_takes_its_time(brim):
    job = in_race(brim, *brim.job(9000, 0, 2000), mode="deaf")
    job.send_signal(signal.SIGINT)
    job.communicate(timeout=60)
    assert job.returncode == 9 and len(brim.started()) == 3


DEAF = pytest.param("deaf", 9, marks=pytest.mark.once)


@pytest.mark.parametrize("mode, status", [("obey", 130), DEAF])
def test_ctrl_c_at_a_terminal(brim, mode, status):
    """It reaches brim as well, which knows then that the job did not fail by itself."""
    brim.env["TUNED"] = mode
    command = brim.command(brim.job(9000, 0, 2000), brim.options(12))
    t = Terminal(brim, "%s; echo rc=$?" % shlex.join(command))
    t.until(b"run 2 of")
    wait_for(lambda: len(brim.started()) >= 3)
    time.sleep(0.2)
    os.write(t.fd, b"\x03")
    t.until(b"rc=%d" % status)
    assert b"it was interrupted" in t.said and len(brim.started()) == 3


def test_stopping_the_race(brim):
    job = in_race(brim, *brim.job(400, 3000, 1000))
    job.send_signal(signal.SIGRTMIN)
    out, err = job.communicate(timeout=60)
    assert job.returncode == 0 and out.split()[::2] == ["400", "0"]
    assert "it was stopped" in err and "trying" not in err and "the job is started as it was" in err
    assert len(brim.started()) == 4


def test_a_killed_brim_leaves_the_job_on_trial(brim):
    out = brim.folder / "out"
    job = in_race(brim, *brim.job(700, 0, 2000, before="exec > %s; " % out))
    job.kill()
    job.wait()
    job.stderr.close()
    wait_for(lambda: out.exists() and out.read_text().split())
    assert out.read_text().split()[0] == "700"
    assert brim.started() == [".", ".", "fast."] and not profiles(brim)
    assert brim.run("true").returncode == 0
    assert not rings_of(job.pid)


def test_nothing_is_left_behind(brim):
    """Processes that a start has put beside the job are gone before the next one."""
    here = brim.folder / "pids"
    before = "setsid sleep 600 > /dev/null 2>&1 & echo $! >> %s; " % here
    done = brim.run(*brim.job(300, 0, 2000, before=before), options=brim.options(7))
    assert done.returncode == 0
    pids = [int(p) for p in here.read_text().split()]
    alive = [p for p in pids if os.path.exists("/proc/%d" % p)]
    assert len(pids) == 8 and alive == pids[-1:], "the job's own is not ours to end"
    os.kill(pids[-1], signal.SIGKILL)


@pytest.mark.parametrize("restarts", ["1", "6", "1001", "-1", "many"])
def test_usage(brim, restarts):
    done = brim.run("true", options=("--restarts", restarts))
    assert done.returncode == 2 and "restarts" in done.stderr
    assert done.stderr.count("\n") == 1
