"""How quick brim control is on a real Slurm: a node drained and its job requeued, that job running
again, and a cycle on many nodes. For slurm_control.py."""

import json
import subprocess
import time

import cluster
import control_site

PORT = "9417"


def is_unfit(site, node):
    """Whether its agent says so by now."""
    said = site.once("observe", "look")
    return any(n["name"] == node and not n["fit"] for n in said["nodes"])


def drain_once(site, number, begin):
    """Seconds from the start of the control that decides until its node is drained and its job
    waits, and from then until the job runs elsewhere."""
    job = site.slurm.submit("exec sleep 3600\n", "--gpus=1", "--requeue")
    if site.slurm.wait_job(job, "RUNNING")["NodeList"] != "n0":
        raise RuntimeError("job %d is not on n0" % job)
    site.play("n0", 0.9, "[gpu 0]\nlost = 1\n")
    cluster.wait_for(lambda: is_unfit(site, "n0"), "an agent that says so")
    start = time.monotonic()
    begin(site, "d%d" % number, "once").wait()
    acted = time.monotonic()
    known, state = site.slurm.job(job), site.slurm.nodes()[0]
    if known["Restarts"] != "1" or not state.startswith("drain"):
        raise RuntimeError("job %d: %s; n0: %s" % (job, known, state))
    while site.slurm.job(job)["JobState"] != "RUNNING":
        time.sleep(0.02)
    again = time.monotonic()
    if site.slurm.job(job)["NodeList"] == "n0":
        raise RuntimeError("job %d runs on a node that is drained" % job)
    site.play("n0", 0.9)
    site.slurm.run("scontrol", "update", "nodename=n0", "state=resume")
    site.end_jobs()
    cluster.wait_for(lambda: not is_unfit(site, "n0"), "an agent that is content")
    cluster.wait_for(site.slurm.is_whole, "nodes that all serve")
    return acted - start, again - acted


def one_agent(folder, gpus):
    """It answers for all nodes, since all are on this machine."""
    script = folder / "gpus.ini"
    script.write_text("[fake]\ncount = %d\n[gpu *]\nbusy_ratio = 0\n" % gpus)
    words = ["agent", "--listen", "127.0.0.1:" + PORT, "--store", "none", "--fake", str(script)]
    return subprocess.Popen(
        [control_site.BRIM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def cycles(folder, nodes, gpus, n):
    """Seconds until so many daemons were up, seconds of each cycle (a command from its start to its
    end), and what the last one said. Half of the nodes have a job each, as many jobs wait."""
    plan = cluster.Plan(str(folder / "slurm"), nodes=nodes, gpus=gpus)
    begin = time.monotonic()
    with cluster.Cluster(plan) as slurm:
        up_s, took = time.monotonic() - begin, []
        agent = one_agent(folder, gpus)
        try:
            array = "--array=1-%d" % nodes
            slurm.submit("exec sleep 3600\n", "--gpus-per-node=%d" % gpus, "--requeue", array,
                         "-x", "n[%d-%d]" % (nodes // 2, nodes - 1))
            has = lambda: slurm.run("squeue", "-h", "-r", "-t", "RUNNING")[1].count("\n")
            cluster.wait_for(lambda: has() == nodes // 2, "jobs on half of the nodes")
            words = ["control", "once", "--json", "--port", PORT, "--directory", str(folder / "b")]
            for _ in range(n):
                start = time.monotonic()
                said = json.loads(slurm.run(control_site.BRIM, *words)[1])
                took.append(time.monotonic() - start)
        finally:
            slurm.run("scancel", "--user", "root", check=False)
            agent.kill()
            agent.wait()
    return up_s, took, said
