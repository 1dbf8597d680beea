"""brim control on a real Slurm where things break: GPUs, daemons, links, slurmctld."""

import os
import signal

import cluster
import pytest
from control_site import GPUS, Site

# Counts to a number in a file, from where it was; each count takes a moment.
COUNTS = """
at=$(cat %(at)s 2>/dev/null || echo 0)
while [ "$at" -lt %(to)d ] || [ ! -e %(go)s ]; do
    at=$((at + 1))
    echo "$at" > %(at)s.new && mv %(at)s.new %(at)s
    sleep 0.1
done
echo "ended at $at"
"""


@pytest.fixture(scope="module")
def site(slurm, tmp_path_factory):
    two = slurm(nodes=2, gpus=GPUS, namespaces=True, slurmd_timeout_s=4)
    one = Site(two, tmp_path_factory.mktemp("faults"))
    yield one
    one.down()


def count(site, name, *options):
    """A job that counts, how far it is in a file; it ends when the other file is there."""
    at, go = site.folder / name, site.folder / (name + ".go")
    script = COUNTS % {"at": at, "go": go, "to": 5}
    job = site.slurm.submit(script, "--requeue", "--open-mode=append", *options)
    cluster.wait_for(at.exists, "the first count of job %d" % job)
    return job, at, go


def test_a_lost_gpu_drains_its_node_and_its_job_goes_on_elsewhere(site):
    site.play("n0", 0.9)
    job, _, go = count(site, "lost", "--gpus=1")
    assert site.slurm.wait_job(job, "RUNNING")["NodeList"] == "n0"
    control = site.control("faults=act", "d", "--return-after", "1s")
    site.play("n0", 0.9, "[gpu 0]\nlost = 1\n")
    drained = cluster.wait_for(lambda: site.rows("d", "drain", "done"), "a drain")[0]
    assert drained["node"] == "n0" and "the driver does not reach GPU fake0" in drained["reason"]
    requeued = site.wait_action("d", "requeue", job, "done")
    assert "starts again without node n0" in requeued["reason"]
    assert "brim: " in site.slurm.run("scontrol", "show", "node", "n0")[1]
    again = cluster.wait_for(
        lambda: site.slurm.job(job)["JobState"] == "RUNNING" and site.slurm.job(job), "its restart"
    )
    assert (again["NodeList"], again["Restarts"]) == ("n1", "1")
    site.play("n0", 0.9)
    back = cluster.wait_for(lambda: site.rows("d", "return", "done"), "the node's return")[0]
    assert back["node"] == "n0" and "serves again" in back["reason"]
    cluster.wait_for(lambda: site.slurm.nodes()[0] == "idle", "a node that serves again")
    go.touch()
    assert site.slurm.wait_end(job)["JobState"] == "COMPLETED"
    site.stop(control)
    assert len(site.rows("d", "drain", "done")) == len(site.rows("d", "requeue", "done")) == 1


def test_a_job_saves_before_it_gives_way(site):
    site.play("n0", 0)
    told = site.folder / "told"
    step = "trap 'echo saved >> %s' USR1; while :; do sleep 0.1; done" % told
    gpus = ("--gpus-per-node=%d" % GPUS, "--requeue")
    idle = site.slurm.submit(
        'srun sh -c "%s"\n' % step, *gpus, "-w", "n0", "--comment=brim:signal=USR1@2"
    )
    busy = site.slurm.submit("sleep 3600\n", *gpus, "-w", "n1")
    for job in (idle, busy):
        site.slurm.wait_job(job, "RUNNING")
    waits = site.slurm.submit("sleep 3600\n", *gpus)
    control = site.control("idle=act", "s")
    signalled = site.wait_action("s", "signal", idle, "done")
    assert "job %d is to save, and has 2 s" % idle in signalled["reason"]
    requeued = site.wait_action("s", "requeue", idle, "done")
    assert requeued["time_ms"] - signalled["time_ms"] >= 2000
    site.slurm.wait_job(waits, "RUNNING")
    assert told.read_text() == "saved\n"
    site.stop(control)
    site.end_jobs()


def test_an_elastic_job_gives_up_a_node(site):
    for node in ("n0", "n1"):
        site.play(node, 0)
    policy = site.folder / "policy.ini"
    before = policy.read_text()
    policy.write_text(before.replace("action = requeue", "action = shrink"))
    gpus = ("--gpus-per-node=%d" % GPUS, "--requeue")
    idle = site.slurm.submit("exec sleep 3600\n", "-N2", *gpus, "--comment=brim:elastic=1-2")
    site.slurm.wait_job(idle, "RUNNING")
    waits = site.slurm.submit("exec sleep 3600\n", *gpus)
    control = site.control("idle=act", "e")
    done = site.wait_action("e", "shrink", idle, "done")
    assert "goes on with 1 of its 2 nodes" in done["reason"] and done["for_job"] == waits
    site.slurm.wait_job(waits, "RUNNING")
    known = site.slurm.job(idle)
    assert (known["JobState"], known["NumNodes"]) == ("RUNNING", "1")
    site.stop(control)
    assert not site.of("e", "requeue", idle, "done")
    policy.write_text(before)
    site.end_jobs()
    site.play("n1", 0.9)


def test_slurmctld_ends_and_comes_back(site):
    site.play("n0", 0)
    idle, busy, waits = site.jobs()
    os.kill(site.slurm.pids()["slurmctld"], signal.SIGTERM)  # killed, it forgets the last jobs
    control = site.start_beside("n1", "act", "c")
    log = site.folder / ("log-%d" % (len(site.running) - 1))
    cluster.wait_for(lambda: "warning" in log.read_text().lower(), "a word of control")
    assert control.poll() is None
    cluster.wait_for(site.slurm_is_gone, "the end of slurmctld")
    site.slurm.tell("start", "slurmctld")
    site.wait_action("c", "requeue", idle, "done")
    site.slurm.wait_job(waits, "RUNNING")
    assert site.slurm.job(busy)["JobState"] == "RUNNING"
    site.stop(control)
    assert len(site.rows("c", "requeue", "done")) == 1
    assert site.slurm.job(idle)["Restarts"] == "1"
    site.end_jobs()


def test_an_agent_that_is_cut_off_says_nothing_about_its_job(site):
    idle, _, waits = site.jobs()
    site.slurm.tell("cut", "n0")
    control = site.control("act", "l", "--patience", "1s")
    cluster.wait_for(lambda: site.slurm.nodes()[0] == "down*", "a node that Slurm gives up")
    # Slurm has its job wait again, not brim
    assert site.slurm.wait_job(idle, "PENDING", "RUNNING")["Restarts"] == "1"
    assert not site.rows("l", "requeue", "done") and not site.rows("l", "drain", "done")
    site.slurm.tell("heal", "n0")
    cluster.wait_for(lambda: site.slurm.nodes()[0] != "down*", "a node that is back")
    site.slurm.wait_job(waits, "RUNNING")
    site.stop(control)
    site.end_jobs()


def test_a_slurmd_is_killed_and_its_job_goes_on_from_its_checkpoint(site):
    site.play("n0", 0.9)
    cluster.wait_for(site.slurm.is_whole, "nodes that all serve")
    job, at, go = count(site, "killed", "--gpus=1", "-w", "n0")
    control = site.control("act", "n")
    site.slurm.run("scontrol", "update", "JobId=%d" % job, "ReqNodeList=", check=False)
    cluster.wait_for(lambda: int(at.read_text()) > 5, "a few counts")
    os.kill(site.slurm.pids()["slurmd n0"], signal.SIGKILL)
    cluster.wait_for(lambda: site.slurm.nodes()[0] == "down*", "a node that is down")
    before = int(at.read_text())
    site.slurm.tell("start", "slurmd n0")
    cluster.wait_for(lambda: site.slurm.job(job)["JobState"] == "RUNNING", "its second start")
    go.touch()
    assert site.slurm.wait_end(job)["JobState"] == "COMPLETED"
    assert int(at.read_text()) >= before
    site.stop(control)
    assert not site.rows("n", "requeue", "done") and not site.rows("n", "drain", "done")
