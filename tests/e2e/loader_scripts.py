"""Cases of loader_cases.py: scripts that do with their loaders what nobody expects."""

import os
import queue
import sqlite3
import sys
import threading

import numpy
from loader_job import PARENT, UP, Data, case, compare, simple, workers
from torch.utils.data import DataLoader


@case
def a_lock():
    """One that is free is a lock in each process."""

    class Locked(Data):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

        def __getitem__(self, i):
            with self.lock:
                return super().__getitem__(i)

    return simple(data=Locked)


@case
def held_by_others():
    """What another thread has, or does, is not there in a process that was forked."""

    class Locked(Data):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()
            self.lock.acquire()  # as by a thread that is busy

        def __getitem__(self, i):
            if os.getpid() != PARENT:
                self.lock.acquire()
            return super().__getitem__(i)

    class Threaded(Data):
        def __init__(self):
            super().__init__()
            self.asked, self.answers = queue.Queue(), queue.Queue()
            threading.Thread(target=self.work, daemon=True).start()

        def work(self):
            for i in iter(self.asked.get, None):
                self.answers.put(self.x[i])

        def __getitem__(self, i):
            self.asked.put(i)
            return self.answers.get(), i

    class Sqlite(Data):
        def __init__(self):
            super().__init__()
            self.base = sqlite3.connect(":memory:", check_same_thread=False)
            self.base.execute("CREATE TABLE t (i INTEGER, x REAL)")
            self.base.executemany("INSERT INTO t VALUES (?, ?)", [(i, i / 7) for i in range(96)])

        def __getitem__(self, i):
            (x,) = self.base.execute("SELECT x FROM t WHERE i = ?", (i,)).fetchone()
            return self.x[i] + x, i

    workers.TRY_S = 1.0
    said = [simple({3: "2"}, data=each, epochs=2) for each in (Locked, Threaded, Sqlite)]
    workers.TRY_S = 15.0
    return {"same": all(s["same"] for s in said), "said": [s["said"][0] for s in said]}


@case
def each_worker_seeds():
    """What workers draw follows from their number: other numbers of them draw others."""

    class Draws(Data):
        def __getitem__(self, i):
            x, i = super().__getitem__(i)
            return x + float(numpy.random.rand()), i

    def seed(number):
        numpy.random.seed(7 + number)

    plan = {3: "prefetch=4", 5: "1", 7: "4"}
    return simple(plan, data=Draws, num_workers=2, worker_init_fn=seed)


@case
def no_worker_seeds():
    """Of a loader without workers the function is called nowhere."""

    def seed(number):
        raise RuntimeError("worker %d" % number)

    return simple(worker_init_fn=seed)


@case
def the_script_sets_workers():
    """Each epoch has as many as the script says, or brim."""

    def run(job):
        loader = DataLoader(Data(), batch_size=8, shuffle=True)
        loader.prefetch_factor = 2  # where there are no workers, torch 2 has none
        seen = []
        for number in (0, 2, 1, 0, 3):
            loader.num_workers = number
            job.train(loader, 1)
            seen.append(loader.num_workers)
        return seen

    return compare({3: "2", 20: "1", 40: "3"}, run)


@case
def catches_everything():
    class Fails(Data):
        def __getitem__(self, i):
            if i % 13 == 5:
                raise ValueError("sample %d" % i)
            return super().__getitem__(i)

    def run(job):
        caught = []
        for _ in range(3):
            iterator = iter(DataLoader(Fails(), batch_size=8, shuffle=True))
            while True:
                try:
                    job.step(next(iterator))
                except StopIteration:
                    break
                except BaseException as e:
                    caught.append(repr(e))
        return caught

    return compare(UP, run)


@case
def is_traced():
    """With a debugger's and a profiler's hooks, in all threads."""
    counts = {"trace": 0, "profile": 0}

    def trace(frame, event, argument):
        counts["trace"] += 1
        return trace if frame.f_code.co_name == "run" else None

    def profile(frame, event, argument):
        counts["profile"] += 1

    def run(job):
        sys.settrace(trace), threading.settrace(trace)
        sys.setprofile(profile), threading.setprofile(profile)
        try:
            job.train(DataLoader(Data(), batch_size=8, shuffle=True), 2)
        finally:
            sys.settrace(None), threading.settrace(None)
            sys.setprofile(None), threading.setprofile(None)
        return min(counts.values()) > 0

    return compare(UP, run)


@case
def a_loader_of_loaders():
    """Batches of two loaders, one step each, by a class that knows how to be read anew."""

    class Both:
        def __init__(self):
            self.loaders = [DataLoader(Data(n), batch_size=8, shuffle=True) for n in (96, 40)]

        def __iter__(self):
            iterators = [iter(each) for each in self.loaders]
            while iterators:
                for each in list(iterators):
                    try:
                        yield next(each)
                    except StopIteration:
                        iterators.remove(each)

    return compare({3: "2", 12: "0", 21: "3"}, lambda job: job.train(Both(), 2))


@case
def samples_are_views():
    """Batches that share the dataset's memory, which the loop writes to."""

    class Views(Data):
        def __getitem__(self, i):
            return self.x[i]

    def run(job):
        loader = DataLoader(Views(), batch_size=None, shuffle=True)
        for _ in range(2):
            for x in loader:
                job.step([x.clone()])
                x.mul_(1.001)  # the next epoch has other samples

    return compare({3: "2", 30: "0", 60: "3"}, run)
