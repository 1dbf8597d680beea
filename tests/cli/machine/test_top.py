"""brim top: one page, JSON, and the live page on a terminal of ours."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import one_line

STAGES = ["storage", "cpu", "pcie", "gpu", "network"]


class Screen:
    """brim top on a pseudo terminal."""

    def __init__(self, brim, *args, rows=30, columns=100, **env):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns, tell=False)
        self.before = termios.tcgetattr(self.slave)
        base = dict(os.environ, BRIM_CONF="/nonexistent/brim.conf", TERM="xterm", LC_ALL="C.UTF-8")
        base.update(env)
        self.process = subprocess.Popen(
            [brim.program, "top", "--interval", "200ms", *args], env=base, stdin=self.slave,
            stdout=self.slave, stderr=subprocess.PIPE, start_new_session=True,
        )
        self.seen = ""

    def resize(self, rows, columns, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds):
        end = time.monotonic() + seconds
        got = b""
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                got += os.read(self.master, 1 << 16)
        self.seen += got.decode(errors="replace")
        return got.decode(errors="replace")

    def wait_for(self, pattern, seconds=60):
        """Read until what came since the call matches."""
        end, got = time.monotonic() + seconds, ""
        while time.monotonic() < end:
            got += self.read(0.1)
            if re.search(pattern, got):
                return got
        raise AssertionError("no %r in %r" % (pattern, got[-2000:]))

    def wait(self, seconds):
        """Read until it ends, since who does not read holds it up; None when it does not."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.1)
        return self.process.poll()

    def end(self):
        """The exit status; the terminal must be as it was."""
        status = self.wait(60)
        self.read(0.2)
        assert termios.tcgetattr(self.slave) == self.before
        assert self.seen.endswith("\033[?7h\033[?25h\033[?1049l"), self.seen[-100:]
        assert self.process.stderr.read() == b""
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def screen(brim):
    made = []

    def start(*args, **how):
        made.append(Screen(brim, *args, **how))
        return made[-1]

    yield start
    for one in made:
        one.close()


def last_page(text):
    """The lines of the last whole page, without colours."""
    page = text.split("\033[H")[-2 if text.count("\033[H") > 1 else -1].split("\033[J")[0]
    return re.sub(r"\033\[[0-9;]*[mK]|\r", "", page).split("\n")


def test_one_page(brim):
    page = brim.out("top", "--once", "--interval", "200ms", env={"LC_ALL": "C.UTF-8"})
    assert "storage" in page and " → " in page
    assert page.index("cpu ") > 0
    assert "\033" not in page
    page = brim.out("top", "--interval", "200ms", env={"LC_ALL": "C"})
    assert page.isascii() and " > " in page


def test_json(brim):
    text = brim.out("top", "--json", "--interval", "200ms")
    assert text.count("\n") == 1
    live = json.loads(text)
    assert live["schema"] == "brim.live.v1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", live["time"])
    assert abs(live["time_ms"] / 1000 - time.time()) < 60
    assert 0.1 < live["interval_s"] < 60
    assert [s["id"] for s in live["stages"]] == STAGES
    for stage in live["stages"]:
        assert set(stage) == {"id", "title", "load", "state", "value", "detail", "thing"}
        assert stage["load"] is None or 0 <= stage["load"] <= 1
        assert stage["state"] in ("idle", "ok", "busy", "limit", "unknown")
    verdict = live["verdict"]
    assert verdict["state"] in ("limit", "ok", "idle", "unknown")
    assert verdict["severity"] in ("note", "warning", "critical") and verdict["sentence"]
    assert verdict["bottleneck"] in STAGES + [None]
    assert live["cpu"]["cores"] == os.cpu_count() and 0 <= live["cpu"]["busy"] <= 1
    with open("/proc/meminfo") as f:
        assert live["memory"]["total"] == int(f.readline().split()[1]) * 1024
    for key in ("gpus", "disks", "filesystems", "nfs", "nets", "processes", "alerts", "events"):
        assert isinstance(live[key], list), key


@pytest.mark.timed
def test_a_busy_cpu_is_seen(brim):
    spin = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        live = json.loads(brim.out("top", "--json", "--interval", "1s"))
    finally:
        for one in spin:
            one.kill()
            one.wait()
    assert live["cpu"]["busy"] > 0.8
    assert live["stages"][1]["state"] == "limit"
    assert live["verdict"]["state"] == "limit"


def test_wrong_usage(brim):
    one_line(brim("top", "--interval", "1ms"), 2, "--interval", "200ms")
    one_line(brim("top", "--interval", "1h"), 2, "1m")
    one_line(brim("top", "--sort", "size"), 2, "size")
    one_line(brim("top", "--fake", ""), 2, "empty")
    one_line(brim("top", "now"), 2, "'now'")


def test_starts_and_quits(screen):
    one = screen()
    got = one.wait_for(r"network")
    assert got.startswith("\033[?1049h\033[?25l\033[?7l")
    assert re.search(r"nothing|limit|storage", got)
    one.wait_for(r"\033\[H")
    one.type("q")
    assert one.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it(screen, number):
    one = screen()
    one.wait_for(r"network")
    one.process.send_signal(number)
    assert one.end() == 0


def test_control_c(screen):
    one = screen()
    one.wait_for(r"network")
    one.type("\x03\x1a")  # ^Z before would stop it with the shell on our page
    if one.wait(2) is None:  # the terminal does not control it: ^C is a key there
        one.type("q")
    assert one.end() == 0


def test_keys(screen):
    one = screen()
    one.wait_for(r"every 0\.2 s, by use")
    for key, sort in (("1", "cpu"), ("2", "io"), ("3", "read"), ("4", "write"), ("5", "memory")):
        one.type(key)
        one.wait_for("by %s" % sort)
    one.type("s")
    one.wait_for("by use")
    one.type("+")
    one.wait_for(r"every 0\.4 s")
    one.type("-")
    one.wait_for(r"every 0\.2 s")
    one.type("?")
    one.wait_for(r"any key leaves it")
    one.type("x")
    one.wait_for(r"network")
    one.type("p")
    one.wait_for(r"PAUSED")
    one.type("p")
    one.wait_for(r"every 0\.2 s, by use   q quit")
    one.type("q")
    assert one.end() == 0


@pytest.mark.parametrize("rows,columns", [(24, 80), (8, 40), (50, 160), (3, 20)])
def test_fits(screen, rows, columns):
    one = screen(rows=rows, columns=columns)
    one.wait_for(r"\033\[J[^\033]*\033\[H")
    one.read(0.5)
    page = last_page(one.seen)
    assert len(page) <= rows
    assert columns < 30 or max(len(line) for line in page) <= columns
    one.resize(rows + 5, columns + 20)
    one.read(0.5)
    page = last_page(one.seen)
    assert len(page) <= rows + 5
    one.type("q")
    assert one.end() == 0


def test_a_terminal_that_goes_away(screen):
    one = screen()
    one.wait_for(r"network")
    one.process.stdin = None
    os.close(one.slave)
    os.close(one.master)
    one.process.wait(timeout=60)
    one.master, one.slave = pty.openpty()


def test_no_colour(screen):
    one = screen(NO_COLOR="1")
    one.wait_for(r"network")
    one.read(0.3)
    assert not re.search(r"\033\[[0-9;]*m", one.seen)
    one.type("q")
    assert one.end() == 0


def test_hostile_process_names(screen, brim, tmp_path):
    name = b"\x1b]0;x\x07\xff"
    program = os.path.join(os.fsencode(str(tmp_path)), name)
    with open("/bin/sh", "rb") as f, open(program, "wb") as to:
        to.write(f.read())
    os.chmod(program, 0o755)
    spin = subprocess.Popen([program, "-c", "while :; do :; done"])
    try:
        one = screen("--sort", "cpu")
        one.wait_for(r"network")
        one.read(1)
        json.loads(brim.out("top", "--json", "--interval", "300ms"))
    finally:
        spin.kill()
        spin.wait()
    assert "\033]" not in one.seen and "\x07" not in one.seen
    one.type("q")
    assert one.end() == 0
