"""Whether this machine has room for more workers: memory, /dev/shm, descriptors. Each takes at
most half of what is free, of which ranks on the same node have a part each.

A worker that is forked shares the job's pages until one of both writes to them, and Python writes
to whatever it looks at: it counts references. So a worker may come to have a copy of all that the
job has in memory beside files, and that is what is reckoned with."""

import os
import re
from typing import List, NamedTuple, Optional, Tuple

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


class Group(NamedTuple):
    """Files of a memory cgroup, by the version's names."""

    limit: str
    use: str
    statistics: str
    inactive: str  # keys there, of cached files
    active: str
    events: str  # where kills are counted
    pressure: str


def cgroups(root: str = "") -> List[Group]:
    """Those of the process, and those above them."""
    found = []
    for line in read(root + "/proc/self/cgroup").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if controllers == "":
            base, names = root + "/sys/fs/cgroup", ("memory.max", "memory.current")
            prefix, events = "", "memory.events"
        elif "memory" in controllers.split(","):
            base = root + "/sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            prefix, events = "total_", "memory.oom_control"
        else:
            continue
        path = path.strip("/")
        while True:
            folder = os.path.join(base, path)
            files = [
                os.path.join(folder, name)
                for name in (*names, "memory.stat", events, "memory.pressure")
            ]
            keys = prefix + "inactive_file", prefix + "active_file"
            found.append(Group(*files[:3], *keys, *files[3:]))
            if not path:
                break
            path = os.path.dirname(path)
    return found


def free_memory(root: str = "") -> Optional[int]:
    """Bytes that can be used before the kernel or a cgroup takes them back; None: unknown."""
    kib = number(read(root + "/proc/meminfo"), r"^MemAvailable:")
    free = None if kib is None else kib * 1024
    for group in cgroups(root):
        limit, use = number(read(group.limit)), number(read(group.use))
        if limit is None or use is None:
            continue
        cached = read(group.statistics)
        # of the files in use the kernel gives back half, as it reckons for MemAvailable
        reclaimable = number(cached, "^%s" % group.inactive) or 0
        reclaimable += (number(cached, "^%s" % group.active) or 0) // 2
        left = max(limit - use + reclaimable, 0)
        free = left if free is None else min(free, left)
    return free


def private_memory(pid: int) -> int:
    """Bytes that a worker does not have in common with the job."""
    text = read("/proc/%d/smaps_rollup" % pid)
    kib = sum(number(text, "^%s:" % name) or 0 for name in ("Private_Dirty", "Private_Clean"))
    return kib * 1024


def anonymous_memory(root: str = "") -> int:
    """Bytes that this process has beside files, and that a worker may come to copy."""
    return 1024 * (number(read(root + "/proc/self/status"), r"^RssAnon:") or 0)


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


def check(
    more: int, live: int, worker_b: int, batches: int, batch_b: int, tensors: int
) -> None:
    """More workers beside live ones, which have worker_b of their own each, and batches more on
    their way: Refused where they would take more than half of what is free."""
    ranks = max(ring.from_environment(LOCAL_WORLDS), 1)
    shm_b = batches * batch_b
    anonymous = anonymous_memory()
    need = more * max(2 * worker_b, WORKER, anonymous) + shm_b
    need += live * max(anonymous - worker_b, 0)  # what those may still copy
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
