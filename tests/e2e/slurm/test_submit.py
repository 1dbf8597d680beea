"""brim submit, jobs, cancel, hold, release and priority on a real Slurm: what a job is given, what
is said of it, what is refused, and that an ordinary user can do all of it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import cluster
import pytest

BRIM = os.environ.get("BRIM", "brim")
PLUGIN = os.environ.get("BRIM_SPANK_22_05", "")
NOBODY = 65534
GPUS = 4
# Arguments that no shell and no reader of options is to make anything of.
HOSTILE = [
    "a b", "", "q'uo\"te", "x\n#SBATCH --hold\ny", "cr\r\nlf", "%j %A", "$HOME `id` $(id)", "-x",
    "--", "*", b"\xff\xfe".decode(errors="surrogateescape"), "\\", "A=b", ";true", "\x1b[31m",
]
TELL = "import os, sys; print(ascii([os.fsencode(a) for a in sys.argv[1:]])); print(os.getcwd())"


class Site:
    """A cluster of one node in a folder that all users may look into, and a home for each user."""

    def __init__(self, folder):
        self.folder = folder
        self.slurm = cluster.Cluster(cluster.Plan(str(folder / "slurm"), nodes=1, gpus=GPUS))
        self.program = folder / "brim"
        shutil.copy(BRIM, self.program)
        self.homes = {}
        for uid in (0, NOBODY):
            self.homes[uid] = folder / ("home-%d" % uid)
            self.homes[uid].mkdir()
            os.chown(self.homes[uid], uid, -1)

    def brim(self, *words, uid=0, status=0, **env):
        """What it prints; of a failure what it says, which is one line."""
        home = self.homes[uid]
        env = dict(self.slurm.env, HOME=str(home), BRIM_CONF="/nonexistent", **env)
        if uid == 0:
            env["STATE_DIRECTORY"] = str(home / "state")
        who = {} if uid == 0 else {"user": uid, "group": uid, "extra_groups": []}
        done = subprocess.run(
            [str(self.program), *words], env={k: v for k, v in env.items() if v is not None},
            cwd=str(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=cluster.PATIENCE_S, **who,
        )
        said = done.stderr.decode(errors="surrogateescape")
        assert done.returncode == status, (words, done.returncode, said)
        if status == 2 or (status == 1 and not done.stdout):
            assert said.startswith("brim %s: " % words[0]) and said.count("\n") == 1, said
            return said
        assert "brim:" not in said
        return done.stdout.decode(errors="surrogateescape")

    def submit(self, *words, **how):
        return int(self.brim("submit", *words, **how))

    def jobs(self, *words, **how):
        """By their labels."""
        told = json.loads(self.brim("jobs", "--json", *words, **how))
        assert (told["schema"], told["engine"]) == ("brim.jobs.v1", "slurm")
        return {job["job"]: job for job in told["jobs"]}

    def until(self, holds, what):
        return cluster.wait_for(holds, what)

    def until_state(self, job, *states):
        """The job once it is in one of the states."""
        def found():
            known = self.jobs(str(job)).get(str(job))
            return known if known and known["state"] in states else None

        return self.until(found, "job %s %s" % (job, states))

    def why(self, job, begins):
        """The reason that it waits, once that begins so."""
        def found():
            told = [j["reason"] for j in self.jobs(str(job).split("_")[0]).values()
                    if j["job"] == str(job)]
            return told[0] if told and told[0].startswith(begins) else None

        return self.until(found, "the reason of job %s: %s" % (job, begins))

    def empty(self):
        """Without jobs that have not ended."""
        self.slurm.run("scancel", "--user", "root")
        self.slurm.run("scancel", "--user", "nobody")
        self.until(lambda: not self.slurm.run("squeue", "-h")[1].strip(), "the end of all jobs")


@pytest.fixture(scope="module")
def site():
    why = cluster.missing(cluster.Plan("/nonexistent"))
    if why:
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="brim-submit-") as folder:
        os.chmod(folder, 0o755)
        one = Site(pathlib.Path(folder))
        with one.slurm:
            yield one


@pytest.fixture(autouse=True)
def ends_its_jobs(site):
    yield
    site.empty()


def test_a_command_is_run_as_it_is(site):
    job = site.submit("--", sys.executable, "-c", TELL, *HOSTILE)
    known = site.until_state(job, "done")
    said = (site.homes[0] / ("slurm-%d.out" % job)).read_text().splitlines()
    assert said[0] == ascii([os.fsencode(a) for a in HOSTILE])
    assert said[1] == str(site.homes[0])
    assert known["output"] == "slurm-%d.out" % job and known["reason"] == "exit status 0"


def test_a_script_is_run_with_its_variables(site):
    script = site.homes[0] / "a job.sh"
    tell = "env | grep -E '^(BRIM_(JOB|AT|AR|DE|TE)|CUDA|MINE)' | sort; echo e >&2\n"
    script.write_text("#!/bin/sh\n" + tell)
    script.chmod(0o755)
    job = site.submit(
        "--devices", "2", "--team", "ours", "--output", "o-%j-%a%%", "--error", "e-%A",
        "./a job.sh", MINE="a\nBRIM_X=1", BRIM_ARRAY="9", BRIM_ARRAY_TASK="9",
        SLURM_ARRAY_JOB_ID="9",
    )
    known = site.until_state(job, "done")
    assert (known["devices"], known["name"]) == (2, "a job.sh")
    said = (site.homes[0] / ("o-%d-0%%" % job)).read_text().splitlines()
    assert said == ["BRIM_ATTEMPT=1", "BRIM_DEVICES=2", "BRIM_JOB=%d" % job, "BRIM_TEAM=ours",
                    "CUDA_VISIBLE_DEVICES=0,1", "MINE=a"]
    assert (site.homes[0] / ("e-%d" % job)).read_text() == "e\n"


def test_an_array(site):
    does = "env | grep BRIM_ARRAY | sort; [ $BRIM_ARRAY_TASK = 1 ] && sleep 3600; exit 0"
    job = site.submit("--array", "1-3%1", "--output", "a-%j", "sh", "-c", does)
    assert site.why("%d_[2-3%%1]" % job, "its array") == "its array runs 1 at a time"
    running = site.until_state("%d_1" % job, "running")
    assert (running["array"], running["task"]) == (job, 1)
    site.brim("cancel", "%d_1" % job)
    site.until_state("%d_3" % job, "done")
    text = "BRIM_ARRAY=%d\nBRIM_ARRAY_TASK=2\n" % job
    assert (site.homes[0] / ("a-%d_2" % job)).read_text() == text
    states = {label: known["state"] for label, known in site.jobs(str(job)).items()}
    assert states == {"%d_1" % job: "cancelled", "%d_2" % job: "done", "%d_3" % job: "done"}


def test_why_jobs_wait(site):
    runs = site.submit("--devices", str(GPUS), "--limit", "1h", "sleep", "3600")
    known = site.until_state(runs, "running")
    assert known["place"] == "n0: GPU0,GPU1,GPU2,GPU3" and known["limit_s"] == 3600
    waits = site.submit("--devices", "1", "--name", "a\x1b[31m\nb", "sleep", "3600")
    says = site.why(waits, "waits for 1 device")
    assert "1 device and 1 CPU: 0 of 4 devices of the cluster are free" in says
    behind = site.submit("--devices", "1", "--priority", "-1", "true")
    assert "; job %d goes before it" % waits in site.why(behind, "waits for 1 device")
    after = site.submit("--after", "afterok:%d" % runs, "true")
    assert site.why(after, "waits for after") == "waits for afterok:%d: 0 of 1 ended" % runs
    held = site.submit("--hold", "true")
    assert site.why(held, "held").startswith("held")
    table = site.brim("jobs")
    assert "a?[31m?b" in table and "\x1b" not in table
    assert table.splitlines()[0].startswith("JOB      NAME                 USER     STATE     PRIO")
    one = site.brim("jobs", str(runs))
    assert "where      n0: GPU0" in one and "of at most 3600 s" in one and "partition  batch" in one
    site.brim("cancel", str(runs))
    site.until_state(waits, "running")
    # What can not be met any more is taken out, as brim's queue does.
    site.until_state(after, "cancelled")


def test_hold_release_and_priority(site):
    job = site.submit("--hold", "sleep", "3600")
    before = site.jobs(str(job))[str(job)]
    assert (before["state"], before["attempts"], before["started"]) == ("held", 0, None)
    # Slurm would let it go on.
    assert "brim release %d first" % job in site.brim("priority", "-2", str(job), status=1)
    assert site.jobs(str(job))[str(job)]["state"] == "held"
    site.brim("release", str(job))
    site.until_state(job, "running")
    behind = site.submit("--devices", str(GPUS), "sleep", "3600")
    site.until_state(behind, "running")
    waits = site.submit("--devices", "1", "true")
    site.brim("priority", "-2", str(waits))
    assert "Nice=2000" in site.slurm.run("scontrol", "show", "job", str(waits))[1]
    site.brim("cancel", str(job))
    site.until_state(job, "cancelled")
    for verb in (("cancel",), ("hold",), ("release",), ("priority", "1")):
        said = site.brim(*verb, "987654", status=1)
        assert "there is no job 987654 in Slurm" in said
    assert "no job 987654" in site.brim("jobs", "987654", status=1)


def test_some_jobs_at_once(site):
    jobs = [site.submit("--hold", "true") for _ in range(3)]
    done = subprocess.run(
        [str(site.program), "cancel", str(jobs[0]), "987654", str(jobs[1]), "987655"],
        env=dict(site.slurm.env, STATE_DIRECTORY=str(site.homes[0] / "state")), text=True,
        stderr=subprocess.PIPE, timeout=cluster.PATIENCE_S,
    )
    assert done.returncode == 1 and done.stderr.count("\n") == 2, done.stderr
    states = [site.jobs(str(job))[str(job)]["state"] for job in jobs]
    assert states == ["cancelled", "cancelled", "held"]
    site.brim("cancel", "--user", "root")
    site.until_state(jobs[2], "cancelled")
    assert "no job of root that" in site.brim("cancel", "--user", "root", status=1)
    assert "nosuch" in site.brim("cancel", "--user", "nosuch", status=1)


def test_waits_for_the_end(site):
    assert site.brim("submit", "--wait", "true").strip().isdigit()
    assert site.brim("submit", "--wait", "sh", "-c", "exit 7", status=7).strip().isdigit()
    assert site.brim("submit", "--wait", "--array", "0-1", "sh", "-c", "exit 7", status=1).strip()
    told = json.loads(site.brim("submit", "--json", "true"))
    assert (told["schema"], told["engine"]) == ("brim.submit.v1", "slurm") and told["id"] > 0


def test_only_says_when_it_would_start(site):
    said = site.brim("submit", "--dry-run", "--devices", "2", "true")
    assert said.startswith("would start at 2") and said.endswith(", on n0 (partition batch)\n")
    assert "Slurm refuses the job: " in site.brim("submit", "--dry-run", "--devices", "9", "true",
                                                  status=1)
    assert "forecast" in json.loads(site.brim("submit", "--dry-run", "--json", "true"))
    assert not site.slurm.run("squeue", "-h")[1]


def test_what_slurm_cannot_do_is_refused(site):
    for words in (
        ("--min-devices=1", "--devices=2", "--requeue"), ("--deadline=2h",), ("--grace=5s",),
        ("--share", "--devices=1", "--requeue"), ("--checkpoint-signal=USR1",),
        ("--output=a\\b",), ("--warn=20h", "--limit=30h"),
    ):
        said = site.brim("submit", "--engine=slurm", *words, "true", status=2)
        assert "--engine slurm: %s: " % words[0].partition("=")[0] in said
    said = site.brim("submit", "--engine=slurm", "--directory=/tmp/q", "true", status=2)
    assert "exclude each other" in said
    assert "Slurm refuses the job: " in site.brim("submit", "--devices", "9", "true", status=1)
    assert "--watch: srun knows no --brim here" in site.brim("submit", "--watch", "true", status=1)
    assert not site.slurm.run("squeue", "-h")[1]


def test_an_ordinary_user(site):
    theirs = site.submit("--devices", str(GPUS), "sleep", "3600")
    site.until_state(theirs, "running")
    job = site.submit("--hold", "id", "-u", uid=NOBODY)
    mine = site.jobs(uid=NOBODY)
    assert str(job) in mine and str(theirs) not in mine
    assert {j["user"] for j in mine.values()} == {"nobody"}
    assert str(theirs) in site.jobs("--user", "root", uid=NOBODY)
    assert {str(theirs), str(job)} <= set(site.jobs())
    assert site.why(job, "held") == "held: brim release %d lets it go on" % job
    for verb in (("cancel",), ("hold",), ("release",), ("priority", "-1")):
        said = site.brim(*verb, str(theirs), uid=NOBODY, status=1)
        assert "only its owner and operators of Slurm may do that" in said
    said = site.brim("cancel", "--user", "root", uid=NOBODY, status=1)
    assert "only root and operators of Slurm may cancel jobs of root" in said
    said = site.brim("submit", "--priority", "1", "true", uid=NOBODY, status=2)
    assert "only operators of Slurm put jobs before others" in said
    behind = site.submit("--devices", "1", "true", uid=NOBODY)
    assert "may do that" in site.brim("priority", "1", str(behind), uid=NOBODY, status=1)
    site.brim("priority", "-1", str(behind), uid=NOBODY)
    site.brim("release", str(job), uid=NOBODY)
    site.until_state(job, "done")
    assert (site.homes[NOBODY] / ("slurm-%d.out" % job)).read_text() == "%d\n" % NOBODY
    assert site.jobs(str(theirs))[str(theirs)]["state"] == "running"


def test_the_queue_of_the_machine_comes_first(site):
    state = site.homes[0] / "here"
    how = {"STATE_DIRECTORY": str(state)}

    def here(*words):
        return subprocess.run(
            [str(site.program), *words], env=dict(site.slurm.env, BRIM_CONF="/nonexistent", **how),
            cwd=str(site.homes[0]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
            text=True, timeout=cluster.PATIENCE_S,
        ).stdout

    state.mkdir()
    first = here("submit", "true")  # there is none yet
    assert first.strip() in site.jobs()
    assert here("submit", "--engine", "local", "--wait", "true") == "1\n"
    try:
        assert here("submit", "--wait", "true") == "2\n"  # now there is
        assert "engine" not in json.loads(here("jobs", "--json"))
        assert first.strip() in here("jobs", "--engine", "slurm")
    finally:
        pid = int((state / "queue" / "lock").read_text())
        os.kill(pid, 15)
        cluster.wait_for(lambda: not os.path.exists("/proc/%d/exe" % pid), "the engine's end")


def test_without_slurm_it_says_so(site):
    for words in (("submit", "true"), ("jobs",), ("cancel", "1"), ("hold", "1")):
        said = site.brim(words[0], "--engine=slurm", *words[1:], status=1, SLURM_CONF="/none.conf")
        assert said.endswith("SLURM_CONF: /none.conf: No such file or directory\n")
    said = site.brim("submit", "--engine=slurm", "true", status=1, PATH=str(site.folder))
    assert "there is no sbatch: install Slurm's client commands" in said
    assert site.brim("jobs", SLURM_CONF="/none.conf") == "no jobs\n"  # nobody asked for Slurm


@pytest.mark.skipif(not PLUGIN, reason="brim has no plugin for this Slurm")
def test_under_brim_when_it_is_asked_for(site):
    if not site.slurm.run("srun", "--version")[1].split()[-1].startswith("22.05."):
        pytest.skip("no Slurm of 22.05, which this plugin is for")
    conf = site.folder / "slurm" / "etc" / "plugstack.conf"
    conf.write_text("optional %s brim=%s\n" % (PLUGIN, site.program))
    try:
        does = "tr '\\0' ' ' </proc/$PPID/cmdline; echo \"$1\""
        job = site.submit("--watch", "sh", "-c", does, "x", "a b")
        site.until_state(job, "done", "failed")
        said = (site.homes[0] / ("slurm-%d.out" % job)).read_text()
        assert "brim run" in said and "a b\n" in said, said
        plain = site.submit("sh", "-c", "tr '\\0' ' ' </proc/$PPID/cmdline")
        site.until_state(plain, "done", "failed")
        assert "brim" not in (site.homes[0] / ("slurm-%d.out" % plain)).read_text()
    finally:
        conf.write_text("")
