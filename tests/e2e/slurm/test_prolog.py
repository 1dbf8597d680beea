"""brim's Prolog and Epilog on a real Slurm: a node whose GPU is lost is drained before the job
starts there, and whatever else is wrong, the job starts; what it used is written down."""

import os
import pathlib
import socket
import subprocess
import sys
import urllib.request

import cluster
import pytest

BRIM = os.environ.get("BRIM", "")
HOOKS = pathlib.Path(__file__).resolve().parents[3] / "plugins" / "slurm"
GPUS = 4
ALL_WELL = "[fake]\ncount = %d\n[gpu *]\nbusy_ratio = 0.5\n" % GPUS
# What any user could let run on a port that no agent has.
PLAYS = """
import json, os, socket, sys, time
os.setresuid(1234, 1234, 1234)
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    c = s.accept()[0]
    c.recv(4096)
    alert = {"name": "gpu-lost", "thing": "x", "text": "made up"}
    said = {"schema": "brim.live.v1", "time_ms": int(time.time() * 1000),
            "gpus": [{"gpu": "x"}] * 4, "alerts": [alert]}
    c.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n" + json.dumps(said).encode())
    c.close()
"""
LOST = "[gpu 1]\nlost = 1\n"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Node:
    """A cluster of one node whose Prolog is brim's, and the agent of that node."""

    def __init__(self, slurm, folder):
        self.folder, self.port, self.agent = folder, free_port(), None
        self.prolog, self.epilog = folder / "prolog.sh", folder / "epilog.sh"
        self.jobs = folder / "made" / "jobs.tsv"
        for script in (self.prolog, self.epilog):
            script.write_text("#!/bin/sh\nexit 0\n")
            script.chmod(0o755)
        more = "nohold_on_prolog_fail,sched_interval=2,bf_interval=2,bf_continue"
        self.slurm = slurm(
            nodes=1, gpus=GPUS, extra="Prolog=%s\nEpilog=%s\nSchedulerParameters=%s\n" % (
                self.prolog, self.epilog, more))

    def write_scripts(self, brim=BRIM):
        changes = {
            "\nBRIM=/usr/bin/brim\n": "\nBRIM=%s\n" % brim,
            "\nAGENT=\n": "\nAGENT=--port=%d\n" % self.port,
            "\nSTARTS=/run/brim-slurm\n": "\nSTARTS=%s/starts\n" % self.folder,
            "\nJOBS=/var/lib/brim/slurm/jobs.tsv\n": "\nJOBS=%s\n" % self.jobs,
        }
        for script in (self.prolog, self.epilog):
            text = (HOOKS / script.name).read_text()
            for before, after in changes.items():
                assert text.count(before) == ("JOBS" not in before or script == self.epilog)
                text = text.replace(before, after)
            script.write_text(text)

    def serve(self, script):
        """Start an agent that says so of the GPUs, and wait until it has a sample."""
        path = self.folder / "gpus.ini"
        path.write_text(script)
        words = ("agent", "--listen", "127.0.0.1:%d" % self.port, "--interval", "200ms", "--store",
                 str(self.folder / "store.db"), "--fake")
        with open(self.folder / "agent.log", "wb") as log:
            self.agent = subprocess.Popen([BRIM, *words, str(path)], stderr=log)
        cluster.wait_for(self.answers, "the agent's sample")

    def answers(self):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/api/v1/live.json" % self.port) as r:
                return b'"gpus"' in r.read()
        except OSError:
            return False

    def silence(self):
        if self.agent:
            self.agent.kill()
            self.agent.wait()
            self.agent = None

    def state(self):
        return self.slurm.run("scontrol", "-o", "show", "node", "n0")[1]

    def starts(self, *options):
        """Whether a job does."""
        job = self.slurm.submit("echo here; exec sleep 3600\n", *options)
        said = self.slurm.folder / ("%d.out" % job)

        def decided():  # while its Prolog runs it is RUNNING, too
            if said.exists() and said.read_text() == "here\n":
                return "runs"
            return "drained" if "DRAIN" in self.state() else None

        what = cluster.wait_for(decided, "the start of job %d, or a drained node" % job)
        return what == "runs", job


@pytest.fixture(scope="module")
def module_node(slurm, tmp_path_factory):
    one = Node(slurm, tmp_path_factory.mktemp("prolog"))
    yield one
    one.silence()


@pytest.fixture
def node(module_node):
    module_node.write_scripts()
    yield module_node
    module_node.silence()
    one = module_node.slurm
    one.run("scancel", "--user", "root")
    cluster.wait_for(lambda: not one.run("squeue", "-h")[1].strip(), "the end of all jobs")
    if "DRAIN" in module_node.state():
        one.run("scontrol", "update", "NodeName=n0", "State=RESUME")


def test_a_lost_gpu_drains_the_node_before_the_job(node):
    node.serve(ALL_WELL + LOST)
    started, job = node.starts("--gpus=%d" % GPUS)
    assert not started
    assert "Reason=brim: GPU 1: the driver does not reach GPU fake1 any more" in node.state()
    known = node.slurm.wait_job(job, "PENDING")
    assert known["Restarts"] == "1" and known["Priority"] != "0"
    out = node.slurm.folder / ("%d.out" % job)
    assert not out.exists() or "here" not in out.read_text()  # the script did not begin


def test_a_fault_of_the_kernels_log_does_too(node):
    node.serve(ALL_WELL + "[event]\nafter = 0s\nkind = xid\nseverity = critical\ncode = 79\n"
               "thing = fake0\ntext = \"XID 79: the GPU no longer answers on PCIe\"\n")
    cluster.wait_for(lambda: "XID 79" in health(node)[1], "the event")
    assert not node.starts("--gpus=1")[0]
    assert "Reason=brim: GPU 0: XID 79: the GPU no longer answers on PCIe" in node.state()


def health(node, *words):
    done = subprocess.run([BRIM, "health", "--port=%d" % node.port, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout


def test_gpus_that_are_not_the_jobs_do_not_count(node):
    node.serve(ALL_WELL + "[gpu 3]\nlost = 1\n")
    assert health(node)[0] == 1 and health(node, "--gpus=0-2")[0] == 0
    assert node.starts("--gpus=1")[0]
    assert node.starts()[0]


def test_all_is_well(node):
    node.serve(ALL_WELL)
    assert health(node) == (0, "nothing is known for which a job would fail\n")
    assert node.starts("--gpus=%d" % GPUS)[0]


def test_without_an_agent_the_job_starts(node):
    status, said = health(node)
    assert status == 0 and said.startswith("not known: nothing listens on port ")
    assert node.starts("--gpus=1")[0]


def test_an_agent_that_does_not_answer_is_no_finding(node):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", node.port))
        s.listen()
        assert health(node, "--patience=50ms")[1].endswith(": Connection timed out\n")
        assert node.starts("--gpus=1")[0]


def test_a_user_who_plays_agent_is_not_believed(node):
    words = (sys.executable, "-c", PLAYS, str(node.port))
    node.agent = subprocess.Popen(words)
    cluster.wait_for(node.answers, "the answer of who plays agent")
    assert health(node)[1].startswith("not known: a program of user 1234 listens on port ")
    assert node.starts("--gpus=2")[0]


@pytest.mark.parametrize("place", ["/proc", "/proc/nowhere", "/dev/null"])
def test_a_start_that_cannot_be_written_is_no_finding(node, place):
    text = node.prolog.read_text()
    node.prolog.write_text(text.replace("STARTS=%s/starts" % node.folder, "STARTS=" + place))
    assert node.starts("--gpus=1")[0]


@pytest.mark.parametrize("program", [
    "/nonexistent", "/bin/false", "/bin/true", "exit 1", "echo GPU 1: made up; exit 2",
    "echo something else; exit 1", "kill -9 $$", "exec sleep 3600",
])
def test_a_brim_that_is_broken_is_no_finding(node, program):
    if not program.startswith("/"):
        path = node.folder / "brim"
        path.write_text("#!/bin/sh\n" + program + "\n")
        path.chmod(0o755)
        program = str(path)
    node.write_scripts(program)
    assert node.starts("--gpus=1")[0]


def test_the_node_is_drained_without_scontrol(node):
    """By Slurm itself, whose reason it is then."""
    node.serve(ALL_WELL + LOST)
    text = node.prolog.read_text()
    assert "5 scontrol" in text
    node.prolog.write_text(text.replace("5 scontrol", "5 /nonexistent/scontrol"))
    assert not node.starts("--gpus=2")[0]
    assert "Reason=Prolog error" in node.state()


def ends(node, job):
    """End it, and wait until its Epilog is over: the node is idle then."""
    node.slurm.run("scancel", str(job))
    cluster.wait_for(lambda: node.slurm.nodes() == ["idle"], "an idle node")


def test_the_epilog_says_how_busy_its_gpus_were(node):
    node.serve(ALL_WELL + "[gpu 1]\nbusy_ratio = 0\n")
    started, job = node.starts("--gpus=2")
    assert started
    # Of so short a job one sample is enough: it is there when the agent has stored one.
    cluster.wait_for(lambda: "busy 50.0 %" in health(node, "--last=1s")[1], "a stored sample")
    ends(node, job)
    line = node.jobs.read_text().splitlines()[-1].split("\t")
    assert line[1:4] == [str(job), "root", "n0"] and line[5:] == ["0,1", "0=50.0,1=0.0"]
    assert not (node.folder / "starts" / str(job)).exists()
    before = node.jobs.read_text()
    ends(node, node.starts()[1])
    assert node.jobs.read_text() == before  # a job without GPUs has no line


def test_the_epilog_without_an_agent(node):
    job = node.starts("--gpus=1")[1]
    ends(node, job)
    assert node.jobs.read_text().splitlines()[-1].split("\t")[5:] == ["0", "?"]


def test_an_epilog_that_cannot_write_drains_nothing(node):
    for place in ("/dev/full", "/proc/nowhere/jobs.tsv"):
        text = (HOOKS / "epilog.sh").read_text()
        node.epilog.write_text(text.replace("/var/lib/brim/slurm/jobs.tsv", place).replace(
            "/run/brim-slurm", str(node.folder / "starts")))
        ends(node, node.starts("--gpus=1")[1])
        assert "DRAIN" not in node.state()
