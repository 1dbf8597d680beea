"""What brim asks of a PyTorch job that runs, and what it sets when the job starts: the job does it,
refuses it or lets it be, and is the same job in all else."""

import json
import os
import re
import struct
import subprocess
import sys

import pytest

from control_file import ControlFile
from test_shim import SHIM, Job, has_torch, job  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
DONE, REFUSED, FAILED = range(3)
SINKS = {"extension": "brim_mark.abi3.so", "library": "libbrim-step.so", "python": None}

sys.path.append(SHIM)
from brim_torch import control, refused, start
from brim_torch.marks import loop
from brim_torch.settings import knobs  # noqa: E402

needs_torch = pytest.mark.skipif(
    not os.environ.get("RING_DUMP") or not has_torch(), reason="torch or RING_DUMP is missing"
)

# ---- the file, without torch


class Sink:
    def __init__(self):
        self.told = []

    def __getattr__(self, name):
        return lambda *args: self.told.append((name, *args))


class Torch:
    __version__ = "0"
    threads = 1

    def set_num_threads(self, n):
        if n == 7:
            raise RuntimeError("seven is one too many")
        self.threads = min(n, 64)

    def get_num_threads(self):
        return self.threads


class FakeLoop(loop.Loop):
    """A loop whose steps are made by hand."""

    def __init__(self, folder):
        super().__init__(Torch(), Sink(), pytest.fail)
        self.opened = True
        control.install(self)
        for hook in self.on_open:
            hook()

    def end_steps(self, n):
        for _ in range(n):
            self.steps += 1
            if self.steps >= self.look_at:
                self.run_hooks()

    def answers(self):
        return [told[1:] for told in self.sink.told if told[0] == "switch"]

    def notes(self):
        return [told[1] for told in self.sink.told if told[0] == "note"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BRIM_RING", str(tmp_path))
    return str(tmp_path)


def test_nothing_is_looked_at_without_a_file(folder):
    fake = FakeLoop(folder)
    ControlFile(folder).ask("threads.intra=2")
    fake.end_steps(1000)
    assert fake.look_at == loop.NEVER and fake.sink.told == []


def test_a_request_and_the_next(folder):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    fake.end_steps(10)
    assert file.ask("threads.intra=2") == 1
    fake.end_steps(control.MOST)
    assert fake.answers() == [(1, DONE)] and fake.torch.threads == 2
    fake.end_steps(1000)
    file.ask("threads.intra=3", 5)
    fake.end_steps(control.MOST)
    assert fake.answers()[1:] == [(2, REFUSED)]
    late = r"switch.2=step 5 was over when this was seen, after step 1\d\d\d$"
    assert re.match(late, *fake.notes())
    file.ask("threads.intra=3", 1500)
    while fake.steps < 1500:
        fake.end_steps(1)
    assert fake.torch.threads == 2
    fake.end_steps(1)  # step 1500 ends
    assert fake.torch.threads == 3 and fake.answers()[2:] == [(3, DONE)]
    assert fake.in_force == {"threads.intra": "3"}
    file.sequence(2)  # written anew: the same request
    fake.end_steps(100)
    assert len(fake.answers()) == 3


def test_a_request_that_waits_is_replaced(folder):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    file.ask("threads.intra=2", 500)
    fake.end_steps(200)
    file.ask("threads.intra=3", 400)
    fake.end_steps(400)
    assert fake.answers() == [(2, DONE)] and fake.torch.threads == 3


def test_a_request_that_is_being_written(folder):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    file.begin("threads.intra=2")
    fake.end_steps(200)
    assert fake.answers() == []
    file.sequence(1)
    fake.end_steps(200)
    assert fake.answers() == [(1, DONE)]


@pytest.mark.parametrize(
    "text, why",
    [
        ("threads.intra=0", "threads.intra takes 1 to 256, not '0'"),
        ("threads.intra=", "threads.intra takes 1 to 256, not ''"),
        ("threads.intra", "'threads.intra' is not of the form target=value"),
        ("", "'' is not of the form target=value"),
        ("no.such=1", "this shim has no knob no.such"),
        ("loader.nothing=1", "this shim has no knob loader.nothing"),
        ("autocast=fp8", "autocast takes none, bf16, fp16, not 'fp8'"),
        ("ddp.bucket_cap_mb=4", "ddp.bucket_cap_mb takes effect when the job starts"),
        ("threads.intra=99", "of 99 threads torch would take 64"),
        ("autocast=bf16", "no optimizer has stepped yet"),
        ("optimizer.accumulation=2", "no optimizer has stepped yet"),
        (b"\xff\xfe=\n", "this shim has no knob ??"),
        (b"x" * 1024, "'" + 60 * "x" + "' is not of the form target=value"),
    ],
)
def test_what_is_refused(folder, text, why):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    file.ask(text)
    fake.end_steps(1)
    assert fake.answers() == [(1, REFUSED)] and fake.torch.threads == 1
    assert [n.replace("\ufffd", "?") for n in fake.notes()] == ["switch.1=" + why]


def test_what_breaks_is_told_and_goes_on(folder):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    file.ask("threads.intra=7")
    fake.end_steps(1)
    file.ask("threads.intra=2")
    fake.end_steps(100)
    assert fake.answers() == [(1, FAILED), (2, DONE)]
    why = "RuntimeError: seven is one too many; threads.intra=1 is in force"
    assert fake.notes() == ["switch.1=" + why]


@pytest.mark.parametrize(
    "how, why",
    [
        (dict(magic=b"BRIMSTEP"), "it is no control file"),
        (dict(version=(2, 0)), "it has version 2"),
        (dict(size=4095), "it is 4095 bytes long"),
        (dict(size=100), "it is 100 bytes long"),
    ],
)
def test_a_damaged_file_is_left_alone(folder, how, why):
    file = ControlFile(folder, **how)
    fake = FakeLoop(folder)
    if file.map.size() > 1100:
        file.ask("threads.intra=2")
    fake.end_steps(200)
    assert fake.answers() == [] and fake.look_at == loop.NEVER
    assert fake.notes() == ["control: nothing can be asked of this process, for " + why]


@pytest.mark.parametrize("what", ["folder", "fifo", "link"])
def test_what_is_no_file_is_left_alone(folder, what):
    path = os.path.join(folder, "control")
    make = {"folder": os.mkdir, "fifo": os.mkfifo, "link": lambda p: os.symlink("nowhere", p)}
    make[what](path)
    fake = FakeLoop(folder)
    fake.end_steps(200)
    assert fake.look_at == loop.NEVER and len(fake.notes()) == 1


@pytest.mark.parametrize("length", [0, 20, 30, 4000])
def test_a_file_that_is_cut_off(folder, length):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    fake.end_steps(200)
    os.truncate(file.path, length)
    if length > 24:
        with open(file.path, "r+b") as f:
            f.seek(24)
            f.write(struct.pack("=Q", 2)[: length - 24])
    fake.end_steps(200)
    assert fake.answers() == [] and fake.look_at == loop.NEVER
    why = "control: nothing can be asked of this process, for it is %d bytes long"
    assert fake.notes() == [why % length]


def test_a_file_that_is_removed(folder):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    fake.end_steps(20)
    os.unlink(file.path)
    fake.end_steps(200)
    assert fake.sink.told == []


def test_a_child_does_not_answer(folder):
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    fake.end_steps(20)
    pid = os.fork()
    if not pid:
        fake.forked()
        fake.opened = True
        file.ask("threads.intra=2")
        fake.end_steps(200)
        os._exit(fake.torch.threads != 1 or fake.look_at != loop.NEVER)
    assert os.waitpid(pid, 0)[1] == 0
    fake.end_steps(200)
    assert fake.answers() == [(1, DONE)]


def test_several_settings_are_made_or_none(folder, monkeypatch):
    """Of one request: what was set before another one was refused is taken back."""
    done = []
    words = dict(check=lambda text: True, values="a word")
    for name in ("a", "b"):
        set_it = lambda fake, value, name=name: done.append("%s=%s" % (name, value))
        monkeypatch.setitem(knobs.TABLE, name, knobs.Knob(set=set_it, **words))

    def refuse(fake, value):
        raise refused.Refused("not here")

    monkeypatch.setitem(knobs.TABLE, "c", knobs.Knob(set=refuse, **words))
    file = ControlFile(folder)
    fake = FakeLoop(folder)
    file.ask("a=yes;b=3")
    fake.end_steps(200)
    file.ask("b=5;a=yes;c=1")
    fake.end_steps(200)
    file.ask("a=yes;d=1")
    fake.end_steps(200)
    assert fake.answers() == [(1, DONE), (2, REFUSED), (3, REFUSED)]
    assert done == ["a=yes", "b=3", "b=5", "a=yes", "a=yes", "b=3"]
    assert fake.in_force["b"] == "3"


def test_a_ring_of_a_container_has_a_name_of_its_own(tmp_path):
    """There the process has a number that another container's has, too."""
    made = "import sys; sys.path.append(%r); from brim_torch.marks import ring; " % SHIM
    made += "sys.exit(not ring.PythonRing().open('alone'))"
    done = subprocess.run(
        ["unshare", "--pid", "--fork", sys.executable, "-c", made],
        env={**os.environ, "BRIM_RING": str(tmp_path)}, stderr=subprocess.PIPE,
    )
    if done.returncode and b"unshare" in done.stderr:
        pytest.skip("no numbers of their own can be had here")
    (name,) = os.listdir(tmp_path)
    assert done.returncode == 0 and re.match(r"rank-0-1-[0-9a-f]+\.ring$", name), name


def test_settings_of_the_start():
    read = start.read("threads.intra=2; ddp.comm_hook=fp16;;autocast=none;")
    assert read == {"threads.intra": "2", "ddp.comm_hook": "fp16", "autocast": "none"}
    for bad in ("threads.intra=2;threads.intra=3", "x", "x=1", "threads.intra=x", "compile=1"):
        with pytest.raises(refused.Refused):
            start.read(bad)


def test_the_table_has_what_the_knobs_name():
    """data/knobs.ini, but for what is of the loader."""
    with open(os.path.join(HERE, "..", "..", "data", "knobs.ini"), encoding="utf-8") as f:
        sections = re.split(r"^\[", f.read(), flags=re.M)[1:]
    named = {}
    for section in sections:
        keys = dict(re.findall(r"^(\w+) = (.*)$", section, re.M))
        if keys["apply"] == "shim" and not keys["target"].startswith("loader."):
            named[keys["target"]] = keys
    assert set(named) == set(knobs.TABLE)
    for target, keys in named.items():
        knob = knobs.TABLE[target]
        assert (knob.set is None) == (keys["effect"] == "restart"), target
        values = keys["values"]
        if values.startswith("model"):
            values = ",".join(values[len("model ") :].split(".."))
        assert all(knob.check(v.strip()) for v in values.split(",")), target


# ---- jobs

# A loop that asks itself: requests before each of the steps that are given.
LOOP = """
import hashlib, json, os, sys, torch
sys.path.append(%r)
from control_file import ControlFile
requests = {int(k): v for k, v in json.loads(sys.argv[1]).items()}
control = ControlFile(os.environ["BRIM_RING"]) if "BRIM_RING" in os.environ else None
torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
data = torch.randn(%d, 2, 8)
for step, x in enumerate(data):
    for request in requests.get(step, []):
        if request[0] == "cut":
            os.truncate(control.path, 0)
        else:
            control.ask(*request)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("threads", torch.get_num_threads())
digest = hashlib.sha256()
for value in model.state_dict().values():
    digest.update(value.numpy().tobytes())
print("hash", digest.hexdigest())
"""


def run_loop(job, requests=None, steps=400, **more):
    """What it prints, as a dict, and what it says on the other stream."""
    path = os.path.join(job.folder, "loop.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(LOOP % (HERE, steps))
    status, out, err = job.run(path, json.dumps(requests or {}), **more)
    assert status == 0, err
    return dict(line.split(None, 1) for line in out.splitlines()), err


@pytest.fixture(params=list(SINKS))
def sink(tmp_path, request):
    """A job with each way of marking."""
    name = SINKS[request.param]
    folders = os.environ.get("BRIM_LIB", "").split(":")
    if name and not any(os.path.exists(os.path.join(f, name)) for f in folders):
        pytest.skip(f"{name} was not built here")
    return Job(tmp_path, BRIM_SINK=request.param)


PLAIN = {}  # what the loop ends with where nothing is asked


@needs_torch
def test_requests_in_every_way_of_marking(sink):
    if not PLAIN:
        PLAIN.update(run_loop(sink, shim=False)[0])
    asked = {
        10: [["threads.intra=2"]],
        100: [["threads.intra=1", 200]],
        250: [["threads.intra=4"], ["no.such=1"]],
        350: [["threads.intra=2", 398]],
        397: [["cut"]],
    }
    out, err = run_loop(sink, asked)
    ring = sink.ring()
    assert err == "" and out["threads"] == "1"
    assert out["hash"] == PLAIN["hash"]  # too small for two threads to share
    assert [s["switch"] for s in ring.switches] == [1, 2, 4]
    first, second, last = ring.switches
    assert first["outcome"] == DONE and 11 <= first["before_step"] <= 11 + control.MOST
    assert (second["outcome"], second["before_step"]) == (DONE, 201)
    assert last["outcome"] == REFUSED and "switch.4=this shim has no knob no.such" in ring.notes
    assert len(ring.steps) == 400 and ring.head["closed"]
    assert "threads: intra 1, inter %s" in re.sub(r"inter \d+", "inter %s", str(ring.notes))
