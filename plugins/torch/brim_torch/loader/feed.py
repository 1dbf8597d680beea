"""What an iterator's batches come from after a switch. It stands as _next_data in the iterator's
own dictionary, where __next__ looks first: the object that the job holds, its class and what the
job can ask of it stay. The order of batches is that of the iterator's own sampler, whoever
fetches them.

An iterator of torch's without workers: brim's pool, or torch's own way. One that has workers, its
engine: fewer of them, or none, while more come from the pool."""

import collections
import itertools
import os
import sys
import weakref
from typing import Any, Callable, Deque, Iterator, List, Optional

from brim_torch.loader import child
from brim_torch.loader.dataset_fingerprint import Fingerprint
from brim_torch.loader.digest import Digest
from brim_torch.loader.pool import LOST, Pool, Worker
from brim_torch.refused import Refused

ODD = 3  # batches that fail in workers alone
OVERRIDES = ("_next_data", "_try_put_index", "_reset")


class Task:
    """A batch on its way: its indices, and who fetches it."""

    __slots__ = ("index", "worker", "number", "ready", "data")

    def __init__(self, index: Any) -> None:
        self.index = list(index) if type(index) is list else index  # samplers may use it again
        self.worker: Optional[Worker] = None
        self.number = 0
        self.ready = False
        self.data: Any = None


class Indices:
    """A sampler's iterator, before which some come back that were taken from it."""

    def __init__(self, rest: Iterator[Any]) -> None:
        self.back: Deque[Any] = collections.deque()
        self.error: Optional[BaseException] = None
        self.rest = rest

    def __iter__(self) -> "Indices":
        return self

    def __next__(self) -> Any:
        if self.back:
            return self.back.popleft()
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        return next(self.rest)


def give_back(iterator: Any, indices: List[Any], error: Optional[BaseException]) -> None:
    if not indices and error is None:
        return
    if type(iterator._sampler_iter) is not Indices:
        iterator._sampler_iter = Indices(iterator._sampler_iter)
    iterator._sampler_iter.back.extendleft(reversed(indices))
    iterator._sampler_iter.error = error


class Feed:
    def __init__(self, torch: Any, iterator: Any) -> None:
        self.torch = torch
        self.iterator = weakref.ref(iterator)
        self.kind = type(iterator)
        self.own = int(iterator._num_workers)  # of the job's
        self.own_depth = int(getattr(iterator, "_prefetch_factor", 0) or 0)
        self.pid = os.getpid()
        self.fingerprint = Fingerprint(torch)
        self.ahead: Deque[Task] = collections.deque()
        self.workers, self.depth = self.own, self.own_depth or 2
        self.pool: Optional[Pool] = None
        self.free_pool: Callable[[Pool], None] = Pool.stop
        self.later: Optional[Callable[[], None]] = None  # called after the next batch
        self.held = False  # the engine gets nothing more
        self.quiet = False  # the engine is being reset
        self.ended = False
        self.error: Optional[BaseException] = None
        self.tried: Optional[int] = None  # so many more of them are known to draw nothing
        self.left: Optional[int] = None  # indices that the sampler says it still has
        self.inside = 0  # batches that were taken and that the iterator does not count yet
        self.random = False  # numbers may be drawn in workers
        self.odd = 0
        self.pin: Optional[Callable[[Any], Any]] = None
        self.fetcher: Any = None
        self.fell_back: Optional[Callable[[str], None]] = None
        self.low: Callable[[], str] = str  # why memory is low; "": it is not
        self.took_back: Optional[Callable[["Feed", str], None]] = None

    # ---- what the iterator calls

    def next(self) -> Any:
        """In place of _next_data()."""
        it = self.iterator()
        if self.pid != os.getpid():  # in a child of the job, whose workers these are not
            self.leave(forked=True)
            return it._next_data()
        data = self.one(it)
        if self.later is not None:
            later, self.later = self.later, None
            self.inside = 1
            later()
            self.inside = 0
        return data if self.pin is None else self.pin(data)

    def one(self, it: Any) -> Any:
        if self.held and it._rcvd_idx < it._send_idx:
            return self.kind._next_data(it)
        if self.pooled():
            self.spare_memory()
        if self.pooled():
            self.fill(it)
        if not self.ahead:
            return self.plain(it)
        if self.pool is not None and self.pooled() and not self.own:
            if self.fingerprint.of(it._dataset, it._collate_fn) != self.pool.fingerprint:
                self.fall_back("its dataset was changed while workers had copies of it")
                return it._next_data()
        task = self.ahead.popleft()
        try:
            data = self.take(it, task)
        except Exception:
            raise
        except BaseException:
            task.worker = None  # what it sent may be lost
            self.ahead.appendleft(task)
            raise
        if self.pooled():
            self.fill(it)
        elif not self.ahead:
            self.settle(it)
        return data

    def pooled(self) -> bool:
        """Whether brim's workers are to fetch."""
        return self.workers > self.own

    def spare_memory(self) -> None:
        """Fewer workers where memory is low."""
        why = self.low()
        if why and self.took_back is not None:
            self.took_back(self, why)

    def plain(self, it: Any) -> Any:
        """Nothing is on its way: torch's own, or here where its engine is held."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        try:
            if self.ended:
                if self.own:
                    return self.kind._next_data(it)  # ends its workers
                raise StopIteration
            if not self.held:
                return self.kind._next_data(it)
            try:
                index = next(it._sampler_iter)
            except StopIteration:
                self.ended = True
                return self.kind._next_data(it)
            return self.fetch(it, index)
        except StopIteration:
            self.ended = True
            if not (self.own and it._persistent_workers):
                self.release()
            raise

    def fill(self, it: Any) -> None:
        """Hand out what fits. The sampler's last step is left until everything before it was
        asked for: what it does there must not come early."""
        assert self.pool is not None
        limit = self.workers * self.depth
        while len(self.ahead) < limit and not self.ended and self.error is None:
            if self.left is not None and self.left <= 0:
                return
            if self.tried is not None:
                self.tried -= 1
                if self.tried < 0:
                    self.stop_using("its sampler goes on for longer than was looked at")
                    return
            try:
                task = Task(next(it._sampler_iter))
            except StopIteration:
                self.ended = True
                return
            except Exception as e:
                self.error = e
                return
            if self.left is not None:
                self.left -= 1
            task.worker, task.number = self.pool.give(task.index)
            self.ahead.append(task)

    def take(self, it: Any, task: Task) -> Any:
        if task.ready:
            return task.data
        if task.worker is None or self.pool is None:
            return self.fetch(it, task.index)
        kind, data = self.pool.receive(task.worker, task.number)
        if kind == child.BATCH:
            return self.pinned(it, data)
        if kind == child.DREW:
            self.ahead.appendleft(task)
            self.fall_back("its samples are drawn at random")
            return it._next_data()
        if kind == LOST:
            data = self.fetch(it, task.index)
            if self.pooled() and not self.pool.live():
                self.stop_using("its workers died")
            return data
        if self.own and data is not None:
            data.reraise()
        data = self.fetch(it, task.index)  # raises what the job would have seen
        self.odd += 1
        if self.odd >= ODD:
            self.stop_using("its batches fail in workers alone")
        return data

    def fetch(self, it: Any, index: Any) -> Any:
        return self.pinned(it, self.raw(it, index))

    def raw(self, it: Any, index: Any) -> Any:
        """In the job's own process."""
        if self.fetcher is None:
            self.fetcher = getattr(it, "_dataset_fetcher", None) or child.Spec(
                self.torch, it, 0
            ).fetcher()
        data = self.fetcher.fetch(index)
        if self.pool is not None:
            self.pool.fingerprint = self.fingerprint.of(it._dataset, it._collate_fn)
        return data

    def pinned(self, it: Any, data: Any) -> Any:
        if not it._pin_memory:
            return data
        pin = sys.modules["torch.utils.data._utils.pin_memory"]
        return pin.pin_memory(data, it._pin_memory_device)  # type: ignore[attr-defined]

    # ---- switches

    def set(self, workers: int, depth: int) -> None:
        """Refused leaves all as it was. The pool is there where workers > own."""
        it = self.iterator()
        if it is None or self.ended:
            return
        if workers > self.own:
            assert self.pool is not None
            self.pool.grow(workers)
            self.pool.active = workers
        if self.own:
            self.engine(it, workers, depth)
        self.workers, self.depth = workers, depth
        if self.pooled():
            self.count_left(it)
            self.override(it)
            self.fill(it)
        else:
            self.settle(it)

    def count_left(self, it: Any) -> None:
        try:
            total = len(it._index_sampler)
        except Exception:
            self.left = None
            return
        taken = it._num_yielded + self.inside + len(self.ahead)
        if self.own:
            taken += it._send_idx - it._rcvd_idx
        self.left = total - taken

    def override(self, it: Any) -> None:
        it.__dict__["_next_data"] = self.next

    def settle(self, it: Any) -> None:
        """Torch's own way again, once nothing is on its way."""
        busy = self.ahead or self.ended or self.held or self.error is not None
        if busy or self.pin is not None or self.later is not None:
            self.override(it)
        else:
            it.__dict__.pop("_next_data", None)

    def engine(self, it: Any, workers: int, depth: int) -> None:
        """Of an iterator with workers of the job's: use the first of them, or none."""
        if self.held and 0 < workers <= self.own:
            self.return_ahead(it)
        self.held = workers == 0 or workers > self.own
        self.workers, self.depth = workers, depth
        if not self.held and (workers, depth) == (self.own, self.own_depth):
            self.restore(it)
            return
        it.__dict__["_try_put_index"] = self.put
        it.__dict__["_reset"] = self.reset
        if not self.held:
            it._worker_queue_idx_cycle = self.order(it, workers)
            it._prefetch_factor = max(self.own_depth, -(-workers * depth // self.own))
            self.put()

    def restore(self, it: Any) -> None:
        """The engine as torch has it."""
        for name in ("_try_put_index", "_reset"):
            it.__dict__.pop(name, None)
        it._prefetch_factor = self.own_depth
        it._worker_queue_idx_cycle = self.order(it, self.own)
        if it._shutdown:
            return
        for _ in range(self.own * self.own_depth - (it._send_idx - it._rcvd_idx)):
            it._try_put_index()

    def order(self, it: Any, workers: int) -> Iterator[int]:
        """Who gets the next batches: of all workers the one that would have got it."""
        given = it._num_yielded + self.inside + it._send_idx - it._rcvd_idx
        return itertools.cycle([(given + i) % workers for i in range(workers)])

    def put(self) -> None:
        """In place of _try_put_index()."""
        if self.held or self.quiet:
            return
        it = self.iterator()
        while it._send_idx - it._rcvd_idx < self.workers * self.depth:
            before = it._send_idx
            self.kind._try_put_index(it)
            if it._send_idx == before:
                return

    def reset(self, loader: Any, first_iter: bool = False) -> None:
        """In place of _reset(): a new epoch of workers that stay."""
        it = self.iterator()
        self.drop()
        self.quiet = True
        try:
            self.kind._reset(it, loader, first_iter)
        finally:
            self.quiet = False
        if self.pooled():
            self.count_left(it)
        elif not self.held:
            it._worker_queue_idx_cycle = itertools.cycle(range(self.workers))
            self.put()

    def drop(self) -> None:
        """What is on its way is of an epoch that is over."""
        self.ahead.clear()
        self.ended, self.error = False, None

    def return_ahead(self, it: Any) -> None:
        """What is on its way goes back to the sampler's, and is fetched again by whoever comes."""
        give_back(it, [task.index for task in self.ahead], self.error)
        self.ahead.clear()
        self.error = None

    # ---- ends

    def stop_using(self, why: str) -> None:
        """No workers of brim's from here on; what is on its way comes."""
        self.workers = 0
        if self.fell_back is not None:
            self.fell_back(why)

    def fall_back(self, why: str) -> None:
        """As if there had never been a switch."""
        self.leave()
        if self.fell_back is not None:
            self.fell_back(why)

    def leave(self, forked: bool = False) -> None:
        it = self.iterator()
        if it is not None:
            self.return_ahead(it)
            touched = "_try_put_index" in it.__dict__
            for name in OVERRIDES:
                it.__dict__.pop(name, None)
            self.held = False
            if touched and not forked:
                self.restore(it)
        self.pin = self.later = None
        self.workers, self.depth = self.own, self.own_depth or 2
        self.release()

    def release(self) -> None:
        """The pool is not needed any more."""
        pool, self.pool = self.pool, None
        if pool is not None and pool.pid == os.getpid():
            self.free_pool(pool)

    def __del__(self) -> None:
        try:
            self.release()
        except Exception:
            pass  # the interpreter ends

    # ---- the try before the first switch

    def new_pool(self, again: int) -> Pool:
        """Workers to come; again: how often this epoch's seeds were used before."""
        it = self.iterator()
        seed = (int(it._base_seed) + 65536 * (again + bool(self.own))) % (1 << 62)
        spec = child.Spec(self.torch, it, seed)
        spec.random = self.random
        return Pool(spec, self.fingerprint.of(it._dataset, it._collate_fn))

    def compare(self, said: Any) -> None:
        """Fetch here what the forked process fetched: it drew nothing, so that coming early
        changes nothing. The batches are used when their turn comes."""
        it = self.iterator()
        digest = Digest(self.torch)
        wrong = ""
        if self.own:
            self.engine(it, 0, self.depth)
        for want in said["digests"]:
            task = Task(next(it._sampler_iter))
            self.ahead.append(task)
            self.override(it)
            if wrong:
                continue
            try:
                data = self.raw(it, task.index)
                if digest.of(data) != want:
                    wrong = "a batch is another one when a worker fetches it"
                task.data, task.ready = self.pinned(it, data), True
            except Exception as e:
                wrong = "its batches fail here (%s)" % (type(e).__name__,)
        if wrong:
            raise Refused(wrong)

