"""The Slurm that tests start: it is one, what happens to its jobs is what happens on a cluster, and
nothing of it is left."""

import os
import pathlib
import signal
import subprocess
import sys

import cluster
import pytest

FIELDS = {"nodes": 4, "gpus": 4}
# Says that it runs, and waits until somebody lets it end.
STARTED = "echo started; while [ ! -e %s ]; do sleep 0.05; done\n"


@pytest.fixture(scope="module")
def four(slurm):
    return slurm(**FIELDS)


def test_a_gang_job_gets_its_gpus(four):
    cluster.wait_for(four.is_whole, "all nodes")  # with one of each switch busy it would span both
    job = four.submit(
        "srun -l sh -c 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'", "-N2", "--gpus-per-node=2"
    )
    assert four.wait_end(job)["JobState"] == "COMPLETED"
    lines = sorted(four.output(job).splitlines())
    # Two below one switch, by topology/tree.
    assert lines in (["0: n0 0,1", "1: n1 0,1"], ["0: n2 0,1", "1: n3 0,1"])


def test_more_gpus_than_there_are_are_refused(four):
    status, _, said = four.run("sbatch", "-N1", "--gpus-per-node=5", "--wrap=true", check=False)
    assert status != 0 and "Requested node configuration is not available" in said


def test_a_job_that_is_requeued_starts_again(four):
    go = four.folder / "go-requeue"
    job = four.submit(STARTED % go, "--open-mode=append")
    four.wait_job(job, "RUNNING")
    cluster.wait_for(lambda: "started" in read(four, job), "the job's first line")
    four.run("scontrol", "requeue", str(job))
    cluster.wait_for(lambda: read(four, job).count("started") == 2, "the second start")
    assert four.job(job)["Restarts"] == "1"
    go.touch()
    assert four.wait_end(job)["JobState"] == "COMPLETED"


def read(one, job):
    path = one.folder / ("%d.out" % job)
    return path.read_text() if path.exists() else ""


def test_nothing_starts_on_a_node_that_is_drained(four):
    four.run("scontrol", "update", "nodename=n0", "state=drain", "reason=test")
    cluster.wait_for(lambda: four.nodes()[0] == "drained", "a drained node")
    jobs = [four.submit("echo $SLURMD_NODENAME", "--exclusive") for _ in range(4)]
    assert [four.wait_end(job)["JobState"] for job in jobs] == ["COMPLETED"] * 4
    assert "n0" not in "".join(four.output(job) for job in jobs)
    four.run("scontrol", "update", "nodename=n0", "state=resume")
    cluster.wait_for(four.is_whole, "the node that is resumed")


def test_a_better_partition_takes_the_place(four):
    go = four.folder / "go-high"
    low = four.submit(STARTED % go, "-N4", "--exclusive")
    four.wait_job(low, "RUNNING")
    high = four.submit("echo high", "-N1", "--exclusive", "-p", "high")
    assert four.wait_end(high)["JobState"] == "COMPLETED"
    assert four.job(low)["Restarts"] == "1"
    go.touch()
    assert four.wait_end(low)["JobState"] == "COMPLETED"


def test_a_node_whose_daemon_is_killed_goes_down(slurm):
    """Its job starts again on the other; the daemon comes back, and the node is idle."""
    two = slurm(nodes=2, auth="none", slurmd_timeout_s=4)
    go = two.folder / "go"
    job = two.submit(STARTED % go, "--open-mode=append", "-w", "n1")
    two.wait_job(job, "RUNNING")
    os.kill(two.pids()["slurmd n1"], signal.SIGKILL)
    cluster.wait_for(lambda: two.nodes()[1] == "down*", "a node that is down")
    assert two.wait_job(job, "PENDING")["Restarts"] == "1"
    two.tell("start", "slurmd n1")
    cluster.wait_for(lambda: two.job(job)["JobState"] == "RUNNING", "the job's second start")
    go.touch()
    assert two.wait_end(job)["JobState"] == "COMPLETED"
    cluster.wait_for(two.is_whole, "the node that has come back")


def test_nodes_have_networks_of_their_own(slurm):
    two = slurm(nodes=2, namespaces=True, slurmd_timeout_s=4)
    _, said, _ = two.run("srun", "-N2", "hostname")
    assert sorted(said.split()) == ["n0", "n1"]
    two.tell("cut", "n1")
    cluster.wait_for(lambda: two.nodes()[1] == "down*", "a node that is cut off")
    two.tell("heal", "n1")
    cluster.wait_for(two.is_whole, "a node that is back")


def of_cluster(folder):
    """Processes with something of a folder in their words or environments."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(str(folder)) in text and path.name != str(os.getpid()):
            found.append(path.name)
    return found


def left_by(folder):
    """What is still there: processes, mounts, network interfaces, names of namespaces."""
    mounts = pathlib.Path("/proc/self/mounts").read_text()
    return of_cluster(folder) + [line for line in mounts.splitlines() if str(folder) in line]


def networks():
    names = "/run/netns"
    return set(os.listdir("/sys/class/net")), set(os.listdir(names) if os.path.isdir(names) else [])


@pytest.fixture
def plan(tmp_path):
    plan = cluster.Plan(str(tmp_path / "slurm"), nodes=2, namespaces=True)
    why = cluster.missing(plan)
    if why:
        pytest.skip(why)
    return plan


def test_nothing_is_left(plan):
    before, run = networks(), set(os.listdir("/run"))
    with cluster.Cluster(plan) as two:
        job = two.submit("setsid sleep 1000 & echo started; sleep 1000", "-N2")
        cluster.wait_for(lambda: "started" in read(two, job), "the job's line")
        assert len(of_cluster(plan.folder)) >= 8
    assert not left_by(plan.folder)
    assert networks() == before and set(os.listdir("/run")) == run


def test_it_ends_with_who_started_it(plan):
    code = (
        "import sys, os, time; sys.path.insert(0, %r); import cluster; "
        "cluster.Cluster(cluster.Plan(%r, nodes=1)).up(); print('up', flush=True); time.sleep(1000)"
        % (str(pathlib.Path(__file__).parent), plan.folder)
    )
    user = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert user.stdout.readline() == b"up\n"
    user.kill()
    user.wait()
    user.stdout.close()
    cluster.wait_for(lambda: not left_by(plan.folder), "the end of its daemons")


def test_by_hand(plan):
    script = str(pathlib.Path(cluster.__file__))
    up = subprocess.run([sys.executable, script, "up", plan.folder, "--nodes", "1"], text=True,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=cluster.PATIENCE_S)
    try:
        assert up.stdout == "export SLURM_CONF=%s/etc/slurm.conf\n" % plan.folder, up.stderr
        env = dict(os.environ, SLURM_CONF=plan.folder + "/etc/slurm.conf")
        said = subprocess.run(["srun", "echo", "here"], env=env, stdout=subprocess.PIPE, text=True,
                              timeout=cluster.CLIENT_S).stdout
        assert said == "here\n"
    finally:
        subprocess.run([sys.executable, script, "down", plan.folder], check=True,
                       timeout=cluster.PATIENCE_S)
    assert not left_by(plan.folder)


def test_accounting_keeps_jobs(slurm):
    one = slurm(nodes=1, accounting=True)
    job = one.submit("true")
    one.wait_end(job)

    def kept():
        return one.run("sacct", "-n", "-X", "-j", str(job), "-o", "state")[1].split()

    assert cluster.wait_for(lambda: kept() == ["COMPLETED"], "the job's end in the database")
