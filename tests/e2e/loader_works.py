"""Cases of loader_cases.py: what is done, and what is done to it."""

import collections
import os
import random
import signal
import time

import torch
from loader_job import UP, Data, case, children, compare, simple, workers
from torch.utils.data import DataLoader, Sampler


@case
def up_and_down():
    return simple({3: "4", 7: "2", 9: "0", 11: "3", 15: "0", 18: "13", 20: "1", 30: "prefetch=5"})


@case
def to_and_fro():
    plan = {step: "4" if step % 8 == 4 else "0" for step in range(4, 110, 4)}
    return compare(plan, lambda job: job.train(DataLoader(Data(960), batch_size=8), 1))


@case
def own_workers():
    plan = {3: "4", 7: "1", 9: "0", 11: "3", 15: "2", 18: "prefetch=6", 20: "1", 30: "5"}
    return simple(plan, num_workers=2)


@case
def own_workers_that_stay():
    def set_up(number):
        assert torch.utils.data.get_worker_info().id == number

    plan = {3: "4", 7: "1", 14: "3", 20: "2", 30: "5"}
    options = dict(num_workers=2, persistent_workers=True, worker_init_fn=set_up, timeout=30)
    return simple(plan, epochs=4, **options)


@case
def own_workers_that_draw():
    """Each batch stays with its worker, however far that loads ahead."""

    class Draws(Data):
        def __getitem__(self, i):
            x, i = super().__getitem__(i)
            return x + random.random() + torch.rand(()), i

    def run(job):
        job.train(DataLoader(Draws(), batch_size=8, shuffle=True, num_workers=3))

    return compare({4: "prefetch=5", 7: "prefetch=1", 9: "prefetch=2", 17: "prefetch=4"}, run)


@case
def batch_sampler():
    batches = [[i, i + 1, 95 - i] for i in range(0, 90, 3)]
    return simple(batch_size=1, shuffle=None, batch_sampler=batches)


@case
def no_batches():
    class Whole(Data):
        def __getitem__(self, i):
            return {"x": self.x[i : i + 1], "name": "sample %d" % i}

    return simple(data=lambda: Whole(40), batch_size=None)


@case
def subclass_and_collate():
    Pair = collections.namedtuple("Pair", "x i")
    globals()["Pair"] = Pair

    class Loader(DataLoader):
        def __iter__(self):
            for x, i in super().__iter__():
                yield {"x": x, "i": i}

    Pair.__module__, Pair.__qualname__ = __name__, "Pair"

    def collate(samples):
        return Pair(torch.stack([x for x, _ in samples]), torch.tensor([i for _, i in samples]))

    return compare(
        UP, lambda job: job.train(Loader(Data(), batch_size=8, shuffle=True, collate_fn=collate))
    )


@case
def generator_given():
    def run(job):
        generator = torch.Generator().manual_seed(3)
        loader = DataLoader(Data(), batch_size=8, shuffle=True, generator=generator)
        for epoch in range(3):
            for n, batch in enumerate(loader):
                job.step(batch)
                if epoch == 1 and n == 10:  # the last batch but one
                    break
        return generator.get_state().sum().item()

    return compare({3: "4", 15: "2", 26: "3"}, run)


@case
def next_of_a_variable():
    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        iterator = iter(loader)
        for _ in range(40):
            try:
                batch = next(iterator)
            except StopIteration:
                iterator = iter(loader)
                batch = next(iterator)
            job.step(batch)
        return type(iterator).__name__, loader.num_workers, loader.persistent_workers

    return compare(UP, run)


@case
def stay_from_epoch_to_epoch():
    pids = []

    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        for epoch in range(4):
            for n, batch in enumerate(loader):
                job.step(batch)
                if n == 2:
                    pids.append(sorted(children()))
                if epoch == 2 and n == 6:
                    break

    said = compare({2: "3;persistent=yes"}, run)
    said["stay"] = pids[4] == pids[5] == pids[6] == pids[7] and len(pids[4]) == 3
    return said


@case
def two_epochs_at_once():
    """Two iterators of one loader."""

    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        for a, b in zip(loader, loader):
            job.step(a)
            job.step(b)

    return compare({4: "2", 9: "0", 12: "3"}, run)


@case
def a_validation_loader():
    def run(job):
        train = DataLoader(Data(), batch_size=8, shuffle=True)
        validate = DataLoader(Data(32), batch_size=8)
        seen = []
        for epoch in range(3):
            job.train(train, 1)
            with torch.no_grad():
                for n, batch in enumerate(validate):
                    seen.append(float(batch[0].sum()))
                    if n == 2 and len(children()) > 4:
                        seen.append("workers")
        return seen

    return compare({3: "4"}, run)


@case
def samples_fail():
    """The exception is the one of the untouched run; the loop goes on behind it."""

    class Fails(Data):
        def __getitem__(self, i):
            if i in (40, 71):
                raise KeyError("sample", i)
            return super().__getitem__(i)

    def run(job):
        seen = []
        for _ in range(2):
            iterator = iter(DataLoader(Fails(), batch_size=8))
            while True:
                try:
                    job.step(next(iterator))
                except StopIteration:
                    break
                except KeyError as e:
                    seen.append((repr(e), e.args, e.__cause__ is None))
        return seen

    return compare({2: "3", 12: "2"}, run)


@case
def workers_die():
    """One, then all of them, long before the epoch ends: each of them is missed."""

    class Slow(Data):
        def __getitem__(self, i):
            time.sleep(0.001)
            return super().__getitem__(i)

    def kill(count):
        def now(loop):
            for pid in children()[:count]:
                os.kill(pid, signal.SIGKILL)
            return "killed"

        return now

    plan = {3: "3", 5: kill(1), 8: kill(9), 40: "2"}
    loader = DataLoader(Slow(240), batch_size=8, shuffle=True)
    return compare(plan, lambda job: job.train(loader, epochs=2))


@case
def the_job_forks():
    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        return job.train_and_fork(iter(loader), at=5)

    return compare({2: "3"}, run)


@case
def taken_back():
    """undo() in the middle of an epoch."""

    def undo(loop):
        workers.undo(loop)
        loop.loaders = None
        return "undone"

    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        job.train(loader)
        return "_next_data" in vars(iter(loader))

    return compare({3: "4", 6: undo, 14: "2", 30: undo}, run)


@case
def known_from_the_start():
    def start(loop):
        workers.initial(loop, {"loader.workers": "3", "loader.prefetch": "4", "x": "y"})
        return "known"

    said = simple({1: start})
    said["in_force"] = any("workers 3, prefetch 4" in n for n in said["notes"])
    return said


@case
def sampler_of_an_unknown_length():
    class Endless(Sampler):
        def __init__(self):
            pass

        def __iter__(self):
            generator = torch.Generator().manual_seed(int(torch.empty(()).random_().item()))
            while True:
                yield from torch.randperm(96, generator=generator).tolist()

    def run(job):
        loader = DataLoader(Data(), batch_size=8, sampler=Endless())
        for n, batch in enumerate(loader):
            job.step(batch)
            if n == 40:
                break

    return compare(UP, run)
