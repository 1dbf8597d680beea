"""What goes wrong in the PyTorch shim does not reach the job, and all of it can be taken off."""

import os
import re

import pytest

from test_shim import EXAMPLES, SHIM, each, job, pytestmark  # noqa: F401


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_python_that_ignores_the_environment(job, option):
    if option == "-S":  # then torch is not found either, but for the path
        text = "import sys; sys.path.append('/usr/lib/python3/dist-packages'); import os"
        status, out, err = job.script(text + "; print('fine')", option)
    else:
        status, out, err = job.run(option, os.path.join(EXAMPLES, "train_tokens.py"), "--hash")
        assert "hash" in out
    assert (status, err) == (0, ""), err
    assert job.rings() == []


def stub(job):
    """The path of a torch that nobody knows, and that takes no time to import."""
    folder = os.path.join(job.folder, "stub", "torch")
    os.makedirs(folder)
    with open(os.path.join(folder, "__init__.py"), "w", encoding="utf-8") as f:
        f.write("__version__ = '99.0'\ndef train():\n    return 'trained'\n")
    return SHIM + os.pathsep + os.path.dirname(folder)


@pytest.mark.parametrize("env", [{"BRIM_SHIM": "0"}, {"BRIM_RING": None}, {"BRIM_RING": ""}])
def test_it_can_be_switched_off(job, env):
    """Whichever torch is imported: see test_a_torch_that_is_not_known."""
    text = "import sys, torch\nprint([m for m in sys.modules if m.startswith('brim')])"
    status, out, err = job.script(text, PYTHONPATH=stub(job), cold=True, **env)
    assert (status, out, err) == (0, "[]\n", "")


def one_line(err):
    assert len(re.findall(r"^brim: .*; the job goes on without it$", err, re.M)) == 1, err


def test_a_ring_that_cannot_be_made(job):
    command = os.path.join(EXAMPLES, "train_tokens.py")
    status, out, err = job.run(command, "--steps", "5", BRIM_RING="/nonexistent/folder")
    assert status == 0 and "steps 5" in out
    one_line(err)
    assert "/nonexistent/folder" in err


def test_a_torch_that_is_not_known(job):
    """Internals renamed: one line, and the job runs."""
    text = "import torch\nprint(torch.train())"
    status, out, err = job.script(text, PYTHONPATH=stub(job), cold=True)
    assert (status, out) == (0, "trained\n")
    one_line(err)
    assert "99.0" in err and err.count("\n") == 1


RENAMED = """
import torch, sys
from torch.utils.data import DataLoader
class Loader(DataLoader):
    def _get_iterator(self):
        it = super()._get_iterator()
        del it._index_sampler
        return it
before = torch.utils.data.dataloader._BaseDataLoaderIter.__next__
print([int(x.sum()) for x in Loader(list(range(6)), batch_size=2)])
after = torch.utils.data.dataloader._BaseDataLoaderIter.__next__
print(before is not after, torch.save.__module__)
"""


def test_an_internal_that_changed_shows_in_the_loop(each):
    status, out, err = each.script(RENAMED)
    assert (status, out) == (0, "[1, 5, 9]\nTrue torch.serialization\n"), err
    one_line(err)


UNINSTALL = """
import gc, sys, torch
sys.path.insert(0, %r)
from brim_torch import shim
owners = [torch, torch.serialization, torch.autograd, torch.nn.Module, torch.nn.Linear,
    torch.nn.Sequential, torch.distributed, torch.distributed.distributed_c10d, torch.Tensor,
    torch.optim.SGD, sys.modules["torch.optim.optimizer"].Optimizer,
    torch.utils.data.dataloader._BaseDataLoaderIter, torch._C._distributed_c10d.Work,
    torch.nn.parallel.DistributedDataParallel]
def train():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(torch.ones(16, 4), batch_size=2):
        model(x).sum().backward()
        optimizer.step()
train()
before = [dict(o.__dict__) for o in owners] + [list(gc.callbacks)]
shim.install(torch)
train()
between = [dict(o.__dict__) for o in owners] + [list(gc.callbacks)]
shim.uninstall()
after = [dict(o.__dict__) for o in owners] + [list(gc.callbacks)]
train()
changed = [o.__name__ for o, a, b in zip(owners, before, between) if a != b]
print(len(changed), all(
    a == b and all(b[k] is v for k, v in a.items()) for a, b in zip(before[:-1], after[:-1])))
print(before[-1] == after[-1] != between[-1])
"""


def test_everything_is_put_back(each):
    status, out, err = each.script(UNINSTALL % SHIM, PYTHONPATH=None)
    assert (status, err) == (0, "")
    assert out.split()[1:] == ["True", "True"] and int(out.split()[0]) >= 10, out
    assert len(each.ring().steps) == 8


@pytest.mark.parametrize("text", ["print('site ran')", "1 / 0", "import nothing_like_it"])
def test_the_users_sitecustomize_runs(job, text):
    folder = os.path.join(job.folder, "own")
    os.mkdir(folder)
    with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as f:
        f.write(text + "\n")
    script = "import sys\nm = sys.modules.get('sitecustomize')\nprint(m and m.__file__)"
    both = job.script(script, PYTHONPATH=SHIM + os.pathsep + folder, cold=True)
    alone = job.script(script, PYTHONPATH=folder, cold=True)
    assert both == alone
    assert both[0] == 0 and ("site ran" in both[1]) == ("print" in text)


COMPILES = """
import sys, torch
sys.path.insert(0, %r)
from brim_torch import shim
torch.compile = lambda model: model  # torch 1.13 has none
before = torch.nn.Module.__call__, torch.distributed.all_reduce
shim.install(torch)
print(torch.nn.Module.__call__ is before[0], torch.distributed.all_reduce is before[1])
model = torch.compile(torch.nn.Linear(4, 4))
print(torch.nn.Module.__call__ is before[0], torch.distributed.all_reduce is before[1])
"""


def test_what_is_compiled_is_left_alone(each):
    status, out, err = each.script(COMPILES % SHIM, PYTHONPATH=None)
    assert (status, out, err) == (0, "False False\nTrue True\n", "")


FAILS = """
import torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i):
        if i == 2: raise KeyError("sample two")
        return torch.ones(3)
for x in torch.utils.data.DataLoader(Data(), batch_size=1, num_workers=%d):
    pass
"""


@pytest.mark.parametrize("workers", [0, 1])
def test_the_users_exceptions_pass(each, workers):
    with_shim = each.script(FAILS % workers)
    without = each.script(FAILS % workers, shim=False)
    assert with_shim[:2] == without[:2] and with_shim[0] == 1
    assert with_shim[2].splitlines()[-1] == without[2].splitlines()[-1]
    assert "brim:" not in with_shim[2]
