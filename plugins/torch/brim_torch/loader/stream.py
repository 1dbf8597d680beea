"""A stream (IterableDataset) that one worker reads ahead. The worker is forked in mid-stream and
goes on with its copy of the dataset's iterator; that of the job stands still meanwhile. Where the
job is to go on by itself (the worker died, the job changed the dataset, the shim is taken off) it
reads again what the worker has read since, drops it, and is at the same place.

Back to no workers, the worker stays until the epoch ends, and is asked for a batch when it is
wanted and not before: what had come of it is not in the job."""

import gc
import io
import os
import stat
import sys
import threading
import types
from typing import Any, Dict, List, Optional

from brim_torch.loader import child, dataset_fingerprint, resource_limits
from brim_torch.loader.digest import Digest
from brim_torch.loader.feed import Feed, Task
from brim_torch.loader.pool import Pool
from brim_torch.refused import Refused

LEVELS = 8  # of what an iterator holds
NODES = 5000
LARGE, FIRST = 1000, 32  # of a large container the first ones are looked at
OPAQUE = (
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.CodeType,
    *dataset_fingerprint.PLAIN,
)
SHARED = ("subprocess", "multiprocessing", "concurrent", "queue", "_queue", "asyncio")


class Stream(Feed):
    def __init__(self, torch: Any, iterator: Any) -> None:
        super().__init__(torch, iterator)
        self.led = False  # a worker has the stream
        self.read = 0  # batches that came from it, and that the job's own iterator has not read
        self.behind = False  # the job shall go on by itself
        self.fetcher = iterator._dataset_fetcher

    # ---- what the iterator calls

    def next(self) -> Any:
        if self.pid != os.getpid():  # in a child of the job, whose worker this is not
            self.leave(forked=True)
            self.pid = os.getpid()
        return super().next()

    def one(self, it: Any) -> Any:
        if self.behind:
            return self.catch_up(it)
        if self.ahead and self.ahead[0].ready:
            return self.ahead.popleft().data
        if not self.led:
            return self.plain(it)
        assert self.pool is not None
        if self.fingerprint.of(it._dataset, it._collate_fn) != self.pool.fingerprint:
            return self.alone(it, "its dataset was changed while a worker had a copy of it")
        return self.from_worker(it)

    def plain(self, it: Any) -> Any:
        if self.error is None and not self.ended:
            self.settle(it)
        return super().plain(it)

    def from_worker(self, it: Any) -> Any:
        assert self.pool is not None
        why = self.low()
        if why:
            return self.alone(it, "memory ran low with its worker: %s" % (why,))
        self.fill(it)
        if not self.ahead:
            self.give(it)
        task = self.ahead[0]
        if task.worker is None:
            return self.alone(it, "its worker died")
        kind, data = self.pool.receive(task.worker, task.number)
        if kind == child.BATCH:
            self.ahead.popleft()
            self.read += 1
            self.fill(it)
            return self.pinned(it, data)
        if kind == child.ENDED:
            self.ahead.clear()
            self.ended, self.led = True, False
            self.release()
            raise StopIteration
        if kind == child.FAILED:  # the job's own raises what the job would have seen
            return self.alone(it, "a batch failed in its worker")
        drew = kind == child.DREW
        return self.alone(it, "its samples are drawn at random" if drew else "its worker died")

    def fill(self, it: Any) -> None:
        while self.led and len(self.ahead) < self.workers * self.depth:
            self.give(it)

    def give(self, it: Any) -> None:
        assert self.pool is not None
        task = Task(next(it._sampler_iter))
        task.worker, task.number = self.pool.give(task.index)
        self.ahead.append(task)

    # ---- the job by itself

    def alone(self, it: Any, why: str) -> Any:
        self.leave()
        if self.fell_back is not None:
            self.fell_back(why)
        return self.one(it)

    def catch_up(self, it: Any) -> Any:
        """Read again what the worker had read, and then the next batch."""
        self.behind = False
        while self.read:
            self.read -= 1
            try:
                self.fetcher.fetch(self.index)
            except BaseException:
                self.behind = self.read > 0
                raise
        self.settle(it)
        return self.kind._next_data(it)

    def leave(self, forked: bool = False) -> None:
        """The job's own place is behind that of the worker: it catches up with the next batch."""
        it = self.iterator()
        ready = [task for task in self.ahead if task.ready]
        self.ahead.clear()
        self.ahead.extend(ready)
        self.pin = self.later = None
        self.workers, self.led = 0, False
        self.release()
        if it is None:
            return
        self.behind = self.read > 0 and not self.ended
        if self.behind or self.ahead or self.ended or self.error is not None:
            self.override(it)
        else:
            it.__dict__.pop("_next_data", None)

    def settle(self, it: Any) -> None:
        if self.led or self.behind:
            self.override(it)
        else:
            super().settle(it)

    # ---- switches

    def set(self, workers: int, depth: int) -> None:
        it = self.iterator()
        if it is None or self.ended:
            return
        self.workers, self.depth = workers, depth
        if workers and not self.led:
            assert self.pool is not None
            self.pool.grow(1)
            self.pool.active = 1
            self.led, self.read = True, 0
            self.index = next(it._sampler_iter)  # the same for each batch
        if self.led:
            self.override(it)
            self.fill(it)
        else:
            self.settle(it)

    def compare(self, said: Any) -> None:
        """The next batches, which the forked process has read, read here. It and the job are at the
        same place then."""
        it = self.iterator()
        digest = Digest(self.torch)
        wrong = ""
        before = self.fingerprint.of(it._dataset)
        for want in said["digests"]:
            task = Task(next(it._sampler_iter))
            try:
                data = self.raw(it, task.index)
            except StopIteration:
                self.ended, wrong = True, "it ends here, and not in another process"
                break
            except Exception as e:
                self.error, wrong = e, "its batches fail here (%s)" % (type(e).__name__,)
                break
            if digest.of(data) != want:
                wrong = "a batch is another one when a worker fetches it"
            task.data, task.ready = self.pinned(it, data), True
            self.ahead.append(task)
        self.override(it)
        if not wrong and self.fingerprint.of(it._dataset) != before:
            wrong = "its dataset changes as it is read, which the job would not see of a worker's"
        if wrong:
            raise Refused(wrong)

    def new_pool(self, again: int) -> Pool:
        pool = super().new_pool(again)
        pool.spec.stream, pool.spec.random = self.fetcher, False
        return pool


def outside(value: Any) -> str:
    """Why a copy of this in another process would take from the job: what it is; ""."""
    kind = type(value)
    package = str(kind.__module__).split(".")[0]
    if package in dataset_fingerprint.CONNECTIONS + SHARED or isinstance(value, threading.Thread):
        return "%s.%s" % (kind.__module__, kind.__name__)
    if isinstance(value, io.FileIO) and not value.closed:
        if not stat.S_ISREG(os.fstat(value.fileno()).st_mode):
            return "a pipe"
    return ""


def parts(value: Any) -> List[Any]:
    if isinstance(value, types.FunctionType):
        return [value.__closure__, value.__defaults__]
    if isinstance(value, types.GeneratorType):
        frame: Optional[types.FrameType] = value.gi_frame
        own = [] if frame is None else list(frame.f_locals.values())
        return own + [value.gi_yieldfrom]
    if isinstance(value, types.FrameType):
        return []
    if isinstance(value, dataset_fingerprint.CONTAINERS) and len(value) > LARGE:
        some = value.values() if isinstance(value, dict) else value
        return [each for each, _ in zip(some, range(FIRST))]
    return gc.get_referents(value)


def held(iterator: Any) -> str:
    """What an iterator holds, in its generators' variables too, that two processes may not read
    from; ""."""
    seen: Dict[int, Any] = {}
    level: List[Any] = [iterator]
    for _ in range(LEVELS):
        below: List[Any] = []
        for value in level:
            if id(value) in seen or isinstance(value, OPAQUE):
                continue
            if len(seen) >= NODES:
                return "more than can be looked through"
            seen[id(value)] = value
            found = outside(value)
            if found:
                return found
            below += parts(value)
        level = below
    return ""


def switch(loaders: Any, source: int, feed: Stream, verdict: Any, workers: int, depth: int) -> None:
    """Loaders.switch() for a stream."""
    if workers > 1:
        raise Refused("its dataset is a stream, which one worker can read ahead, not %d" % workers)
    if workers and not feed.led:
        lead(loaders, source, feed, verdict)
        if feed.pool is None:
            return  # it ends
    feed.set(workers, depth)


def lead(loaders: Any, source: int, feed: Stream, verdict: Any) -> None:
    """A worker that is at the place of the job."""
    if verdict.never:
        raise Refused(verdict.never)
    it = feed.iterator()
    loaders.forkable(it)
    shared = held(feed.fetcher.dataset_iter)
    if shared:
        raise Refused("its stream holds what one process alone can read (%s)" % (shared,))
    pool = loaders.new_pool(source, feed)
    try:
        if not verdict.compared and not loaders.canary(feed, pool, verdict, True):
            loaders.stop(pool)
            return
        resource_limits.check(1, 0, pool.memory(), feed.depth, verdict.size_b, verdict.tensors)
        pool.grow(1)
    except BaseException:
        loaders.stop(pool)
        raise
    feed.pool = pool


def is_stream(it: Any) -> bool:
    module = sys.modules["torch.utils.data.dataloader"]
    kind = module._DatasetKind.Iterable  # type: ignore[attr-defined]
    return bool(it._dataset_kind == kind)
