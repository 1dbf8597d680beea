"""Whether memory runs low while brim's workers are there: their pages are copied one by one as
they are written to, so that what they take shows long after they were started.

Three signs, of a memory cgroup or of the machine: somebody was killed for want of memory, little
is free, or processes wait for pages that the kernel takes from others."""

import time
from typing import Optional

from brim_torch.loader import resource_limits

EVERY_S = 0.1  # a look takes some 0.1 ms
LEAST = 64 * resource_limits.MIB  # free; and
PART = 16  # at least such a part of what there is,
MOST = 1024 * resource_limits.MIB  # up to that
AHEAD = 5  # looks for which what is free has to last at the rate of the last one
QUARTER = 4  # of what there is: with more than that free no rate is too fast
STALLED = 20  # percent of ten seconds in which some process waited for memory
AGAIN_S = 10.0  # until these ten seconds are not those of before


class Watch:
    def __init__(self, root: str = "") -> None:
        self.root = root
        self.groups = resource_limits.cgroups(root)
        self.looked_s = self.told_s = 0.0
        self.free: Optional[int] = None
        self.all = self.size()
        self.kills = self.killed()

    def size(self) -> int:
        """What there is: the smallest limit, or the machine's memory; 0: not known."""
        sizes = [resource_limits.number(resource_limits.read(g.limit)) for g in self.groups]
        meminfo = resource_limits.read(self.root + "/proc/meminfo")
        kib = resource_limits.number(meminfo, r"^MemTotal:")
        sizes.append(None if kib is None else kib * 1024)
        return min((size for size in sizes if size), default=0)

    def killed(self) -> int:
        """Processes of the group that were ended for want of memory, so far."""
        for group in self.groups[:1]:
            return resource_limits.number(resource_limits.read(group.events), r"^oom_kill\b") or 0
        return 0

    def stalled(self) -> int:
        """Percent of the last ten seconds in which some process waited for memory: of the group,
        where it tells, else of the machine."""
        paths = [group.pressure for group in self.groups[:1]]
        for path in paths + [self.root + "/proc/pressure/memory"]:
            percent = resource_limits.number(resource_limits.read(path), r"^some avg10=")
            if percent is not None:
                return percent
        return 0

    def low(self, now_s: Optional[float] = None) -> str:
        """Why memory is low; "": it is not, or it is too early to look again."""
        now_s = time.monotonic() if now_s is None else now_s
        if now_s - self.looked_s < EVERY_S:
            return ""
        self.looked_s = now_s
        why = self.look(now_s)
        self.told_s = now_s if why else self.told_s
        return why

    def look(self, now_s: float) -> str:
        before, self.free = self.free, resource_limits.free_memory(self.root)
        kills, self.kills = self.kills, self.killed()
        if self.kills > kills:
            return "a process was killed for want of memory"
        if self.free is not None:
            taken = max(0, (self.free if before is None else before) - self.free)
            floor = max(min(LEAST, self.all // QUARTER), min(self.all // PART, MOST))
            if self.free < max(floor, min(AHEAD * taken, self.all // QUARTER)):
                return "%s of memory are free" % resource_limits.mib(self.free)
        if now_s - self.told_s > AGAIN_S:
            stalled = self.stalled()
            if stalled >= STALLED:
                return "processes wait for memory in %d %% of the time" % stalled
        return ""
