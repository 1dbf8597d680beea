"""What brim asks of a PyTorch job that runs, and what it sets when the job starts: the job does it,
refuses it or lets it be, and is the same job in all else."""

import glob
import json
import os
import re
import struct
import sys

import pytest

from control_file import ControlFile
from test_shim import SHIM, Job, Ring, has_torch, job, ranks  # noqa: F401

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


# Loops in one process, each with a shim of its own; what they print is compared.
LOOPS = """
import contextlib, hashlib, json, os, sys, warnings, torch
sys.path += [%r, %r]
from brim_torch import shim
from control_file import ControlFile
warnings.simplefilter("error")
torch.set_num_threads(1)

@contextlib.contextmanager
def watched(settings=""):
    os.environ["BRIM_KNOBS"] = settings
    control = ControlFile(os.environ["BRIM_RING"])
    shim.install(torch)
    try:
        yield control
    finally:
        shim.uninstall()
        made = "rank-0-%%d.ring" %% os.getpid()
        if os.path.exists(made):
            done = len([n for n in os.listdir(".") if n.endswith("-1.ring")])
            os.rename(made, "rank-%%d-1.ring" %% done)

def digest(model):
    found = hashlib.sha256()
    for value in model.state_dict().values():
        found.update(value.float().numpy().tobytes())
    return found.hexdigest()[:12]
"""

ACCUMULATES = (
    LOOPS
    + """
def train(calls, by_hand=None, requests={}, control=None, clear="first", clip=None, own=1):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    model[0].bias.requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 50)
    data = torch.randn(calls, own, 4, 8)
    rounds = iter(by_hand or [])
    length, seen = (next(rounds) if by_hand else 1), 0
    losses, norms = [], []
    for i, xs in enumerate(data):
        for request in requests.get(i, []):
            control.ask(*request)
        if clear == "first" and seen == 0:
            optimizer.zero_grad()
        for x in xs:
            loss = model(x).square().mean()
            (loss / length if by_hand else loss).backward()
        losses.append(float(loss.detach()))
        seen += 1
        if by_hand and seen < length:
            schedule.step()
            continue
        if clip:
            norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), clip)))
        optimizer.step()
        schedule.step()
        if clear == "after":
            optimizer.zero_grad(set_to_none=True)
        elif clear == "alone":
            for p in model.parameters():
                p.grad = None
        seen = 0
        length = next(rounds, length) if by_hand else 1
    return (digest(model), losses[:20]) + ((norms,) if clip else ())

plain = train(120)
pairs = train(120, [1, 1] + [2] * 59)
for clear in ("first", "after", "alone"):
    with watched("optimizer.accumulation=2"):
        got = train(120, clear=clear)
    print("pairs", clear, got == pairs, got != plain)
fours = train(122, [1, 1] + [4] * 30, clip=100.0)
with watched("optimizer.accumulation=4"):
    got = train(122, clear="after", clip=100.0)
    print("fours", got[:2] == fours[:2], got[2][:2] + got[2][5::4] == fours[2])
own = train(122, [1, 1] + [4] * 30, own=2, clip=100.0)
with watched("optimizer.accumulation=4"):  # sums are made in another order
    got = train(122, clear="after", own=2, clip=100.0)
    print("own", all(abs(a - b) < 1e-4 for a, b in zip(got[2][5::4], own[2][2:])))
by_hand = train(400, [1] * 51 + [2] * 50 + [4] * 30 + [1] * 129)
with watched() as control:
    ask = {20: [["optimizer.accumulation=2", 50]], 100: [["optimizer.accumulation=4", 150]],
           200: [["optimizer.accumulation=1", 270]]}
    print("asked", train(400, requests=ask, control=control) == by_hand)
with watched() as control:
    closure = lambda: torch.ones(())
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)
    control.ask("optimizer.accumulation=2")
    for i in range(3):
        optimizer.step(closure)
with watched() as control:
    two = [torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1) for i in range(2)]
    control.ask("optimizer.accumulation=2")
    for i in range(3):
        two[0].step(); two[1].step()
"""
)


def in_one(job, text, **more):
    """Lines of loops in one process, and its rings, the oldest first."""
    status, out, err = job.script(text % (SHIM, HERE), PYTHONPATH=None, **more)
    assert (status, err) == (0, ""), err
    return [line.split() for line in out.splitlines()]


@needs_torch
def test_accumulation_is_what_one_writes_by_hand(job):
    lines = in_one(job, ACCUMULATES)
    assert [line[0] for line in lines] == ["pairs"] * 3 + ["fours", "own", "asked"]
    assert all(word != "False" for line in lines for word in line), lines
    *started, asked, closure, two = job.rings()
    assert all("knob.optimizer.accumulation=2" in r.notes for r in started[:3])
    assert all("batch: accumulation 2" in r.notes for r in started[:3])
    assert [(s["outcome"], s["before_step"]) for s in asked.switches] == [
        (DONE, 51), (DONE, 151), (DONE, 271)
    ]
    why = "switch.1=the optimizer computes gradients itself (step() is given a closure)"
    assert why in closure.notes and closure.switches[0]["outcome"] == REFUSED
    assert "switch.1=the job has several optimizers" in two.notes

CASTS = (
    LOOPS
    + """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(8, 16), torch.nn.Linear(16, 1)
        self.seen = []
    def forward(self, x):
        y = self.first(x)
        self.seen.append(str(y.dtype)[6:] if self.training else "held out " + str(y.dtype)[6:])
        return {"y": self.last(torch.tanh(y)), "all": (y, 1)}

def train(steps, requests={}, control=None, own=False, half=False):
    torch.manual_seed(1)
    model = Net().bfloat16() if half else Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    kinds = []
    for i, x in enumerate(torch.randn(steps, 4, 8)):
        for request in requests.get(i, []):
            control.ask(*request)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=own):
            out = model(x.bfloat16() if half else x)
        kinds.append(str(out["y"].dtype)[6:])
        loss = torch.nn.functional.mse_loss(out["y"].float(), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        model.eval()(x.bfloat16() if half else x)
    print(*(k for i, k in enumerate(model.seen) if not i or model.seen[i - 1] != k))
    print(*set(kinds))
    return digest(model), float(loss.detach())

plain = train(100)
with watched() as control:
    half = train(200, {10: [["autocast=bf16", 20]], 30: [["autocast=none", 120]],
                       130: [["autocast=fp16"]]}, control)
print(abs(half[1] - train(200)[1]) < 0.02)
for how in (dict(own=True), dict(half=True)):
    with watched() as control:
        train(100, {10: [["autocast=bf16"]]}, control, **how)
with watched("autocast=bf16;threads.intra=1"):
    train(10)

from brim_torch.settings import change, scaling
scaling.GROWTH = 100
LOUD, LOOKS = (20, 21), (4, 19, 20, 21, 120, 122, 199)
torch.manual_seed(2)
data = torch.randn(200, 2, 4)

def twins(scaled):
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, x in enumerate(data):
        if i == 5 and scaled:
            loop = shim.installed[0].loop
            scaled.append(scaling.Scaling(loop, optimizer))
            change.of(loop).scaling = scaled[-1]
        if scaled or i not in LOUD:
            loss = (model(x) - x.prod(1, keepdim=True)).square().mean()
            loss.mul(1e36 if i in LOUD else 1).backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9)
            optimizer.step()
            optimizer.zero_grad()
        if i in LOOKS:
            yield digest(model), norm if i not in LOUD else 0, scaled[-1].scale if scaled[1:] else 1
    if scaled:
        yield len(model.weight._backward_hooks)

with watched():
    *found, hooks = twins([True])
for i, a, b in zip(LOOKS, found, twins([])):
    print(i, a[:2] == b[:2], a[2])
with watched():
    for hooks in twins([True]):
        pass
print(hooks)
"""
)


@needs_torch
def test_autocast(job):
    lines = in_one(job, CASTS)
    single, half = "float32", "bfloat16"
    held_out = ["held", "out", single]
    assert lines[:2] == [[single, *held_out], [single]]
    assert lines[2:4] == [[single, half, single, *held_out], [single]]  # and back
    assert lines[4:7] == [[single, *held_out], [single], ["True"]]
    assert lines[7:9] == [[half, *held_out], [half]]  # the job's own
    assert lines[9:11] == [[half, "held", "out", half], [half]]
    assert lines[11:13] == [[single, half, *held_out], [single]]
    scales = {line[0]: line[1:] for line in lines[13:-1]}
    assert all(line[0] == "True" for line in scales.values()), scales
    found = [float(scales[i][1]) for i in ("19", "20", "21", "120", "122", "199")]
    assert found == [65536, 32768, 16384, 16384, 32768, 32768]
    assert lines[-1] == ["1"]
    asked, own, model, at_start = job.rings()[:4]
    assert [(s["outcome"], s["before_step"]) for s in asked.switches[:2]] == [
        (DONE, 21), (DONE, 121)
    ]
    assert "switch.3=fp16 is for GPUs, on a CPU it is bf16" in asked.notes
    assert "switch.1=the job uses autocast itself" in own.notes
    assert any(n.startswith("precision: autocast own, tf32 ") for n in own.notes)
    assert "switch.1=the model is in half precision already" in model.notes
    assert "knob.autocast=bf16" in at_start.notes
    assert any(n.startswith("precision: autocast bf16, tf32 ") for n in at_start.notes)


# One of two ranks over gloo, through several jobs in a row.
RANKS = (
    LOOPS
    + """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
warnings.simplefilter("default")
dist.init_process_group("gloo")
rank = dist.get_rank()

@contextlib.contextmanager
def watched(settings="", file=None):
    os.environ["BRIM_KNOBS"] = settings
    shim.install(torch)
    try:
        yield
    finally:
        shim.uninstall()
        made = "rank-%%d-%%d.ring" %% (rank, os.getpid())
        done = len([n for n in os.listdir(".") if n.startswith("rank-%%d-0" %% rank)])
        os.rename(made, "rank-%%d-0%%d.ring" %% (rank, done))

def train(calls, rounds=None, hook=None, late=None, control=None, requests={}, conv=False):
    torch.manual_seed(1)
    inner = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    if conv:
        inner = torch.nn.Sequential(
            torch.nn.Unflatten(0, (-1, 1)), torch.nn.Unflatten(2, (4, -1)),
            torch.nn.Conv2d(1, 8, 3), torch.nn.Conv2d(8, 4, 2), torch.nn.Flatten())
    model = DistributedDataParallel(inner)
    if hook:
        model.register_comm_hook(None, hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    torch.manual_seed(100 + rank)
    data = iter(torch.randn(calls, 4, 64))
    step = 0
    for length in rounds or [1] * calls:
        optimizer.zero_grad()
        for i in range(length):
            if control and step in requests:
                control.ask(*requests[step])
            if late and step == 5:
                late(model)
            step += 1
            with model.no_sync() if i + 1 < length else contextlib.nullcontext():
                (model(next(data)).square().mean() / length).backward()
        optimizer.step()
    return digest(model)

def tell(*what):
    print(*what, flush=True)

plain = train(40)
with watched("ddp.bucket_cap_mb=1;ddp.gradient_as_bucket_view=yes;ddp.static_graph=yes"):
    tell("same", train(40) == plain)
half = train(40, hook=default_hooks.fp16_compress_hook)
with watched("ddp.comm_hook=fp16"):
    tell("hook", train(40) == half != plain)
with watched("ddp.comm_hook=fp16"):
    tell("own", train(40, hook=default_hooks.allreduce_hook) == plain)
calls = []
def counted(state, bucket):
    calls.append(bucket)
    return default_hooks.allreduce_hook(None, bucket)
with watched("ddp.comm_hook=fp16"):
    train(40, late=lambda model: model.register_comm_hook(None, counted))
    tell("late", len(calls) == 35)
with watched("ddp.comm_hook=powersgd;autocast=bf16"):
    tell("refused", train(40) != plain)
pairs = train(120, [1, 1] + [2] * 59)
with watched("optimizer.accumulation=2"):
    tell("pairs", train(120) == pairs)
with watched("channels_last=yes"):
    train(20, conv=True)
control = ControlFile(os.environ["BRIM_RING"]) if rank == 0 else None
dist.barrier()
with watched():
    asked = {10: ["threads.intra=2", 200], 220: ["optimizer.accumulation=2"]}
    train(300, control=control, requests=asked)
    tell("threads", torch.get_num_threads())
dist.destroy_process_group()
"""
)


@needs_torch
def test_two_ranks(job):
    path = os.path.join(job.folder, "job.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(RANKS % (SHIM, HERE))
    said = ranks(job, 2, path, PYTHONPATH=None)
    assert said[0] == said[1]
    lines = [line.split() for line in said[0].splitlines()]
    assert [line[0] for line in lines] == "same hook own late refused pairs threads".split()
    assert [line[1] for line in lines] == ["True"] * 6 + ["2"], lines
    for rank in range(2):
        rings = [Ring(p) for p in sorted(glob.glob(f"{job.folder}/rank-{rank}-0*.ring"))]
        same, hook, own, late, refuse, pairs, flat, asked = rings
        for setting in ("bucket_cap_mb=1", "gradient_as_bucket_view=yes", "static_graph=yes"):
            assert "knob.ddp." + setting in same.notes
        assert "ddp: bucket 1, view yes, static yes, hook none" in same.notes
        assert "knob.ddp.comm_hook=fp16" in hook.notes
        assert any(re.match(r"gradients: bytes [1-9]\d+$", n) for n in hook.notes)
        assert "ddp: bucket 25, view no, static no, hook fp16" in hook.notes
        lost = "knob.ddp.comm_hook.refused=the job registers a hook of its own"
        assert lost in own.notes and lost in late.notes
        assert "ddp: bucket 25, view no, static no, hook own" in own.notes
        why = "knob.ddp.comm_hook.refused=PowerSGD needs NCCL: with gloo, torch's own aborts"
        assert why in refuse.notes and "knob.autocast=bf16" in refuse.notes
        assert "knob.optimizer.accumulation=2" in pairs.notes
        why = "knob.channels_last.refused=the model's input has not 4 dimensions"
        assert why in flat.notes
        first, second = asked.switches
        assert (first["outcome"], first["before_step"]) == (DONE, 201)
        assert second["outcome"] == REFUSED
        assert any(n.startswith("switch.2=all ranks have to count alike") for n in asked.notes)


MODELS = (
    LOOPS
    + """
import io, types
seen = io.StringIO()
with contextlib.redirect_stderr(seen), watched("threads.intra=7;ddp.bucket_cap_mb=x"):
    pass
print(torch.get_num_threads(), seen.getvalue(), end="")

class Views(torch.nn.Module):
    def __init__(self, how):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.drop = torch.nn.Dropout(0.5)
        self.head, self.how = torch.nn.Linear(8 * 36, 1), how
    def forward(self, x):
        y = self.drop(self.norm(self.conv(x)))
        return self.head(y.view(y.shape[0], -1) if self.how == "view" else y.flatten(1))

def train(how, calls=12):
    torch.manual_seed(1)
    if how == "flat":
        model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 1))
    else:
        model = Views(how)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = torch.utils.data.DataLoader(torch.randn(calls, 2, 3, 8, 8), batch_size=None)
    for x in loader:
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    last = torch.channels_last
    return digest(model), any(
        p.dim() == 4 and p.is_contiguous(memory_format=last) for p in model.parameters())

plain, views = train("flatten"), train("view")
with watched("channels_last=yes;threads.inter=3"):
    got = train("flatten")
    torch.set_num_interop_threads(5)
    print(got[1] and not plain[1], torch.get_num_interop_threads())
with watched("channels_last=yes"):
    print(train("view") == views)
with watched("channels_last=yes;compile=yes;cuda.tf32=yes;cudnn.benchmark=yes;ddp.comm_hook=fp16"):
    train("flat")
calls = []
def compiles(self):
    torch.compile(self)
    calls.append(self)
torch.compile, torch.nn.Module.compile = lambda model: model, compiles
sys.modules["torch._dynamo"] = torch._dynamo = types.ModuleType("torch._dynamo")
torch._dynamo.config = types.SimpleNamespace(suppress_errors=False)
with watched("compile=yes;autocast=bf16"):
    print(train("flatten") == plain, len(calls), torch._dynamo.config.suppress_errors)
del torch.nn.Module.compile
torch.cuda.amp.grad_scaler.amp_definitely_not_available = lambda: False
with watched("optimizer.accumulation=2"):
    torch.cuda.amp.GradScaler()
    print(train("flat") == train("flat"))
"""
)


@needs_torch
def test_settings_with_commas_are_refused_in_words(job):
    lines = in_one(
        job,
        LOOPS
        + """
sys.stderr = sys.stdout
with watched("loader.workers=2,loader.prefetch=2"):
    pass
""",
    )
    why = "settings stand with ; between, not with a comma as in 'loader.workers=2,loader.pre"
    assert " ".join(lines[0]).startswith(f"brim: BRIM_KNOBS sets nothing ({why}")


@needs_torch
def test_settings_of_the_start_in_one_process(job):
    lines = in_one(job, MODELS)
    why = "brim: BRIM_KNOBS sets nothing (ddp.bucket_cap_mb takes 1 to 65536, not 'x')"
    assert " ".join(lines[0]) == f"1 {why}; the job goes on without it"
    assert lines[1:] == [["True", "3"], ["True"], ["True", "1", "True"], ["True"]]
    turned, views, flat, compiled, scaled = job.rings()
    assert {"knob.channels_last=yes", "knob.threads.inter=3"} <= set(turned.notes)
    assert "torch: compile no, channels-last yes" in turned.notes
    said = [n for n in views.notes if n.startswith("knob.")]
    fails = "knob.channels_last.refused=the forward pass fails with it: view size is not compatible"
    assert len(said) == 1 and said[0].startswith(fails)
    assert [re.sub(r"torch [\w.+]+ ", "torch X ", n) for n in flat.notes if "refused" in n] == [
        "knob.channels_last.refused=the model has no convolutions over 2 dimensions",
        "knob.compile.refused=torch X cannot compile a model in its place",
        "knob.cuda.tf32.refused=no CUDA device is in use",
        "knob.cudnn.benchmark.refused=no CUDA device is in use",
        "knob.ddp.refused=the job has made no DistributedDataParallel",
    ]
    assert "knob.compile=yes" in compiled.notes
    assert "torch: compile yes, channels-last no" in compiled.notes
    assert "knob.autocast.refused=the model's forward passes are not hooked" in compiled.notes
    lost = "knob.optimizer.accumulation.refused=the job scales its gradients (GradScaler)"
    assert lost in scaled.notes
