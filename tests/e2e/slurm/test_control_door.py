"""Who may do what with brim control, by its socket: operators of Slurm, coordinators, others."""

import json
import os
import tempfile

import cluster
import pytest
from control_site import BRIM, Site

# Users of any Debian, by what Slurm is told of them.
OPERATOR, COORDINATOR, USER = "daemon", "games", "nobody"


@pytest.fixture(scope="module")
def site(slurm, tmp_path_factory):
    two = slurm(nodes=2, gpus=8, namespaces=True, accounting=True)
    for words in (  # the jobs are root's, in Slurm's account of that name
        ("user", USER, "account=root"), ("user", COORDINATOR, "account=root"),
        ("coordinator", "account=root", "names=" + COORDINATOR),
        ("user", OPERATOR, "account=root", "adminlevel=operator"),
    ):
        two.run("sacctmgr", "-i", "add", *words)
    one = Site(two, tmp_path_factory.mktemp("door"))
    with tempfile.TemporaryDirectory(prefix="brim-door-") as open_to_all:
        os.chmod(open_to_all, 0o755)
        one.door = open_to_all + "/socket"
        yield one
        one.down()


def ask(site, user, *words, status=0):
    as_user = ("setpriv", "--reuid", user, "--clear-groups", BRIM, "control")
    done, out, said = site.slurm.run(*as_user, *words, "--door", site.door, check=False)
    assert done == status, (words, out, said)
    return out if status == 0 else said


def test_users_ask_as_far_as_slurm_lets_them(site):
    idle, _, waits = site.jobs()
    control = site.control("propose", "d", "--door", site.door, "--own")
    action = str(site.wait_action("d", "requeue", idle, "proposed")["id"])
    listed = json.loads(ask(site, OPERATOR, "list", "--json"))["actions"]
    assert any(a["job"] == idle for a in listed)
    assert "requeue" in ask(site, COORDINATOR, "list")
    assert "requeue" not in ask(site, USER, "list")
    refused = ask(site, USER, "approve", action, status=1)
    assert "is not nobody's to approve" in refused and refused.count("\n") == 1
    assert "is no operator" in ask(site, COORDINATOR, "stop", status=1)
    ask(site, OPERATOR, "stop")
    assert site.once("observe", "e") and site.slurm.job(idle)["JobState"] == "RUNNING"
    ask(site, OPERATOR, "go")
    assert "is not proposed" in ask(site, COORDINATOR, "approve", "9999", status=1)
    ask(site, COORDINATOR, "approve", action)
    site.slurm.wait_job(waits, "RUNNING")
    assert site.wait_action("d", "requeue", idle, "done")["id"] == int(action)
    site.stop(control)
    assert "no brim control answers" in ask(site, USER, "list", status=1)
    site.end_jobs()


def test_a_socket_that_was_left_is_no_obstacle(site):
    for _ in range(2):
        control = site.control("observe", "k", "--door", site.door)
        cluster.wait_for(lambda: site.slurm.run(
            BRIM, "control", "list", "--door", site.door, check=False)[0] == 0, "an answer")
        control.kill()
        control.wait()
    words = [*site.words("observe", "m"), "--door", str(site.folder / "token")]
    status, _, said = site.slurm.run(BRIM, "control", "run", *words, check=False)
    assert status == 1 and "and no socket" in said
