"""brim sim --from-sacct on a real Slurm with slurmdbd: exactly the jobs that ran there, whatever
they are called, each with whose it was and when; and what is said where nothing can be read."""

import json
import os

import cluster
import pytest

BRIM = os.environ.get("BRIM", "brim")
FIELDS = dict(nodes=3, gpus=4, accounting=True)
# Of no job's name may anything depend.
EVIL = "a|b\x1fc\nd\x1b[2J;'\"$(touch %s)"
LIST = "JobIDRaw,User,Account,Submit,Eligible,Start,End,AllocTRES"


class Site:
    """A cluster on which some jobs have ended: of two accounts, in two partitions, with an array,
    one that was requeued, one that was cancelled before it started and one without GPUs."""

    def __init__(self, slurm):
        self.slurm = slurm
        for words in ("account lab", "account shop", "user root account=lab",
                      "user root account=shop"):
            slurm.run("sacctmgr", "-i", "add", *words.split())
        self.all = [
            slurm.submit("sleep 1", "-A", "lab", "-J", EVIL % (slurm.folder / "evil"),
                         "--gpus-per-node=2", "-N1", "-t", "5"),
            slurm.submit("true", "-A", "shop", "--gpus-per-node=h100:1", "-N2", "-t", "9"),
            slurm.submit("true", "-A", "shop", "--gpus-per-node=1", "--array=0-2", "-p", "high"),
        ]
        self.again = self.requeue()
        self.plain = slurm.submit("true", "-A", "lab")
        for job in (*self.all, self.again, self.plain):
            slurm.wait_end(job)
        cluster.wait_for(self.is_kept, "the ends of all jobs in the database")

    def requeue(self):
        go = self.slurm.folder / "go"
        job = self.slurm.submit("while [ ! -e %s ]; do sleep 0.05; done" % go, "-A", "lab",
                                "--gpus-per-node=4", "-N1")
        self.slurm.wait_job(job, "RUNNING")
        cluster.wait_for(lambda: (str(job), "RUNNING") in self.states(), "its start")
        beside = self.slurm.submit("true", "-A", "lab", "-N3", "--gpus-per-node=4")
        cluster.wait_for(lambda: (str(beside), "PENDING") in self.states(), "one that waits")
        self.slurm.run("scancel", str(beside))
        self.slurm.run("scontrol", "requeue", str(job))
        go.touch()
        return job

    def states(self):
        said = self.slurm.run("sacct", "-naXDP", "-o", "JobIDRaw,State")[1]
        return [tuple(line.split("|")) for line in said.splitlines()]

    def is_kept(self):
        """All that were submitted: an array is three; the requeued one ran twice."""
        ends = [state for _, state in self.states()]
        return len(ends) == 9 and not {"PENDING", "RUNNING", "COMPLETING"} & set(ends)

    def sacct(self):
        """What each run was, in Slurm's words: (account, GPUs, wait, length)."""
        said = self.slurm.run("sacct", "-naXDP", "-o", LIST, env=dict(SLURM_TIME_FORMAT="%s"))[1]
        runs = []
        for line in said.splitlines():
            _, _, account, submit, eligible, start, end, tres = line.split("|")
            gpus = dict(w.split("=") for w in tres.split(",") if w).get("gres/gpu")
            if gpus:
                first = min(max(int(submit), int(eligible)), int(start))
                runs.append((account, int(gpus), int(start) - first, int(end) - int(start)))
        return runs

    def brim(self, *words, env=None):
        return self.slurm.run(BRIM, "sim", *words, check=False, env=env)

    def json(self, *words):
        status, out, said = self.brim("--from-sacct=1", "--json", *words)
        assert status == 0, said
        return json.loads(out)


@pytest.fixture(scope="module")
def site(slurm):
    return Site(slurm(**FIELDS))


def test_exactly_those_jobs(site):
    runs, found = site.sacct(), site.json()
    assert len(runs) == 7  # an array of three, and one that ran twice
    accounting = found["accounting"]
    went = accounting["went"]
    assert found["trace"]["jobs"] == went["all"]["jobs"] == len(runs)
    assert (found["trace"]["bad"], found["trace"]["skipped"]) == (0, 1)
    assert accounting["never_started"] == 1
    assert went["all"]["wait_s"] == pytest.approx(sum(r[2] for r in runs) / len(runs), abs=1e-3)
    hours = sum(r[1] * r[3] for r in runs) / 3600
    assert went["all"]["device_hours"] == pytest.approx(hours, abs=2e-3)
    for team in went["teams"]:
        assert team["jobs"] == len([r for r in runs if r[0] == team["name"]])
    assert {t["name"] for t in went["teams"]} == {"lab", "shop"}
    assert [u["name"] for u in went["users"]] == ["root"]
    assert (found["nodes"], found["devices"]) == (3, 12)
    assert not (site.slurm.folder / "evil").exists()


def test_under_another_policy(site):
    found = site.json("--policy", "fair")
    [change] = found["accounting"]["changes"]
    assert (change["policy"], change["instead_of"]) == ("fair", "slurm")
    assert [p["policy"] for p in found["policies"]] == ["slurm", "fair"]
    assert all(p["all"]["jobs"] == 7 for p in found["policies"])
    status, out, said = site.brim("--from-sacct=1", "--policy", "fair")
    assert (status, said) == (0, "") and "\x1b" not in out
    assert "\nas it went: a job waited " in out and "\nfair, simulated: a job waits " in out


def test_what_slurm_lacks(site):
    status, out, said = site.brim("--from-sacct", "--policy", "las")
    assert (status, out) == (2, "") and "policy las: order = las: Slurm's priorities are" in said


def test_a_drained_node_without_jobs_is_left_out(site):
    """Which had jobs, Slurm says: its scheduler is free in that."""
    lists = site.slurm.run("sacct", "-naXDP", "-o", "ReqTRES,NodeList")[1].splitlines()
    of_jobs = {line.split("|")[1] for line in lists if "gpu" in line and "None" not in line}
    had = set(site.slurm.run("scontrol", "show", "hostnames", ",".join(of_jobs))[1].split())
    site.slurm.run("scontrol", "update", "nodename=n[0-2]", "state=drain", "reason=test")
    try:
        assert site.json()["nodes"] == len(had & {"n0", "n1", "n2"})
        assert site.json("--nodes", "5x4")["nodes"] == 5
    finally:
        site.slurm.run("scontrol", "update", "nodename=n[0-2]", "state=resume")


def test_slurmdbd_is_away(site):
    conf = site.slurm.folder / "etc" / "slurm.conf"
    other = conf.with_name("other.conf")
    lines = conf.read_text().splitlines()
    port = [line for line in lines if line.startswith("AccountingStoragePort=")]
    other.write_text("\n".join(lines).replace(port[0], "AccountingStoragePort=1") + "\n")
    status, _, said = site.brim("--from-sacct", "--slurm-conf", str(other))
    assert status == 1 and said.startswith("brim sim: slurmdbd does not answer: "), said


def test_nothing_is_kept(slurm):
    """A cluster without accounting."""
    one = slurm(nodes=1, gpus=1)
    status, _, said = one.run(BRIM, "sim", "--from-sacct", check=False)
    assert status == 1 and said.startswith("brim sim: AccountingStorageType is none: "), said


def test_nothing_is_there(slurm):
    one = slurm(nodes=1, gpus=1, accounting=True)
    status, _, said = one.run(BRIM, "sim", "--from-sacct", check=False)
    assert status == 1
    assert said == "brim sim: there are no jobs: ask for more days, --from-sacct=30\n"
