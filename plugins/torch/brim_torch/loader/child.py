"""A worker that brim starts: the process's main function. It is forked, reads what to fetch from
its pipe and answers through it, in order; it ends when the pipe ends, or the job.

Where torch's own workers are, it is one: worker_info, seeds, worker_init_fn and handlers are
theirs. It differs in that its files have offsets of their own, and that it tells when a batch drew
random numbers."""

import collections
import gc
import os
import queue
import select
import signal
import sys
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Optional

from brim_torch.loader import reopen, worker_pipe
from brim_torch.loader.dataset_fingerprint import Fingerprint, Streams
from brim_torch.loader.digest import Digest, Unknown

LOOK_S = 5.0  # at whether the job is still there
SMALL_B = 8192  # fits into the pipe where that can be written to at all

BATCH, FAILED, DREW, CHECKED, ALIVE, SAMPLE, ENDED = range(7)  # kinds of answers
CHECK = -1  # instead of a task's number

PULL_S = 0.5  # at most, for seeing that a sampler draws nothing


class Spec:
    """What a worker fetches, from whom: taken over by fork."""

    def __init__(self, torch: Any, iterator: Any, seed: int) -> None:
        self.torch = torch
        self.kind = iterator._dataset_kind
        self.dataset = iterator._dataset
        self.auto_collation = iterator._auto_collation
        self.collate_fn = iterator._collate_fn
        self.drop_last = iterator._drop_last
        self.sampler: Any = None  # for the try alone
        self.sampler_iter: Any = None
        self.init_fn: Optional[Callable[[int], Any]] = None
        self.seed = seed
        self.workers = 1
        self.random = False  # numbers may be drawn
        self.stream: Any = None  # the job's fetcher, in mid-stream

    def fetcher(self) -> Any:
        if self.stream is not None:
            return self.stream
        from torch.utils.data import _DatasetKind

        return _DatasetKind.create_fetcher(
            self.kind, self.dataset, self.auto_collation, self.collate_fn, self.drop_last
        )


class Sender:
    """Answers go out beside the fetching, where the job does not take them at once."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn
        self.poll = select.poll()
        self.poll.register(conn.fileno(), select.POLLOUT)
        self.queue: Any = None
        self.waiting = 0
        self.lock = threading.Lock()

    def send(self, number: int, kind: int, payload: Any) -> None:
        message, fds = worker_pipe.dump((number, kind, payload))
        if message.tell() <= SMALL_B and not self.waiting and self.poll.poll(0):
            self.give(message, fds)
            return
        if self.queue is None:
            self.queue = queue.SimpleQueue()
            threading.Thread(target=self.run, daemon=True).start()
        with self.lock:
            self.waiting += 1
        self.queue.put((message, fds))

    def give(self, message: Any, fds: List[int]) -> None:
        try:
            worker_pipe.send(self.conn, message, fds)
        finally:
            worker_pipe.close(fds)

    def run(self) -> None:
        while True:
            message, fds = self.queue.get()
            try:
                self.give(message, fds)
            except OSError:
                os.kill(os.getpid(), signal.SIGTERM)  # nobody is there to take it
                return
            with self.lock:
                self.waiting -= 1


class Work:
    def __init__(self, spec: Spec, conn: Any, number: int) -> None:
        self.spec, self.conn, self.number = spec, conn, number
        self.torch = spec.torch
        self.out = Sender(conn)
        self.tasks: Deque[Any] = collections.deque()
        self.fetcher: Any = None
        self.failed = ""
        self.streams: Any = None
        self.state: Any = None

    def begin(self) -> None:
        worker = sys.modules["torch.utils.data._utils.worker"]
        seed = self.spec.seed + self.number
        self.torch.set_num_threads(1)
        import random

        random.seed(seed)
        self.torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % (1 << 32))
        if self.spec.stream is None:  # which is as it is in the job
            worker._worker_info = worker.WorkerInfo(  # type: ignore[attr-defined]
                id=self.number, num_workers=self.spec.workers, seed=seed, dataset=self.spec.dataset
            )
        try:
            shared = reopen.files()
            if shared:
                self.failed = "%s cannot be opened again" % (shared[0],)
            if self.spec.init_fn is not None:
                self.spec.init_fn(self.number)
            self.fetcher = self.spec.fetcher()
        except Exception as e:
            self.failed = "%s: %s" % (type(e).__name__, e)
        self.streams = Streams(self.torch, self.spec.dataset, self.spec.collate_fn)
        self.state = self.streams.state()

    def drew(self) -> bool:
        """Since it was asked the last time."""
        state = self.streams.state()
        drew = self.streams.differ(self.state, state)
        self.state = state
        return drew

    def fetch(self, number: int, index: Any) -> None:
        try:
            if self.failed:
                raise RuntimeError(self.failed)
            batch = self.fetcher.fetch(index)
        except StopIteration as e:
            if self.spec.stream is None:
                self.fail(number, e)
            else:
                self.out.send(number, ENDED, None)
            return
        except Exception as e:
            self.fail(number, e)
            return
        if not self.spec.random and self.drew():
            self.out.send(number, DREW, None)
            return
        try:
            self.out.send(number, BATCH, batch)
        except OSError:
            raise
        except Exception as e:
            self.fail(number, e)

    def fail(self, number: int, error: BaseException) -> None:
        from torch._utils import ExceptionWrapper

        where = "in DataLoader worker process %d" % self.number
        info = (type(error), error, error.__traceback__)
        try:
            self.out.send(number, FAILED, ExceptionWrapper(info, where=where))
        except OSError:
            raise
        except Exception:
            self.out.send(number, FAILED, None)

    def check(self, count: int, left: Optional[int], rest: bool) -> None:
        """The try: the next batches of the sampler as it is here."""
        said: Dict[str, Any] = {"digests": [], "error": "", "drew": False, "sampler": ""}
        said["tried"] = None
        try:
            if self.failed:
                raise RuntimeError(self.failed)
            if self.spec.stream is None:
                self.check_batches(said, count, left, rest)
            else:
                self.check_stream(said, count)
        except Unknown as e:
            said["error"] = "a batch holds %s, which cannot be compared" % (e,)
        except Exception as e:
            text = (str(e).splitlines() or [""])[0]
            said["error"] = "in another process it fails (%s: %s)" % (type(e).__name__, text[:120])
        self.out.send(CHECK, CHECKED, said)

    def check_batches(
        self, said: Dict[str, Any], count: int, left: Optional[int], rest: bool
    ) -> None:
        spec, digest = self.spec, Digest(self.torch)
        samplers = (spec.sampler, getattr(spec.sampler, "sampler", None))
        fingerprint, streams = Fingerprint(self.torch), Streams(self.torch, *samplers)
        looked, state = fingerprint.of(*samplers), streams.state()
        indices: List[Any] = []
        while len(indices) < count and (left is None or left > len(indices)):
            try:
                indices.append(next(spec.sampler_iter))
            except StopIteration:
                break
        drawn = streams.differ(state, streams.state())
        self.drew()
        for index in indices:
            batch = self.fetcher.fetch(index)
            said["drew"] |= self.drew()
            said["digests"].append(digest.of(batch))
            said["size_b"], said["tensors"] = digest.size_b, digest.tensors
            self.out.send(CHECK, ALIVE, None)
        if indices and not said["drew"]:
            batch = self.fetcher.fetch(indices[0])
            said["again"] = digest.of(batch) == said["digests"][0] and not self.drew()
            if not self.send_sample(said, batch):
                return
        state = streams.state()
        if rest:
            more = None if left is None else left - len(indices)
            said["tried"] = self.pull(spec.sampler_iter, more)
        if drawn or streams.differ(state, streams.state()):
            said["sampler"] = "draws"
        elif fingerprint.of(*samplers) != looked:
            said["sampler"] = "changes"

    def check_stream(self, said: Dict[str, Any], count: int) -> None:
        """The next batches are gone here: the job reads them, too."""
        digest = Digest(self.torch)
        first: Any = None  # so that its memory is not used again
        places: List[int] = []
        self.drew()
        for _ in range(count):
            try:
                batch = self.fetcher.fetch(next(self.spec.sampler_iter))
            except StopIteration:
                return
            said["drew"] |= self.drew()
            said["digests"].append(digest.of(batch))
            said["size_b"], said["tensors"] = digest.size_b, digest.tensors
            said["again"] = True
            if set(places) & set(digest.places):
                said["error"] = "its batches are the same tensors again and again"
                return
            if first is None:
                first = batch
                if not self.send_sample(said, first):
                    return
                digest.of(first)  # where it is now that it is shared
                places = digest.places

    def send_sample(self, said: Dict[str, Any], batch: Any) -> bool:
        try:
            self.out.send(CHECK, SAMPLE, batch)
            return True
        except OSError:
            raise
        except Exception as e:
            said["error"] = "a batch cannot be handed over (%s)" % (e,)
            return False

    def pull(self, sampler: Any, left: Optional[int]) -> Optional[int]:
        """How much of the sampler was seen; None: all."""
        end = time.monotonic() + PULL_S
        pulled = 0
        while left is None or pulled < left:
            try:
                next(sampler)
            except StopIteration:
                return None
            pulled += 1
            if not pulled & 255 and time.monotonic() > end:
                return pulled
        return None

    def run(self, parent: int) -> None:
        conn = self.conn
        while True:
            while not self.tasks or conn.poll(0):
                if not self.tasks and not conn.poll(LOOK_S):
                    if os.getppid() != parent:
                        return
                    continue
                self.tasks.append(conn.recv())
            task = self.tasks.popleft()
            if task is None:
                return
            if task[0] == CHECK:
                self.check(*task[1:])
            else:
                self.fetch(*task)


def ignore(signum: int, frame: Any) -> None:
    """What the job does at this signal is not for its workers."""


def leave(signum: int, frame: Any) -> None:
    """Between two of Python's steps: in one of them torch makes a file of shared memory and takes
    its name away, and an end in between would leave the memory to nobody."""
    os._exit(0)


def quiet_signals(signals: Any) -> None:
    """Ctrl-C reaches the whole group: the job decides what it means. A handler of the job's own
    runs in the job."""
    signals._set_worker_signal_handlers()
    signal.signal(signal.SIGINT, ignore)
    signal.signal(signal.SIGTERM, leave)
    for name in ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD", "SIGCONT"):
        number = getattr(signal, name)
        if callable(signal.getsignal(number)):
            signal.signal(number, ignore)


def first_to_go() -> None:
    """Where memory runs out the kernel ends this process and not the job, which fetches by itself
    what was asked of it. More may be said of a process by itself, less by root alone."""
    try:
        with open("/proc/self/oom_score_adj", "w") as f:
            f.write("1000")
    except OSError:
        pass


def main(spec: Spec, conn: Any, others: List[Any], parent: int, number: int) -> None:
    first_to_go()
    gc.freeze()  # the collector would copy the job's pages by looking at them
    quiet_signals(sys.modules["torch.utils.data._utils.signal_handling"])
    for other in others:
        other.close()  # else a pipe would not end with the job
    work = Work(spec, conn, number)
    try:
        work.begin()
        work.run(parent)
    except (EOFError, OSError):
        pass
