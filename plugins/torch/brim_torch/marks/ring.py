"""Where marks go: the extension (mark.c), or libbrim-step through ctypes, or a mapping written
here.

Each is an object with the same functions: open(framework) says whether there is a ring now; mark(),
wait(), samples() and loss() are what a step costs; none of them raises."""

import os
import struct
import sys
import threading
import time
from typing import Any, Dict, List, Optional

from brim_torch.marks import codes

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
LOCAL_RANKS = (
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
)
WORLDS = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def from_environment(names: Any) -> int:
    """The first of the variables that holds a number; -1: none does."""
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit() and text.isascii() and int(text) < 1 << 31:
            return int(text)
    return -1


def name_space() -> str:
    """Where process numbers are not the machine's: two containers of a job have the same."""
    first = 0xEFFFFFFC  # PROC_PID_INIT_INO of the kernel
    try:
        number = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return ""
    return "" if number == first else "-%x" % number


class LibraryRing:
    """libbrim-step.so by ctypes: 0.3 us a mark."""

    def __init__(self, path: str) -> None:
        import ctypes as c

        lib = c.PyDLL(path)  # keeps the lock: close() cannot come between
        handle, i64 = c.c_void_p, c.c_int64
        self.handle: Any = None
        self.lib = lib

        def declare(name: str, *arguments: Any, result: Any = None) -> Any:
            function = getattr(lib, name)
            function.argtypes, function.restype = arguments, result
            return function

        self._open = declare("brim_step_open", c.c_char_p, result=handle)
        self._close = declare("brim_step_close", handle)
        self._mark = declare("brim_step_mark", handle, c.c_uint32, c.c_uint64)
        self._loss = declare("brim_step_loss", handle, c.c_double)
        self._note = declare("brim_step_note", handle, c.c_char_p)
        self._value = declare("brim_step_value", handle, c.c_char_p, c.c_double)
        self._device = declare("brim_stage_device", handle, c.c_int, i64, i64)
        self._rank = declare("brim_step_set_rank", handle, c.c_int, c.c_int, c.c_int)
        self._collective = declare(
            "brim_step_collective", handle, c.c_int, c.c_uint64, i64, i64
        )

    def open(self, framework: str) -> bool:
        self.close()
        self.handle = self._open(framework.encode("ascii", "replace"))
        return bool(self.handle)

    def close(self) -> None:
        handle, self.handle = self.handle, None
        self._close(handle)

    def mark(self, code_kind: int) -> None:
        self._mark(self.handle, code_kind, 0)

    def wait(self, source: int) -> None:
        self._mark(self.handle, codes.STAGE_BEGIN | codes.WAIT << 16, source)

    def samples(self, count_source: int) -> None:
        self._mark(
            self.handle, codes.SAMPLES | (count_source & 0xFFFF) << 16, count_source >> 16
        )

    def loss(self, loss: float) -> None:
        self._loss(self.handle, loss)

    def switch(self, number: int, outcome: int) -> None:
        self._mark(self.handle, codes.SWITCH | outcome << 16, number)

    def collective(self, kind: int, size: int, begin: int, end: int) -> None:
        self._collective(self.handle, kind, size, begin, end)

    def device(self, stage: int, begin: int, end: int) -> None:
        self._device(self.handle, stage, begin, end)

    def note(self, text: str) -> None:
        self._note(self.handle, text.encode("ascii", "replace"))

    def value(self, name: str, value: float) -> None:
        self._value(self.handle, name.encode("ascii", "replace"), value)

    def set_rank(self, rank: int, local_rank: int, world: int) -> None:
        self._rank(self.handle, rank, local_rank, world)

    def forked(self) -> None:
        """The library's handle is empty in a child."""


class PythonRing:
    """The same file written by struct and mmap. Who interrupts another mark (a signal's handler, a
    collector's callback) takes the next number, so that no two write into one slot."""

    HEADER, TEXT, CAPACITY, TEXT_MAX = 4096, 65536, 65536, 240
    HEAD, TEXT_USED, CLOSED = 256, 264, 272
    FIELDS = struct.Struct("<8sHHIIIIiiiiIqq64s64s")
    RECORD = struct.Struct("<qHHIQ")

    def __init__(self) -> None:
        self.map: Any = None
        self.lock = threading.Lock()
        self.text_used = 0
        self.names: Dict[str, int] = {}
        self.record = self.RECORD.pack_into
        self.word = struct.Struct("<Q").pack_into
        self.clock = time.monotonic_ns
        self.thread = threading.get_ident
        self.head = iter(range(0))

    def open(self, framework: str) -> bool:
        self.close()
        try:
            self._create(os.environ["BRIM_RING"], framework)
        except (OSError, KeyError, ValueError):
            return False
        return True

    def _create(self, folder: str, framework: str) -> None:
        import itertools
        import mmap
        import socket

        rank = from_environment(RANKS)
        name = "rank-%d-%d%s.ring" % (max(rank, 0), os.getpid(), name_space())
        draft = os.path.join(folder, "." + name)
        size = self.HEADER + self.TEXT + 32 * self.CAPACITY
        if os.path.lexists(draft):
            os.unlink(draft)
        fd = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(fd, 0, size)
            ring = mmap.mmap(fd, size)
            self.FIELDS.pack_into(
                *(ring, 0, b"BRIMSTEP", 1, 1, self.HEADER, self.TEXT, 32, self.CAPACITY),
                *(os.getpid(), rank, from_environment(LOCAL_RANKS), from_environment(WORLDS), 0),
                *(time.monotonic_ns(), time.time_ns()),
                framework.encode("ascii", "replace")[:63],
                socket.gethostname().encode("ascii", "replace")[:63],
            )
            os.rename(draft, os.path.join(folder, name))
        except BaseException:
            os.unlink(draft)
            raise
        finally:
            os.close(fd)
        self.head = itertools.count()
        self.names, self.text_used = {}, 0
        self.map = ring

    def close(self) -> None:
        ring, self.map = self.map, None
        if ring is not None:
            struct.pack_into("<I", ring, self.CLOSED, 1)

    def forked(self) -> None:
        self.map = None

    def put(self, kind: int, code: int, extra: int, value: int, t_ns: int) -> None:
        ring = self.map
        if ring is None:
            return
        n = next(self.head)
        at = 4096 + 65536 + 32 * (n & 65535)
        self.word(ring, 256, n + 1)
        self.record(ring, at + 8, t_ns, kind, code, extra, value)
        self.word(ring, at, n + 1)

    def mark(self, code_kind: int, value: int = 0) -> None:
        thread = self.thread() >> 12 & 0xFFFFFFFF
        self.put(code_kind & 0xFFFF, code_kind >> 16, thread, value, self.clock())

    def wait(self, source: int) -> None:
        self.mark(codes.STAGE_BEGIN | codes.WAIT << 16, source)

    def samples(self, count_source: int) -> None:
        self.mark(codes.SAMPLES | (count_source & 0xFFFF) << 16, count_source >> 16)

    @staticmethod
    def bits(value: float) -> int:
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])

    @staticmethod
    def seconds(begin: int, end: int) -> int:
        return int(struct.unpack("<I", struct.pack("<f", (end - begin) * 1e-9))[0])

    def loss(self, loss: float) -> None:
        self.mark(codes.LOSS, self.bits(loss))

    def switch(self, number: int, outcome: int) -> None:
        self.mark(codes.SWITCH | outcome << 16, number)

    def collective(self, kind: int, size: int, begin: int, end: int) -> None:
        self.put(codes.COLLECTIVE, kind, self.seconds(begin, end), size, begin)

    def device(self, stage: int, begin: int, end: int) -> None:
        self.put(codes.DEVICE, stage, self.seconds(begin, end), 0, begin)

    def _add_text(self, text: bytes) -> int:
        with self.lock:
            at = self.text_used
            self.text_used += len(text) + 1
            if self.map is None or self.text_used > self.TEXT:
                return -1
            self.map[self.HEADER + at : self.HEADER + at + len(text)] = text
            self.word(self.map, self.TEXT_USED, self.text_used)
        return at

    def note(self, text: str) -> None:
        data = text.encode("ascii", "replace")[: self.TEXT_MAX]
        at = self._add_text(data)
        if at >= 0:
            self.put(codes.NOTE, len(data), at, 0, self.clock())

    def value(self, name: str, value: float) -> None:
        data = name.encode("ascii", "replace")[: self.TEXT_MAX]
        at = self.names.get(name, -1)
        if at < 0:
            at = self.names[name] = self._add_text(data)
        if at >= 0:
            self.put(codes.VALUE, len(data), at, self.bits(value), self.clock())

    def set_rank(self, rank: int, local_rank: int, world: int) -> None:
        if self.map is not None:
            struct.pack_into("<iii", self.map, 32, rank, local_rank, world)


def load_extension(path: str) -> Any:
    from importlib.machinery import ExtensionFileLoader, ModuleSpec

    loader = ExtensionFileLoader("brim_mark", path)
    module = loader.create_module(ModuleSpec("brim_mark", loader, origin=path))
    loader.exec_module(module)
    return module


def folders() -> List[str]:
    """Where the extension and the library may be: as BRIM_LIB says, or beside this file."""
    said = os.environ.get("BRIM_LIB", "")
    return said.split(os.pathsep) if said else [os.path.dirname(os.path.abspath(__file__))]


def choose(only: Optional[str] = None) -> Any:
    """The fastest one that loads; only: "extension", "library" or "python"."""
    for kind, name, load in (
        ("extension", "brim_mark.abi3.so", load_extension),
        ("library", "libbrim-step.so", LibraryRing),
    ):
        for folder in folders():
            path = os.path.join(folder, name)
            if only not in (None, kind) or not os.path.exists(path):
                continue
            if kind == "extension" and "t" in getattr(sys, "abiflags", ""):
                continue  # free-threaded: its objects have another layout, and there is no lock
            try:
                return load(path)  # type: ignore[operator]
            except Exception as e:
                sys.stderr.write("brim: %s does not load (%s)\n" % (path, e))
    return PythonRing()
