"""A real Prometheus (Debian: prometheus) on a free port, for tests and benchmarks."""

import json
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from served import wait_until

PROGRAM = shutil.which("prometheus")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    """Runs with a configuration (its text) in a folder, which has tsdb/ of before or none."""

    def __init__(self, folder, config, *args):
        self.port = free_port()
        (folder / "prometheus.yml").write_text(config)
        self.process = subprocess.Popen(
            [PROGRAM, "--config.file=%s" % (folder / "prometheus.yml"),
             "--storage.tsdb.path=%s" % (folder / "tsdb"),
             "--web.listen-address=127.0.0.1:%d" % self.port, "--log.level=error", *args],
            stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def get(self, path, **query):
        """What the API answers; None while it is not there; its words where it refuses."""
        url = "http://127.0.0.1:%d%s?%s" % (self.port, path, urllib.parse.urlencode(query))
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as refused:
            if refused.code == 503:  # it reads what it has
                return None
            raise AssertionError("%s: %s" % (query, refused.read().decode())) from refused
        except OSError:
            assert self.process.poll() is None, "prometheus ended"
            return None
        return json.loads(text)["data"] if path.startswith("/api/") else text

    def ask(self, expression, **query):
        """The series of an expression, now; [] while there are none."""
        answer = self.get("/api/v1/query", query=expression, **query)
        return answer["result"] if answer else []

    def wait(self, expression):
        """The series of an expression, as soon as there are some."""
        return wait_until(lambda: self.ask(expression), seconds=120)
