#!/usr/bin/env python3
"""What tests may leave on a machine: leftovers.py --before FILE keeps it, --after FILE prints what
is new, gone or has changed, and ends with 1 when there is any: files outside the tree, modes and
owners of shared folders, control groups, mounts, network namespaces and interfaces, processes, and
lines of tests in the kernel's log.

A file that has the number of a living process in its name is in use, not left. Processes of a test
are told by TEST_SESSION in their environment, which script/stages.sh exports, or by a program of
this tree: others on the machine may start what they like meanwhile."""

import json
import os
import pathlib
import re
import sys
import tempfile
import time

PATIENCE_S = 20  # for what goes when the processes that ended last are reaped
ROOT = pathlib.Path(__file__).resolve().parents[1]
SESSION = "TEST_SESSION"
HOME = os.path.expanduser("~")

# Their modes and owners: whoever changes one of these shuts others out, or lets them in.
SHARED = ("/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/dev/null", "/etc", "/run", "/run/lock",
          "/sys/fs/cgroup", "/var", "/var/lib", "/var/lib/brim", "/var/log", "/home", "/root", HOME)
# Nobody else makes anything in these while tests run: whatever is new is theirs.
QUIET = ("/", "/dev/shm", "/etc", "/etc/systemd/system", "/var/lib", "/var/lib/brim",
         "/var/lib/brim/runs", HOME + "/.local/state", HOME + "/.local/state/brim",
         HOME + "/.local/state/brim/runs", HOME + "/.config/brim")
# In these everybody makes files; those of tests have such names. What pytest keeps is its own.
BUSY = ("/tmp", tempfile.gettempdir(), "/var/tmp", "/run", "/run/user/%d" % os.getuid(),
        "/var/log", HOME)
NAMES = re.compile(r"brim|puppeteer|playwright|step_job|tuned_job|^t_|torchelastic|^rank-|^core\b")


def numbers_in(name):
    """Those that stand alone: not the digits of "torchelastic_2xs9n9no"."""
    return re.findall(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])", name)


def is_in_use(name):
    return any(os.path.exists("/proc/" + number) for number in numbers_in(name))


def entries(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def files():
    found = set()
    for folder in QUIET + BUSY:
        for name in entries(folder):
            path = os.path.join(folder, name)
            if ROOT != pathlib.Path(path) and ROOT not in pathlib.Path(path).parents:
                if not is_in_use(name) and (folder in QUIET or NAMES.search(name)):
                    found.add(path)
    return found


def modes():
    found = set()
    for path in SHARED:
        try:
            st = os.stat(path)
        except OSError:
            continue
        found.add("%s has mode %o of %d:%d" % (path, st.st_mode & 0o7777, st.st_uid, st.st_gid))
    return found


def control_groups():
    return {path for path, _, _ in os.walk("/sys/fs/cgroup") if "brim" in path}


def mounts():
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as f:
        return {"mount " + line.split()[1] for line in f}


def networks():
    found = {"network namespace " + name for name in entries("/run/netns")}
    return found | {"network interface " + name for name in entries("/sys/class/net")}


def parent_of(pid):
    try:
        with open("/proc/%s/stat" % pid, "rb") as f:
            return int(f.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def own():
    """This process and those above it."""
    found, pid = set(), os.getpid()
    while pid > 0 and str(pid) not in found:
        found.add(str(pid))
        pid = parent_of(pid)
    return found


def is_of_tests(pid):
    """Whether a process was started by a test: its environment says so, or its program does."""
    try:
        with open("/proc/%s/environ" % pid, "rb") as f:
            mark = "%s=%s" % (SESSION, os.environ.get(SESSION, ""))
            if SESSION in os.environ and mark.encode() in f.read().split(b"\0"):
                return True
        program = os.readlink("/proc/%s/exe" % pid)
    except OSError:
        return False
    return program.startswith(str(ROOT) + "/build")


def processes():
    ours = own()
    found = set()
    for pid in entries("/proc"):
        if pid.isdigit() and pid not in ours and is_of_tests(pid):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    words = f.read().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if words:  # one that has ended and is not reaped yet has none
                found.add("process %s: %s" % (pid, words[:200]))
    return found


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
            if int(priority) >> 3 and re.search("brim|NVRM|Xid|amdgpu|mlx5", text):
                found.add("kernel log, record %s: %s" % (number, text.splitlines()[0]))
    except OSError:  # its end
        return found
    finally:
        os.close(fd)


# What tests use and have to put back; the rest may go meanwhile.
STEADY = (modes, mounts, networks)
ALL = STEADY + (files, control_groups, processes, kernel_log)


def look(kinds=None):
    return set().union(*(kind() for kind in kinds or ALL))


def changes(before):
    """Sentences about what is not as it was."""
    gone = {"gone: " + line for line in set(before["steady"]) - look(STEADY)}
    return (look() - set(before["all"])) | gone


def main(how, path):
    if how == "--before":
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"all": sorted(look()), "steady": sorted(look(STEADY))}, f)
        return 0
    with open(path, encoding="utf-8") as f:
        before = json.load(f)
    end = time.monotonic() + PATIENCE_S
    left = changes(before)
    while left and time.monotonic() < end:
        time.sleep(1)
        left = changes(before)
    print("\n".join(sorted(left)))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
