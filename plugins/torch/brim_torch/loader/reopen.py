"""Open files of a process that was forked. Its files have their offsets in common with the parent
and the other children: seek() and read() of two of them come between each other, and samples are
made of another's bytes. Files that are read get an offset of their own; what is only written (a
log) stays as it is, and so do pipes, sockets and devices."""

import fcntl
import os
import stat
from typing import List


def reopen(fd: int) -> bool:
    """Says whether the descriptor is safe to read from now."""
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        return True
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    mode = flags & os.O_ACCMODE
    if mode == os.O_WRONLY or flags & getattr(os, "O_PATH", 0) or flags & os.O_APPEND:
        return True
    at = os.lseek(fd, 0, os.SEEK_CUR)
    try:
        new = os.open("/proc/self/fd/%d" % fd, mode | os.O_CLOEXEC | flags & os.O_DIRECT)
    except OSError:
        return False
    try:
        os.dup2(new, fd, inheritable=os.get_inheritable(fd))
        os.lseek(fd, at, os.SEEK_SET)
    finally:
        os.close(new)
    return True


def files() -> List[str]:
    """All of this process; the names of those that could not be opened again."""
    left = []
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd <= 2:
            continue
        try:
            if not reopen(fd):
                left.append(os.readlink("/proc/self/fd/%d" % fd))
        except OSError:
            pass  # the descriptor of the listing itself, closed by now
    return left
