"""brim optimize: what is tried on a job that runs, what is kept, and that the job is none the
worse."""

import glob
import json
import os
import signal
import subprocess
import time

import pytest

BRIM = os.environ.get("BRIM", "")
JOB = os.environ.get("TUNED_JOB", "")
STEP_JOB = os.environ.get("STEP_JOB", "")
# Tried whatever the machine is seen to do: what is tested behind that does not hang on a verdict.
# The job's clock is its own (tuned_job.c), so that a trial does not hang on the machine either.
TRY = ("--try", "loader.workers=5")
TWO_RANKS = "RANK=0 WORLD_SIZE=2 $0 $@ & RANK=1 WORLD_SIZE=2 $0 $@; wait"


class Optimized:
    """brim optimize with a state folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        drop = ("BRIM_", "SLURM_", "RANK", "WORLD_SIZE", "TUNED")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        self.env.update(STATE_DIRECTORY=str(folder), BRIM_CONF="/nonexistent/brim.conf")
        self.json = folder / "card.json"

    def command(self, command, options):
        options = ["--interval", "100ms", f"--json={self.json}", *options]
        return [BRIM, "optimize", *options, "--", *[str(c) for c in command]]

    def start(self, *command, options=(), mode="obey", **env):
        return subprocess.Popen(
            self.command(command, options), env=dict(self.env, TUNED=mode, **env),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True,
        )

    def call(self, command):
        return subprocess.run(
            command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=120,
        )

    def run(self, *command, **how):
        job = self.start(*command, **how)
        try:
            out, err = job.communicate(timeout=300)
        finally:
            job.kill()
        done = subprocess.CompletedProcess(command, job.returncode, out, err)
        done.seen = json.loads(self.json.read_text()) if self.json.exists() else None
        done.settings = done.seen["optimize"]["settings"] if done.seen else None
        return done


@pytest.fixture
def brim(tmp_path):
    if not BRIM or not JOB:
        pytest.skip("BRIM and TUNED_JOB do not name the programs")
    yield Optimized(tmp_path)


def rings_of(pid):
    return glob.glob("/dev/shm/brim-run-%d-*" % pid)


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("did not happen in %s s" % seconds)


def read_line(stream, word):
    """Lines up to the one with that word."""
    for line in stream:
        if word in line:
            return line
    raise AssertionError("nobody said %s" % word)


def last(done):
    """What the job printed: steps, seconds, workers at its end, workers of most of its steps. What
    is kept is compared with what was now and then: the end may be in such a moment."""
    steps, seconds, workers, usual = done.stdout.split()[-4:]
    return int(steps), float(seconds), int(workers), int(usual)


# ---- what it finds ----


@pytest.mark.timed
def test_a_gain_is_found(brim):
    done = brim.run(JOB, 6000, 4000, 1000)
    assert done.returncode == 0, done.stderr
    (one,) = done.settings
    assert (one["knob"], one["before"], one["outcome"]) == ("loader.workers", "0", "adopted")
    assert last(done)[3] == int(one["value"]) >= 3


def test_later_the_run_tells_what_was_gained(brim):
    done = brim.run(JOB, 6000, 4000, 1000, options=TRY)
    assert done.returncode == 0, done.stderr
    gained = done.seen["run"]["gained"]
    assert gained["sentence"].startswith("brim optimize gained "), gained
    before, after = (done.seen["optimize"][each]["steps_per_s"] for each in ("before", "after"))
    assert abs(gained["before"]["steps_per_s"] / before - 1) < 1e-3
    assert abs(gained["after"]["steps_per_s"] / after - 1) < 1e-3
    (one,) = [each for each in gained["trials"] if each["outcome"] == "adopted"]
    assert (one["knob"], one["before"], one["value"]) == ("loader.workers", "0", "5")
    assert 0 < one["begin_s"] < one["end_s"] and one["gain"] > 1 and one["steps"] > 0
    why = json.loads(brim.call([BRIM, "why", "--json"]).stdout)
    assert why["gained"] == gained and why["stretch_s"] > 0
    assert why["steps_per_s"] > 2 * before
    card = brim.call([BRIM, "why"]).stdout
    assert card.splitlines()[1].startswith("  gained    brim optimize gained "), card
    assert "optimized: " in brim.call([BRIM, "runs"]).stdout
    page = brim.call([BRIM, "report"]).stdout
    assert page.index("brim optimize gained") < page.index("<dl ")
    assert 'class="trial"' in page and 'class="adopted"' in page


def test_a_killed_brim_leaves_what_it_tried(brim):
    job = brim.start(JOB, 6000, 4000, 1000, options=TRY)
    read_line(job.stderr, "trying loader.workers=5")
    folder = brim.folder / "runs"
    wait_for(lambda: any("[trial]" in each.read_text() for each in folder.glob("*/part-*.ini")))
    job.kill()
    job.communicate()
    why = json.loads(brim.call([BRIM, "why", "--json"]).stdout)
    (one,) = why["gained"]["trials"]
    assert (one["knob"], one["value"]) == ("loader.workers", "5")


def test_a_gain_is_kept(brim):
    done = brim.run(JOB, 6000, 4000, 1000, options=TRY)
    assert done.returncode == 0, done.stderr
    one = done.settings[0]
    assert (one["knob"], one["before"], one["outcome"]) == ("loader.workers", "0", "adopted")
    assert last(done)[3] == int(one["value"]) >= 5
    assert (one["low"], one["gain"], one["high"]) == pytest.approx((4, 4, 4), rel=0.01), one
    before, after = (done.seen["optimize"][k] for k in ("before", "after"))
    assert after["steps_per_s"] > 2.5 * before["steps_per_s"], done.seen
    assert 0 < before["pss_max"] < before["resident_max"] and after["pss_max"] > 0
    assert before["device_memory_max"] is None
    assert "trying loader.workers=" in done.stderr and "times as fast (" in done.stderr
    assert ", kept after" in done.stderr
    assert "  kept      loader.workers 0 ->" in done.stderr
    (profile,) = glob.glob(str(brim.folder / "profiles" / "tuned_job-*.ini"))
    text = open(profile).read()
    assert "[loader.workers]" in text and 'value = "%s"' % one["value"] in text
    assert "brim run --profile %s -- " % profile in done.stderr
    assert done.seen["optimize"]["profile"] == profile


def test_what_changes_nothing_is_left_alone(brim):
    done = brim.run(JOB, 2000, 4000, 1000, options=TRY, mode="dud")
    assert [one["outcome"] for one in done.settings] == ["rejected"], done.settings
    assert last(done)[2] == 0
    assert not (brim.folder / "profiles").exists()
    assert "nothing kept" in done.stderr


@pytest.mark.timed
def test_a_job_that_only_computes_is_left_alone(brim):
    done = brim.run(JOB, 800, 0, 2000)
    assert done.settings == []
    assert done.seen["optimize"]["trials"] == 0
    assert "nothing worth changing: no setting" in done.stderr
    assert not (brim.folder / "profiles").exists()


def test_two_ranks(brim):
    done = brim.run("sh", "-c", TWO_RANKS, JOB, 4000, 4000, 1000, options=TRY)
    one = done.settings[0]
    assert one["outcome"] == "adopted" and one["gain"] == pytest.approx(4, rel=0.01)
    assert done.seen["optimize"]["ranks"] == 2
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[3] for line in lines] == [one["value"]] * 2


def test_save_profile(brim):
    path = brim.folder / "mine.ini"
    done = brim.run(JOB, 2500, 4000, 1000, options=("--save-profile", path, *TRY))
    assert done.seen["optimize"]["profile"] == str(path)
    assert "[loader.workers]" in path.read_text()
    assert not (brim.folder / "profiles").exists()


# ---- what is raised ----

FAKE = "[fake]\ncount = 1\n[gpu *]\npower_watts = 200\npower_limit_watts = 400\n"


@pytest.mark.timed
def test_energy(brim):
    """Steps that are faster at the same power take less of it."""
    script = brim.folder / "gpus.ini"
    script.write_text(FAKE)
    done = brim.run(JOB, 12000, 2000, 300, options=("--goal", "energy", "--fake", script))
    (one,) = [s for s in done.settings if s["outcome"] == "adopted"]
    assert one["knob"] == "loader.workers" and one["gain"] > 1, done.stderr
    assert "times the steps/J" in done.stderr
    before, after = (done.seen["optimize"][k] for k in ("before", "after"))
    assert abs(before["watts"] - 200) < 1
    assert abs(before["joules_per_step"] * before["steps_per_s"] - 200) < 1
    assert after["joules_per_step"] < before["joules_per_step"] / 2
    (profile,) = glob.glob(str(brim.folder / "profiles" / "tuned_job-*.ini"))
    assert "gain" not in open(profile).read()


def test_cost(brim):
    done = brim.run(JOB, 2500, 4000, 1000, options=("--goal", "cost", "--price-hour", "3.6", *TRY))
    one = done.settings[0]
    assert one["outcome"] == "adopted" and "times the steps for the money" in done.stderr
    before = done.seen["optimize"]["before"]
    assert abs(before["cost_per_step"] * before["steps_per_s"] - 0.001) < 1e-5


def test_energy_needs_a_meter(brim):
    done = brim.run("sh", "-c", "echo started", options=("--goal", "energy"))
    if done.returncode == 0:
        pytest.skip("this machine has a power meter")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "--goal energy needs a power meter: no accelerator tells what it draws" in done.stderr


# ---- numbers ----


@pytest.mark.timed
def test_numeric_settings_want_a_word(brim):
    done = brim.run(JOB, 700, 0, 2000, mode="help")
    assert [k["outcome"] for k in done.settings] in ([], ["not tried"])


# ---- what goes wrong ----


def test_a_refusal_is_told(brim):
    done = brim.run(JOB, 800, 4000, 1000, options=TRY, mode="refuse")
    one = done.settings[0]
    assert (one["outcome"], one["note"]) == ("failed", "its data set can not be forked")
    assert last(done)[2] == 0
    assert done.stderr.count("could not be taken back") == 0


def test_a_control_file_that_is_cut_off_costs_the_trial_alone(brim):
    done = brim.run(JOB, 800, 4000, 1000, options=TRY, mode="cut")
    assert done.returncode == 0, done.stderr
    (one,) = done.settings
    assert one["outcome"] == "failed" and "was cut off" in one["note"], one
    assert last(done)[2] == 0 and done.stderr.count("took") >= 1, done.stderr


def test_a_rank_that_refuses_has_the_others_go_back(brim):
    done = brim.run("sh", "-c", TWO_RANKS, JOB, 800, 4000, 1000, options=TRY, mode="half")
    one = done.settings[0]
    assert (one["outcome"], one["note"]) == ("failed", "its data set can not be forked")
    assert [line.split()[2] for line in done.stdout.splitlines()] == ["0", "0"]
    assert "could not be taken back" not in done.stderr


def test_a_job_that_does_not_listen(brim):
    done = brim.run(JOB, 900, 4000, 1000, options=TRY, mode="silent")
    one = done.settings[0]
    assert one["outcome"] == "failed" and last(done)[2] == 0
    assert done.seen["optimize"]["ended"] == "the job does not listen to brim"


@pytest.mark.parametrize("mode, status", [("die", 3), ("kill", 128 + signal.SIGKILL)])
def test_a_job_that_dies_in_mid_trial(brim, mode, status):
    done = brim.run(JOB, 9000, 4000, 1000, options=TRY, mode=mode)
    assert done.returncode == status
    one = done.settings[0]
    assert one["outcome"] == "failed" and "died" in one["note"], one
    if mode == "die":
        assert not (brim.folder / "profiles").exists()
        return
    (profile,) = (brim.folder / "profiles").iterdir()
    refused = profile.read_text().partition("[refused loader.workers]")[2]
    assert 'value = "5"' in refused and "(signal 9)" in refused or "(exit status 137)" in refused
    shown = brim.call([BRIM, "profile", "show", str(profile)]).stdout
    assert "refused: the job died" in shown and "no settings" in shown, shown


def test_without_steps_nothing_is_tried(brim):
    done = brim.run("sh", "-c", "sleep 0.3; exit 7")
    assert done.returncode == 7
    assert "no process of the job told its steps" in done.stderr
    assert "took" in done.stderr and "exit 7" in done.stderr
    assert done.seen["optimize"]["ranks"] == 0 and done.seen["run"]["status"] == 7


def test_steps_without_settings(brim):
    done = brim.run(STEP_JOB, 100, 2000, 2000)
    assert done.returncode == 0
    assert done.seen["optimize"]["ranks"] == 1


def test_the_users_word_reaches_the_job(brim):
    shell = ("sh", "-c", "echo word:$BRIM_ALLOW")
    assert "word:numeric\n" in brim.run(*shell, options=("--allow", "numeric")).stdout
    assert "word:\n" in brim.run(*shell).stdout


def test_processes_on_their_own(brim):
    done = brim.run("sh", "-c", "$0 $@ & $0 $@; wait", JOB, 1000, 2000, 1000, options=TRY)
    assert done.returncode == 0
    assert "2 processes train on their own" in done.stderr
    assert done.settings == []


def test_ranks_elsewhere(brim):
    env = dict(RANK="0", WORLD_SIZE="2", MASTER_PORT="29512", TORCHELASTIC_RUN_ID="none")
    done = brim.run(JOB, 100, 2000, 1000, **env)
    assert done.returncode == 0 and done.settings == []
    assert "ranks of this job are under other observers" in done.stderr


def test_nested(brim):
    done = brim.run(BRIM, "run", "-q", "--", JOB, 20, 100, 100)
    assert done.returncode == 0 and last(done)[0] == 20


# ---- its end ----


def test_budget(brim):
    options = ("--budget", "1s", *TRY)  # a trial takes 150 steps at least, which is more
    job = brim.start(JOB, 500, 9000, 1000, options=options, mode="dud")
    read_line(job.stderr, "the budget is used up")
    out, err = job.communicate(timeout=120)
    assert job.returncode == 0 and out.split()[0] == "500"
    assert out.split()[2] == "0"


def test_the_user_stops_it(brim):
    job = brim.start(JOB, 1000, 4000, 1000, options=TRY, mode="dud")
    read_line(job.stderr, "trying")
    job.send_signal(signal.SIGRTMIN)
    read_line(job.stderr, "it was stopped")
    out, err = job.communicate(timeout=120)
    assert job.returncode == 0 and out.split()[::2] == ["1000", "0"]
    assert not rings_of(job.pid)


def test_interrupting_brim_is_interrupting_the_job(brim):
    job = brim.start(JOB, 9000, 4000, 1000, options=TRY)
    read_line(job.stderr, "trying")
    job.send_signal(signal.SIGINT)
    out, err = job.communicate(timeout=120)
    assert job.returncode == 128 + signal.SIGINT
    assert "undecided" in err and "failed" not in err
    assert not rings_of(job.pid)


def test_a_killed_brim_leaves_the_job(brim):
    out = brim.folder / "out"
    job = brim.start("sh", "-c", "exec $0 $@ > %s" % out, JOB, 700, 4000, 1000, options=TRY,
                     mode="dud")
    read_line(job.stderr, "trying")
    job.kill()
    job.wait()
    job.stderr.close()
    wait_for(lambda: out.exists() and out.read_text().split())
    assert out.read_text().split()[0] == "700"
    # What a killed brim leaves goes with the next one.
    assert brim.run("true").returncode == 0
    assert not rings_of(job.pid)


def test_nothing_is_left(brim):
    job = brim.start(JOB, 60, 2000, 1000)
    assert job.communicate(timeout=120) and job.returncode == 0
    assert not rings_of(job.pid)


@pytest.mark.parametrize(
    "options, words",
    [
        (("--allow", "everything"), "everything"),
        (("--goal", "peace"), "peace"),
        (("--goal", "cost"), "--goal cost needs a price"),
        (("--goal", "cost", "--price-hour", "-1"), "--price-hour must be a number above 0"),
        (("--price-kwh", "0.3"), "a price is for --goal cost"),
        (("--try", "loader.wrokers=2"), "there is no knob 'loader.wrokers=2' (did you mean"),
        (("--allow", "numeric,all"), "--allow must be numeric, privileged or both, not"),
        (("--budget", "soon"), "soon"),
        (("--budget", "0"), "--budget"),
        (("--interval", "1ms"), "--interval"),
        (("--save-profile", ""), "--save-profile needs a value"),
        (("--bugdet", "1m"), "budget"),
    ],
)
def test_usage(brim, options, words):
    done = brim.run("true", options=options)
    assert done.returncode == 2 and words in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_command(brim):
    assert brim.run().returncode == 2


def test_quiet(brim):
    done = brim.run(JOB, 200, 4000, 1000, options=("--quiet",))
    assert done.stderr == "" and done.returncode == 0
    assert done.seen["optimize"]["ranks"] == 1
