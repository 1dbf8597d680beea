"""The PyTorch shim on whole jobs: it changes nothing, and its marks are right."""

import concurrent.futures
import contextlib
import glob
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

import warm

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHIM = os.path.join(ROOT, "plugins", "torch")
EXAMPLES = os.path.join(ROOT, "examples")
DUMP = os.environ.get("RING_DUMP")
STAGES = "other wait copy forward backward communication optimizer checkpoint".split()


def has_torch():
    return importlib.util.find_spec("torch") is not None


pytestmark = [
    pytest.mark.skipif(not DUMP, reason="RING_DUMP, the program, is not set"),
    pytest.mark.skipif(not has_torch(), reason="torch is not installed (Debian: python3-torch)"),
]


class Ring:
    """What ring_dump says of one ring."""

    def __init__(self, path, *options):
        said = subprocess.run([DUMP, path, *options], capture_output=True, encoding="utf-8")
        assert said.returncode == 0, said.stderr
        lines = [json.loads(line) for line in said.stdout.splitlines()]
        self.head, self.end = lines[0], lines[-1]
        self.steps = [line for line in lines if "step" in line]
        self.notes = [line["note"] for line in lines if "note" in line]
        self.values = [(line["name"], line["value"]) for line in lines if "name" in line]
        self.switches = [line for line in lines if "switch" in line]

    def share(self, stage, first=1):
        steps = self.steps[first:]
        return sum(s[stage] for s in steps) / sum(seconds(s) for s in steps)


def seconds(step):
    return (step["end_ns"] - step["begin_ns"]) * 1e-9


class Job:
    """Starts processes of Python: cold ones as a user does, others by warm.py."""

    def __init__(self, folder, **always):
        self.folder = str(folder)
        self.always = always

    def environment(self, shim=True, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "PYTHON"))}
        env["BRIM_LIB"] = os.environ.get("BRIM_LIB", "")
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        if shim:
            env.update(BRIM_RING=self.folder, PYTHONPATH=SHIM)
        env.update(self.always)
        env.update(more)
        return {k: v for k, v in env.items() if v is not None}

    def start(self, *command, cold=False, **more):
        env = self.environment(**more)
        if not cold and not command[0].startswith("-"):
            return warm.start(command, env, self.folder)
        return subprocess.Popen(
            [sys.executable, *command],
            env=env,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(self, *command, **more):
        process = self.start(*command, **more)
        out, err = process.communicate(timeout=900)
        return process.returncode, out, err

    def example(self, name, *arguments, **more):
        status, out, err = self.run(os.path.join(EXAMPLES, name), *arguments, **more)
        assert status == 0, err
        assert "brim:" not in err, err
        return out

    def script(self, text, *options, **more):
        path = os.path.join(self.folder, "job.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return self.run(*options, path, **more)

    def rings(self, *options):
        return [Ring(p, *options) for p in sorted(glob.glob(self.folder + "/rank-*.ring"))]

    def ring(self, *options):
        found = self.rings(*options)
        assert len(found) == 1, os.listdir(self.folder)
        return found[0]


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """untouched(example, arguments): its results without the shim, from one run."""
    known = {}

    def run(*command):
        if command not in known:
            one = Job(tmp_path_factory.mktemp("untouched"))
            known[command] = results(one.example(*command, "--hash", shim=False))
        return known[command]

    return run


@pytest.fixture(params=["extension", "python"])
def each(tmp_path, request):
    """A job with the hooks of the extension, and one with those in Python."""
    folders = os.environ.get("BRIM_LIB", "").split(":")
    built = any(os.path.exists(os.path.join(f, "brim_mark.abi3.so")) for f in folders)
    if request.param == "extension" and not built:
        pytest.skip("brim_mark.abi3.so was not built here")
    return Job(tmp_path, BRIM_SINK=request.param)


def results(out):
    """What a job prints, but for its speed."""
    assert "hash " in out
    return re.sub(r", [\d.]+ steps/s", "", out)


@contextlib.contextmanager
def held_port():
    """A port that nobody else is given: bound here, so that who reuses addresses can listen."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", 0))
        yield str(s.getsockname()[1])


def end_of_ranks(started, timeout):
    """What each process prints. When one fails, the others, which wait for it, are killed."""
    with concurrent.futures.ThreadPoolExecutor(len(started)) as pool:
        said = {pool.submit(p.communicate, timeout=timeout): p for p in started}
        for done in concurrent.futures.as_completed(said):
            if said[done].returncode != 0:
                for process in started:
                    with contextlib.suppress(ProcessLookupError):
                        process.kill()
    said = [done.result() for done in said]
    assert all(p.returncode == 0 for p in started), said
    assert not any("brim:" in err for _, err in said), said
    return [out for out, _ in said]


def ranks(job, world, *command, timeout=900, **more):
    """What each rank of a job prints."""
    with held_port() as port:
        group = dict(WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT=port, **more)
        started = [job.start(*command, RANK=str(rank), **group) for rank in range(world)]
        return end_of_ranks(started, timeout)


def train_ddp(job, world, *arguments, **more):
    return ranks(job, world, os.path.join(EXAMPLES, "train_ddp.py"), *arguments, **more)


EQUAL = [
    ("train_images.py", "--images", "128", "--validate"),
    ("train_images.py", "--images", "128", "--workers", "2", "--epochs", "2"),
    ("train_images.py", "--images", "128", "--accumulate", "4"),
    ("train_tokens.py", "--steps", "20"),
    ("train_loop_class.py",),
]


@pytest.mark.parametrize("command", EQUAL, ids=lambda c: "-".join(c)[6:])
def test_the_same_numbers_come_out(each, untouched, command):
    without = untouched(*command)
    assert results(each.example(*command, "--hash", cold=command is EQUAL[0])) == without
    ring = each.ring()
    assert ring.head["closed"] and ring.end["lost"] == 0
    assert len(ring.steps) == int(re.search(r"steps (\d+)", without).group(1))
    assert all(s["backwards"] == (4 if "--accumulate" in command else 1) for s in ring.steps)


@pytest.mark.parametrize("sink", ["extension", "library", "python"])
def test_every_way_of_marking(job, sink):
    want = {"extension": "brim_mark.abi3.so", "library": "libbrim-step.so"}.get(sink)
    folders = os.environ.get("BRIM_LIB", "").split(":")
    if want and not any(os.path.exists(os.path.join(f, want)) for f in folders):
        pytest.skip(f"{want} was not built here")
    how = dict(BRIM_SINK=sink, RANK="2", cold=True)
    job.example("train_images.py", "--images", "128", "--validate", **how)
    ring = job.ring()
    assert ring.head["rank"] == 2 and ring.head["closed"] and ring.end["lost"] == 0
    assert ring.head["framework"].startswith("torch ")
    assert len(ring.steps) == 8 and all(s["samples"] == 16 for s in ring.steps)
    assert ring.steps[0]["loss"] == pytest.approx(2.3, abs=0.2)
    assert ring.notes[0].startswith("loader 1: workers 0, batch 16, prefetch none, pin no")
    assert any(n.startswith("process: torch ") for n in ring.notes)
    for stage in ("wait", "forward", "backward", "optimizer", "other"):
        assert all(s[stage] > 0 for s in ring.steps[1:]), stage


def test_workers_hide_the_wait_and_write_nothing(job):
    job.example("train_images.py", "--images", "256", "--sleep-ms", "1", "--workers", "2")
    ring = job.ring()
    assert "loader 1: workers 2, batch 16, prefetch 2" in ring.notes[0]
    assert len(ring.steps) == 16


def test_stages_add_up_to_their_step(job):
    job.example("train_images.py", "--images", "320")
    steps = job.ring().steps
    assert len(steps) == 20
    for s in steps:
        assert sum(s[stage] for stage in STAGES) == pytest.approx(seconds(s), abs=1e-8)
    for a, b in zip(steps, steps[1:]):
        assert a["end_ns"] == b["begin_ns"]


DEVICE_LOSS = """
import types, torch
from unittest import mock
from brim_torch.marks import cuda, loop as loops

told, notes, events = [], [], []

class Event:
    def __init__(self):
        self.over = False
        events.append(self)
    def record(self):
        self.over = False
    def query(self):
        return self.over

here = types.SimpleNamespace(device=None, capturing=False)
stub = types.SimpleNamespace(
    Tensor=torch.Tensor, float32=torch.float32,
    empty=lambda shape, dtype, pin_memory: torch.empty(shape, dtype=dtype),
    cuda=types.SimpleNamespace(
        Event=Event, current_device=lambda: here.device,
        is_current_stream_capturing=lambda: here.capturing,
    ),
)
loop = types.SimpleNamespace(
    torch=stub, tensor=torch.Tensor, tell=notes.append, sink=types.SimpleNamespace(loss=told.append)
)
loss = cuda.Loss(loop)
def fetch(value, **how):
    loss.fetch(torch.tensor(value, requires_grad=True, **how) * 1)
fetch(2.5)
fetch([1.5], dtype=torch.float64)
loss.collect()
assert told == [] and len(events) == 2, told  # nothing waits
events[0].over = True
loss.collect()
assert told == [2.5], told
events[1].over = True
loss.collect()
assert told == [2.5, 1.5], told
fetch(3.5)
assert len(events) == 2  # used again
here.capturing = True
fetch(9.0)
here.capturing, here.device = False, 1
fetch(9.0)  # another device's
here.device = None
loss.fetch(torch.nn.Parameter(torch.tensor(9.0)))  # no plain tensor
for each in events:
    each.over = True
loss.collect()
assert told == [2.5, 1.5, 3.5] and notes == [], (told, notes)
for _ in range(20):
    fetch(4.0)
assert len(events) == len(loss.pending) == cuda.LOSSES
def broken(*a):
    raise RuntimeError("no copy")
loss.pending.clear()
stub.cuda.current_device = broken
fetch(5.0)
fetch(5.0)
assert len(notes) == 1 and "no copy" in notes[0], notes

# The loop gives what is not of the CPU to it.
seen = []
real = loops.make(torch, mock.Mock(loss=told.append, State=None), notes.append)
told.clear()
real.read_loss(torch.empty((), device="meta"))
real.fetch = seen.append
real.read_loss(torch.empty((), device="meta"))
real.read_loss(torch.empty(2, device="meta"))
real.read_loss(torch.tensor(7.0))
assert len(seen) == 1 and told == [7.0], (seen, told)
print("right")
"""


def test_the_loss_of_a_device_is_told_when_its_copy_has_come(job):
    """By stand-ins: there is no device here."""
    status, out, err = job.script(DEVICE_LOSS)
    assert (status, out) == (0, "right\n"), err


def test_validation_is_no_data_of_a_step(each):
    """Neither below no_grad(), nor where nothing tells but that no backward pass follows."""
    each.example("train_images.py", "--images", "128", "--validate")
    each.example("train_loop_class.py", "--samples", "128", RANK="1")
    images, trainer = each.rings()
    assert [s["samples"] for s in images.steps] == [16] * 8
    assert sum(s["samples"] or 0 for s in trainer.steps) == 256


def test_ddp(each):
    without = train_ddp(each, 3, "--hash", shim=False)
    with_shim = train_ddp(each, 3, "--hash")
    assert list(map(results, with_shim)) == list(map(results, without))
    rings = each.rings()
    assert [r.head["rank"] for r in rings] == [0, 1, 2]
    assert all(r.head["world"] == 3 for r in rings)
    assert any(n == "group: backend gloo, world 3" for n in rings[0].notes)


def test_checkpoints(each):
    path = os.path.join(each.folder, "model.pt")
    each.example("train_images.py", "--images", "64", "--epochs", "3", "--save", path)
    steps = each.ring().steps
    assert [i for i, s in enumerate(steps) if s["checkpoint"] > 0] == [4, 8]


FORKS = """
import os, sys, threading, torch
def train():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(torch.ones(12, 4), batch_size=2):
        model(x).sum().backward()
        optimizer.step()
train()
pid = os.fork()
train()
if pid: os.waitpid(pid, 0)
"""

SPAWNS = """
import torch, torch.multiprocessing as mp
def train(rank):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(torch.ones(12, 4), batch_size=2):
        model(x).sum().backward()
        optimizer.step()
if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
"""

THREAD = """
import threading
def work():
    import torch
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(torch.ones(12, 4), batch_size=2):
        model(x).sum().backward()
        optimizer.step()
t = threading.Thread(target=work)
t.start(); t.join()
"""

ALONE = """
import torch
model = torch.nn.Linear(4, 1)
with torch.no_grad():
    for x in torch.utils.data.DataLoader(torch.ones(60, 4), batch_size=2):
        model(x)
"""


@pytest.mark.parametrize(
    "text, steps",
    [(FORKS, [6, 12]), (SPAWNS, [6, 6]), (THREAD, [6])],
    ids=["fork", "spawn", "thread"],
)
def test_each_process_has_a_ring(each, text, steps):
    status, _, err = each.script(text, cold=text is THREAD)
    assert (status, err) == (0, "")
    assert sorted(len(r.steps) for r in each.rings()) == steps


def test_without_an_optimizer_a_step_is_a_batch(each):
    status, _, err = each.script(ALONE)
    assert (status, err) == (0, "")
    ring = each.ring()
    assert "no optimizer steps: a step is a batch" in ring.notes
    assert len(ring.steps) >= 20 and ring.steps[5]["samples"] == 2


COLLECTS = """
import gc, torch
gc.disable()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(torch.utils.data.DataLoader(torch.ones(12, 4), batch_size=2)):
    if i in (0, 1, 3, 4):
        gc.collect()
    model(x).sum().backward()
    optimizer.step()
"""


def test_collections_of_garbage_are_counted_once_it_trains(each):
    status, _, err = each.script(COLLECTS)
    assert (status, err) == (0, "")
    values = each.ring().values
    pauses = [value for name, value in values if name == "gc_pause_s"]
    totals = [value for name, value in values if name == "gc.seconds"]
    assert len(pauses) == 2 and all(p > 0 for p in pauses), values
    assert totals == [pytest.approx(pauses[0]), pytest.approx(sum(pauses))]


LOOKS = """
import copy, inspect, pickle, sys, torch, weakref
optimizer_class = torch.optim.SGD
model = torch.nn.Linear(4, 1)
optimizer = optimizer_class(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
rates = []
for x in torch.utils.data.DataLoader(torch.ones(12, 4), batch_size=2):
    model(x).sum().backward()
    optimizer.step()
    schedule.step()
    rates.append(schedule.get_last_lr()[0])
print(["%.4f" % r for r in rates])
step, backward = optimizer_class.step, torch.autograd.backward
print([(f.__name__, f.__qualname__, f.__module__, bool(f.__doc__)) for f in (step, backward)])
print(inspect.signature(step), inspect.signature(backward))
print(inspect.signature(optimizer_class(model.parameters(), lr=1).step))
print(inspect.signature(model), inspect.getdoc(backward)[:30])
print(step.hooked, inspect.isroutine(step), callable(step), weakref.ref(step)() is step)
print([copy.copy(f) is f and copy.deepcopy(f) is f for f in (step, backward)])
print(pickle.loads(pickle.dumps(backward)) is backward)
bound = copy.deepcopy(optimizer_class(model.parameters(), lr=1)).step
print(bound.__self__.__class__, bound.__func__ is step, step.__get__(None, int) is step)
class Own(optimizer_class):
    def step(self, closure=None):
        if closure: closure()
        return super().step(closure)
def fails():
    raise KeyError("in a closure")
own = Own(model.parameters(), lr=0.1)
try:
    own.step(fails)
except KeyError as e:
    print(repr(e), e.__context__)
print(own.step(lambda: model(x).sum().backward()))
"""


def test_what_is_hooked_looks_as_before(each):
    with_shim = each.script(LOOKS)
    assert with_shim == each.script(LOOKS, shim=False)
    assert with_shim[0] == 0
    assert len(each.ring().steps) >= 6


FREE_THREADED = """
import sys
from brim_torch.marks import ring
print(hasattr(ring.choose("extension"), "Hook"))
sys.abiflags = "t"
print(type(ring.choose("extension")).__name__)
"""


def test_a_python_without_the_lock_gets_no_extension(each):
    status, out, err = each.script(FREE_THREADED, cold=True)
    assert (status, out, err) == (0, "True\nPythonRing\n", "")


@pytest.mark.parametrize("sink", ["extension", "python"])
def test_a_job_that_is_killed(job, sink):
    process = job.start(
        os.path.join(EXAMPLES, "train_images.py"), "--epochs", "1000", BRIM_SINK=sink
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if job.rings() and len(job.ring().steps) > 20:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    ring = job.ring("--ended")
    assert not ring.head["closed"] and ring.end["lost"] <= 1
    assert len(ring.steps) > 20
