#!/usr/bin/env python3
"""What tests may leave on a machine: leftovers.py --before FILE keeps it, --after FILE prints what
is new or has changed, and ends with 1 when there is any: files in /dev/shm, cgroups of brim,
mounts, the modes of shared folders, and lines of tests in the kernel's log.

A file that has the number of a living process in its name is in use, not left."""

import json
import os
import re
import sys
import time

PATIENCE_S = 20  # for what goes when the processes that ended last are reaped
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run")


def cgroups():
    return {path for path, _, _ in os.walk("/sys/fs/cgroup") if "brim" in path}


def is_in_use(name):
    return any(os.path.exists("/proc/" + number) for number in re.findall(r"\d+", name))


def files_in_memory():
    return {"/dev/shm/" + name for name in os.listdir("/dev/shm") if not is_in_use(name)}


def mounts():
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as f:
        return {line.split()[1] for line in f}


def kernel_log():
    """Records that a program wrote, not the kernel, about brim or an accelerator."""
    found = set()
    try:
        fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return found
    try:
        while True:
            try:
                record = os.read(fd, 8192).decode("utf-8", "replace")
            except BrokenPipeError:  # the oldest records were overwritten meanwhile
                continue
            head, _, text = record.partition(";")
            priority, number = head.split(",")[:2]
            if int(priority) >> 3 and re.search("brim|NVRM", text):
                found.add("kernel log, record %s: %s" % (number, text.splitlines()[0]))
    except OSError:  # its end
        return found
    finally:
        os.close(fd)


def look():
    found = files_in_memory() | cgroups() | mounts() | kernel_log()
    modes = {"%s has mode %o" % (path, os.stat(path).st_mode & 0o7777) for path in SHARED
             if os.path.exists(path)}
    return found | modes


def main(how, path):
    if how == "--before":
        with open(path, "w", encoding="utf-8") as f:
            json.dump(sorted(look()), f)
        return 0
    with open(path, encoding="utf-8") as f:
        before = set(json.load(f))
    end = time.monotonic() + PATIENCE_S
    left = look() - before
    while left and time.monotonic() < end:
        time.sleep(1)
        left = look() - before
    print("\n".join(sorted(left)))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
