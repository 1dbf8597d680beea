"""brim control on a real Slurm: jobs that keep GPUs idle are told and give way to those that wait,
also when it is killed again and again; what is exempt, proposed or stopped is let alone."""

import signal
import time

import cluster
import pytest
from control_site import BRIM, GPUS, Site


@pytest.fixture(scope="module")
def site(slurm, tmp_path_factory):
    one = Site(slurm(nodes=2, gpus=GPUS, namespaces=True), tmp_path_factory.mktemp("control"))
    yield one
    one.down()


def test_says_who_keeps_gpus_idle_and_does_nothing(site):
    idle, _, waits = site.jobs()
    cluster.wait_for(lambda: site.once("observe", "o")["jobs_idle"] == 1, "an idle job")
    rows = cluster.wait_for(
        lambda: site.once("observe", "o") and site.of("o", "requeue", idle, "said"), "what it says"
    )
    said = rows[0]
    told = site.once("observe", "o")
    assert (told["gpus"], told["gpus_held"], told["gpus_idle"]) == (16, 16, 8)
    assert (told["jobs_holding"], told["jobs_waiting"], told["jobs_unknown"]) == (2, 1, 0)
    assert said["for_job"] == waits and "job %d gives up 8 devices" % idle in said["reason"]
    assert site.slurm.job(idle)["JobState"] == "RUNNING"
    assert "AdminComment" not in site.slurm.job(idle)
    site.end_jobs()


def test_requeues_the_idle_job_and_the_waiting_one_starts(site):
    idle, busy, waits = site.jobs()
    letter, post = site.folder / "letter", site.folder / "post"
    post.write_text('#!/bin/sh\n{ printf "%%s|" "$@"; cat; } > %s.new && mv %s.new %s\n' % (
        letter, letter, letter))
    post.chmod(0o755)
    control = site.control("act", "a", "--mail", str(post))
    told = site.wait_action("a", "warn", idle, "done")
    assert "keeps 8 devices idle" in told["reason"]
    cluster.wait_for(letter.exists, "a letter to the owner")
    assert letter.read_text() == "-s|brim: your job %d|root|%s\n" % (idle, told["reason"])
    assert site.slurm.wait_job(waits, "RUNNING")["NodeList"] == "n0"
    done = site.wait_action("a", "requeue", idle, "done")
    assert done["for_job"] == waits and done["gpus"] == 8
    known = site.slurm.job(idle)
    assert known["JobState"] == "PENDING" and known["Restarts"] == "1"
    assert site.slurm.job(busy)["JobState"] == "RUNNING"
    site.stop(control)
    assert control.returncode == 0
    site.end_jobs()


def test_lets_an_exempt_partition_alone(site):
    idle, _, _ = site.jobs("high")
    site.wait_idle("e", idle)
    assert not site.actions("e")
    assert site.slurm.job(idle)["JobState"] == "RUNNING"
    site.end_jobs()


def test_does_what_is_approved(site):
    idle, _, waits = site.jobs()
    control = site.control("propose", "p")
    action = site.wait_action("p", "requeue", idle, "proposed")
    assert site.slurm.job(idle)["JobState"] == "RUNNING"
    where = ("--directory", str(site.folder / "p"))
    status, _, words = site.slurm.run(BRIM, "control", "approve", "9999", *where, check=False)
    assert status == 1 and "9999" in words
    site.slurm.run(BRIM, "control", "approve", str(action["id"]), *where)
    site.slurm.wait_job(waits, "RUNNING")
    assert site.wait_action("p", "requeue", idle, "done")["id"] == action["id"]
    site.stop(control)
    site.end_jobs()


def test_killed_again_and_again_it_does_nothing_twice(site):
    idle, _, waits = site.jobs()
    lives_s = 0.1  # longer each time: on a slow machine one lives long enough in the end
    while site.slurm.job(waits)["JobState"] != "RUNNING":
        control = site.control("act", "k")
        time.sleep(lives_s)
        control.send_signal(signal.SIGKILL)
        control.wait()
        lives_s *= 1.2
    assert site.slurm.job(idle)["Restarts"] == "1"
    site.once("act", "k")  # finds what the last one left
    states = [a["state"] for a in site.actions("k") if a["action"] == "requeue"]
    assert states.count("done") == 1 and "due" not in states
    site.end_jobs()


def test_gives_jobs_their_places(site):
    gpus = "--gpus-per-node=%d" % 8
    first = site.slurm.submit("exec sleep 3600\n", gpus, "-w", "n0")
    site.slurm.wait_job(first, "RUNNING")
    held = [
        site.slurm.submit("exec sleep 3600\n", gpus, "-H", "--comment=brim:place")
        for _ in range(2)
    ]
    for job in held:  # as the hook of job_submit does
        site.slurm.run("scontrol", "update", "JobId=%d" % job,
                       "AdminComment=brim: waits for its place")
    mine = site.slurm.submit("exec sleep 3600\n", gpus, "-H", "--comment=brim:place")
    control = site.control("place=act", "w")
    placed = site.wait_action("w", "place", held[0], "done")
    assert placed["reason"] == "job %d gets its place: 1 node, n1" % held[0]
    assert site.slurm.wait_job(held[0], "RUNNING")["NodeList"] == "n1"
    alive = site.folder / "w" / "alive"
    assert abs(int(alive.read_text()) - time.time()) < 3600
    site.slurm.run("scancel", str(first))
    assert site.slurm.wait_job(held[1], "RUNNING")["NodeList"] == "n0"
    assert site.slurm.job(mine)["JobState"] == "PENDING"
    assert not site.of("w", "place", mine, "done")
    where = ("--directory", str(site.folder / "w"))
    site.slurm.run(BRIM, "control", "stop", *where)
    cluster.wait_for(lambda: not alive.exists(), "a hook that holds no more jobs")
    site.slurm.run(BRIM, "control", "go", *where)
    cluster.wait_for(alive.exists, "a hook that holds jobs again")
    site.stop(control)
    assert not alive.exists()
    site.end_jobs()


def test_stops_when_an_operator_says_so(site):
    where = ("--directory", str(site.folder / "s"))
    idle, _, _ = site.jobs()
    site.once("act", "s")
    site.slurm.run(BRIM, "control", "stop", *where)
    site.wait_idle("s", idle)
    assert site.once("act", "s")["stopped"]
    assert site.slurm.job(idle)["JobState"] == "RUNNING"
    site.slurm.run(BRIM, "control", "go", *where)
    cluster.wait_for(
        lambda: site.once("act", "s") and site.slurm.job(idle)["JobState"] != "RUNNING",
        "the idle job's requeue",
    )
    site.end_jobs()


def test_writes_down_what_jobs_used(site):
    """What plugins/slurm/brim_hooks.lua reads. Of a job that was seen too little nothing is told:
    the jobs live longer each time."""
    path = site.folder / "u" / "used.tsv"
    control, lives_s = site.control("observe", "u"), 2.0
    want = {"root\tlazy\t8\t0\n", "root\tbusy\t8\t8\n"}
    lines = set()
    while not want <= lines:
        for node, name in (("n0", "lazy"), ("n1", "busy")):
            words = ("--gpus-per-node=%d" % GPUS, "-w", node, "-J", name)
            site.slurm.wait_job(site.slurm.submit("sleep 3600\n", *words), "RUNNING")
        time.sleep(lives_s)
        site.end_jobs()
        lives_s *= 1.5
        lines = set(path.read_text().splitlines(keepends=True)) if path.exists() else set()
        assert lines <= want, lines
    site.stop(control)


def test_another_one_waits_for_the_book(site):
    control = site.control("act", "t")
    cluster.wait_for(lambda: (site.folder / "t" / "control.db").exists(), "a book")
    status, _, words = site.slurm.run(
        BRIM, "control", "once", *site.words("act", "t"), check=False
    )
    assert status == 1 and "another brim control" in words
    site.stop(control)


def test_without_slurm_it_says_so(site):
    words = site.words("act", "w") + ["--slurm-conf", str(site.folder / "none.conf")]
    status, _, said = site.slurm.run(BRIM, "control", "once", *words, check=False)
    assert status == 1 and said.startswith("brim control: ") and said.count("\n") == 1
