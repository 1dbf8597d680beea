#!/usr/bin/env python3
"""brim agent on a machine with 120 more processes, beside Debian's process exporter.

60 of the processes sleep, 50 wake up ten times a second, 10 read a file past the page cache. Both
run at the same time; what the agent costs is told alone and scraped once a second. Prints name,
value, unit, limit and note with tabs between them; script/bench makes the table.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import peers
from peers import say

WINDOWS, SECONDS = 4, 5

SLEEPS = "import time\nwhile True: time.sleep(3600)"
WAKES = "import time\nwhile True: time.sleep(0.1)"
READS = """
import mmap, os, sys, time
page, fd = mmap.mmap(-1, 65536), os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
while True:
    os.preadv(fd, [page], 0)
    time.sleep(0.1)
"""


def start_processes(path):
    codes = [SLEEPS] * 60 + [WAKES] * 50 + [READS] * 10
    return [subprocess.Popen([sys.executable, "-S", "-E", "-c", code, path],
                             stderr=subprocess.DEVNULL) for code in codes]


def process_exporter(folder):
    program = shutil.which("prometheus-process-exporter")
    port = peers.free_port()
    config = folder / "config.yml"
    config.write_text('process_names:\n- name: "{{.Comm}} {{.PID}}"\n  cmdline: [".+"]\n')
    line = [program, "-config.path", str(config), "-web.listen-address", "127.0.0.1:%d" % port]
    return program and peers.Scraped("process-exporter", line, port)


def measure(each, scraped):
    for one in each:
        one.begin_windows()
    for _ in range(WINDOWS + 1):
        for one in each:
            one.window()
        for _ in range(SECONDS):
            for one in each if scraped else []:
                one.scrape()
            time.sleep(1)
    return [one.cost() for one in each]


def report(each):
    alone = measure(each[:1], False)[0]
    costs = measure(each, True)
    say("agent, 120 more processes, CPU per second", alone[0], "ms", "<= 1.5",
        "mean %.3g; %d samples; without a store" % (alone[1], each[0].samples()))
    say("  resident size", each[0].resident, "MiB")
    for one, (least, mean) in zip(each, costs):
        say("  %s, scraped each second" % one.name, least, "ms", "",
            "mean %.3g; %d samples" % (mean, one.samples()))
    if costs[1:]:
        say("  process-exporter to agent, both scraped", costs[1][0] / costs[0][0], "ratio")


def main():
    processes, each = [], []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as name:
        folder = pathlib.Path(name)
        path = folder / "data"
        with open(path, "wb") as f:
            f.write(bytes(65536))
            f.flush()
            os.fsync(f.fileno())
        try:
            processes = start_processes(str(path))
            time.sleep(5)  # until all have started
            each = [peers.brim("agent", "--store", "none"), process_exporter(folder)]
            each = [one for one in each if one and (one.ready() or one.stop())]
            time.sleep(5)  # what is done once, at the start, is not counted
            report(each)
        finally:
            for one in each:
                one.stop()
            for process in processes:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
