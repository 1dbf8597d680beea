"""An unmodified PyTorch job on a real Slurm, with srun --brim: its run, what limits it, the profile
that comes of it, and what is left of a job that is cancelled, requeued or without a common home."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from cluster import wait_for

BRIM = os.environ.get("BRIM", "")
PLUGIN = os.environ.get("BRIM_SPANK_22_05", "")
ROOT = pathlib.Path(__file__).resolve().parents[3]
# Its samples take 3 ms each, and a step computes for less than 1 ms; it prints a hash of weights.
TRAIN = ROOT / "tests" / "soak" / "jobs" / "train_hash.py"
MUNGE = "/run/munge"
STEPS = 1600  # a trial takes some 200
PYTHON = "/usr/bin/python3"
HAS_TORCH = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))"

pytestmark = pytest.mark.skipif(
    subprocess.run([PYTHON, "-c", HAS_TORCH]).returncode != 0, reason="there is no torch"
)


class Site:
    """A cluster with the plugin, and what brim keeps of its jobs."""

    def __init__(self, slurm):
        self.slurm = slurm
        self.state = slurm.folder / "brim"
        slurm.env.update(STATE_DIRECTORY=str(self.state), OMP_NUM_THREADS="1")

    def brim(self, *words, state=None, status=0):
        env = dict(self.slurm.env, STATE_DIRECTORY=str(state or self.state))
        done = subprocess.run([BRIM, *words], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout

    def runs(self, job, state=None):
        said = self.brim("runs", "list", "job:%d" % job, "--json", state=state)
        return json.loads(said)["runs"]

    def train(self, brim, *options, steps=STEPS, tasks=""):
        """Submit a script with that; the job's number."""
        words = ("srun", tasks, brim, PYTHON, TRAIN, "--steps", steps, "--sleep-ms", 3)
        return self.slurm.submit(" ".join(str(w) for w in words) + "\n", *options)

    def trained(self, *words, **more):
        return self.ended(self.train(*words, **more))

    def ended(self, job):
        """When it has ended well: its number, what it printed, and the weights there."""
        known, said = self.slurm.wait_end(job), self.slurm.output(job)
        assert (known["JobState"], known["ExitCode"]) == ("COMPLETED", "0:0"), said
        return job, said, re.findall(r"^weights (\w{16})$", said, re.M)

    def has_steps(self, job, ranks=1):
        """Wait until brim has seen it train."""
        def seen():
            return any(r["ranks"] == ranks and (r["steps"] or 0) > 20 for r in self.runs(job))

        wait_for(seen, "steps of job %d" % job)


@pytest.fixture(scope="module")
def site(slurm):
    one = slurm(nodes=2, plugstack="optional %s brim=%s\n" % (PLUGIN, BRIM))
    if not one.run("srun", "--version")[1].split()[-1].startswith("22.05."):
        pytest.skip("no slurmctld of 22.05, which this plugin is for")
    return Site(one)


def key_of(*words):
    """As brim makes it: of the words, and of what is in the files that they name."""
    value = 0xCBF29CE484222325
    for word in words:
        for part in (word.encode(), pathlib.Path(word).read_bytes() if word[0] == "/" else None):
            for byte in b"" if part is None else part + b"\0":
                value = (value ^ byte) * 0x100000001B3 % 2**64
    return "%016x" % value


def test_a_job_that_is_looked_at(site):
    plain, watched = site.train("", steps=200), site.train("--brim", "-J", "rows", steps=200)
    untouched = site.ended(plain)[2]
    job, said, weights = site.ended(watched)
    assert len(untouched) == 1 and weights == untouched and site.runs(plain) == []
    (run,) = site.runs(job)
    assert run["slurm"]["job"] == job and run["slurm"]["step"] == 0
    assert run["steps"] == 200 and run["verdict"] and "profile" not in run
    why = site.brim("why", "job:%d" % job)
    assert "  slurm     job %d.0 (rows)\n" % job in why and "\nVERDICT  " in why and "\n1. " in why
    assert "  verdict   " in said


def test_a_job_that_has_a_profile(site):
    """The first submission has found it; here it is written by hand."""
    words = ("--steps", "200", "--sleep-ms", "3")
    key = key_of("python3", str(TRAIN), *words)
    (site.state / "profiles").mkdir(parents=True, exist_ok=True)
    path = site.state / "profiles" / ("mine-%s.ini" % key)
    path.write_text("[profile]\nname = mine\nkey = %s\n[loader.workers]\nvalue = 3\n" % key)
    untouched = site.trained("", steps=200)[2]
    for option, tasks in (("--brim=optimize", 1), ("--brim=mine", 1), ("--brim=optimize", 2)):
        nodes = ("-N%d" % tasks, "-n%d" % tasks)
        job, said, weights = site.trained(option, *nodes, steps=200)
        assert weights == untouched * tasks and "trying" not in said, said
        assert said.count("brim run: profile mine: loader.workers=3\n") == 1, said
        (run,) = site.runs(job)
        assert run["profile"] == "mine (%s)" % path.name and run["ranks"] == tasks
        assert run["profile_applied"] == "loader.workers=3"
        (line,) = site.brim("runs", "list", "job:%d" % job).splitlines()[1:]
        assert line.endswith("  profile mine  job %d.0" % job)
    path.unlink()


@pytest.mark.timed
def test_the_second_submission_begins_with_what_the_first_one_found(site):
    untouched = site.trained("")[2]
    job, said, weights = site.trained("--brim=optimize", "--job-name", "learns")
    assert weights == untouched, said
    (run,) = site.runs(job)
    kept = [t for t in run["gained"]["trials"] if t["outcome"] == "adopted"]
    assert kept and kept[0]["knob"] == "loader.workers", said
    profile = site.brim("profile", "show", TRAIN.name)
    value = re.search(r"loader\.workers +(\d+)", profile).group(1)
    assert value == [t for t in kept if t["knob"] == "loader.workers"][-1]["value"]
    job, said, weights = site.trained("--brim=optimize", "--job-name", "knows")
    assert weights == untouched and "trying" not in said, said
    assert "loader.workers=" + value in site.brim("runs", "diff", "job:learns", "job:knows")


def test_a_job_that_is_cancelled(site):
    """Its run has ended, with what limited it until then."""
    job = site.train("--brim", steps=100000)
    site.has_steps(job)
    site.slurm.run("scancel", str(job))
    assert site.slurm.wait_end(job)["JobState"] == "CANCELLED"
    wait_for(lambda: site.runs(job)[0]["end"] != "running", "the end of the run")
    (run,) = site.runs(job)
    assert (run["end"], run["status"]) == ("killed", 15) and run["steps"] > 20
    assert run["verdict"] and "1. " in site.brim("why", "job:%d" % job)
    assert "  end       killed by signal 15\n" in site.brim("why", "job:%d" % job)
    assert "brim: run %s (train_hash.py) took " % run["id"] in site.slurm.output(job)


def test_a_job_that_is_requeued(site):
    """It keeps its number, and so do its steps; each time it began is a run with all its tasks."""
    script = 'if [ -z "$SLURM_RESTART_COUNT" ]; then steps=100000; else steps=40; fi\n' \
        "srun --brim %s %s --steps $steps --sleep-ms 3\n" % (PYTHON, TRAIN)
    job = site.slurm.submit(script, "-N2", "-n2", "--requeue", "--open-mode=append")
    site.has_steps(job, ranks=2)
    site.slurm.run("scontrol", "requeue", str(job))
    wait_for(lambda: site.slurm.job(job)["JobState"] == "PENDING", "the requeue")
    assert site.slurm.wait_end(job)["JobState"] == "COMPLETED", site.slurm.output(job)
    first, second = sorted(site.runs(job), key=lambda r: r["slurm"]["requeued"])
    assert (first["slurm"]["requeued"], second["slurm"]["requeued"]) == (0, 1)
    assert (first["end"], second["end"]) == ("killed", "exited")
    assert (first["ranks"], second["ranks"], second["steps"]) == (2, 2, 40)
    shown = site.brim("runs", "list", "job:%d" % job).splitlines()
    assert shown[1].endswith("  job %d.0" % job) and shown[2].endswith(", requeue 1")


def test_several_tasks_on_two_nodes_are_one_run(site):
    job, said, weights = site.trained("--brim", "-N2", "-n2", steps=60)
    (run,) = site.runs(job)
    assert (run["ranks"], run["steps"], len(set(weights))) == (2, 60, 1)
    assert said.count("brim: run ") == 1


@pytest.mark.skipif(not os.path.isdir(MUNGE), reason="MUNGE has no folder here")
def test_tasks_of_one_node_are_steered_together(slurm):
    """Each has a brim of its own; they know each other by MUNGE, whose usual socket is mounted in
    the node's own namespace."""
    one = slurm(nodes=1, namespaces=True, plugstack="optional %s brim=%s\n" % (PLUGIN, BRIM))
    socket = one.folder / "munge" / "socket"
    mount = "mount -t tmpfs -o mode=755 none %s && ln -s %s %s/munge.socket.2"
    one.run("srun", "-n1", "sh", "-c", mount % (MUNGE, socket, MUNGE))
    _, said, weights = Site(one).trained("--brim=optimize", "-n2", steps=200)
    assert "brim optimize: the ranks of this host are steered by the brim beside rank 0\n" in said
    assert len(weights) == 2 and len(set(weights)) == 1


def test_nodes_without_a_common_home(site, tmp_path):
    """Each node keeps what it saw. A profile that one of them lacks is said by that one."""
    prolog = tmp_path / "prolog"
    prolog.write_text("#!/bin/sh\necho export STATE_DIRECTORY=%s/$SLURMD_NODENAME\n" % tmp_path)
    prolog.chmod(0o755)
    tasks = "-N2 -n2 --task-prolog=%s" % prolog
    job, said, _ = site.trained("--brim", "-N2", "-n2", steps=60, tasks=tasks)
    assert site.runs(job) == []
    assert [site.runs(job, tmp_path / node)[0]["ranks"] for node in ("n0", "n1")] == [1, 1]

    profiles = tmp_path / "n0" / "profiles"
    profiles.mkdir()
    (profiles / "mine-00ff.ini").write_text("[profile]\nname = mine\n[loader.workers]\nvalue = 2\n")
    job, said, weights = site.trained("--brim=mine", "-N2", "-n2", steps=60, tasks=tasks)
    assert said.count("mine: no profile that brim can read on n1; its tasks run without it") == 1
    assert "can read on n0" not in said and len(set(weights)) == 1
    assert site.runs(job, tmp_path / "n0")[0]["profile_applied"] == "loader.workers=2"
    assert "profile" not in site.runs(job, tmp_path / "n1")[0]
