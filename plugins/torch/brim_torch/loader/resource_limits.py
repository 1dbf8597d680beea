"""Whether this machine has room for more workers: memory, /dev/shm, descriptors. Each takes at
most half of what is free, of which ranks on the same node have a part each."""

import os
import re
from typing import List, Optional, Tuple

from brim_torch.marks import ring
from brim_torch.refused import Refused

MIB = 1 << 20
WORKER = 32 * MIB  # of its own, at least: an idle one has 10
LOCAL_WORLDS = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


def read(path: str) -> str:
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def number(text: str, name: str = r"\A") -> Optional[int]:
    found = re.search(name + r"\s*(\d+)", text, re.M)
    return int(found.group(1)) if found else None


def cgroups(root: str = "") -> List[Tuple[str, str, str, str]]:
    """(limit, use, statistics, key of what can be given back) of the process's memory cgroups, and
    of those above them."""
    found = []
    for line in read(root + "/proc/self/cgroup").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if controllers == "":
            base, names = root + "/sys/fs/cgroup", ("memory.max", "memory.current")
            key = "inactive_file"
        elif "memory" in controllers.split(","):
            base = root + "/sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            key = "total_inactive_file"
        else:
            continue
        path = path.strip("/")
        while True:
            folder = os.path.join(base, path)
            limit, use = (os.path.join(folder, n) for n in names)
            found.append((limit, use, os.path.join(folder, "memory.stat"), key))
            if not path:
                break
            path = os.path.dirname(path)
    return found


def free_memory(root: str = "") -> Optional[int]:
    """Bytes that can be used before the kernel or a cgroup takes them back; None: unknown."""
    kib = number(read(root + "/proc/meminfo"), r"^MemAvailable:")
    free = None if kib is None else kib * 1024
    for limit_path, use_path, statistics, key in cgroups(root):
        limit, use = number(read(limit_path)), number(read(use_path))
        if limit is None or use is None:
            continue
        reclaimable = number(read(statistics), "^%s" % key) or 0
        left = max(limit - use + reclaimable, 0)
        free = left if free is None else min(free, left)
    return free


def private_memory(pid: int) -> int:
    """Bytes that a worker does not have in common with the job."""
    text = read("/proc/%d/smaps_rollup" % pid)
    kib = sum(number(text, "^%s:" % name) or 0 for name in ("Private_Dirty", "Private_Clean"))
    return kib * 1024


def free_shm(path: str = "/dev/shm") -> Optional[int]:
    try:
        s = os.statvfs(path)
    except OSError:
        return None
    return s.f_bavail * s.f_frsize


def free_descriptors() -> int:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd"))
    return (1 << 30) if soft == resource.RLIM_INFINITY else soft - used


def mib(size: int) -> str:
    return "%d MiB" % (max(size, 0) // MIB)


def check(more: int, worker_b: int, batches: int, batch_b: int, tensors: int) -> None:
    """More workers of worker_b each, and batches more on their way: Refused where they would take
    more than half of what is free."""
    ranks = max(ring.from_environment(LOCAL_WORLDS), 1)
    shm_b = batches * batch_b
    need = more * max(2 * worker_b, WORKER) + shm_b
    free = free_memory()
    if free is not None and need > free // (2 * ranks):
        raise Refused(
            "%d more workers take %s of memory, and half of what is free is %s"
            % (more, mib(need), mib(free // (2 * ranks)))
        )
    free = free_shm()
    if free is not None and shm_b > free // (2 * ranks):
        raise Refused(
            "%d batches on their way take %s of /dev/shm, and half of what is free is %s"
            % (batches, mib(shm_b), mib(free // (2 * ranks)))
        )
    descriptors = batches * (tensors + 1) + 4 * more
    if descriptors > free_descriptors() // 2:
        raise Refused("they take %d open files: ulimit -n is too low" % descriptors)
