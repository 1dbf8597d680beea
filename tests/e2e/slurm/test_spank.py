"""The plugin for Slurm, on a real one: srun --brim and sbatch --brim, and that nothing of it can
keep a job from running."""

import json
import os
import pathlib
import re
import subprocess

import pytest

BRIM = os.environ.get("BRIM", "")
STEP_JOB = os.environ.get("STEP_JOB", "")
# Of the release that Debian bookworm has.
PLUGIN = os.environ.get("BRIM_SPANK_22_05", "")
OTHER = os.environ.get("BRIM_SPANK_24_11", "")
PROFILES = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "golden" / "profiles"
ENV = ("sh", "-c", "tr '\\0' ' ' </proc/$PPID/cmdline; echo; env")


@pytest.fixture(scope="module")
def two(slurm):
    """Two nodes, and where brim keeps what it sees of their jobs."""
    one = slurm(nodes=2)
    if not one.run("srun", "--version")[1].split()[-1].startswith("22.05."):
        pytest.skip("no slurmctld of 22.05, which this plugin is for")
    one.env["STATE_DIRECTORY"] = str(one.folder / "brim")
    return one


@pytest.fixture
def plugged(two):
    """plugged(path of brim, plugin): the cluster with the plugin, which each step reads anew."""
    conf = two.folder / "etc" / "plugstack.conf"

    def plug(brim=BRIM, plugin=PLUGIN):
        conf.write_text("optional %s brim=%s\n" % (plugin, brim))
        return two

    yield plug
    conf.write_text("")


def brim(one, *words):
    return subprocess.run([BRIM, *words], env=one.env, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def test_two_tasks_on_two_nodes_are_one_run(plugged):
    one = plugged()
    job = one.submit("srun --brim %s 200 9000 1000\n" % STEP_JOB, "-N2", "-n2")
    known = one.wait_end(job)
    said = one.output(job)
    assert (known["JobState"], known["ExitCode"]) == ("COMPLETED", "0:0"), said
    assert len(re.findall(r"^[\d.]+ [\d.]+$", said, re.M)) == 2
    assert said.count("brim: run ") == 1 and "2 ranks" in said, said
    runs = json.loads(brim(one, "runs", "--json"))["runs"]
    mine = [r for r in runs if r["name"] == "step_job"]
    assert len(mine) == 1
    assert "waits for data" in brim(one, "why", mine[0]["id"])


def test_the_status_is_the_commands(plugged):
    one = plugged()
    assert one.run("srun", "--brim", "sh", "-c", "exit 7", check=False)[0] == 7
    job = one.submit("srun --brim sh -c 'exit 9'")
    assert one.wait_end(job)["ExitCode"] == "9:0"


def test_sbatch_says_it_for_all_its_steps(plugged):
    one = plugged()
    script = "echo script:$BRIM_RUN.\nsrun sh -c 'echo step:$BRIM_RUN.'\nsrun printenv BRIM_RUN\n"
    job = one.submit(script, "--brim")
    assert one.wait_end(job)["JobState"] == "COMPLETED"
    said = one.output(job)
    assert "script:.\n" in said  # the script itself is no step of the user's
    assert re.search(r"step:\w[\w-]+\.\n", said) and said.count("brim: run ") == 2, said


def test_the_command_sees_nothing_of_how(plugged):
    one = plugged()
    _, said, _ = one.run("srun", "-n1", "--brim", "sh", "-c", "env; echo $0 $1", "zero", "one two")
    assert "BRIM_RUN=" in said and "BRIM_TASK" not in said
    assert said.endswith("zero one two\n")


def test_values_for_the_job(plugged):
    one = plugged()
    options = ("--brim-elastic=2-4", "--brim-checkpoint-signal=USR1@60")
    script = "echo script $BRIM_ELASTIC $BRIM_CHECKPOINT_SIGNAL\nsrun sh -c 'echo step " \
        "$BRIM_ELASTIC $BRIM_CHECKPOINT_SIGNAL $BRIM_RUN'\n"
    job = one.submit(script, *options)
    one.wait_end(job)
    assert one.output(job) == "script 2-4 USR1@60\nstep 2-4 USR1@60\n"


@pytest.mark.parametrize("option", [
    "elastic=1-1", "elastic=1-1000000", "checkpoint-signal=SIGTERM", "checkpoint-signal=64@604800",
    "checkpoint-signal=USR2@1",
])
def test_good_values(plugged, option):
    name, value = option.split("=")
    variable = "BRIM_" + name.upper().replace("-", "_")
    said = plugged().run("srun", "-n1", "--brim-" + option, "printenv", variable)[1]
    assert said == value + "\n"


@pytest.mark.parametrize("option", [
    "brim=-x", "brim-elastic=4-2", "brim-elastic=0-2", "brim-elastic=2", "brim-elastic=2-",
    "brim-elastic=2-4x", "brim-elastic=1-1000001", "brim-checkpoint-signal=USR3",
    "brim-checkpoint-signal=USR1@0", "brim-checkpoint-signal=USR1@604801",
    "brim-checkpoint-signal=65", "brim-checkpoint-signal=USR1@", "brim-checkpoint-signal=",
])
def test_a_bad_value_is_refused_where_the_user_is(plugged, option):
    one = plugged()
    for command in (("srun", "-n1", "--" + option, "true"),
                    ("sbatch", "--" + option, "--wrap=true")):
        status, _, said = one.run(*command, check=False)
        assert status != 0 and "brim: --%s: it is to be " % option in said, said


def test_a_brim_that_is_missing(plugged, tmp_path):
    """Its tasks run all the same, and the first one says so."""
    one = plugged(brim="/nonexistent/brim")
    status, said, why = one.run("srun", "-N2", "-n2", "--brim", "echo", "here")
    assert (status, said) == (0, "here\nhere\n")
    assert why.count("/nonexistent/brim: it is not there, or is no program; the tasks run") == 1
    plugged(brim=str(tmp_path))
    assert "is no program" in one.run("srun", "-n1", "--brim", "true")[2]


def test_a_brim_that_cannot_be_executed(plugged, tmp_path):
    path = tmp_path / "brim"
    path.write_bytes(b"\x7fELF nothing")
    path.chmod(0o755)
    one = plugged(brim=str(path))
    status, said, why = one.run("srun", "-N2", "-n2", "--brim", "sh", "-c", "echo here; exit 5",
                                check=False)
    assert (status, said) == (5, "here\nhere\n")
    assert why.count("Exec format error; the tasks run without brim") == 1, why


def test_a_profile(plugged):
    """It is brim's own to apply; one that is not there ends no job."""
    one = plugged()
    profile = sorted(PROFILES.glob("*.ini"))[0]
    assert "brim run: profile " in one.run("srun", "-n1", "--brim=%s" % profile, "true")[2]
    status, said, why = one.run("srun", "-N2", "-n2", "--brim=nosuch", "echo", "here")
    assert (status, said) == (0, "here\nhere\n")
    for node in ("n0", "n1"):  # of each: another one may have it
        assert why.count("nosuch: no profile that brim can read on %s; its tasks run" % node) == 1


def test_a_brim_that_is_too_old_to_optimize(plugged, tmp_path):
    old = tmp_path / "brim"
    old.write_text('#!/bin/sh\n[ "$1" = run ] || exit 2\nshift\necho "old $@"\n')
    old.chmod(0o755)
    _, said, why = plugged(brim=str(old)).run("srun", "-n1", "-w", "n1", "--brim=optimize", "true")
    assert said == "old -- true\n"
    assert why.count("brim: optimize: no word of the brim on n1; its tasks run without it\n") == 1


@pytest.fixture
def beside(slurm_with_gpus, tmp_path):
    """run(options): the CPUs of each task on a node whose two GPUs are beside one CPU each, and
    what srun says."""
    for gpu in range(2):
        address = "0000:0%d:00.0" % (gpu + 1)
        driver = tmp_path / "proc" / "driver" / "nvidia" / "gpus" / address
        device = tmp_path / "sys" / "bus" / "pci" / "devices" / address
        driver.mkdir(parents=True)
        device.mkdir(parents=True)
        (driver / "information").write_text("Model: x\nDevice Minor: \t %d\n" % gpu)
        (device / "local_cpulist").write_text("%d\n" % sorted(os.sched_getaffinity(0))[gpu])
    one = slurm_with_gpus
    conf = one.folder / "etc" / "plugstack.conf"
    conf.write_text("optional %s brim=%s root=%s\n" % (PLUGIN, BRIM, tmp_path))

    def run(*options):
        words = ("sh", "-c", "echo $SLURM_PROCID; grep Cpus_allowed_list /proc/self/status")
        status, said, why = one.run("srun", "-l", *options, *words, check=False)
        assert status == 0, why
        return dict(re.findall(r"^(\d+): Cpus_allowed_list:\s(\S+)$", said, re.M)), why

    yield run
    conf.write_text("")


@pytest.fixture(scope="module")
def slurm_with_gpus(slurm):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one CPU only: no task can be bound to others")
    one = slurm(nodes=1, gpus=2)
    if not one.run("srun", "--version")[1].split()[-1].startswith("22.05."):
        pytest.skip("no slurmctld of 22.05, which this plugin is for")
    return one


def test_binds_each_task_to_the_cpus_beside_its_gpu(beside):
    first, second = map(str, sorted(os.sched_getaffinity(0))[:2])
    assert beside("-n1", "--gpus=1", "--brim-bind")[0] == {"0": first}
    each = beside("-n2", "--gpus-per-task=1", "--brim-bind")[0]
    if len(os.sched_getaffinity(0)) == 2:  # on more, a task has too few beside its GPU
        assert each == {"0": first, "1": second}


def test_binds_nothing_that_did_not_ask_or_cannot_be_bound(beside):
    free = beside("-n1", "--gpus=1")
    assert free[1].count("brim") == 0
    for options, why in (
        (("--gpus=1", "-c2"), "too few of its CPUs are beside its GPUs"),
        ((), "it has no GPUs"),
    ):
        cpus, said = beside("-n1", "--brim-bind", *options)
        assert cpus == free[0] and said.count("brim: --brim-bind: %s; the tasks run" % why) == 1


def test_several_programs_run_as_they_are(plugged):
    """Of --multi-prog the array of words is not lent in 22.05."""
    one = plugged()
    (one.folder / "programs").write_text("0 /bin/echo first %t\n1 /bin/echo second %t\n")
    _, said, _ = one.run("srun", "-N2", "-n2", "--brim", "--multi-prog", "programs")
    assert sorted(said.splitlines()) == ["first 0", "second 1"]


def seen(one):
    """What a job sees without --brim, but for what differs from step to step."""
    said = one.run("srun", "-n1", "-w", "n0", *ENV)[1]  # another node has another name
    changing = r"(SLURM_\w*(JOB_?ID|PORT|PID|STEP_?ID|TIME)|SRUN_COMM_\w+|SLURM_WORKING_CLUSTER)="
    lines = [line for line in said.splitlines() if not re.match(changing, line)]
    return sorted(re.sub(r"slurmstepd: \[\d+\.", "slurmstepd: [N.", line) for line in lines)


def test_a_job_without_the_option_is_untouched(plugged, two):
    without = seen(two)
    assert len(without) > 20
    assert seen(plugged()) == without


def test_a_plugin_for_another_release(plugged):
    """Slurm leaves it out, and says so; the job runs."""
    status, said, why = plugged(plugin=OTHER).run("srun", "-n1", "echo", "here")
    assert (status, said) == (0, "here\n")
    assert "Incompatible plugin version" in why


def test_what_slurm_does_behind_the_plugin_is_done(slurm, tmp_path):
    """TaskProlog, and the limits of who submitted."""
    prolog = tmp_path / "prolog"
    prolog.write_text("#!/bin/sh\necho export FROM_PROLOG=yes\n")
    prolog.chmod(0o755)
    one = slurm(nodes=1, plugstack="optional %s brim=%s\n" % (PLUGIN, BRIM),
                extra="TaskProlog=%s\n" % prolog)
    one.env["STATE_DIRECTORY"] = str(one.folder / "brim")
    command = "ulimit -n 123; srun -n1 --brim sh -c 'echo $BRIM_RUN $FROM_PROLOG $(ulimit -n)'"
    said = one.run("sh", "-c", command)[1]
    assert re.fullmatch(r"\w[\w-]+ yes 123\n", said), said
