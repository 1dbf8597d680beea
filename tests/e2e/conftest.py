"""A real agent, a real browser."""

import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAYWRIGHT = ROOT / "web" / "node_modules" / "playwright-core"
PATIENCE = 90


class Driver:
    """Chromium, driven by node (driver.cjs)."""

    def __init__(self, node, chromium):
        script = pathlib.Path(__file__).parent / "driver.cjs"
        command = [node, str(script), str(PLAYWRIGHT), chromium]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.number = 0
        self.version = self.read()

    def read(self):
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE + 10)
        assert ready, "the browser does not answer"
        number, error, result = json.loads(self.process.stdout.readline())
        assert number == self.number
        assert error is None, error
        return result

    def __call__(self, operation, **values):
        self.number += 1
        self.process.stdin.write(json.dumps([self.number, operation, values]) + "\n")
        self.process.stdin.flush()
        return self.read()

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def spaced(text):
    """With plain blanks where a line must not end: between numbers and units."""
    return text.replace("\u00a0", " ")


class Page:
    """One page of the browser."""

    def __init__(self, driver, url, **options):
        self.driver = driver
        opened = driver("open", url=url, **options)
        self.id, self.status = opened["id"], opened["status"]

    def __call__(self, operation, **values):
        return self.driver(operation, id=self.id, **values)

    def get(self, code):
        """The value of an expression, or of a function of no arguments."""
        return self("evaluate", code=code)

    def wait(self, code, seconds=60):
        self("wait", code=code, timeout=1000 * seconds)

    def text(self, selector):
        return spaced(self.get("document.querySelector(%s).innerText" % json.dumps(selector)))

    def texts(self, selector):
        nodes = "[...document.querySelectorAll(%s)]" % json.dumps(selector)
        return [spaced(text) for text in self.get(nodes + ".map((node) => node.innerText)")]

    def live(self):
        """Wait until the page shows samples."""
        self.wait("document.querySelector('#connection').dataset.state === 'live'")
        self.wait("document.querySelectorAll('#stages li').length === 5")
        return self


class Agent:
    """An agent on loopback; port 0 is a free one."""

    def __init__(self, *args, port=0, interval="250ms", store="none"):
        command = [os.environ["BRIM"], "agent", "--listen", "127.0.0.1:%d" % port]
        command += ["--interval", interval, "--store", str(store), *map(str, args)]
        env = dict(os.environ, BRIM_CONF="/nonexistent/brim.conf")
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
        line = self.process.stderr.readline()
        where = re.search(r"127\.0\.0\.1:(\d+)/metrics", line)
        assert where, line
        self.port = int(where.group(1))
        self.url = "http://127.0.0.1:%d/" % self.port

    def sample(self):
        """What it says of now."""
        with urllib.request.urlopen(self.url + "api/v1/live.json", timeout=60) as answer:
            return json.load(answer)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.process.stderr.close()


@pytest.fixture(scope="session")
def driver():
    node = shutil.which("node")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if "BRIM" not in os.environ:
        pytest.skip("BRIM does not name the program")
    if not node or not chromium or not PLAYWRIGHT.exists():
        pytest.skip("no node, chromium or playwright-core (script/setup test installs them)")
    one = Driver(node, chromium)
    yield one
    one.stop()


@pytest.fixture
def browse(driver):
    """browse(url, options of the browser's context): a page, closed after the test."""
    pages = []

    def browse(url, **options):
        pages.append(Page(driver, url, **options))
        return pages[-1]

    yield browse
    for page in pages:
        page("close")


@pytest.fixture
def start():
    """start(arguments): an agent, ended after the test."""
    agents = []

    def start(*args, **how):
        agents.append(Agent(*args, **how))
        return agents[-1]

    yield start
    for agent in agents:
        agent.stop()


@pytest.fixture
def gpus():
    """Eight accelerators that are not there: 2 and 3 held down, 5 lost, 6 with memory errors."""
    return pathlib.Path(__file__).parent / "gpus.ini"


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory):
    """A folder of runs that were made up."""
    folder = tmp_path_factory.mktemp("made") / "runs"
    subprocess.run([os.environ["MADE_RUNS"], str(folder)], check=True)
    return folder


def until(holds, seconds):
    """Whether it holds within so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.2)
    return False
