"""Cases of loader_cases.py: memory that is short, or runs low while workers are there."""

import time

from loader_job import Data, case, children, compare, shim, simple, workers
from torch.utils.data import DataLoader, IterableDataset


def score(pid):
    with open("/proc/%s/oom_score_adj" % pid) as f:
        return int(f.read())


@case
def first_to_go():
    """The kernel is offered brim's workers, and not the job."""
    seen = []

    def look(loop):
        seen.extend(score(pid) for pid in children())
        return "done"

    before = score("self")
    said = simple({3: "4", 6: look}, epochs=1)
    return dict(said, workers=seen, job=before, job_after=score("self"))


class Low:
    """In place of the watch: memory is low at some looks."""

    def __init__(self, at):
        self.at, self.looks = at, 0

    def low(self):
        self.looks += 1
        return "so it was said" if self.looks in self.at else ""


def with_low(at, run):
    loaders = workers.of(shim.installed[0].loop)
    loaders.watch = Low(at)
    try:
        return run()
    finally:
        loaders.watch = None


@case
def memory_runs_low():
    """The second and the fifth batch after a switch find memory low."""
    there = []

    def look(want):
        def wait(loop):  # for processes that are killed to be gone
            end = time.monotonic() + 60
            while len(children()) > want and time.monotonic() < end:
                time.sleep(0.01)
            there.append(len(children()))
            return "done"

        return wait

    plan = {3: "4", 4: look(4), 6: look(2), 9: look(1), 20: "2", 22: "1"}
    said = with_low((2, 5), lambda: simple(plan))
    return dict(said, there=there, low=[n for n in said["notes"] if "ran low" in n])


@case
def stream_memory_runs_low():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(Data(96))

    def run(job):
        job.train(DataLoader(Stream(), batch_size=8), 2)

    return with_low((2,), lambda: compare({3: "1"}, run))


@case
def copies_have_no_room():
    """A worker may come to copy all that the job has in memory."""
    from brim_torch.loader import resource_limits as limits

    names = "free_memory", "anonymous_memory", "private_memory"
    originals = [getattr(limits, name) for name in names]
    for name, size in zip(names, (4096 << 20, 1001 << 20, 0)):
        setattr(limits, name, lambda *a, size=size: size)
    try:
        return simple({3: "4", 5: "2"}, epochs=2)
    finally:
        for name, original in zip(names, originals):
            setattr(limits, name, original)
