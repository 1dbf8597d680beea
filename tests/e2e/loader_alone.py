"""Runs of loader_cases.py that have a process of their own."""

import json
import os
import time

import torch
from loader_job import Data, Job, Switches, children, shim
from torch.utils.data import DataLoader, Dataset


def hash_alone():
    """The same numbers, from a process without the shim too."""
    job = Job()
    if shim is not None and shim.installed:
        Switches({3: "4", 9: "2", 13: "0", 17: "3"})
    loader = DataLoader(Data(), batch_size=8, shuffle=True)
    job.train(loader)
    print(job.result(), loader.num_workers, loader.persistent_workers)


class Shared(Dataset):
    """One open file, which every process seeks in."""

    def __init__(self, path):
        self.file = open(path, "rb")

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        self.file.seek(i * 8)
        return i, int.from_bytes(self.file.read(8), "little")


def shared_file(path):
    with open(path, "wb") as f:
        for i in range(100_000):
            f.write(i.to_bytes(8, "little"))
    job = Job()
    switches = Switches({2: "4"})
    wrong = 0
    for i, value in DataLoader(Shared(path), batch_size=250, shuffle=True):
        wrong += int((i != value).sum())
        job.step(torch.ones(1, 8))
    print(json.dumps({"wrong": wrong, "said": switches.said}))


def unlinking(pids):
    """Whether shared memory of one of them has a name, which torch takes away at once."""
    names = [name.split("_") for name in os.listdir("/dev/shm")]
    return any(name[0] == "torch" and int(name[1]) in pids for name in names)


class Hangs(Data):
    """A worker that gets to the 20th sample stays in one step of Python's, which no signal ends."""

    def __init__(self, began):
        super().__init__()
        self.began, self.job = began, os.getpid()

    def __getitem__(self, i):
        if i >= 20 and os.getpid() != self.job:
            with open(self.began, "w"):
                pass
            sum(range(10**13))
        time.sleep(0.01)
        return torch.ones(8) * i


def hangs(began):
    """Ends while a worker hangs."""
    job = Job()
    Switches({2: "4"})
    for batch in DataLoader(Hangs(began), batch_size=4):
        job.step(batch)
        if children():
            while not os.path.exists(began):
                time.sleep(0.01)
            print(" ".join(map(str, children())), flush=True)
            return


def ends(how):
    """With batches on their way, in a group of its own, as a job of a terminal is."""
    os.setpgid(0, 0)

    class Slow(Data):
        def __getitem__(self, i):
            time.sleep(0.01)
            return torch.ones(1000, 8) * i

    job = Job()
    Switches({2: "4"})
    iterator = iter(DataLoader(Slow(), batch_size=4))
    for n, batch in enumerate(iterator):
        job.step(batch)
        if n == 6:
            print(" ".join(map(str, children())), flush=True)
            if how == "raise":
                raise ValueError("of the job")
            if how in ("unlinking", "shrinking"):
                while not unlinking(children()):
                    time.sleep(0.001)
            if how in ("return", "unlinking"):
                return
            if how == "shrinking":
                iterator._brim_feed.pool.shrink(0)
        if n == 8 and how == "shrinking":
            return
            if how == "wait":
                time.sleep(60)
