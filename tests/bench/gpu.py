#!/usr/bin/env python3
"""brim agent on a node with eight GPUs, played by tests/fake/nvml, beside one without.

What the fake itself costs is in it, and what a driver costs is not. Prints name, value, unit, limit
and note with tabs between them; script/bench makes the table.
"""

import os
import signal
import socket
import subprocess
import tempfile
import time

BRIM = os.environ["BRIM"]
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(BRIM)))
FAKE = os.path.join(BUILD, "tests/fake/nvml")
GPUS, SECONDS = 8, 10

LIVE = """[live]
utilization = 93
memory_utilization = 41
temperature = 61
margin = 24
memory_clock_mhz = 2619
enforced_limit_mw = 700000
reasons = 4
memory_total_b = 85520809984
memory_used_b = 60000000000
memory_reserved_b = 500000000
gpm = 1
process 4711 = 59000000000 0.9
"""
COUNTERS = [186, 83, 82, 197, 198, 138, 139, 74, 76, 77, 251, 252, 253]
FIELDS = [3, 4, 5, 6, 142, 143, 144, 145, 94, 161, 162, 163, 230]
METRICS = [2, 3, 5, 10, 11, 12, 13, 20, 21, 60, 61]


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def script(path):
    with open(path, "w") as f:
        f.write(LIVE)
        for field in COUNTERS:
            f.write("field %d = 1000 + 500000/s\n" % field)
        for field in FIELDS:
            f.write("field %d = 0\n" % field)
        for metric in METRICS:
            f.write("gpm %d = 50\n" % metric)
        for i in range(GPUS):
            f.write("[gpu %d]\nbdf = 0000:%02x:00.0\nuuid = GPU-%d\n" % (i, 0x17 + i, i))
            f.write("name = NVIDIA H100 80GB HBM3\npcie_gen = 5\nsm_clock_mhz = 1755\n")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Agent:
    def __init__(self, interval, environment):
        command = [BRIM, "agent", "--listen", "127.0.0.1:%d" % free_port(), "--interval", interval]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, **environment))

    def cpu_ns(self):
        """Of the loop and of the other threads, which ask the driver."""
        folder = "/proc/%d/task" % self.process.pid
        loop = rest = 0
        for task in os.listdir(folder):
            with open("%s/%s/schedstat" % (folder, task)) as f:
                spent = int(f.read().split()[0])
            if int(task) == self.process.pid:
                loop += spent
            else:
                rest += spent
        return loop, rest

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=10)


def measure(interval, environment):
    """CPU time of both agents in ms per second, measured at the same time."""
    agents = [Agent(interval, {"FAKE_NVML": "/nowhere", "LD_LIBRARY_PATH": ""}),
              Agent(interval, environment)]
    try:
        time.sleep(2)
        begin = time.monotonic()
        before = [agent.cpu_ns() for agent in agents]
        time.sleep(SECONDS)
        after = [agent.cpu_ns() for agent in agents]
        took = time.monotonic() - begin
    finally:
        for agent in agents:
            agent.stop()
    return [[(b - a) / 1e6 / took for a, b in zip(*pair)] for pair in zip(before, after)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gpus.ini")
        script(path)
        environment = {"FAKE_NVML": path, "LD_LIBRARY_PATH": FAKE}
        for interval, hertz in ("1s", 1), ("100ms", 10):
            without, having = measure(interval, environment)
            more = sum(having) - sum(without)
            note = "%.2g ms of it in the driver's thread; %.2g ms without GPUs"
            say("brim agent, %d GPUs at %d Hz, CPU per second" % (GPUS, hertz), sum(having), "ms",
                "<= 2" if hertz == 1 else "", note % (having[1], sum(without)))
            say("  for each GPU, above an agent without", more / GPUS, "ms",
                "<= 0.1" if hertz == 1 else "<= 1")


if __name__ == "__main__":
    main()
