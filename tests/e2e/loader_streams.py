"""Cases of loader_cases.py: streams (IterableDataset), which one worker reads ahead."""

import os
import queue
import random
import signal
import tempfile
import threading

import torch
from loader_job import case, children, compare, simple
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    """A generator whose place is in its variables alone."""

    count = 200

    def __iter__(self):
        made = torch.Generator().manual_seed(5)
        info = torch.utils.data.get_worker_info()
        assert info is None
        for i in range(self.count):
            yield torch.randn(8, generator=made) * 2, i


def stream(plan, data=Numbers, epochs=3, **options):
    return simple(plan, data=data, epochs=epochs, shuffle=None, **options)


class Ones(IterableDataset):
    def __iter__(self):
        return iter(torch.ones(96, 8))


ONE = {3: "1", 9: "0", 13: "1", 17: "prefetch=5", 30: "0", 40: "1"}


@case
def stream_up_and_down():
    said = [stream(ONE), stream(ONE, batch_size=None), stream(ONE, drop_last=True, batch_size=7)]
    return {
        "same": all(s["same"] for s in said),
        "told": [t for s in said for t in s["told"]],
        "said": [each for s in said for each in s["said"]],
    }


@case
def stream_of_a_file():
    """One open file, which the worker reads on from the same place."""

    class Lines(IterableDataset):
        def __init__(self, path):
            self.path = path

        def __iter__(self):
            with open(self.path) as f:
                for line in f:
                    yield torch.tensor([float(x) for x in line.split()])

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        made = random.Random(3)
        for _ in range(3000):
            f.write(" ".join("%.5f" % made.random() for _ in range(8)) + "\n")
        f.flush()
        return stream({3: "1", 60: "0", 100: "1"}, data=lambda: Lines(f.name), epochs=2)


@case
def stream_ends_soon():
    """Behind the switch there are fewer batches than are looked at, or none."""
    said = []
    for left in range(4):
        data = type("Short", (Numbers,), {"count": 8 * (10 + left)})
        said.append(stream({10: "1", 25: "0"}, data=data))
    return {
        "same": all(s["same"] for s in said),
        "told": [t for s in said for t in s["told"]],
        "said": [each for s in said for each in s["said"]],
    }


@case
def stream_fails():
    """The exception is the one of the untouched run."""

    class Fails(Numbers):
        def __iter__(self):
            for x, i in super().__iter__():
                if i == 90:
                    raise KeyError("sample", i)
                yield x, i

    def run(job):
        seen = []
        iterator = iter(DataLoader(Fails(), batch_size=8))
        while True:
            try:
                job.step(next(iterator))
            except StopIteration:
                return seen
            except KeyError as e:
                seen.append((job.steps, repr(e), e.__cause__ is None))

    return compare({2: "1"}, run)


@case
def stream_the_job_forks():
    def run(job):
        return job.train_and_fork(iter(DataLoader(Numbers(), batch_size=8)), at=9)

    return compare({2: "1"}, run)


@case
def stream_worker_dies():
    def kill(loop):
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        return "killed"

    return stream({3: "1", 14: kill})


@case
def stream_is_changed():
    """By the job, while a worker has a copy."""

    class Scaled(Numbers):
        scale = 1.0

        def __iter__(self):
            for x, i in super().__iter__():
                yield x * self.scale, i

    def run(job):
        data = Scaled()

        def change():
            data.scale = 3.0

        job.before_step = {12: change}
        job.train(DataLoader(data, batch_size=8), 2)

    return compare({3: "1"}, run)


@case
def stream_taken_back():
    """undo() in the middle of an epoch: the job reads again what the worker had read."""
    from brim_torch.loader import workers

    def undo(loop):
        workers.undo(loop)
        loop.loaders = None
        return "undone"

    def run(job):
        loader = DataLoader(Numbers(), batch_size=8)
        job.train(loader)
        return "_next_data" in vars(iter(loader))

    return compare({3: "1", 8: undo, 14: "1", 20: undo, 55: "1", 60: undo}, run)


@case
def stream_draws_late():
    class Late(Numbers):
        def __iter__(self):
            for x, i in super().__iter__():
                yield (x + random.random() if i == 120 else x), i

    return stream({3: "1"}, data=Late, epochs=1)


# ---- refused


class Draws(Numbers):
    def __iter__(self):
        for x, i in super().__iter__():
            yield x + random.random(), i


class Remembers(Numbers):
    at = 0

    def __iter__(self):
        for x, self.at in super().__iter__():
            yield x, self.at


class Again(Numbers):
    def __iter__(self):
        x = torch.zeros(8)
        for i in range(self.count):
            yield x.add_(1)


class Queued(Numbers):
    """Of a thread of the job's."""

    def __iter__(self):
        made = queue.Queue(4)

        def make():
            for x, i in Numbers.__iter__(self):
                made.put((x, i))
            made.put(None)

        thread = threading.Thread(target=make, daemon=True)
        thread.start()
        return iter(made.get, None)


class Piped(Numbers):
    def __iter__(self):
        out, into = os.pipe()
        os.write(into, b"x" * self.count)
        os.close(into)
        with open(out, "rb") as f:
            while f.read(1):
                yield torch.ones(8)


@case
def streams():
    said = [stream({3: "2"}), stream({3: "1"}, data=Ones, num_workers=1)]
    said += [stream({3: "1"}, data=each) for each in (Draws, Remembers, Queued, Piped)]
    said += [stream({3: "1"}, data=Again, batch_size=None)]
    return {"same": all(s["same"] for s in said), "said": [s["said"][0] for s in said]}
