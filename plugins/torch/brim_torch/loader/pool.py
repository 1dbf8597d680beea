"""The workers that brim starts for one iterator. Each has a pipe of its own, so that one that dies
leaves nothing locked; whatever it had is lost, and fetched by the job itself.

Workers are forked with the dataset as it is then. Between switches they wait in a read()."""

import atexit
import collections
import multiprocessing.util
import os
import select
import time
import warnings
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from brim_torch.loader import child, resource_limits, worker_pipe
from brim_torch.refused import Refused

LOST = -1  # beside the kinds of child.py
MOST = 256
HANGS_S = 30.0  # at least; a worker that takes longer for a batch is given up
HANGS_TIMES = 50  # longer than the slowest batch so far
END_S = 1.0  # for a worker to come to the end of what it does when the job ends

_started: Any = weakref.WeakKeyDictionary()  # processes, and who started them


def end_all() -> None:
    """The job ends: its workers come to the end of what they do. Multiprocessing, which ends its
    daemons too, would wait for ever for one that hangs."""
    job = os.getpid()
    there = [p for p, by in _started.items() if by == job and p.exitcode is None]
    for process in there:
        process.terminate()
    end = time.monotonic() + END_S
    for process in there:
        process.join(max(end - time.monotonic(), 0))
        if process.exitcode is None:
            process.kill()


atexit.register(end_all)  # before that of multiprocessing.util, which was there first


class Worker:
    def __init__(self, process: Any, conn: Any) -> None:
        self.process, self.conn = process, conn
        self.given: Deque[int] = collections.deque()  # numbers of tasks not answered yet
        self.alive = True
        self.told = 0.0  # when it was told to end
        self.poll = select.poll()
        self.poll.register(conn.fileno(), select.POLLIN)
        self.poll.register(process.sentinel, select.POLLIN)

    def end(self, now: bool = False) -> None:
        self.alive = False
        self.conn.close()  # it ends when it has read that
        if now:
            self.process.terminate()
            self.told = time.monotonic()

    def gone(self) -> bool:
        """One that was told and hangs is killed, though that may leave a batch's memory to
        nobody."""
        self.process.join(0)
        ended = self.process.exitcode is not None
        if not ended and self.told and time.monotonic() - self.told > END_S:
            self.process.kill()
        return ended


class Pool:
    def __init__(self, spec: child.Spec, fingerprint: Any) -> None:
        self.spec: Any = spec
        self.fingerprint = fingerprint  # of the dataset when its workers were forked
        self.pid = os.getpid()
        self.workers: List[Worker] = []
        self.ended: List[Worker] = []
        self.active = 0
        self.numbers = 0
        self.slowest_s = 0.0
        self.died = 0
        self.others: Callable[[], List[Any]] = list  # pipes of other pools

    def live(self) -> List[Worker]:
        return [w for w in self.workers if w.alive]

    def grow(self, count: int) -> None:
        """At least count live workers; where that fails, as many as there were, and Refused."""
        before = len(self.workers)
        others = self.others() + [w.conn for w in self.workers if w.alive]
        try:
            while len(self.live()) < count:
                others.append(self.start(others))
        except Exception as e:
            for worker in self.workers[before:]:
                worker.end(now=True)
            self.ended += self.workers[before:]
            del self.workers[before:]
            raise Refused("no more workers can be started (%s)" % (e,))

    def start(self, others: List[Any]) -> Any:
        context: Any = multiprocessing.get_context("fork")
        mine, its = context.Pipe(duplex=True)
        self.spec.workers = max(self.spec.workers, len(self.workers) + 1)
        process = context.Process(
            target=child.main,
            args=(self.spec, its, others + [mine], os.getpid(), len(self.workers)),
            daemon=True,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
                process.start()
        except BaseException:
            mine.close()
            raise
        finally:
            its.close()
        self.workers.append(Worker(process, mine))
        _started[process] = os.getpid()
        return mine

    def shrink(self, count: int) -> None:
        """Only the first count live workers stay. The others end at once, for their memory is
        wanted; what they had is lost."""
        for worker in self.live()[count:]:
            worker.end(now=True)
        self.active = min(self.active, count)

    def give(self, index: Any) -> Tuple[Optional[Worker], int]:
        """Hand a batch's indices to the worker with the least to do; None: there is nobody."""
        self.numbers += 1
        for worker in self.workers:
            if worker.told:
                worker.gone()
        while True:
            live = self.live()[: self.active]
            if not live:
                return None, self.numbers
            worker = min(live, key=lambda w: len(w.given))
            try:
                worker.conn.send((self.numbers, index))
            except OSError:
                self.lose(worker)
                continue
            except Exception:  # cannot be pickled
                return None, self.numbers
            worker.given.append(self.numbers)
            return worker, self.numbers

    def lose(self, worker: Worker) -> None:
        if worker.alive:
            self.died += 1
            worker.end(now=True)

    def read(self, worker: Worker, limit_s: float) -> Optional[Tuple[int, int, Any]]:
        """The next answer; None: there will be none."""
        if not worker.alive:
            return None
        end, fd = time.monotonic() + limit_s, worker.conn.fileno()
        while True:
            events = [ready for ready, _ in worker.poll.poll(1000)]
            if fd in events:
                break
            if events or time.monotonic() >= end:  # it has ended, or hangs
                self.lose(worker)
                return None
        try:
            answer: Tuple[int, int, Any] = worker_pipe.receive(worker.conn)
        except Exception:  # it has died in the middle, or what it sent cannot be made here
            self.lose(worker)
            return None
        except BaseException:  # an interrupt: the rest of the message will not be understood
            self.lose(worker)
            raise
        if worker.given and answer[0] == worker.given[0]:
            worker.given.popleft()
        return answer

    def receive(self, worker: Worker, number: int, limit_s: float = 0.0) -> Tuple[int, Any]:
        """The answer to task number. Those before it are of an epoch that was given up: they are
        taken, for they hold shared memory, and dropped."""
        begun = time.monotonic()
        while True:
            limit = limit_s or max(HANGS_S, HANGS_TIMES * self.slowest_s)
            answer = self.read(worker, limit)
            if answer is None:
                return LOST, None
            if answer[0] == number:
                self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
                return answer[1], answer[2]

    def check(
        self, count: int, left: Optional[int], rest: bool, limit_s: float
    ) -> Dict[str, Any]:
        """What the first worker says of the next batches."""
        worker, sample = self.workers[0], None
        try:
            worker.conn.send((child.CHECK, count, left, rest))
        except OSError:
            self.lose(worker)
        while True:
            answer = self.read(worker, limit_s)
            if answer is None:
                raise Refused(
                    "a process that was forked for a try did not bring a batch in %d s, or died"
                    % limit_s
                )
            if answer[1] == child.SAMPLE:
                sample = answer[2]
            if answer[1] == child.CHECKED:
                return dict(answer[2], batch=sample)

    def memory(self) -> int:
        """What a worker has for itself: of the one that has been there the longest."""
        live = self.live()
        return resource_limits.private_memory(live[0].process.pid) if live else 0

    def stop(self) -> None:
        """They end when they are done with what they do; nobody waits for them."""
        if self.pid != os.getpid():
            return
        for worker in self.workers:
            if worker.alive:
                worker.end()
        self.ended += self.workers
        self.workers = []
        self.spec = self.fingerprint = None  # the dataset is the job's to free
        self.reap()

    def reap(self) -> None:
        self.ended = [worker for worker in self.ended if not worker.gone()]
