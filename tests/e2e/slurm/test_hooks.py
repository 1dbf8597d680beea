"""brim's hooks for submission in a real Slurm: what they write into jobs, what they tell users,
what they hold for brim control, and that no fault in them keeps a job from being submitted."""

import os
import pathlib
import re
import time

import pytest

BRIM = os.environ.get("BRIM", "")
PLUGIN = os.environ.get("BRIM_SPANK_22_05", "")
HOOKS = pathlib.Path(__file__).resolve().parents[3] / "plugins" / "slurm"
INSTALLED = "/usr/share/brim/slurm/brim_hooks.lua"
# Another user, who can read the files of the tests all the same.
DAEMON = ("setpriv", "--reuid=daemon", "--regid=daemon", "--clear-groups",
          "--inh-caps=+dac_override", "--ambient-caps=+dac_override")
NEVER = "sbatch: error: Batch job submission failed: Requested node configuration is not available"


def hook_files(folder):
    """The files beside slurm.conf, as a site would have changed them."""
    changes = {
        INSTALLED: str(folder / "brim_hooks.lua"),
        "/var/lib/brim/control": str(folder),
        "gpus = {}": "gpus = { batch = 8, cpu = 0 }",
        "account = nil": 'account = "default"',
        "partitions = {}": 'partitions = { "high" }',
    }
    files = {}
    for name in ("job_submit.lua", "cli_filter.lua"):
        text = (HOOKS / name).read_text()
        for before, after in changes.items():
            assert name == "cli_filter.lua" or text.count(before) == 1
            text = text.replace(before, after)
        files[name] = text
    return files


@pytest.fixture(scope="module")
def hooked(slurm, tmp_path_factory):
    """A cluster with one node that has GPUs and one that has none; control's folder is .control."""
    folder = tmp_path_factory.mktemp("hooks")
    folder.chmod(0o755)
    (folder / "brim_hooks.lua").write_text((HOOKS / "brim_hooks.lua").read_text())
    one = slurm(
        nodes=2, gpus=8, bare=1, plugstack="optional %s brim=%s\n" % (PLUGIN, BRIM),
        extra="JobSubmitPlugins=lua\nCliFilterPlugins=lua\nPartitionName=cpu Nodes=n1\n",
        files=hook_files(folder),
    )
    if not one.run("srun", "--version")[1].split()[-1].startswith("22.05."):
        pytest.skip("no slurmctld of 22.05, which the plugin of these tests is for")
    one.control = folder
    return one


@pytest.fixture
def one(hooked):
    """That, without jobs and without a brim control."""
    yield hooked
    hooked.run("scancel", "--user", "root")
    for name in ("alive", "used.tsv"):
        (hooked.control / name).unlink(missing_ok=True)


def batch(one, *options, check=True, env=None, before=()):
    """What sbatch says of a job that sleeps: (number or None, standard error)."""
    words = ("sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap=exec sleep 3600")
    status, out, said = one.run(*before, *words, check=check, env=env)
    return (int(out) if status == 0 else None), said


def shown(one, job):
    """Its fields that may have blanks."""
    lines = one.run("scontrol", "show", "job", str(job))[1].splitlines()
    pairs = [line.strip().split("=", 1) for line in lines if "omment=" in line]
    return {name: value.strip() for name, value in pairs}


def be_alive(one):
    (one.control / "alive").write_text("%d\n" % time.time())


def test_options_of_the_plugin_become_words_of_the_comment(one):
    options = ("--brim-elastic=2-4", "--brim-checkpoint-signal=USR1@60")
    words = "brim:elastic=2-4 signal=USR1@60"
    job, said = batch(one, *options)
    assert (shown(one, job)["Comment"], said) == (words, "")
    job, said = batch(one, *options, "--comment=my own")
    assert (shown(one, job)["Comment"], said) == ("my own " + words, "")
    job = one.submit("#SBATCH --comment=inside\nexec sleep 3600\n", options[0])
    assert shown(one, job)["Comment"] == "inside brim:elastic=2-4"
    command = ("sh", "-c", "scontrol show job $SLURM_JOB_ID")
    for client in ("salloc", "srun"):
        said = one.run(client, "-n1", options[0], *command)[1]
        assert "Comment=brim:elastic=2-4" in said, said


def test_variables_do_the_same_outside_of_jobs(one):
    env = {"BRIM_ELASTIC": "2-4", "BRIM_CHECKPOINT_SIGNAL": "no signal"}
    job, said = batch(one, env=env)
    assert (shown(one, job)["Comment"], said) == ("brim:elastic=2-4", "")
    job, _ = batch(one, env=dict(env, SLURM_JOB_ID="1"))  # they are another job's
    assert "Comment" not in shown(one, job)


def test_a_job_that_says_nothing_is_as_before(one):
    job, said = batch(one, "--comment=brim is nice")
    assert (shown(one, job), said) == ({"Comment": "brim is nice"}, "")
    known = one.job(job)
    assert known["Reason"] != "JobHeldUser" and known["Account"] == "default"
    assert one.job(batch(one, "--account=mine")[0])["Account"] == "mine"


@pytest.mark.parametrize("options, why", [
    (["--gpus-per-node=9"],
     "the nodes of partition batch have at most 8 GPUs, and this job asks for 9 on one"),
    (["-N1", "--gpus=9"],
     "the nodes of partition batch have at most 8 GPUs, and this job asks for 9 on one"),
    (["-n1", "--gpus-per-task=9"],
     "the nodes of partition batch have at most 8 GPUs, and this job asks for 9 on one"),
    (["-p", "cpu", "--gpus=1"], "partition cpu has no GPUs, and this job asks for 1"),
    (["-p", "cpu", "--gres=gpu:h100:2", "--comment=brim:place"],
     "partition cpu has no GPUs, and this job asks for 2"),
])
def test_says_why_slurm_refuses_a_job(one, options, why):
    be_alive(one)
    job, said = batch(one, *options, check=False)
    assert job is None
    assert said.splitlines() == ["sbatch: error: brim: " + why, NEVER]


def test_refuses_nothing_itself(one):
    """What the settings say may be old: it is Slurm that knows."""
    path = one.folder / "etc" / "job_submit.lua"
    before = path.read_text()
    wrong = before.replace("batch = 8", "batch = 2")
    assert wrong != before
    try:
        change(path, wrong)
        job, said = batch(one, "--gpus-per-node=8")
        assert said.startswith("sbatch: brim: the nodes of partition batch have at most 2 GPUs")
        one.wait_job(job, "RUNNING")
    finally:
        change(path, before)


def test_reminds_of_the_last_time(one):
    (one.control / "used.tsv").write_text("root\ttrain\t8\t1\n")
    said = batch(one, "-J", "train", "--gpus=8")[1]
    assert said == (
        "sbatch: brim: your last job 'train' had 8 GPUs and kept 1 busy; this one asks for 8\n")
    assert batch(one, "-J", "other", "--gpus=8")[1] == ""


def test_holds_a_job_for_brim_control(one):
    be_alive(one)
    job, said = batch(one, "--gpus=2", "--comment=brim:place")
    assert said == ("sbatch: brim: this job waits for brim control; scontrol release lets it go "
                    "without it\n")
    known = one.job(job)
    assert (known["JobState"], known["Priority"]) == ("PENDING", "0")
    assert shown(one, job)["AdminComment"] == "brim: waits for its place"
    one.run("scontrol", "update", "JobId=%d" % job, "ReqNodeList=n0")
    one.run("scontrol", "release", str(job))
    assert one.wait_job(job, "RUNNING")["NodeList"] == "n0"
    assert one.job(batch(one, "--gpus=2", "-p", "high")[0])["Priority"] == "0"


def test_its_owner_may_let_it_go(one):
    be_alive(one)
    job, _ = batch(one, "--gpus=2", "--comment=brim:place", "-D", "/", before=DAEMON)
    assert one.job(job)["Priority"] == "0"
    one.run(*DAEMON, "scontrol", "release", str(job))
    assert one.job(job)["Priority"] != "0"  # it cannot run: its user cannot read the spool
    one.run("scancel", str(job))


def test_holds_nothing_without_brim_control(one):
    job, said = batch(one, "--gpus=2", "--comment=brim:place")
    assert said == "sbatch: brim: Slurm places this job: brim control does not run\n"
    one.wait_job(job, "RUNNING")
    assert "AdminComment" not in shown(one, job)


def change(path, text):
    """Slurm reads a file again when its time, in seconds, is another."""
    stat = path.stat()
    path.write_text(text)
    os.utime(path, (stat.st_mtime + 1, stat.st_mtime + 1))


def test_a_fault_of_brims_fails_no_job(one):
    path = one.folder / "etc" / "job_submit.lua"
    before = path.read_text()
    log = one.folder / "log" / "slurmctld.log"
    try:
        change(path, before.replace("gpus = { batch = 8, cpu = 0 }", "gpus = 8"))
        job, said = batch(one, "--gpus=2")
        assert said == "" and "lua: brim: gpus: " in log.read_text()
        one.wait_job(job, "RUNNING")
        change(path, before.replace("brim_hooks.lua", "nonexistent.lua"))
        job, said = batch(one, "--gpus=2")
        assert said == "" and "lua: brim: left out: " in log.read_text()
        one.wait_job(job, "RUNNING")
    finally:
        change(path, before)


def test_a_fault_of_brims_is_told_by_the_client(one):
    path = one.control / "brim_hooks.lua"
    before = path.read_text()
    try:
        path.write_text(before.replace("local function filter(options)",
                                       "local function filter(options)\n    error('broken')"))
        job, said = batch(one, "--brim-elastic=2-4")
        assert said.count("\n") == 1 and "brim: comment: " in said and "broken" in said
        assert job and "Comment" not in shown(one, job)
    finally:
        path.write_text(before)


def test_a_site_finds_the_jobs_that_are_held(one):
    """As docs/slurm/hooks.md lets them go when brim control is gone for good."""
    be_alive(one)
    held, _ = batch(one, "--gpus=2", "--comment=brim:place")
    mine, _ = batch(one, "--gpus=2", "-H")
    text = (HOOKS.parents[1] / "docs" / "slurm" / "hooks.md").read_text()
    one.run("sh", "-c", re.search(r"^squeue --json .*?xargs .*?$", text, re.M | re.S).group())
    assert one.job(held)["Priority"] != "0" and one.job(mine)["Priority"] == "0"
    one.wait_job(held, "RUNNING")
