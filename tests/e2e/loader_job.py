"""What the cases of loader_cases.py share: a loop that trains, requests at the ends of its steps,
and the comparison of an untouched run with one that is changed."""

import gc
import hashlib
import os
import random
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

try:
    from brim_torch import shim
    from brim_torch.loader import workers
    from brim_torch.refused import Refused
except ImportError:  # an untouched run
    shim = workers = None

PARENT = os.getpid()
CASES = {}
NOTES = []
UP = {3: "4", 9: "2", 13: "0", 17: "3"}


def case(function):
    CASES[function.__name__] = function
    return function


class Data(Dataset):
    """Sample i is made of i alone."""

    def __init__(self, count=96):
        self.x = torch.randn(count, 8, generator=torch.Generator().manual_seed(5))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i] * 2, i


def all_tensors(batch):
    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, dict):
        for each in batch.values():
            yield from all_tensors(each)
    elif isinstance(batch, (list, tuple)):
        for each in batch:
            yield from all_tensors(each)
    elif hasattr(batch, "__dict__"):
        yield from all_tensors(vars(batch))


class Job:
    """A loop that trains on whatever the loaders yield."""

    def __init__(self):
        torch.manual_seed(1), random.seed(1), numpy.random.seed(1)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1)
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.hash = hashlib.sha256()
        self.steps = 0
        self.before_step = {}

    def step(self, batch):
        self.steps += 1
        for tensor in all_tensors(batch):
            self.hash.update(tensor.numpy().tobytes())
        floats = [t for t in all_tensors(batch) if t.is_floating_point()]
        loss = self.model(floats[0].reshape(-1, 8)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        if self.steps in self.before_step:
            self.before_step[self.steps]()
        self.optimizer.step()

    def train(self, loader, epochs=3, at_epoch=None):
        for epoch in range(epochs):
            if at_epoch:
                at_epoch(epoch)
            for batch in loader:
                self.step(batch)

    def train_and_fork(self, iterator, at):
        """One epoch; at a batch a copy of the process reads the rest. How the copy ended."""
        ends = []
        for n, batch in enumerate(iterator):
            if n == at:
                pid = os.fork()
                if not pid:
                    rest = sum(float(x.sum()) for x, _ in iterator)
                    os._exit(int(abs(rest) * 7) % 256)
                ends.append(os.waitpid(pid, 0)[1])
            self.step(batch)
        return ends

    def result(self):
        for name, value in sorted(self.model.state_dict().items()):
            self.hash.update(name.encode() + value.numpy().tobytes())
        self.hash.update(bytes(torch.get_rng_state().tolist()))
        self.hash.update(repr((random.getstate(), numpy.random.get_state()[1:3])).encode())
        return self.hash.hexdigest()


class Switches:
    """Asks at the ends of steps, as the control file does."""

    def __init__(self, plan):
        self.loop = shim.installed[0].loop
        self.plan = dict(plan)
        self.begun = self.loop.steps
        self.said = []
        self.took_ms = []
        self.loop.every_step = self.look
        note = self.loop.sink.note
        self.told = NOTES
        del NOTES[:]
        if not hasattr(self.loop, "test_note"):
            self.loop.test_note = note

            def tell(text):
                NOTES.append(text)

            original = workers.Loaders.tell
            workers.Loaders.tell = lambda loaders, text: (original(loaders, text), tell(text))

    def look(self):
        value = self.plan.pop(self.loop.steps - self.begun, None)
        if value is None:
            return
        if callable(value):
            self.said.append(value(self.loop))
            return
        for each in value.split(";"):
            name, _, number = each.rpartition("=")
            begun = time.perf_counter()
            try:
                workers.TARGETS["loader." + (name or "workers")](self.loop, number)
                self.said.append("done")
            except Refused as e:
                self.said.append(str(e))
            self.took_ms.append(round((time.perf_counter() - begun) * 1e3, 2))

    def end(self):
        self.loop.every_step = None


def children():
    pid = str(os.getpid())
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name, "rb") as f:
                fields = f.read().rpartition(b")")[2].decode().split()
        except (OSError, NotADirectoryError):
            continue
        if fields[1] == pid and fields[0] != "Z":
            found.append(int(name))
    return found


def compare(plan, run):
    """run(Job) both ways."""
    untouched = Job()
    extra = run(untouched)
    want, steps = untouched.result(), untouched.steps
    del untouched
    gc.collect()
    switches = Switches(plan)
    job = Job()
    extra_too = run(job)
    switches.end()
    workers_seen = len(children())
    gc.collect()
    return {
        "same": job.result() == want and extra == extra_too and job.steps == steps,
        "said": switches.said,
        "told": [t for t in switches.told if "as the job has it" in t],
        "notes": list(switches.told),
        "ms": switches.took_ms,
        "extra": repr(extra_too),
        "seen": workers_seen,
    }


def simple(plan=UP, data=Data, epochs=3, **options):
    options.setdefault("batch_size", 8)
    options.setdefault("shuffle", True)
    return compare(plan, lambda job: job.train(DataLoader(data(), **options), epochs))
