"""Cases of loader_cases.py: files of the next batches."""

import os
import random
import tempfile
import time

import torch
from loader_job import Data, case, compare, simple
from torch.utils.data import DataLoader, Dataset, Sampler, Subset

COUNT = 96
FOLDER = []  # made when a case wants it


def folder():
    if not FOLDER:
        FOLDER.append(tempfile.TemporaryDirectory())
    return FOLDER[0].name


class Files(Dataset):
    """Names as torchvision's folders of images have them."""

    def __init__(self, names="samples", relative=False):
        self.root = folder()
        listed = []
        for i in range(COUNT):
            path = os.path.join(self.root, "%03d" % i)
            if not os.path.exists(path):
                with open(path, "wb") as f:
                    f.write(bytes([i % 251]) * 4096)
            listed.append((os.path.basename(path) if relative else path, i % 10))
        setattr(self, names, listed if names == "samples" else [path for path, _ in listed])
        self.read = lambda i: os.path.join(self.root, listed[i][0])

    def __len__(self):
        return COUNT

    def __getitem__(self, i):
        with open(self.read(i), "rb") as f:
            data = f.read()
        return torch.frombuffer(bytearray(data[:8]), dtype=torch.uint8).float(), i


class Draws(Files):
    """Which more workers would change."""

    def __getitem__(self, i):
        x, i = super().__getitem__(i)
        return x + random.random() + torch.rand(()), i


TURNS = {3: "readahead=4", 9: "readahead=0", 11: "readahead=2", 20: "readahead=7"}
MIXED = {3: "readahead=3", 5: "2", 9: "readahead=0", 11: "0", 14: "readahead=5", 16: "3"}


@case
def readahead():
    def given(job):
        generator = torch.Generator().manual_seed(3)
        loader = DataLoader(Draws(), batch_size=8, shuffle=True, generator=generator)
        for epoch in range(3):
            for n, batch in enumerate(loader):
                job.step(batch)
                if epoch == 1 and n == 5:
                    break
        return generator.get_state().sum().item()

    def stay(job):
        options = dict(num_workers=2, persistent_workers=True, shuffle=True)
        job.train(DataLoader(Files(), batch_size=8, **options))

    said = [simple(TURNS, data=Draws), simple(MIXED, data=Files), compare(TURNS, given)]
    said += [simple(TURNS, data=Files, num_workers=2), compare(TURNS, stay)]
    said += [simple(TURNS, data=lambda: Files("paths"), batch_size=7, drop_last=True)]
    said += [simple(TURNS, data=lambda: Subset(Files(relative=True), range(5, 90)), epochs=4)]
    said += [simple(TURNS, data=Files, batch_size=None)]
    return {
        "same": all(s["same"] for s in said),
        "told": [t for s in said for t in s["notes"] if "no readahead" in t],
        "said": [each for s in said for each in s["said"]],
    }


@case
def readahead_tells():
    """What is told is what is read next, once each, and not behind its time."""
    told, read = [], []
    advise = os.posix_fadvise

    def note(fd, *rest):
        told.append((os.path.basename(os.readlink("/proc/self/fd/%d" % fd)), len(read)))
        return advise(fd, *rest)

    class Slow(Files):
        def __getitem__(self, i):
            time.sleep(0.002)
            read.append("%03d" % i)
            return super().__getitem__(i)

    def run(job):
        del told[:], read[:]
        job.train(DataLoader(Slow(), batch_size=8, shuffle=True), 1)

    os.posix_fadvise = note
    try:
        said = compare({2: "readahead=3"}, run)
    finally:
        os.posix_fadvise = advise
    places = {name: at for at, name in enumerate(read)}
    said["once"] = len(told) == len({name for name, _ in told})
    said["ahead"] = sum(at <= places[name] <= at + 4 * 8 for name, at in told) - len(told)
    said["count"] = len(told)  # the first batch may be wanted before the thread has begun
    return said


@case
def readahead_refused():
    class Remembers(Sampler):
        at = 0

        def __init__(self):
            pass

        def __iter__(self):
            for self.at in range(COUNT):
                yield self.at

    class Missing(Data):
        paths = ["/nonexistent/%d" % i for i in range(COUNT)]

    from brim_torch.loader import resource_limits

    plan = {3: "readahead=4"}
    said = [simple(plan), simple(plan, data=Missing)]
    said += [simple(plan, data=Files, shuffle=None, sampler=Remembers())]
    free, resource_limits.free_memory = resource_limits.free_memory, lambda: 1 << 18
    said += [simple(plan, data=Files)]
    resource_limits.free_memory = free
    said += [simple({3: "readahead=65"}, data=Files)]
    return {"same": all(s["same"] for s in said), "said": [s["said"][0] for s in said]}
