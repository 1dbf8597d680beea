"""Jobs that need not import torch: a Python that has it imported once forks for each of them, which
takes milliseconds where an import takes seconds.

Such a job has the arguments, environment, folder and path that it is started with. Where the shim
is on its path, the shim's sitecustomize.py runs, and what waits there for the import of torch is
called with torch. So it differs from a job that a user starts in how the shim comes into the
process, and in nothing behind that: what tests that is started cold (test_shim.Job). At its end
torch's tables in C++, which no Python can reach any more, are not taken apart."""

import builtins
import contextlib
import ctypes
import faulthandler
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types

MOST = 1 << 17  # bytes of an order
TELL = signal.SIGSTKFLT  # a job that gets it prints where its threads are


# ---- here: the side of the tests


class Server:
    def __init__(self):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "PYTHON"))}
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), str(theirs.fileno())], env=env,
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )

    def start(self, command, env, folder):
        order = json.dumps({"command": command, "env": env, "folder": folder}).encode()
        assert len(order) < MOST
        out, err, end = os.pipe(), os.pipe(), os.pipe()
        socket.send_fds(self.socket, [order], [out[1], err[1], end[1]])
        for _, theirs in (out, err, end):
            os.close(theirs)
        return Started(command, out[0], err[0], end[0])


class Started:
    """As subprocess.Popen has it."""

    def __init__(self, args, out, err, end):
        self.args, self.returncode = args, None
        self.end = os.fdopen(end)
        self.streams = {out: b"", err: b""}
        self.pid = int(self.end.readline() or 0)
        assert self.pid, "the Python that has torch imported has gone"

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def first_line(self):
        """What it prints first, which communicate() tells again."""
        out = next(iter(self.streams))
        while b"\n" not in self.streams[out]:
            data = os.read(out, 1 << 16)
            assert data, f"{self.args} ended: {self.communicate()}"
            self.streams[out] += data
        return self.streams[out].split(b"\n")[0].decode("utf-8")

    def communicate(self, timeout=None):
        limit = time.monotonic() + (timeout or 600)
        with selectors.DefaultSelector() as selector:
            for fd in self.streams:
                selector.register(fd, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(limit - time.monotonic())
                if not ready:
                    raise AssertionError(f"{self.args} runs after {timeout} s: {self.last_words()}")
                for key, _ in ready:
                    data = os.read(key.fd, 1 << 16)
                    self.streams[key.fd] += data
                    if not data:
                        selector.unregister(key.fd)
        with self.end:
            self.returncode = int(self.end.read())
        for fd in self.streams:
            os.close(fd)
        return tuple(text.decode("utf-8") for text in self.streams.values())

    def last_words(self):
        """What it has said that nobody read, and where each of its threads is; it is killed."""
        with contextlib.suppress(ProcessLookupError):
            self.send_signal(TELL)
            time.sleep(1)
            self.kill()
        said = list(self.streams.values())
        for fd in self.streams:
            os.set_blocking(fd, False)
            with contextlib.suppress(BlockingIOError):
                said.append(os.read(fd, 1 << 16))
        return b"".join(said).decode("utf-8", "replace")


SERVER = []  # of this process; it ends with it


def start(command, env, folder):
    """Start a script of Python with its arguments; what it is to subprocess.Popen()."""
    if not SERVER:
        SERVER.append(Server())
    return SERVER[0].start(list(command), env, folder)


# ---- there: the Python that has torch imported


def serve(orders):
    """Returns the order in the process that is to be the job."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        text, fds, _, _ = socket.recv_fds(orders, MOST, 3)
        if not text:
            sys.exit()
        if os.fork() == 0:
            orders.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if watch(fds[2]):
                return json.loads(text), fds
        for fd in fds:
            os.close(fd)


def watch(end):
    """True in the job. Its parent tells its number and how it ended."""
    pid = os.fork()
    if pid == 0:
        return True
    os.write(end, b"%d\n" % pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(end, b"%d" % status)
    os._exit(0)


def become(order, fds):
    """The process that the order describes, up to its first line."""
    for fd, number in zip(fds, (1, 2)):
        os.dup2(fd, number)
    for fd in fds:
        os.close(fd)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["env"])
    tempfile.tempdir = None  # TMPDIR may be another
    path = [p for p in order["env"].get("PYTHONPATH", "").split(os.pathsep) if p]
    sys.path[:1] = [os.path.dirname(order["command"][0]), *path]
    sys.argv = order["command"]
    if path:
        sys.modules.pop("sitecustomize", None)
        __import__("sitecustomize")
        for waits in [f for f in sys.meta_path if getattr(f, "name", None) == "torch"]:
            waits.remove()
            waits.then(sys.modules["torch"])


def run(script):
    faulthandler.register(TELL)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = script, builtins
    with open(script, encoding="utf-8") as f:
        code = compile(f.read(), script, "exec")
    exec(code, main.__dict__)


if __name__ == "__main__":
    __import__("torch")
    gc.collect()
    gc.freeze()  # no job looks at torch's 100,000 objects, and so copies them, to find garbage
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)  # behind Python's own end: see above
    ours = sys.modules["__main__"]  # stays
    become(*serve(socket.socket(fileno=int(sys.argv[1]))))
    run(sys.argv[0])
