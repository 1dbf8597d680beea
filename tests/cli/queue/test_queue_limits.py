"""How much one user may take of a queue, lists of more jobs than one answer holds, and the end of
all jobs of a user."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from conftest import one_line
from queues import WAIT, Queue
from served import wait_until

CONF = "fake = 2xH100-SXM5-80GB\nmost-jobs = 30\nmost-of-user = 20\nmost-grace = 90s\n"
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
DAEMON = {"user": 1, "group": 1, "extra_groups": []}


@pytest.fixture
def narrow(brim):
    """A queue for all users that takes few jobs."""
    if os.geteuid() != 0:
        pytest.skip("only root has a queue for all users")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="brim-queue-"))
    folder.chmod(0o755)
    queue = Queue(brim, folder, CONF)
    queue.work.chmod(0o777)
    engine = subprocess.Popen([brim.program, "queue"], env=dict(os.environ, **queue.env),
                              stderr=subprocess.DEVNULL)
    wait_until(lambda: (queue.state / "socket").exists())
    yield queue
    queue.end()
    engine.wait(60)
    shutil.rmtree(str(folder))


def as_other(queue, *args, **who):
    try:
        done = queue(*args, **who)
    except (PermissionError, TypeError):
        pytest.skip("the program cannot be run as another user here")
    if "Permission denied" in done.stderr:
        pytest.skip(done.stderr)
    return done


def test_one_user_leaves_room_for_others(narrow):
    assert as_other(narrow, "submit", "--hold", "--array", "0-19", "true", **NOBODY).returncode == 0
    one_line(narrow("submit", "--hold", "true", **NOBODY), 1,
             "this queue takes 20 jobs of a user that have not ended, and nobody has 20")
    one_line(narrow("submit", "--array", "0-10", "true", **DAEMON), 1,
             "this queue takes 30 jobs that have not ended, and has 20")
    assert len(narrow.jobs()) == 20  # of an array that is refused nothing is stored
    assert narrow("submit", "--hold", "--array", "0-9", "true", **DAEMON).returncode == 0
    one_line(narrow("submit", "--hold", "true"), 1, "this queue takes 30 jobs")
    narrow("cancel", "1", **NOBODY)
    assert narrow("submit", "--hold", "true", **NOBODY).returncode == 0


def test_all_jobs_of_a_user_are_cancelled(narrow):
    running = int(as_other(narrow, "submit", "sh", "-c", WAIT, **NOBODY).stdout)
    narrow("submit", "--hold", "--array", "0-4", "true", **NOBODY)
    other = narrow.submit("--hold", "true")
    narrow.until(running, "running")
    one_line(narrow("cancel", "--user", "nobody", **DAEMON), 1,
             "only nobody and root may cancel jobs of nobody")
    one_line(narrow("cancel", "--user", "nobody", "1"), 2, "exclude each other")
    assert narrow("cancel", "--user", "nobody", **NOBODY).returncode == 0
    narrow.until(running, "cancelled")
    states = {job["user"]: job["state"] for job in narrow.jobs()}
    assert states == {"nobody": "cancelled", "root": "held"}
    one_line(narrow("cancel", "--user", "nobody"), 1, "has no job of nobody that has not ended")
    assert narrow("cancel", "--user", "root").returncode == 0
    narrow.until(other, "cancelled")


def test_a_grace_that_no_policy_gives(narrow):
    one_line(narrow("submit", "--requeue", "--grace", "91s", "true"), 1,
             "--grace: this queue gives a job 90 s at most to end")
    narrow.submit("--hold", "--requeue", "--grace", "90s", "true")


def test_a_list_of_more_than_one_page(queue):
    queue.submit("--hold", "--array", "0-2499", "true")
    assert [job["id"] for job in queue.jobs()] == list(range(1, 2501))
    assert len(queue("jobs").stdout.splitlines()) == 2501
    assert [job["id"] for job in queue.jobs("--from", "2499")] == [2499, 2500]
    some = queue("jobs", "--json", "--most", "1500")
    assert [job["id"] for job in json.loads(some.stdout)["jobs"]] == list(range(1, 1501))
    assert some.stderr == "brim jobs: there are more: brim jobs --from 1501 goes on\n"
    assert len(queue.jobs("--user", "root" if os.geteuid() == 0 else os.environ["USER"])) == 2500
    assert queue.jobs("--user", "nobody1") == []
    assert queue("jobs", "--user", "nobody1").stdout == "no jobs\n"
    assert len(queue.jobs("1")) == 2500
    queue("cancel", "1")
