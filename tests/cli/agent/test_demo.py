"""brim demo: a machine that is not there, its page and top, and nothing left behind."""

import json
import os
import re
import signal
import socket
import subprocess
import types
import urllib.request

import pytest
from conftest import one_line
from served import wait_until
from terminal import Terminal


class Demo:
    """A demo whose storage stalls after a second; its folder is in tmp_path."""

    def __init__(self, brim, folder, *args):
        env = dict(os.environ, TMPDIR=str(folder), BRIM_CONF="/nonexistent/brim.conf")
        self.process = subprocess.Popen([brim.program, "demo", "--stall", "1s", *args], env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.address = re.match(r"page: (http://127\.0\.0\.1:\d+/)$",
                                self.process.stdout.readline()).group(1)

    def live(self):
        with urllib.request.urlopen(self.address + "api/v1/live.json", timeout=60) as answer:
            return json.load(answer)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait(timeout=60)


@pytest.fixture
def demo(brim, tmp_path):
    one = Demo(brim, tmp_path)
    yield one
    if one.process.poll() is None:
        one.end()


def test_storage_limits_it_and_the_page_says_so(demo):
    seen = wait_until(lambda: [live for live in [demo.live()]
                               if live["verdict"]["bottleneck"] == "storage"], pause=0.2)[0]
    assert seen["host"] == "demo" and len(seen["gpus"]) == 8
    assert "nvme0n1" in seen["verdict"]["sentence"] and "8 GPUs wait" in seen["verdict"]["sentence"]
    with urllib.request.urlopen(demo.address, timeout=60) as page:
        assert b"<title>brim" in page.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left(demo, tmp_path, number):
    assert [path.name[:10] for path in tmp_path.iterdir()] == ["brim-demo-"]
    wait_until(lambda: demo.live()["gpus"])
    assert demo.end(number) == 0
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_one_that_was_killed(demo, tmp_path):
    """Its writer outlives it, and removes the folder when the agent has gone as well."""
    wait_until(lambda: demo.live()["gpus"])
    assert demo.end(signal.SIGKILL) == -signal.SIGKILL
    wait_until(lambda: not list(tmp_path.iterdir()))


def test_top_on_the_same_machine(demo, brim, tmp_path):
    (folder,) = tmp_path.iterdir()
    text = brim.out("top", "--once", "--root", folder, "--fake", folder / "gpus.ini")
    assert "demo: 32 CPUs" in text and "nvme0n1" in text and text.count("NVIDIA H100") == 8
    text = brim.out("agent", "--once", "--root", folder, "--fake", folder / "gpus.ini")
    assert 'core_seconds_total{cpu="31"' in text and 'core_seconds_total{cpu="32"' not in text


def test_in_a_terminal_top_comes_and_q_ends_both(brim, tmp_path):
    env = dict(os.environ, TMPDIR=str(tmp_path), BRIM_CONF="/nonexistent/brim.conf", TERM="xterm")
    screen = Terminal(types.SimpleNamespace(env=env),
                      "stty cols 120 rows 40; exec %s demo" % brim.program)
    screen.until(b"page: http://127.0.0.1:")
    screen.until(b"demo http://127.0.0.1:")  # the machine's name in top
    os.write(screen.fd, b"q")
    assert screen.end() == 0
    assert not list(tmp_path.iterdir())


def test_wrong_usage(brim, tmp_path):
    one_line(brim("demo", "--stall", "1ms"), 2, "--stall", "1s")
    for command in ("top", "agent"):
        one_line(brim(command, "--once", "--root", tmp_path / "none"), 1, "cannot open", "none")
    (tmp_path / "proc").mkdir()
    for command in (["top"], ["agent", "--once"], ["agent", "--store=none", "--listen=127.0.0.1:0"],
                    ["up", "--store=none", "--listen=127.0.0.1:0"]):
        one_line(brim(*command, "--root", tmp_path), 1,
                 "--root %s has no kernel files: proc and sys in it are missing" % tmp_path)
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 16 kB\nMemAvailable: 8 kB\n")
    assert "memory" in brim.out("agent", "--once", "--root", tmp_path)
    env = dict(TMPDIR=str(tmp_path / "none"))
    one_line(brim("demo", env=env), 1, "cannot make a folder in", "none")


def test_an_address_that_cannot_be(brim, tmp_path):
    env = dict(TMPDIR=str(tmp_path))
    one_line(brim("demo", "--listen", "0.0.0.0:0", env=env), 2, "not a loopback address")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = "127.0.0.1:%d" % taken.getsockname()[1]
        one_line(brim("demo", "--listen", where, env=env), 1, "%s is taken" % where)
    assert list(tmp_path.iterdir()) == []
