"""The loader of a running job gets other settings, in the middle of an epoch, and yields what it
would have yielded: workers, how far they load ahead, whether they stay, pinned memory.
docs/shim/loader.md says what is done and what is refused."""

import multiprocessing
import os
import sys
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from brim_torch.loader import pool as pools
from brim_torch.loader import memory_watch, readahead, resource_limits, stream
from brim_torch.loader.dataset_fingerprint import connection
from brim_torch.loader.digest import Digest, Unknown
from brim_torch.loader.feed import Feed
from brim_torch.loader.pool import Pool
from brim_torch.refused import Refused

BATCHES = 2  # of the try before the first switch
TRY_S = 15.0  # for each of them
SHORT = 4  # steps: epochs for which workers are not worth starting
PATIENCE = 256  # steps until a loader feeds them, for settings known from the start
DEEPEST = 256

SAMPLERS = (
    *("SequentialSampler", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"),
    "DistributedSampler",
)
RANDOM = "its samples are drawn at random, and workers draw others: --allow numeric"


class Wish:
    """What is to be in force for a loader; None: as the job has it."""

    def __init__(self) -> None:
        self.workers: Optional[int] = None
        self.depth: Optional[int] = None
        self.persistent = False
        self.pin = False
        self.readahead = 0

    def but(self, **changes: Any) -> "Wish":
        wish = Wish()
        wish.__dict__.update(self.__dict__, **changes)
        return wish


class Verdict:
    """What tries said of a loader."""

    def __init__(self) -> None:
        self.alike = False  # workers fetch what other workers fetch
        self.compared = False  # and what the job itself fetches
        self.never = ""
        self.most: Optional[int] = None  # workers, since with more of them memory ran low
        self.low = ""  # what was seen of it
        self.size_b = self.tensors = 0
        self.tried: Optional[int] = None  # batches; None: all that the sampler has


def allowed() -> bool:
    return "numeric" in os.environ.get("BRIM_ALLOW", "").replace(",", " ").split()


def pin(value: Any) -> Any:
    """The same with its tensors in pinned memory; its types stay."""
    if hasattr(value, "pin_memory"):
        return value.pin_memory()
    if type(value) in (list, tuple):
        return type(value)(map(pin, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(pin, value))
    if type(value) is dict:
        return {key: pin(each) for key, each in value.items()}
    return value


def draws_at_once(sampler: Any) -> bool:
    """Whether it is one of torch's own, which draw when they begin and then no more."""
    inner = sampler.sampler if type(sampler).__name__ == "BatchSampler" else sampler
    modules = "torch.utils.data.sampler", "torch.utils.data.distributed"
    if not all(type(each).__module__ in modules for each in (sampler, inner)):
        return False
    if type(inner).__name__ == "RandomSampler" and inner.generator is not None:
        return not inner.replacement and inner.num_samples == len(inner.data_source)
    return type(inner).__name__ in SAMPLERS


class Loaders:
    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.module = sys.modules["torch.utils.data.dataloader"]
        self.wishes: Dict[int, Wish] = {}
        self.verdicts: Dict[int, Verdict] = {}
        self.kept: Dict[int, Pool] = {}
        self.feeds: Any = weakref.WeakSet()
        self.ending: List[Pool] = []
        self.reader = readahead.Reader(self.tell)
        self.watch: Optional[memory_watch.Watch] = None
        loop.began = self.begin

    def tell(self, text: str) -> None:
        if self.loop.opened:
            self.loop.sink.note(text[:240])

    # ---- which loader

    def find(self) -> Tuple[int, Any]:
        """The one that feeds the steps, and its iterator; None: between two epochs."""
        loop = self.loop
        there = self.there()
        sources = sorted(source for source in loop.feeding if source in there)
        if not sources:
            raise Refused("no loader feeds the steps yet")
        read = [source for source in sources if loop.iterators[source][0]() is not None]
        seen = [n for ref, n in loop.keys.values() if ref is not None and n in sources]
        sources = read or seen or sources  # of a sampler that is a list no end is seen
        if len(sources) > 1:
            raise Refused("%d loaders feed the steps, which one is meant is open" % len(sources))
        reference, thread = loop.iterators[sources[0]]
        iterator = reference()
        if iterator is not None and thread != threading.get_ident():
            raise Refused("its batches are read in another thread than the one that steps")
        return sources[0], iterator

    def there(self) -> List[int]:
        """Loaders that the job still has."""
        known = self.loop.keys.values()
        there = [n for ref, n in known if ref is None or ref() is not None]
        for source in [source for source in self.kept if source not in there]:
            self.stop(self.kept.pop(source))
        return there

    def feed_of(self, source: int, it: Any) -> Feed:
        feed = it.__dict__.get("_brim_feed")
        if feed is not None:
            return feed  # type: ignore[no-any-return]
        self.known(it)
        if stream.is_stream(it):
            feed = stream.Stream(self.loop.torch, it)
            feed.free_pool = self.stop
        else:
            feed = Feed(self.loop.torch, it)
            feed.random = allowed()
            feed.free_pool = lambda pool: self.free(source, pool)
        feed.fell_back = lambda why: self.fell_back(source, why)
        feed.low = self.low
        feed.took_back = lambda feed, why: self.took_back(source, feed, why)
        it.__dict__["_brim_feed"] = feed
        self.feeds.add(feed)
        return feed

    def known(self, it: Any) -> None:
        """Refused for what is not torch's own way of loading a dataset by index."""
        module, data = self.module, self.loop.torch.utils.data
        own = module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter
        if type(it) not in own:
            raise Refused("its iterator is a %s, not torch's own" % (type(it).__name__,))
        names = "IterDataPipe", "MapDataPipe"  # which newer versions may lack
        pipes = tuple(getattr(data, name) for name in names if hasattr(data, name))
        if isinstance(it._dataset, pipes) or (stream.is_stream(it) and it._num_workers):
            raise Refused("its dataset is a stream, and each worker would have one of its own")
        if not getattr(it, "_in_order", True):
            raise Refused("it is told to yield batches in any order (in_order=False)")

    def forkable(self, it: Any) -> None:
        """Refused where workers by fork cannot be copies of what there is."""
        method = multiprocessing.get_start_method(allow_none=True)
        for worker in getattr(it, "_workers", ())[:1]:
            method = getattr(worker, "_start_method", None) or method
        if method not in (None, "fork"):
            raise Refused("the job starts its processes by %s, brim would by fork" % (method,))
        if multiprocessing.current_process().daemon:
            raise Refused("the job runs in a daemon process, which may not start others")
        samplers = (it._index_sampler, getattr(it._index_sampler, "sampler", None))
        if any(it._sampler_iter is sampler for sampler in samplers):
            raise Refused("its sampler is its own iterator, and would run ahead of the steps")
        held = connection(it._dataset)
        if held:
            raise Refused("its dataset holds a connection (%s)" % (held,))

    # ---- switches

    def request(self, source: int, it: Any, wish: Wish) -> None:
        """Carry wish out, as far as it concerns the epoch that runs."""
        self.epochs_last(source, wish)
        if it is not None:
            feed = self.feed_of(source, it)
            if not feed.ended:
                self.switch(source, feed, wish)
        self.wishes[source] = wish

    def epochs_last(self, source: int, wish: Wish) -> None:
        before, begun = self.loop.begun.get(source, (None, 0))
        if wish.persistent or not wish.workers:
            return
        if before is not None and begun - before < SHORT:
            raise Refused(
                "its epochs are %d steps long: workers would start anew in each"
                % (begun - before,)
            )

    def switch(self, source: int, feed: Feed, wish: Wish) -> None:
        it = feed.iterator()
        verdict = self.verdicts.setdefault(source, Verdict())
        workers = feed.own if wish.workers is None else wish.workers
        depth = (feed.own_depth or 2) if wish.depth is None else wish.depth
        if (workers, depth) == (feed.workers, feed.depth):
            return
        if isinstance(feed, stream.Stream):
            stream.switch(self, source, feed, verdict, workers, depth)
            self.tell("loader %d: workers %d, prefetch %d in force" % (source, workers, depth))
            return
        if verdict.most is not None and workers > verdict.most:
            raise Refused(verdict.low)
        back = workers == feed.own and (not workers or depth <= feed.own_depth)
        if verdict.never and not back:
            raise Refused(verdict.never)
        if not back:
            self.forkable(it)
        if workers > feed.own:
            self.prepare(source, feed, verdict, workers, depth)
        elif not back:
            if feed.own and not workers and it._worker_init_fn is not None:
                raise Refused("its workers are set up by worker_init_fn, the job itself is not")
            self.alone(source, feed, verdict, not workers, workers == feed.own)
        if feed.pool is None and workers > feed.own:
            return  # the epoch ends: in the next one
        feed.set(workers, depth)
        self.tell("loader %d: workers %d, prefetch %d in force" % (source, workers, depth))

    def alone(
        self, source: int, feed: Feed, verdict: Verdict, compare: bool, ordered: bool
    ) -> None:
        """The try where no workers are needed afterwards. ordered: each batch stays with the worker
        that would have fetched it, so that it may draw."""
        if ordered and draws_at_once(feed.iterator()._index_sampler):
            return
        if verdict.compared if compare else verdict.alike:
            return
        pool = self.new_pool(source, feed)
        try:
            self.canary(feed, pool, verdict, compare, ordered)
        except BaseException:
            feed.leave()
            raise
        finally:
            self.stop(pool)

    def prepare(
        self, source: int, feed: Feed, verdict: Verdict, workers: int, depth: int
    ) -> None:
        """A pool whose workers are right, with room for as many."""
        pool, feed.pool = feed.pool, None
        if pool is not None and not self.fits(feed, pool):
            self.stop(pool)
            pool = None
        pool = pool or self.take_kept(source, feed) or self.new_pool(source, feed)
        compare = not feed.own
        try:
            if not (verdict.compared if compare else verdict.alike):
                if not self.canary(feed, pool, verdict, compare):
                    self.stop(pool)
                    return
            live = len(pool.live())
            more = max(workers - live, 0)
            if more or depth > feed.depth:
                resource_limits.check(
                    more, live, pool.memory(), workers * depth, verdict.size_b, verdict.tensors
                )
            pool.grow(workers)
        except BaseException:
            if feed.pooled():
                feed.pool = pool  # which it uses on as before
            else:
                self.stop(pool)
            raise
        feed.pool = pool

    def fits(self, feed: Feed, pool: Pool) -> bool:
        """Whether its workers have the dataset as it is. While they load, one that is changed
        shows with the next batch."""
        it = feed.iterator()
        now = feed.fingerprint.of(it._dataset, it._collate_fn)
        return bool(pool.live()) and (feed.own > 0 or feed.pooled() or pool.fingerprint == now)

    def take_kept(self, source: int, feed: Feed) -> Optional[Pool]:
        pool = self.kept.pop(source, None)
        if pool is None:
            return None
        if pool.pid == os.getpid() and self.fits(feed, pool):
            return pool
        self.stop(pool)
        return None

    def new_pool(self, source: int, feed: Feed) -> Pool:
        self.reap()
        it = feed.iterator()
        again = it.__dict__.get("_brim_pools", 0)
        it.__dict__["_brim_pools"] = again + 1
        pool = feed.new_pool(again)
        # of an iterator without workers it is not known, nor does the job call it
        pool.spec.init_fn = getattr(it, "_worker_init_fn", None)
        pool.others = self.pipes
        return pool

    def pipes(self) -> List[Any]:
        """The job's ends, which no new worker may hold."""
        open_pools = [feed.pool for feed in self.feeds if feed.pool is not None]
        open_pools += self.kept.values()
        return [w.conn for pool in open_pools for w in pool.workers if w.alive]

    def canary(
        self, feed: Feed, pool: Pool, verdict: Verdict, compare: bool, ordered: bool = False
    ) -> bool:
        """The next batches, fetched in a forked process, and here. False: there are none."""
        it = feed.iterator()
        feed.count_left(it)
        pool.spec.sampler, pool.spec.sampler_iter = it._index_sampler, it._sampler_iter
        try:
            pool.grow(1)
        finally:  # the pool may live on when its loader does not
            pool.spec.sampler = pool.spec.sampler_iter = None
        rest = not stream.is_stream(it) and not draws_at_once(it._index_sampler)
        said = pool.check(BATCHES, feed.left, rest, TRY_S)
        if said["error"]:
            raise Refused(said["error"])
        if said["drew"] and stream.is_stream(it):
            raise Refused("its stream draws at random as it is read")
        if not allowed():
            if said["drew"] and not ordered:
                raise Refused(RANDOM)
            if said["sampler"] == "draws":
                raise Refused("its sampler draws at random as it goes on: --allow numeric")
        if said["sampler"] == "changes":
            raise Refused("its sampler remembers its place, and would run ahead of the steps")
        if not said["digests"]:
            return False
        if not said["drew"]:
            self.judge(said)
            if compare:
                feed.compare(said)
        verdict.size_b, verdict.tensors = said["size_b"], said["tensors"]
        verdict.alike |= allowed() or not said["drew"]
        feed.tried = verdict.tried = said["tried"]
        verdict.compared |= compare
        return True

    def judge(self, said: Dict[str, Any]) -> None:
        if not said["again"]:
            raise Refused("fetching a batch twice gives two results")
        try:
            came = Digest(self.loop.torch).of(said["batch"])
        except Unknown as e:
            raise Refused("a batch holds %s, which cannot be compared" % (e,))
        if came != said["digests"][0]:
            raise Refused("a batch is another one when it comes from a worker")

    # ---- epochs

    def begin(self, source: int, it: Any) -> None:
        """An iterator is about to be read for the first time."""
        if self.kept:
            self.there()
        wish = self.wishes.get(source)
        if wish is None:
            return
        if wish.readahead:
            at_once = draws_at_once(it._index_sampler)
            wish.readahead = self.reader.again(source, it, wish.readahead, at_once)
        feed = None
        try:
            if wish.workers is None and wish.depth is None and not wish.pin:
                return
            feed = self.feed_of(source, it)
            if wish.pin and not it._pin_memory:
                feed.pin = pin
                feed.settle(it)
            if wish.workers is None and wish.depth is None:
                return
            verdict = self.verdicts.setdefault(source, Verdict())
            feed.tried = verdict.tried
            if verdict.alike or verdict.compared:
                self.switch(source, feed, wish)
            else:  # the try wants a sampler that has begun
                feed.later = lambda: self.late(source, feed, wish)
                feed.override(it)
        except Exception as e:
            self.not_done(source, feed, wish, e)

    def late(self, source: int, feed: Any, wish: Wish) -> None:
        try:
            self.switch(source, feed, wish)
        except Exception as e:
            self.not_done(source, feed, wish, e)

    def not_done(self, source: int, feed: Optional[Feed], wish: Wish, e: Exception) -> None:
        self.wishes[source] = wish.but(workers=None, depth=None)
        if not isinstance(e, Refused) and feed is not None:
            feed.leave()
        why = str(e) if isinstance(e, Refused) else repr(e)
        self.tell("loader %d: as the job has it from this epoch on: %s" % (source, why))

    def fell_back(self, source: int, why: str) -> None:
        self.verdicts.setdefault(source, Verdict()).never = why
        wish = self.wishes.get(source)
        if wish is not None:
            self.wishes[source] = wish.but(workers=None, depth=None)
        self.tell("loader %d: as the job has it again: %s" % (source, why))

    # ---- memory

    def low(self) -> str:
        if self.watch is None:
            self.watch = memory_watch.Watch()
        return self.watch.low()

    def took_back(self, source: int, feed: Feed, why: str) -> None:
        """Half of the workers go, and what they have for themselves with them: from here on the
        loader has no more than the others."""
        verdict = self.verdicts.setdefault(source, Verdict())
        before = feed.workers
        left = feed.own + (before - feed.own) // 2
        verdict.most, verdict.low = left, "memory ran low with %d workers: %s" % (before, why)
        if feed.pool is not None:
            feed.pool.shrink(left if left > feed.own else 0)
        feed.set(left, feed.depth)
        feed.workers = left  # where the sampler has ended, too
        wish = self.wishes.get(source)
        if wish is not None:
            self.wishes[source] = wish.but(workers=left)
        self.tell(
            "loader %d: workers %d, prefetch %d in force, for %s"
            % (source, left, feed.depth, verdict.low)
        )

    # ---- pools that nobody uses

    def free(self, source: int, pool: Pool) -> None:
        wish = self.wishes.get(source)
        if wish is not None and wish.persistent and pool.live() and source not in self.kept:
            self.kept[source] = pool
        else:
            self.stop(pool)

    def stop(self, pool: Pool) -> None:
        pool.stop()
        if pool.ended:
            self.ending.append(pool)

    def reap(self) -> None:
        for pool in self.ending:
            pool.reap()
        self.ending = [pool for pool in self.ending if pool.ended]

    def undo(self) -> None:
        """Everything as the job has it, from the next batch on."""
        self.loop.began = None
        self.wishes.clear()
        for feed in list(self.feeds):
            feed.leave()
        for pool in self.kept.values():
            pool.stop()
        self.kept.clear()
        self.reader.stop()


def of(loop: Any) -> Loaders:
    if loop.loaders is None:
        loop.loaders = Loaders(loop)
    return loop.loaders  # type: ignore[no-any-return]


def number(value: str, low: int, high: int, what: str) -> int:
    if value.isdigit() and value.isascii() and low <= int(value) <= high:
        return int(value)
    raise Refused("'%s' is not from %d to %d %s" % (value, low, high, what))


def yes(value: str) -> bool:
    if value in ("yes", "no"):
        return value == "yes"
    raise Refused("'%s' is neither yes nor no" % (value,))


def change(loop: Any, **changes: Any) -> None:
    loaders = of(loop)
    source, it = loaders.find()
    loaders.request(source, it, loaders.wishes.get(source, Wish()).but(**changes))


def set_workers(loop: Any, value: str) -> None:
    """From the next batch on, and in the epochs to come. Refused: nothing was changed."""
    change(loop, workers=number(value, 0, pools.MOST, "workers"))


def set_prefetch(loop: Any, value: str) -> None:
    """Batches that each worker loads ahead."""
    depth = number(value, 1, DEEPEST, "batches")
    loaders = of(loop)
    source, it = loaders.find()
    wish = loaders.wishes.get(source, Wish())
    own = 0 if it is None else int(it._num_workers)
    if not (own if wish.workers is None else wish.workers):
        raise Refused("there are no workers that could load ahead")
    change(loop, depth=depth)


def set_persistent(loop: Any, value: str) -> None:
    """Whether brim's workers stay from epoch to epoch."""
    stay = yes(value)
    loaders = of(loop)
    source, it = loaders.find()
    if it is not None and it._num_workers and stay != bool(it._persistent_workers):
        raise Refused("the job has workers of its own, which stay or end as it says")
    wish = loaders.wishes[source] = loaders.wishes.get(source, Wish()).but(persistent=stay)
    if not wish.persistent and source in loaders.kept:
        loaders.stop(loaders.kept.pop(source))


def set_pin(loop: Any, value: str) -> None:
    """Batches in pinned memory, from the next epoch on."""
    wanted = yes(value)
    loaders = of(loop)
    source, it = loaders.find()
    if wanted and not loop.torch.cuda.is_initialized():
        raise Refused("no CUDA device is in use, which pinned memory is for")
    if not wanted and it is not None and it._pin_memory:
        raise Refused("the job itself pins its batches")
    loaders.wishes[source] = loaders.wishes.get(source, Wish()).but(pin=wanted)


def set_readahead(loop: Any, value: str) -> None:
    """Batches whose files the kernel is told to read, from now on."""
    batches = number(value, 0, readahead.MOST, "batches")
    loaders = of(loop)
    source, it = loaders.find()
    if it is not None:
        loaders.reader.set(source, it, batches, draws_at_once(it._index_sampler))
    loaders.wishes[source] = loaders.wishes.get(source, Wish()).but(readahead=batches)


TARGETS: Dict[str, Callable[[Any, str], None]] = {
    "loader.workers": set_workers,
    "loader.prefetch": set_prefetch,
    "loader.persistent": set_persistent,
    "loader.pin": set_pin,
    "loader.readahead": set_readahead,
}


def initial(loop: Any, settings: Dict[str, str]) -> None:
    """Settings known from the start: at the end of the first step of which a loader is known to
    feed it. What is refused is told in a note."""
    mine = [(name, settings[name]) for name in TARGETS if name in settings]
    if mine:
        loop.after_step.append(lambda: first_step(loop, mine))


def first_step(loop: Any, mine: List[Tuple[str, str]]) -> None:
    if not loop.feeding and loop.steps < PATIENCE:
        loop.after_step.append(lambda: first_step(loop, mine))
        return
    for name, value in mine:
        try:
            TARGETS[name](loop, value)
        except Refused as e:
            of(loop).tell("%s=%s was refused: %s" % (name, value, e))


def undo(loop: Any) -> None:
    """As if nothing had ever been set."""
    if loop.loaders is not None:
        loop.loaders.undo()
