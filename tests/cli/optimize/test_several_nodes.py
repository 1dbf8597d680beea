"""brim optimize and brim run of one job on several nodes: here network namespaces, each with a host
name of its own and a link to the others; launchers are known by their variables alone."""

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

BRIM = os.environ.get("BRIM", "")
JOB = os.environ.get("TUNED_JOB", "")
TOKEN = "0123456789abcdef0123"
TRY = ("--try", "loader.workers=5")


def quiet(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


@contextlib.contextmanager
def made_nodes(count):
    """So many namespaces on a bridge, which has one of its own: [(name, address)]."""
    base = "brim-nodes-%d" % os.getpid()
    names = ["%s-%d" % (base, i) for i in range(count)]
    good = os.geteuid() == 0 and shutil.which("ip") and quiet("ip", "netns", "add", base) == 0
    try:
        for inside in (("link", "add", "br0", "type", "bridge"), ("link", "set", "br0", "up")):
            good = good and quiet("ip", "-n", base, *inside) == 0
        for i, name in enumerate(names):
            port = "p%d" % i
            veth = ("type", "veth", "peer", "name", "eth0", "netns", name)
            inside = ("ip", "-n", name)
            for command in (
                ("ip", "netns", "add", name),
                ("ip", "-n", base, "link", "add", port, *veth),
                ("ip", "-n", base, "link", "set", port, "master", "br0", "up"),
                (*inside, "addr", "add", "10.215.0.%d/24" % (i + 1), "dev", "eth0"),
                (*inside, "link", "set", "lo", "up"),
                (*inside, "link", "set", "eth0", "up"),
            ):
                good = good and quiet(*command) == 0
        if not good:
            pytest.skip("needs root and CAP_NET_ADMIN: there are no network namespaces")
        yield [(name, "10.215.0.%d" % (i + 1)) for i, name in enumerate(names)]
    finally:
        for name in names + [base]:
            quiet("ip", "netns", "del", name)


@pytest.fixture(scope="module")
def nodes():
    with made_nodes(2) as made:
        yield made


class Node:
    """A brim on one node, with a state folder of its own."""

    def __init__(self, folder, node, rank, command, options, job, more):
        name, _ = node
        self.so_far = ""
        self.rank, self.json = rank, folder / f"card{rank}.json"
        drop = ("BRIM_", "SLURM_", "RANK", "WORLD_SIZE", "TUNED", "MASTER_", "TORCH")
        env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        env.update(STATE_DIRECTORY=str(folder / f"state{rank}"), BRIM_CONF="/nonexistent/brim.conf",
                   RANK=str(rank), LOCAL_RANK="0", LOCAL_WORLD_SIZE="1", MASTER_PORT="29500",
                   BRIM_TOKEN=TOKEN)
        env.update(more)
        inside = "hostname node%d && exec \"$@\"" % (rank + 1)
        room = ("ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", inside, "sh")
        options = ("--interval", "100ms", f"--json={self.json}", *options)
        self.job = subprocess.Popen(
            [*room, BRIM, command, *options, "--", *[str(c) for c in job]], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, start_new_session=True,
        )

    def end(self):
        read_so_far(self)
        os.set_blocking(self.job.stderr.fileno(), True)
        self.out, rest = self.job.communicate(timeout=300)
        self.err = self.so_far + rest
        self.status = self.job.returncode
        self.seen = json.loads(self.json.read_text()) if self.json.exists() else None
        return self


class Job:
    """One rank on each node, each under a brim of its own."""

    def __init__(self, nodes, folder):
        self.nodes, self.folder, self.all = nodes, folder, []

    def start(self, *job, command="optimize", options=(), each=None, **more):
        more = dict(dict(WORLD_SIZE=str(len(self.nodes)), MASTER_ADDR=self.nodes[0][1]), **more)
        for rank, node in enumerate(self.nodes):
            mine = dict(more, **(each[rank] if each else {}))
            self.all.append(Node(self.folder, node, rank, command, options, job, mine))
        return self

    def start_gated(self, *job, **how):
        """The same, with ranks that wait for go()."""
        gate = 'while [ ! -e "$0" ]; do sleep 0.05; done; exec "$@"'
        return self.start("sh", "-c", gate, self.folder / "go", *job, **how)

    def go(self):
        (self.folder / "go").touch()
        return self.end()

    def end(self):
        return [node.end() for node in self.all]

    def kill(self):
        for node in self.all:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(node.job.pid, signal.SIGKILL)
            node.job.wait()
            if not node.job.stdout.closed:
                node.job.stdout.read()  # a rank whose brim was killed ends by itself
            for rings in glob.glob("/dev/shm/brim-run-%d-*" % node.job.pid):
                shutil.rmtree(rings)


@pytest.fixture
def job(nodes, tmp_path):
    if not BRIM or not JOB:
        pytest.skip("BRIM and TUNED_JOB do not name the programs")
    made = Job(nodes, tmp_path)
    yield made
    made.kill()


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("did not happen in %s s" % seconds)


def steps_and_workers(node):
    steps, _, workers, _ = node.out.split()
    return int(steps), int(workers)


def kill(node):
    """The brim: ip, unshare and sh have executed it."""
    os.kill(node.job.pid, signal.SIGKILL)


def read_so_far(node):
    """What it has said, without waiting for its end."""
    os.set_blocking(node.job.stderr.fileno(), False)
    try:
        more = node.job.stderr.read() or ""
    except TypeError:
        more = ""
    node.so_far += more
    return node.so_far


def test_all_ranks_are_steered_together(job):
    job.start_gated(JOB, 2500, 4000, 1000, options=TRY)
    wait_for(lambda: "the brim on node2 has joined" in read_so_far(job.all[0]))
    one, two = job.go()
    assert one.status == 0 and two.status == 0, one.err + two.err
    assert one.seen["optimize"]["ranks"] == 2, one.err
    kept = one.seen["optimize"]["settings"]
    assert [(k["knob"], k["value"], k["outcome"]) for k in kept] == [
        ("loader.workers", "5", "adopted")]
    assert steps_and_workers(one) == steps_and_workers(two) == (2500, 5)
    assert "steered by the brim beside rank 0" in two.err
    assert two.seen is None  # one card
    assert sorted(one.seen["run"]["hosts"]) == ["node1", "node2"]
    assert "steps of 2 ranks on 2 hosts" in one.err


def test_a_run_has_the_ranks_of_both_hosts(job):
    job.start_gated(JOB, 150, 1000, 1000, command="run")
    wait_for(lambda: "the brim on node2 has joined" in read_so_far(job.all[0]))
    one, two = job.go()
    assert one.status == 0 and two.status == 0, one.err + two.err
    assert one.seen["ranks"] == 2 and one.seen["steps"] == 150
    assert sorted(one.seen["hosts"]) == ["node1", "node2"] and "; 2 ranks on 2 hosts" in one.err
    assert two.seen is None


def slurm(rank, place):
    return dict(RANK="", WORLD_SIZE="", SLURM_JOB_ID="17", SLURM_STEP_ID="0", SLURM_NTASKS="2",
                SLURM_PROCID=str(rank), SLURM_STEP_NUM_NODES="2", SLURM_STEP_NODELIST=place)


def open_mpi(rank, place):
    return dict(RANK="", WORLD_SIZE="", OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE="2",
                OMPI_COMM_WORLD_LOCAL_SIZE="1", PMIX_NAMESPACE="prterun-1", BRIM_MEET=place)


def alone(rank, place):
    return dict(RANK="", WORLD_SIZE="", BRIM_MEET=place + ":7001")


@pytest.mark.parametrize("launcher", [slurm, open_mpi, alone])
def test_the_variables_of_launchers(job, launcher):
    each = [launcher(rank, job.nodes[0][1]) for rank in (0, 1)]
    job.start_gated(JOB, 50, 1000, 1000, command="run", each=each)
    wait_for(lambda: "the brim on node2 has joined" in read_so_far(job.all[0]))
    one, two = job.go()
    assert one.seen["ranks"] == 2 and sorted(one.seen["hosts"]) == ["node1", "node2"]
    assert two.seen is None


def by_munge(job, **more):
    place = job.nodes[0][1]
    munge = dict(BRIM_TOKEN="", LD_LIBRARY_PATH=os.environ.get("FAKE_MUNGE_DIR", ""), **more)
    return [dict(slurm(rank, place), **munge) for rank in (0, 1)]


def test_hosts_of_slurm_need_no_token(job):
    job.start_gated(JOB, 50, 1000, 1000, command="run", each=by_munge(job))
    wait_for(lambda: "the brim on node2 has joined" in read_so_far(job.all[0]))
    one, two = job.go()
    assert one.seen["ranks"] == 2 and sorted(one.seen["hosts"]) == ["node1", "node2"]
    assert two.seen is None


def test_hosts_of_slurm_whose_munge_is_dead_are_alone(job):
    one, two = job.start(JOB, 20, 1000, 1000, each=by_munge(job, FAKE_MUNGE="dead")).end()
    assert one.status == 0 and two.status == 0
    assert "do not know each other: set BRIM_TOKEN" in one.err


def test_open_mpi_does_not_tell_the_place(job):
    each = [dict(open_mpi(rank, ""), BRIM_MEET="") for rank in (0, 1)]
    one, two = job.start(JOB, 20, 1000, 1000, each=each).end()
    assert "--meet names its host" in one.err and "--meet" not in two.err


def test_another_token(job):
    each = [{}, {"BRIM_TOKEN": TOKEN + "?"}]
    job.start_gated(JOB, 100, 1000, 1000, command="run", each=each)
    refused = "has another token, or is of another job"
    wait_for(lambda: refused in read_so_far(job.all[1]))
    one, two = job.go()
    assert one.status == 0 and two.status == 0
    assert one.seen["hosts"] == ["node1"]


def test_without_a_token_each_is_alone(job):
    one, two = job.start(JOB, 50, 1000, 1000, BRIM_TOKEN="").end()
    assert one.status == 0 and two.status == 0
    assert "do not know each other: set BRIM_TOKEN to the same secret on all" in one.err
    assert "do not know each other" not in two.err


def test_a_follower_that_is_killed(job):
    job.start_gated(JOB, 1000, 4000, 1000, options=TRY)
    one, two = job.all
    wait_for(lambda: "the brim on node2 has joined" in read_so_far(one))
    (job.folder / "go").touch()
    wait_for(lambda: "trying" in read_so_far(one))
    kill(two)
    one.end()
    assert one.status == 0
    assert "the brim on node2 is gone" in one.err
    assert steps_and_workers(one) == (1000, 0)  # what was on trial is taken back


def test_the_leader_is_killed(job):
    job.start_gated(JOB, 1000, 4000, 1000, options=TRY)
    one, two = job.all
    wait_for(lambda: "the brim on node2 has joined" in read_so_far(one))
    (job.folder / "go").touch()
    wait_for(lambda: "trying" in read_so_far(one))
    kill(one)
    two.end()
    assert two.status == 0
    assert "the brim on node1, which leads, is gone" in two.err
    assert steps_and_workers(two) == (1000, 0)
    assert two.seen is not None  # nobody else tells of its node
