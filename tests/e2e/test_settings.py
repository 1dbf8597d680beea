"""What the settings of brim do to a PyTorch job, one process or two ranks: the same as what one
writes by hand, or a refusal in words."""

import glob
import os
import re

import pytest

from test_shim import SHIM, Ring, has_torch, job, ranks  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
DONE, REFUSED = range(2)

needs_torch = pytest.mark.skipif(
    not os.environ.get("RING_DUMP") or not has_torch(), reason="torch or RING_DUMP is missing"
)

# Loops in one process, each with a shim of its own; what they print is compared.
LOOPS = """
import contextlib, glob, hashlib, json, os, sys, warnings, torch
sys.path += [%r, %r]
import brim_torch.control
from brim_torch import shim
from control_file import ControlFile
brim_torch.control.LOOK_NS = 0  # 0: at each step, however fast these are
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
        for made in glob.glob("rank-0-%%d[-.]*ring" %% os.getpid()):
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
        (made,) = glob.glob("rank-%%d-%%d[-.]*ring" %% (rank, os.getpid()))
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
for owner in (torch, torch.nn.Module):  # as before torch 2
    if "compile" in owner.__dict__:
        del owner.compile
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
torch._dynamo.graph_break = lambda: None  # optimizers of torch 2 call it
with watched("compile=yes;autocast=bf16"):
    print(train("flatten") == plain, len(calls), torch._dynamo.config.suppress_errors)
del torch.nn.Module.compile
torch.cuda.amp.grad_scaler.amp_definitely_not_available = lambda: False
torch.cuda.is_available = lambda: True  # torch 2's asks, and warns
scaler = getattr(torch.amp, "GradScaler", None) or (lambda device: torch.cuda.amp.GradScaler())
with watched("optimizer.accumulation=2"):
    scaler("cuda")
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
