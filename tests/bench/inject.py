"""What the benchmark of verdicts injects: cgroups, throttles, slow mounts, slow links, neighbours.

Everything carries the pid of the bench in its name. held() takes it back at the end of a run, at
exit and on signals; sweep() removes what benches left that were killed."""

import atexit
import contextlib
import ctypes
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

CGROUPS = "/sys/fs/cgroup"
NAME = "brim-bench-%d" % os.getpid()
PATTERN = re.compile(r"brim-bench-(\d+)")
stack = contextlib.ExitStack()
count = 0


def quiet(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def check(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def write(path, text):
    with open(path, "w") as f:
        f.write(str(text))


def die_with_parent():
    """For Popen(preexec_fn=...): a neighbour does not outlive the bench, even a killed one."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def next_name():
    global count
    count += 1
    return "%s-%d" % (NAME, count)


# ---- cgroups ----


def remove_cgroup(path):
    for _ in range(50):
        try:
            with open(path + "/cgroup.procs") as f:
                for pid in f.read().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            os.rmdir(path)
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.05)


@contextlib.contextmanager
def cgroup(controller, also=(), **files):
    """Limits by their file; a value is one text. Yields the files that take a pid: containers and
    Slurm give a job a group of the same path below several controllers, as 'also' does."""
    name = next_name()
    paths = [os.path.join(CGROUPS, c, name) for c in (controller,) + also]
    try:
        for path in paths:
            os.mkdir(path)
        for file, value in files.items():
            write(os.path.join(paths[0], file.replace("__", ".")), value)
        yield [path + "/cgroup.procs" for path in paths]
    finally:
        for path in paths:
            remove_cgroup(path)


def disk_of(folder):
    """The whole disk's major:minor."""
    device = os.stat(folder).st_dev
    at = os.path.realpath("/sys/dev/block/%d:%d" % (os.major(device), os.minor(device)))
    if os.path.exists(at + "/partition"):
        at = os.path.dirname(at)
    with open(at + "/dev") as f:
        return f.read().strip()


@contextlib.contextmanager
def throttle(folder, what, rate, late=0):
    """what: read_bps, write_bps, read_iops, write_iops; after so many seconds."""
    with cgroup("blkio") as files:
        limit = os.path.join(os.path.dirname(files[0]), "blkio.throttle.%s_device" % what)
        text = "%s %d" % (disk_of(folder), rate)
        if not late:
            write(limit, text)
            yield files
            return
        timer = threading.Timer(late, write, (limit, text))
        timer.start()
        try:
            yield files
        finally:
            timer.cancel()
            timer.join()


def quota(cpus):
    return cgroup(
        "cpu",
        ("memory",),
        cpu__cfs_period_us="100000",
        cpu__cfs_quota_us="%d" % int(cpus * 100000)
    )


def memory(limit):
    """Of the cgroup, without swap to go to."""
    return cgroup("memory", memory__limit_in_bytes="%d" % limit)


@contextlib.contextmanager
def dropped(folder):
    """Files that nobody has in memory: what is read of them counts for who reads it first."""
    for name in os.listdir(folder):
        fd = os.open(os.path.join(folder, name), os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
    yield []


# ---- mounts ----


@contextlib.contextmanager
def slow_mount(slowfs, folder, work, open_us, read_us, options=""):
    """options: of FUSE; without "auto_cache" each open of a file forgets what was read of it."""
    options = ",".join(filter(None, ["auto_unmount", options]))
    at = os.path.join(work, next_name())
    os.mkdir(at)
    server = subprocess.Popen(
        [slowfs, folder, "%d" % open_us, "%d" % read_us, at, "-f", "-o", options],
        preexec_fn=die_with_parent,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            if os.path.ismount(at):
                break
            time.sleep(0.02)
        if not os.path.ismount(at):
            raise RuntimeError("slowfs did not mount %s" % at)
        yield at, server
    finally:
        quiet("umount", "-l", at)
        server.kill()
        server.wait()
        with contextlib.suppress(OSError):
            os.rmdir(at)


# ---- links ----


@contextlib.contextmanager
def slow_link(rate_b):
    """Two network namespaces, and a link between them of so many bytes a second. Yields their
    files."""
    names = [NAME + "-a", NAME + "-b"]
    try:
        for name in names:
            check("ip", "netns", "add", name)
        check(
            *("ip", "link", "add", "eth0", "netns", names[0]),
            *("type", "veth", "peer", "name", "eth0", "netns", names[1])
        )
        for i, name in enumerate(names):
            inside = ("ip", "-n", name)
            check(*inside, "addr", "add", "10.213.0.%d/24" % (i + 1), "dev", "eth0")
            check(*inside, "link", "set", "eth0", "up")
            check(*inside, "link", "set", "lo", "up")
            check(
                *("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf"),
                *("rate", "%dbit" % int(8 * rate_b), "burst", "128kb", "latency", "200ms")
            )
        yield ["/run/netns/" + name for name in names]
    finally:
        for name in names:
            quiet("ip", "netns", "del", name)


@contextlib.contextmanager
def bridged(count, rate_bit=None):
    """So many network namespaces on one bridge, which has a namespace of its own; each link takes
    rate_bit a second in both directions, or what it can. Yields their files."""
    bridge = NAME + "-bridge"
    names = ["%s-n%d" % (NAME, i) for i in range(count)]

    def shape(name, device):
        if rate_bit:
            check(
                *("tc", "-n", name, "qdisc", "add", "dev", device, "root", "tbf"),
                *("rate", "%dbit" % rate_bit, "burst", "64kb", "latency", "50ms")
            )

    try:
        check("ip", "netns", "add", bridge)
        check("ip", "-n", bridge, "link", "add", "br0", "type", "bridge")
        check("ip", "-n", bridge, "link", "set", "br0", "up")
        for i, name in enumerate(names):
            port = "p%d" % i
            check("ip", "netns", "add", name)
            check(
                *("ip", "-n", bridge, "link", "add", port, "type", "veth"),
                *("peer", "name", "eth0", "netns", name)
            )
            check("ip", "-n", bridge, "link", "set", port, "master", "br0", "up")
            check("ip", "-n", name, "addr", "add", "10.214.0.%d/24" % (i + 1), "dev", "eth0")
            check("ip", "-n", name, "link", "set", "lo", "up")
            check("ip", "-n", name, "link", "set", "eth0", "up")
            shape(name, "eth0")
            shape(bridge, port)
        yield ["/run/netns/" + name for name in names]
    finally:
        for name in names + [bridge]:
            quiet("ip", "netns", "del", name)


# ---- neighbours ----


@contextlib.contextmanager
def processes(commands):
    running = [
        subprocess.Popen(
            c, preexec_fn=die_with_parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for c in commands
    ]
    try:
        yield running
    finally:
        for p in running:
            p.kill()
            p.wait()


BUSY = "import hashlib\nx = bytes(4096)\nwhile True: hashlib.sha256(x).digest()"

HOG = """
import sys, time
share, period = float(sys.argv[1]), 0.004
while True:
    end = time.monotonic() + share * period
    while time.monotonic() < end:
        pass
    time.sleep((1 - share) * period)
"""

READER = """
import mmap, os, random, sys
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
size, block = os.fstat(fd).st_size, 1 << 20
to = mmap.mmap(-1, block)
while True:
    os.preadv(fd, [to], random.randrange(size // block) * block)
"""


def busy(n, late=0):
    """So many processes that compute, after so many seconds."""
    return processes([[sys.executable, "-c", "import time\ntime.sleep(%g)\n" % late + BUSY]] * n)


STALLS = """
import os, signal, sys, time
pid, works, stops = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
while True:
    time.sleep(works)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(stops)
    os.kill(pid, signal.SIGCONT)
"""


def stalls(server, works, stops):
    """A server that answers for a while, and then not, in turn."""
    numbers = ["%d" % server.pid, "%g" % works, "%g" % stops]
    return processes([[sys.executable, "-c", STALLS] + numbers])


def hog(share, cpu):
    """Take that share of one CPU, whatever else wants it: what the fair scheduler gives a process
    beside a rank that now and then waits is, by kernel and priority, nothing or nearly all."""
    command = ["chrt", "-f", "1", "taskset", "-c", "%d" % cpu, sys.executable, "-c", HOG]
    return processes([command + ["%.3f" % share]])


def readers(n, path):
    return processes([[sys.executable, "-c", READER, path]] * n)


# ---- what is left ----


def is_dead(name):
    found = PATTERN.search(name)
    return bool(found) and not os.path.exists("/proc/" + found.group(1))


def sweep():
    with open("/proc/mounts") as f:
        for at in [line.split()[1] for line in f]:
            if is_dead(at):
                quiet("umount", "-l", at)
    for path in glob.glob(CGROUPS + "/*/brim-bench-*"):
        if is_dead(path):
            remove_cgroup(path)
    for path in glob.glob("/run/netns/brim-bench-*"):
        if is_dead(path):
            quiet("ip", "netns", "del", os.path.basename(path))
    for path in glob.glob(os.path.join(tempfile.gettempdir(), "brim-bench-*")):
        if is_dead(path):
            shutil.rmtree(path, ignore_errors=True)


def work_folder(base=None):
    """A folder of the bench's own, removed at its end; signals end the bench as exit does."""
    sweep()
    path = os.path.join(base or tempfile.gettempdir(), NAME)
    os.mkdir(path)
    stack.callback(shutil.rmtree, path, ignore_errors=True)
    atexit.register(stack.close)
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, lambda number, frame: sys.exit(128 + number))
    return path
