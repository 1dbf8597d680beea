"""The kernel is told which files the next batches will read, so that it has them when they are
wanted. What the sampler yields is taken some batches early and kept: order and values are the
job's. A thread opens the files and gives the kernel the advice; the job's own reads wait for
nothing that they would not wait for anyway."""

import os
import queue
import threading
import weakref
from collections import deque
from typing import Any, Callable, Deque, List, Optional

from brim_torch.loader import resource_limits, stream
from brim_torch.refused import Refused

MOST = 64  # batches
LOOKED = 16  # files that must be there
NAMES = (
    *("samples", "imgs", "images", "files", "paths", "filenames", "image_paths", "img_paths"),
    *("image_files", "img_files", "file_list", "filepaths", "file_paths"),
)
FOLDERS = ("root", "root_dir", "data_dir", "img_dir", "image_dir", "folder")


def name_in(item: Any) -> Optional[str]:
    """The file's name in an entry of a list: itself, or the first of a pair such as (path, 3)."""
    if type(item) in (tuple, list) and item:
        item = item[0]
    if isinstance(item, (str, os.PathLike)):
        return os.fspath(item)  # type: ignore[no-any-return]
    return None


class Files:
    """Which file each sample of a dataset is read from."""

    def __init__(self, dataset: Any) -> None:
        self.indices: List[Any] = []  # of subsets, the outermost first
        while type(dataset).__name__ == "Subset" and hasattr(dataset, "indices"):
            self.indices.append(dataset.indices)
            dataset = dataset.dataset
        self.names: Any = None
        for attribute in NAMES:
            held = getattr(dataset, attribute, None)
            if type(held) in (list, tuple) and held and len(held) == len(dataset):
                if name_in(held[0]) is not None:
                    self.names = held
                    break
        folders = [getattr(dataset, name, None) for name in FOLDERS]
        self.folders = [os.fspath(f) for f in folders if isinstance(f, (str, os.PathLike))]
        self.folder = ""

    def path(self, index: Any) -> Optional[str]:
        for indices in self.indices:
            index = indices[index]
        name = name_in(self.names[index])
        return None if name is None else os.path.join(self.folder, name)

    def find_folder(self, index: Any) -> bool:
        for folder in ["", *self.folders]:
            self.folder = folder
            path = self.path(index)
            if path is not None and os.path.isfile(path):
                return True
        return False


def flat(indices: Any) -> List[Any]:
    return list(indices) if isinstance(indices, (list, tuple)) else [indices]


class Teller:
    """The thread, and what it is to tell: (whose, its number, files of a batch)."""

    def __init__(self) -> None:
        self.queue: Any = queue.SimpleQueue()
        self.pid = os.getpid()
        threading.Thread(target=self.run, name="brim-readahead", daemon=True).start()

    def run(self) -> None:
        while True:
            task = self.queue.get()
            if task is None:
                return
            reference, number, indices = task
            ahead = reference()
            if ahead is not None and number > ahead.handed:  # else it is too late for it
                ahead.tell(indices)
            del ahead, task


class Ahead:
    """In place of a sampler's iterator: what it yields next is known some batches early."""

    def __init__(self, rest: Any, left: Optional[int], files: Files, teller: Teller) -> None:
        self.rest, self.left, self.files, self.teller = rest, left, files, teller
        self.kept: Deque[Any] = deque()
        self.count = 0  # batches to be ahead
        self.taken = self.handed = 0
        self.error: Optional[BaseException] = None

    def __iter__(self) -> "Ahead":
        return self

    def __next__(self) -> Any:
        if not self.kept:
            if self.error is not None:
                error, self.error = self.error, None
                raise error
            self.kept.append(self.take())
        indices = self.kept.popleft()
        self.handed += 1
        self.fill()
        return indices

    def take(self) -> Any:
        indices = next(self.rest)
        self.taken += 1
        if self.left is not None:
            self.left -= 1
        return list(indices) if type(indices) is list else indices  # samplers may use it again

    def fill(self) -> None:
        """The sampler's end is not asked for early: what it does there must not come before."""
        if self.count == 0 or self.teller.pid != os.getpid():
            return
        while len(self.kept) < self.count and self.left and self.error is None:
            try:
                self.kept.append(self.take())
            except Exception as e:  # StopIteration is one
                self.error = e
                return
            self.teller.queue.put((weakref.ref(self), self.taken, flat(self.kept[-1])))

    def tell(self, indices: List[Any]) -> None:
        for index in indices:
            try:
                path = self.files.path(index)
                if path is None:
                    continue
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except Exception:
                continue  # the job will see what is wrong with it
            try:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
            except OSError:
                pass
            finally:
                os.close(fd)


def taken_of(it: Any) -> int:
    """Batches whose indices the iterator has taken from its sampler."""
    feed = it.__dict__.get("_brim_feed")
    taken = int(it._num_yielded)
    if it._num_workers:
        taken += it._send_idx - it._rcvd_idx
    return taken if feed is None else taken + feed.inside + len(feed.ahead)


def ahead_of(it: Any) -> Optional[Ahead]:
    """Of the epoch that runs: before it there may be indices that came back."""
    first = it._sampler_iter
    for each in (first, getattr(first, "rest", None)):
        if type(each) is Ahead:
            return each
    return None


def check_room(files: Files, it: Any, batches: int) -> None:
    """Refused where the list is not one of files, or they would drive others out of memory."""
    sizes: List[int] = []
    count = len(it._dataset)
    for index in range(0, count, max(1, count // LOOKED)):
        path = files.path(index) if sizes or files.find_folder(index) else None
        try:
            sizes.append(os.stat(path or "").st_size)
        except OSError:
            raise Refused("its dataset's list is not one of files that are there")
    batch = int(getattr(it._index_sampler, "batch_size", 1) or 1)
    need = batches * batch * sum(sizes) // len(sizes)
    free = resource_limits.free_memory()
    if free is not None and need > free // 4:
        raise Refused(
            "the files of %d batches take %s of memory, and a quarter of what is free is %s"
            % (batches, resource_limits.mib(need), resource_limits.mib(free // 4))
        )


def begin(it: Any, batches: int, at_once: bool, teller: Teller) -> Ahead:
    own = "_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"
    if type(it).__name__ not in own or stream.is_stream(it):
        raise Refused("its dataset is a stream, of which the next files are not known")
    if not at_once:
        raise Refused("its sampler is not one of torch's, and would run ahead of the steps")
    files = Files(it._dataset)
    if files.names is None:
        raise Refused("its dataset has no list of files (samples, paths), one for each sample")
    check_room(files, it, batches)
    left = len(it._index_sampler) - taken_of(it)
    ahead = Ahead(it._sampler_iter, left, files, teller)
    it._sampler_iter = ahead
    return ahead


class Reader:
    """Of all loaders of a job."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self.aheads: Any = weakref.WeakSet()
        self.teller: Optional[Teller] = None

    def set(self, source: int, it: Any, batches: int, at_once: bool) -> None:
        """From now on, in this epoch. at_once: the sampler draws when it begins and then no more.
        Refused leaves all as it was."""
        if self.teller is None or self.teller.pid != os.getpid():
            self.teller = Teller()
        ahead = ahead_of(it)
        if ahead is None and batches:
            ahead = begin(it, batches, at_once, self.teller)
            self.aheads.add(ahead)
        if ahead is not None:
            ahead.count = batches
            ahead.fill()
        self.tell("loader %d: readahead %d in force" % (source, batches))

    def again(self, source: int, it: Any, batches: int, at_once: bool) -> int:
        """In an epoch that begins: how many it is."""
        try:
            self.set(source, it, batches, at_once)
            return batches
        except Exception as e:
            self.tell("loader %d: no readahead from this epoch on: %s" % (source, e))
            return 0

    def stop(self) -> None:
        for ahead in list(self.aheads):
            ahead.count = 0
        if self.teller is not None:
            self.teller.queue.put(None)
            self.teller = None
