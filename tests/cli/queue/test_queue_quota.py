"""Policies with [quota] in the queue of a machine: whose share a job counts in, who gives way."""

import grp
import os
import pwd
import re

import pytest
from conftest import one_line
from queues import WAIT, Queue, counted, counting
from served import wait_until

POLICY = """[policy]
order = fifo
backfill = greedy
[quota]
by = %s
borrow = %s
share = vision 4
share = nlp 50%%
"""
# It leaves when there is a file 'leave', some time after it was asked to.
STAYS = 'trap "while ! [ -e leave ]; do sleep 0.02; done; exit 75" TERM; echo >>ready; ' + WAIT


@pytest.fixture
def shares(brim, tmp_path):
    """shares(by, borrow): a queue of eight invented accelerators that ends with the test."""
    made = []

    def one(by="team", borrow="yes"):
        (tmp_path / "policy.ini").write_text(POLICY % (by, borrow))
        made.append(Queue(brim, tmp_path, "fake = 8xH100-SXM5-80GB\npolicy = %s\n"
                          % (tmp_path / "policy.ini")))
        return made[-1]

    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    yield one
    for queue in made:
        queue.end()


def runs(queue, *args):
    number = queue.submit("--no-watch", *args)
    queue.until(number, "running")
    return number


def test_what_was_lent_comes_back(shares):
    queue = shares()
    older = runs(queue, "-d4", "-c1", "--team", "vision", "--requeue", "sh", "-c", WAIT)
    young = runs(queue, "-d4", "-c1", "--team", "vision", "--requeue", "bash", "-c",
                 counting("TERM"))
    first = queue.job(young)["reason"]
    assert "it borrows, above the share of team vision (4), what nobody" in first, first
    within = queue.submit("-d4", "-c1", "--team", "nlp", "--no-watch", "sh", "-c", WAIT)
    job = queue.until(within, "running")
    assert "it is within the share of team nlp (4)" in job["reason"], job
    stopped = wait_until(lambda: queue.job(young)["state"] == "waiting" and queue.job(young))
    assert re.match(r"job %d gives up 4 devices: it is above the share of team vision \(4\), and "
                    r"job %d, which waits for 4 devices, is within the share of team nlp \(4\)$"
                    % (young, within), stopped["stopped"]), stopped
    waits = wait_until(lambda: re.search("; it is above the share of team vision .4.$",
                                         queue.job(young)["reason"]))
    assert waits
    assert queue.job(older)["attempts"] == 1
    (queue.work / "go").touch()
    assert queue.until(young, "running")["attempts"] == 2
    (queue.work / "finish").touch()
    queue.until(young, "done")
    assert counted(queue)


def test_who_may_not_be_stopped_stays(shares):
    queue = shares()
    both = [runs(queue, "-d4", "-c1", "--team", "vision", "sh", "-c", WAIT) for _ in range(2)]
    within = queue.submit("-d4", "-c1", "--team", "nlp", "--no-watch", "true")
    wait_until(lambda: queue.job(within)["reason"].startswith("waits for 4 devices"))
    assert [(queue.job(n)["state"], queue.job(n)["attempts"]) for n in both] == [("running", 1)] * 2
    (queue.work / "go").touch()
    queue.until(within, "done")


def test_an_engine_is_killed_while_a_job_leaves(shares):
    """Nobody else is stopped, and its devices go to the job that they were taken for."""
    queue = shares()
    older = runs(queue, "-d4", "-c1", "--team", "vision", "--requeue", "sh", "-c", STAYS)
    young = runs(queue, "-d4", "-c1", "--team", "vision", "--requeue", "sh", "-c", STAYS)
    ready = queue.work / "ready"
    wait_until(lambda: ready.exists() and ready.read_text() == "\n\n")
    within = queue.submit("-d4", "-c1", "--team", "nlp", "--no-watch", "sh", "-c", WAIT)
    queue.until(young, "stopping")
    for _ in range(3):
        queue.kill_engine()
        assert queue.job(young)["state"] == "stopping"
        wait_until(lambda: queue.job(within)["reason"] ==
                   "starts as soon as job %d, which is being stopped for it, has gone" % young)
    assert queue.job(older)["state"] == "running"
    (queue.work / "leave").touch()
    queue.until(within, "running")
    assert (queue.job(older)["attempts"], queue.job(young)["attempts"]) == (1, 1)
    (queue.work / "go").touch()
    queue.until(young, "done")
    queue.until(older, "done")


def test_walls(shares):
    queue = shares("class", "no")
    first = runs(queue, "-d4", "-c1", "--class", "vision", "sh", "-c", WAIT)
    waits = queue.submit("-d1", "-c1", "--class", "vision", "--no-watch", "true")
    reason = wait_until(lambda: queue.job(waits)["reason"])
    assert "4 of 8 devices" in reason, reason
    assert reason.endswith("; it is above the share of class vision (4)"), reason
    one_line(queue("submit", "-d5", "--class", "nlp", "true"), 1,
             "even if it were empty, or for more than its share")
    one_line(queue("submit", "-d1", "true"), 1, "or for more than its share")
    (queue.work / "go").touch()
    queue.until(waits, "done")
    assert queue.job(first)["class"] == "vision"


def test_shares_of_more_than_there_is(brim, tmp_path):
    path = tmp_path / "policy.ini"
    path.write_text(POLICY % ("team", "yes") + "share = hep 1\n")
    one_line(brim("queue", "--policy", path, "--fake", "8xH100-SXM5-80GB",
                  env={"STATE_DIRECTORY": str(tmp_path)}), 1,
             "the shares are 9 devices, and there are 8")


def test_teams(brim, tmp_path, monkeypatch):
    monkeypatch.delenv("BRIM_TEAM", raising=False)
    queue = Queue(brim, tmp_path)
    said = queue.submit("--hold", "--team", "nlp", "--class", "train", "sh", "-c",
                        "echo $BRIM_TEAM")
    inherited = queue.submit("sh", "-c", "echo $BRIM_TEAM", env={"BRIM_TEAM": "vision"})
    none = queue.submit("true", env={"BRIM_TEAM": ""})
    group = grp.getgrgid(os.getegid()).gr_name
    usual = queue.submit("true")
    queue.kill_engine()
    job = queue.job(said)
    assert (job["team"], job["class"]) == ("nlp", "train")
    assert "\nteam       nlp\nclass      train\n" in queue("jobs", str(said)).stdout
    queue("release", str(said))
    for number in (said, inherited, none, usual):
        queue.until(number, "done")
    assert (queue.output(said), queue.output(inherited)) == ("nlp\n", "vision\n")
    assert queue.job(none)["team"] is None
    own = pwd.getpwuid(os.geteuid()).pw_name
    assert queue.job(usual)["team"] == (None if group == own else group)
    one_line(queue("submit", "--team", "x" * 48, "true"), 2, "--team is longer than 47 bytes")
    one_line(queue("submit", "--class", "x" * 48, "true"), 2, "--class is longer than 47 bytes")
    queue.end()
