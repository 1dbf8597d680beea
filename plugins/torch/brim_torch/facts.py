"""What is told once: the loader's settings, threads, libraries, the process group."""

import os
import re
from typing import Any, Callable, Iterator

from brim_torch.settings import precision


def epoch(sampler: Any) -> str:
    """Batches of an epoch, of torch's own samplers: others may count by reading themselves."""
    inner = getattr(sampler, "sampler", None)
    modules = "torch.utils.data.sampler", "torch.utils.data.distributed"
    if not all(type(each).__module__ in modules for each in (sampler, inner)):
        return "none"
    try:
        return "%d" % (len(sampler),)
    except Exception:
        return "none"


def loader(it: Any, number: int) -> str:
    """An iterator's loader, from the iterator: it keeps no way back to the loader."""
    workers = getattr(it, "_num_workers", None)
    prefetch = getattr(it, "_prefetch_factor", None)
    sampler = getattr(it, "_index_sampler", None)
    return (
        "loader %d: workers %s, batch %s, prefetch %s, pin %s, persistent %s, dataset %s, kind %s, "
        "epoch %s"
        % (
            number,
            workers,
            getattr(sampler, "batch_size", "none"),
            prefetch if workers else "none",
            "yes" if getattr(it, "_pin_memory", False) else "no",
            "yes" if getattr(it, "_persistent_workers", False) else "no",
            type(getattr(it, "_dataset", None)).__name__,
            "iterable" if getattr(it, "_dataset_kind", 0) == 1 else "map",
            epoch(sampler),
        )
    )


def library_of(symbol: str, user: str) -> str:
    """The file of the library in which 'user', a library that is loaded, finds a function; ""."""
    import ctypes

    class Info(ctypes.Structure):
        _fields_ = [
            ("file", ctypes.c_char_p),
            ("base", ctypes.c_void_p),
            ("name", ctypes.c_char_p),
            ("address", ctypes.c_void_p),
        ]

    with open("/proc/self/maps", errors="surrogateescape") as f:
        paths = {line.split()[-1] for line in f if user in line}
    for path in paths:
        # a handle's own dependencies are looked through, as the linker did when it bound them
        found = ctypes.cast(getattr(ctypes.CDLL(path), symbol), ctypes.c_void_p)
        info = Info()
        if ctypes.CDLL(None).dladdr(found, ctypes.byref(info)) and info.file:
            return os.path.realpath(os.fsdecode(info.file))
    return ""


def blas_of(built: str) -> str:
    """The BLAS that torch was built with; where it was built for any, the one that is loaded."""
    found = re.search(r"BLAS_INFO=(\w+)", built)
    name = found.group(1) if found else "unknown"
    if name != "generic":
        return name
    try:
        path = library_of("sgemm_", "/libtorch_cpu")
    except Exception:
        return name
    for known in ("openblas", "mkl", "blis", "atlas", "armpl", "nvpl"):
        if known in path:
            return known
    return "reference" if "/blas/" in path or "refblas" in path else name


def process(torch: Any) -> str:
    built = torch.__config__.show()
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return "process: torch %s, threads %d, between ops %d, cpus %s, blas %s, openmp %s" % (
        torch.__version__,
        torch.get_num_threads(),
        torch.get_num_interop_threads(),
        cpus,
        blas_of(built),
        "yes" if "OpenMP" in built else "no",
    )


def group(torch: Any) -> str:
    dist = torch.distributed
    if not (dist.is_available() and dist.is_initialized()):
        return "group: none"
    return "group: backend %s, world %d" % (dist.get_backend(), dist.get_world_size())


def word(read: Callable[[Any], str], loop: Any) -> str:
    """Of what another torch may not have under the same name."""
    try:
        return read(loop)
    except Exception:
        return "unknown"


def settings(loop: Any) -> Iterator[str]:
    """What knobs change, as it is now, under their names: what a trial goes back to."""
    torch, change, set_here = loop.torch, loop.change, loop.in_force
    yield "threads: intra %d, inter %d" % (
        torch.get_num_threads(),
        torch.get_num_interop_threads(),
    )
    yield "precision: autocast %s, tf32 %s" % (precision.now(loop), word(precision.tf32, loop))
    yield "cudnn: benchmark %s" % (word(precision.benchmark, loop),)
    accumulation = change.accumulation if change is not None else None
    yield "batch: accumulation %d" % (accumulation.wanted if accumulation is not None else 1,)
    yield "torch: compile %s, channels-last %s" % (
        "yes" if loop.compiles else "no",
        set_here.get("channels_last", "no"),
    )
