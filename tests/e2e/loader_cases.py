"""Jobs whose loader is changed while they run, for test_loader.py: python3 loader_cases.py NAME...

Each case trains twice in this process, untouched and with switches, and prints one line of JSON:
what the switches answered, what the ring was told, and whether everything came out the same (each
batch, the model with its dropout, the random streams of the process)."""

import collections
import gc
import hashlib
import json
import os
import random
import signal
import sys
import threading
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

try:
    from brim_torch import shim, workers
    from brim_torch.refused import Refused
except ImportError:  # an untouched run
    shim = None

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
            with open("/proc/%s/stat" % name) as f:
                fields = f.read().rpartition(")")[2].split()
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


# ---- what works


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
    """One, then all of them."""

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

    plan = {3: "3", 5: kill(1), 8: kill(9), 14: "2", 17: kill(9)}
    return compare(plan, lambda job: job.train(DataLoader(Slow(), batch_size=8, shuffle=True)))


@case
def the_job_forks():
    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        seen = []
        for n, batch in enumerate(iterator := iter(loader)):
            if n == 5:
                pid = os.fork()
                if not pid:  # reads the rest of its copy
                    rest = sum(float(x.sum()) for x, _ in iterator)
                    os._exit(int(abs(rest) * 7) % 256)
                seen.append(os.waitpid(pid, 0)[1])
            job.step(batch)
        return seen

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


# ---- what is seen on the way: as before from there on


@case
def drawn_late():
    """Random numbers that the try does not see."""

    class Late(Data):
        def __getitem__(self, i):
            x, i = super().__getitem__(i)
            return (x + random.random(), i) if i == 60 else (x, i)

    return compare({2: "4"}, lambda job: job.train(DataLoader(Late(), batch_size=8)))


@case
def dataset_changes_in_an_epoch():
    class Scaled(Data):
        scale = 1.0

        def __getitem__(self, i):
            return self.x[i] * self.scale, i

    def run(job):
        data = Scaled()

        def change():
            data.scale = 3.0

        job.before_step = {7: change}
        job.train(DataLoader(data, batch_size=8))

    return compare({2: "4", 20: "2"}, run)


@case
def dataset_changes_in_place():
    def run(job):
        data = Data()
        job.before_step = {7: lambda: data.x.mul_(2)}
        job.train(DataLoader(data, batch_size=8))

    return compare({2: "4"}, run)


@case
def dataset_changes_between_epochs():
    def run(job):
        data = Data()
        data.epoch = [0]

        def change(epoch):
            data.epoch[0] = epoch
            data.x = data.x + epoch

        job.train(DataLoader(data, batch_size=8), at_epoch=change)

    return compare({2: "4;persistent=yes"}, run)


# ---- what is refused


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
def streams():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(torch.ones(96, 8))

    return refused(Stream, shuffle=None)


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
    from brim_torch import room

    free, shm, files = room.free_memory, room.free_shm, room.free_descriptors
    said = []
    for name, value in (("free_memory", 1 << 20), ("free_shm", 4096), ("free_descriptors", 20)):
        setattr(room, name, lambda *a, v=value: v)
        said.append(refused(plan={3: "8"}))
        room.free_memory, room.free_shm, room.free_descriptors = free, shm, files
    return {"same": all(s["same"] for s in said), "said": [s["said"][0] for s in said]}


# ---- alone in a process


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


def ends(how):
    """With batches on their way."""

    class Slow(Data):
        def __getitem__(self, i):
            time.sleep(0.01)
            return torch.ones(1000, 8) * i

    job = Job()
    Switches({2: "4"})
    for n, batch in enumerate(DataLoader(Slow(), batch_size=4)):
        job.step(batch)
        if n == 6:
            print(" ".join(map(str, children())), flush=True)
            if how == "raise":
                raise ValueError("of the job")
            if how == "return":
                return
            if how == "wait":
                time.sleep(60)


if __name__ == "__main__":
    if sys.argv[1] == "--hash":
        hash_alone()
    elif sys.argv[1] == "--shared":
        shared_file(sys.argv[2])
    elif sys.argv[1] == "--end":
        ends(sys.argv[2])
    else:
        for name in sys.argv[1:] if sys.argv[1] != "--all" else CASES:
            begun = time.monotonic()
            try:
                result = CASES[name]()
            except BaseException as e:
                import traceback

                traceback.print_exc()
                result = {"error": repr(e)}
            result.update(case=name, seconds=round(time.monotonic() - begun, 2))
            print(json.dumps(result), flush=True)
