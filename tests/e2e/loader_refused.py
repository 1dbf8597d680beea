"""Cases of loader_cases.py: what is refused."""

import collections
import os
import random
import threading
import time

import numpy
import torch
from loader_job import PARENT, Data, case, compare, simple, workers
from torch.utils.data import DataLoader, Sampler


def refused(data=Data, plan=None, **options):
    return simple(plan or {3: "2"}, data=data, epochs=2, **options)


@case
def draws():
    def of(draw):
        class Draws(Data):
            def __getitem__(self, i):
                x, i = super().__getitem__(i)
                return x + draw(), i

        return Draws

    private = numpy.random.RandomState(1)

    class Private(Data):
        def __init__(self):
            super().__init__()
            self.private = {"a": [numpy.random.default_rng(1)]}

        def __getitem__(self, i):
            x, i = super().__getitem__(i)
            return x + float(self.private["a"][0].random()), i

    said = [refused(of(random.random)), refused(of(numpy.random.random))]
    said += [refused(of(lambda: torch.rand(())))]
    said += [refused(Private)]
    said += [refused(of(random.random), num_workers=2, plan={3: "3", 5: "1", 7: "0", 9: "2"})]
    del private
    return {
        "same": all(s["same"] for s in said),
        "said": sorted({text for s in said for text in s["said"]} - {"done"}),
    }


@case
def draws_allowed():
    class Draws(Data):
        def __getitem__(self, i):
            x, i = super().__getitem__(i)
            return x + random.random(), i

    os.environ["BRIM_ALLOW"] = "numeric"
    try:
        return simple(data=Draws)
    finally:
        del os.environ["BRIM_ALLOW"]


@case
def counts_its_calls():
    class Counts(Data):
        calls = [0]

        def __getitem__(self, i):
            self.calls[0] += 1
            return self.x[i] + self.calls[0], i

    def data():
        Counts.calls[0] = 0
        return Counts()

    return refused(data)


@case
def samplers():
    class Draws(Sampler):
        def __init__(self):
            pass

        def __iter__(self):
            for _ in range(96):
                yield random.randrange(96)

    class Remembers(Draws):
        at = 0

        def __iter__(self):
            for self.at in range(96):
                yield self.at

    class Itself(Draws):
        def __iter__(self):
            self.indices = iter(range(12))
            return self

        def __next__(self):
            return [next(self.indices)] * 8

    said = [refused(shuffle=None, sampler=each()) for each in (Draws, Remembers)]
    said += [refused(batch_size=1, shuffle=None, batch_sampler=Itself())]
    return {"same": all(s["same"] for s in said), "said": [s["said"][0] for s in said]}


@case
def in_another_process():
    """What fails there, hangs there, or is another batch there."""

    def of(act):
        class Acts(Data):
            def __getitem__(self, i):
                x, i = super().__getitem__(i)
                return (x, i) if os.getpid() == PARENT else (act(x), i)

        return Acts

    def fails(x):
        raise RuntimeError("not here")

    workers.TRY_S = 1.0
    said = [refused(of(fails)), refused(of(lambda x: time.sleep(60)))]
    said += [refused(of(lambda x: x + 1)), refused(of(lambda x: os._exit(3)))]
    workers.TRY_S = 15.0

    class Unknown(Data):
        def __getitem__(self, i):
            return self.x[i], (lambda: i)

    said += [refused(Unknown, collate_fn=lambda b: [torch.stack([x for x, _ in b]), b[0][1]])]
    import socket

    class Connected(Data):
        def __init__(self):
            super().__init__()
            self.pair = socket.socketpair()

    said += [refused(Connected)]
    return {"same": all(s["same"] for s in said), "said": [s["said"][0] for s in said]}


@case
def start_methods():
    multiprocessing = torch.multiprocessing
    multiprocessing.set_start_method("spawn", force=True)
    try:
        return refused()
    finally:
        multiprocessing.set_start_method(None, force=True)


@case
def requests():
    """That are nothing, or come at the wrong time."""
    plan = {2: "prefetch=4", 3: "persistent=yes", 4: "pin=yes", 5: "-1", 6: "1000", 7: "x"}
    return refused(plan=plan)


@case
def two_training_loaders():
    def run(job):
        a, b = (DataLoader(Data(), batch_size=8, shuffle=True) for _ in range(2))
        job.train(a, 1)
        for pair in zip(a, b):
            for batch in pair:
                job.step(batch)
        job.train(b, 1)

    return compare({9: "2", 20: "3", 40: "2"}, run)


@case
def short_epochs():
    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        for _ in range(20):
            job.step(next(iter(loader)))

    return compare({10: "2"}, run)


@case
def short_epochs_with_workers_that_stay():
    def run(job):
        loader = DataLoader(Data(16), batch_size=8, shuffle=True)
        job.train(loader, 20)

    return compare({10: "persistent=yes;2", 30: "persistent=no;0"}, run)


@case
def another_thread_reads():
    class Ahead(DataLoader):
        def __iter__(self):
            ready = collections.deque()
            inner = super().__iter__()

            def read():
                ready.append(next(inner, None))

            while True:
                thread = threading.Thread(target=read)
                thread.start(), thread.join()
                if ready[0] is None:
                    return
                yield ready.popleft()

    return compare({3: "2"}, lambda job: job.train(Ahead(Data(), batch_size=8, shuffle=True), 2))


@case
def no_room():
    from brim_torch.loader import resource_limits as limits

    free, shm, files = limits.free_memory, limits.free_shm, limits.free_descriptors
    anonymous, limits.anonymous_memory = limits.anonymous_memory, lambda: 0
    said = []
    for name, value in (("free_memory", 1 << 20), ("free_shm", 4096), ("free_descriptors", 20)):
        setattr(limits, name, lambda *a, v=value: v)
        said.append(refused(plan={3: "8"}))
        limits.free_memory, limits.free_shm, limits.free_descriptors = free, shm, files
    limits.anonymous_memory = anonymous
    return {"same": all(s["same"] for s in said), "said": [s["said"][0] for s in said]}
