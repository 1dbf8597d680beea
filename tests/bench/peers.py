"""Agents that are measured side by side: how each is started, its costs, the time of a scrape.

All run at the same time on loopback, so that a slow moment of a shared machine hits all. CPU time
is the kernel's (schedstat, ns) of the process and its children.
"""

import os
import re
import shutil
import socket
import statistics
import subprocess
import time
import urllib.request


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tree(pid):
    """The process and all below it."""
    found = [pid]
    for one in found:
        try:
            for task in os.listdir("/proc/%d/task" % one):
                with open("/proc/%d/task/%s/children" % (one, task)) as f:
                    found += [int(child) for child in f.read().split()]
        except OSError:
            pass
    return found


class Scraped:
    """A running program with metrics at an address."""

    def __init__(self, name, command, port, path="/metrics", env=None):
        self.name, self.port, self.path = name, port, path
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, **(env or {})),
        )
        self.latencies, self.windows, self.resident = [], [], 0
        self._cpu = self._time = None

    def ready(self, seconds=30):
        for _ in range(seconds * 10):
            try:
                self.scrape()
                self.latencies.clear()
                return True
            except (OSError, ValueError):
                time.sleep(0.1)
        return False

    def scrape(self):
        """One scrape over a new connection, by a plain socket: milliseconds, and the bytes."""
        what = "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" % self.path
        begin = time.perf_counter()
        parts = []
        with socket.create_connection(("127.0.0.1", self.port), 10) as s:
            s.sendall(what.encode())
            while True:
                part = s.recv(1 << 18)
                if not part:
                    break
                parts.append(part)
        took = (time.perf_counter() - begin) * 1e3
        answer = b"".join(parts)
        if b" 200 " not in answer[:16]:
            raise ValueError(answer[:80])
        self.latencies.append(took)
        return answer

    def samples(self):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.port, self.path)) as answer:
            return len(re.findall(r"^[^#\s]", answer.read().decode(), re.M))

    def cpu_ms(self):
        total = 0
        for pid in tree(self.process.pid):
            try:
                for task in os.listdir("/proc/%d/task" % pid):
                    with open("/proc/%d/task/%s/schedstat" % (pid, task)) as f:
                        total += int(f.read().split()[0])
            except OSError:
                pass
        return total / 1e6

    def memory_mib(self, field="Rss"):
        """Of all processes: Rss as the limits have it; Pss shares out what they share."""
        total = 0
        for pid in tree(self.process.pid):
            try:
                with open("/proc/%d/smaps_rollup" % pid) as f:
                    total += int(re.search(r"^%s:\s+(\d+)" % field, f.read(), re.M).group(1))
            except OSError:
                pass
        return total / 1024

    def begin_windows(self):
        """Forget what was measured so far."""
        self.windows, self._time = [], None

    def window(self):
        """End a window of time, and begin the next."""
        cpu, now = self.cpu_ms(), time.monotonic()
        if self._time:
            self.windows.append((cpu - self._cpu) / (now - self._time))
        self._cpu, self._time = cpu, now
        self.resident = max(self.resident, self.memory_mib())

    def cost(self):
        """CPU ms per second: the least window, and the mean of all."""
        return min(self.windows), statistics.fmean(self.windows)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def brim(name, *args):
    port = free_port()
    line = [os.environ["BRIM"], "agent", "--listen", "127.0.0.1:%d" % port, *args]
    return Scraped(name, line, port, env={"BRIM_CONF": "/nonexistent/brim.conf"})


def node_exporter(_folder):
    program = shutil.which("prometheus-node-exporter")
    port = free_port()
    listen = "--web.listen-address=127.0.0.1:%d" % port
    return program and Scraped(
        "node_exporter", [program, listen, "--no-collector.systemd", "--log.level=error"], port
    )


PLUGINS = ("cpu memory disk interface load vmem processes df irq protocols contextswitch "
           "write_prometheus").split()


def collectd(folder):
    program = shutil.which("collectd") or shutil.which("collectd", path="/usr/sbin")
    port = free_port()
    conf = folder / "collectd.conf"
    conf.write_text(
        'Hostname "here"\nInterval 1\nBaseDir "%s"\nPIDFile "%s/collectd.pid"\n' % (folder, folder)
        + "".join("LoadPlugin %s\n" % p for p in PLUGINS)
        + '<Plugin write_prometheus>\nHost "127.0.0.1"\nPort "%d"\n</Plugin>\n' % port
    )
    return program and Scraped("collectd", [program, "-C", str(conf), "-f"], port)


def netdata(folder):
    """Its own configuration, but for places, the address, and that it tells nobody of itself."""
    program = shutil.which("netdata") or shutil.which("netdata", path="/usr/sbin")
    port = free_port()
    folder = folder / "netdata"
    for name in ("cache", "lib", "log", "etc"):
        (folder / name).mkdir(parents=True)
    (folder / "etc" / ".opt-out-from-anonymous-statistics").touch()
    conf = folder / "etc" / "netdata.conf"
    conf.write_text(
        "[global]\nrun as user = %s\n[directories]\ncache = %s/cache\nlib = %s/lib\nlog = %s/log\n"
        "config = %s/etc\nhome = %s\n[web]\nbind to = 127.0.0.1\ndefault port = %d\n"
        % (os.environ.get("USER") or "root", folder, folder, folder, folder, folder, port)
    )
    path = "/api/v1/allmetrics?format=prometheus"
    line = [program, "-D", "-c", str(conf), "-P", str(folder / "netdata.pid")]
    return program and Scraped("netdata", line, port, path, {"DO_NOT_TRACK": "1"})
