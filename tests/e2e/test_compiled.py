"""What torch.compile makes is marked from outside, and nothing that the compiler looks into is
hooked. The compiler stands in for torch's own: it keeps what it was given, as torch's does, and
the model says what it finds of brim's within it."""

import pytest

from test_shim import SHIM, each, job, pytestmark  # noqa: F401

MAKES = """
import functools, sys, torch
sys.path.insert(0, %r)
from torch import nn

class OptimizedModule(nn.Module):
    def __init__(self, model):
        super().__init__()
        self._orig_mod = model
        self.call = model.__call__
    def __call__(self, *args):
        return super().__call__(*args)
    def forward(self, *args):
        return self.call(*args)

def take_away():  # what torch 2.1 holds for its own wrapper: it knows that by an attribute
    for cls in (torch.optim.SGD,):
        found.append(getattr(cls.step, "_brim", False))
        if getattr(cls.step, "hooked", False):
            cls.step = cls.step.__wrapped__
        cls.step.hooked = True

found = []
def compile(model=None, **options):
    if model is None:
        return lambda model: torch.compile(model, **options)
    if not found:
        take_away()
    if isinstance(model, nn.Module):
        return OptimizedModule(model)
    @functools.wraps(model)
    def compile_wrapper(*args):
        return model(*args)
    compile_wrapper._torchdynamo_inline = model
    return compile_wrapper

torch.compile = compile
plain = nn.Module.__call__
from brim_torch import shim
shim.install(torch)
hooked = []

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
    def forward(self, x):
        hooked.append(nn.Linear.__call__ is not plain)
        hooked.append(WITHIN and Layer.__call__ is not plain)
        return self.linear(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x):
        hooked.append(WHOLE and Model.__call__ is not plain)
        return self.layer(x)

if sys.argv[2:] == ["fails"]:
    from brim_torch.marks import compiled
    compiled.Compiled.caller = lambda self: 1 / 0
model = Model()
loss = nn.MSELoss()
target = torch.zeros(2, 4)
kind = sys.argv[1]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
WHOLE, WITHIN = kind in ("model", "decorator"), kind != "layer"
call = lambda x: loss(model(x), target)
if kind == "model":
    model = torch.compile(model)
elif kind == "forward":
    model.forward = torch.compile(model.forward)
elif kind == "layer":  # in its place, as Module.compile() does
    torch.compile(model.layer._call_impl)
elif kind == "layers":
    model.layer = torch.compile(model.layer)
elif kind == "decorator":
    call = torch.compile(fullgraph=True)(call)
for x in torch.utils.data.DataLoader(torch.ones(24, 4), batch_size=2):
    call(x).backward()
    optimizer.step()
    optimizer.zero_grad()
print(len(hooked) > 0, any(hooked), any(found))
print("compile" if shim.installed else "gone")
"""


@pytest.mark.parametrize("kind", ["none", "model", "forward", "layer", "layers", "decorator"])
def test_it_is_marked_from_outside(each, kind):
    with open(each.folder + "/compiled.py", "w", encoding="utf-8") as f:
        f.write(MAKES % SHIM)
    status, out, err = each.run(each.folder + "/compiled.py", kind, PYTHONPATH=None)
    inside = "True" if kind == "none" else "False"
    assert (status, out, err) == (0, "True %s False\ncompile\n" % inside, "")
    ring = each.ring()
    assert len(ring.steps) == 12
    assert all(s["forward"] > 0 for s in ring.steps[1:]), ring.steps
    assert ("torch: compile yes" in ring.notes) == (kind != "none")
    compiled = [n for n in ring.notes if n.startswith("torch: compile ")][-1]
    assert compiled.startswith("torch: compile " + ("no" if kind == "none" else "yes"))


@pytest.mark.parametrize("kind", ["model", "layer", "decorator"])
def test_a_look_that_fails_does_not_reach_the_job(each, kind):
    with open(each.folder + "/compiled.py", "w", encoding="utf-8") as f:
        f.write(MAKES % SHIM)
    status, out, err = each.run(each.folder + "/compiled.py", kind, "fails", PYTHONPATH=None)
    assert (status, out) == (0, "True False False\ncompile\n"), err
    assert err.count("\n") == 1 and "the job goes on without it" in err, err
