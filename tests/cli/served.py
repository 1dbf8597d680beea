"""What tests wait for; a running agent, and clients that are plain sockets."""

import contextlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def wait_until(what, seconds=60, pause=0.05):
    """The first true value of what(); an AssertionError when there is none in time.

    Pauses grow to the fivefold: most of what is asked is a program that starts anew, each time.
    """
    end, longest = time.monotonic() + seconds, 5 * pause
    while True:
        value = what()
        if value:
            return value
        assert time.monotonic() < end, "did not happen in %g s" % seconds
        time.sleep(pause)
        pause = min(1.2 * pause, longest)


@contextlib.contextmanager
def readable_copy(program):
    """The path of a copy that every user can execute, in a folder that goes with it."""
    with tempfile.TemporaryDirectory(prefix="brim-copy-") as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(program, folder)


class Agent:
    """An agent on a free port. What it says goes into a file, so that it never waits for us."""

    def __init__(self, program, folder, *args, command="agent", store="none", **how):
        base = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE_", "LD_"))}
        base["BRIM_CONF"] = "/nonexistent/brim.conf"
        self.log = pathlib.Path(folder) / "agent.log"
        line = [program, command, "--listen", "127.0.0.1:0", "--store", str(store), *args]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=base, **how
            )
        self.port = int(wait_until(self._address).group(1))
        self.folder = pathlib.Path("/proc/%d" % self.process.pid)

    def _address(self):
        assert self.process.poll() is None, self.said()
        return re.search(r"http://127\.0\.0\.1:(\d+)/metrics", self.said())

    def said(self):
        return self.log.read_text()

    def get(self, path, **headers):
        """Headers and text of an answer; urllib's HTTPError for a refusal."""
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.port, path))
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.headers, answer.read().decode()

    def get_sure(self, path):
        """The text of an answer. Asks again where it was dropped as one that is silent, which it is
        on a machine that has other things to do for as long as --client-timeout."""
        return wait_until(lambda: self._get_once(path))

    def _get_once(self, path):
        try:
            return self.get(path)[1]
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException):
            return None

    def value(self, name):
        """A value of its own metrics, by the name behind brim_agent_."""
        found = re.search(r"^brim_agent_%s (\S+)$" % name, self.get_sure("/metrics"), re.M)
        return float(found.group(1)) if found else None

    def connect(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def exchange(self, request, timeout=60):
        """Send bytes, and read all that comes until the connection ends."""
        with self.connect(timeout) as s:
            s.sendall(request)
            return read_all(s)

    def fds(self):
        """Open descriptors, but for files of the kernel: those come and go with what it samples."""
        count = 0
        for name in os.listdir(self.folder / "fd"):
            try:
                where = os.readlink(self.folder / "fd" / name)
            except FileNotFoundError:  # it was closed just now
                continue
            count += not where.startswith(("/proc/", "/sys/"))
        return count

    def status_kib(self, name):
        found = re.search(r"%s:\s+(\d+)" % name, (self.folder / "status").read_text())
        return int(found.group(1))

    def is_sanitized(self):
        """A sanitizer maps terabytes; what memory it takes says nothing of the agent."""
        return self.status_kib("VmPeak") > 1 << 30

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=60)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def read_all(s):
    parts = []
    while True:
        try:
            part = s.recv(65536)
        except ConnectionResetError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def request(path, *headers, method="GET"):
    """The bytes of a request; header lines as text."""
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


class Unchunked:
    """The body of a chunked answer, piece by piece as it comes."""

    def __init__(self):
        self.raw = b""
        self.in_body = False

    def add(self, data):
        """Complete chunks that data finished."""
        self.raw += data
        if not self.in_body:
            head, end, rest = self.raw.partition(b"\r\n\r\n")
            if not end:
                return b""
            assert b"\r\nTransfer-Encoding: chunked" in head, head
            self.in_body, self.raw = True, rest
        out = []
        while True:
            size, end, rest = self.raw.partition(b"\r\n")
            if not end or len(rest) < int(size, 16) + 2:
                return b"".join(out)
            out.append(rest[: int(size, 16)])
            self.raw = rest[int(size, 16) + 2 :]
