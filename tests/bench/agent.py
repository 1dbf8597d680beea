#!/usr/bin/env python3
"""brim agent beside node exporter, collectd and netdata: CPU time, memory, time of a scrape.

Prints name, value, unit, limit and note with tabs between them; script/bench makes the table. CPU
time is of the least of several windows, since other work disturbs it; the mean is in the note.
"""

import pathlib
import socket
import statistics
import tempfile
import time

import peers
from peers import say

WINDOWS, SECONDS = 6, 5


def dashboard(agent):
    """What an open dashboard asks for: its past once, then the stream."""
    with socket.create_connection(("127.0.0.1", agent.port)) as s:
        s.sendall(b"GET /api/v1/history HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        while s.recv(1 << 16):
            pass
    s = socket.create_connection(("127.0.0.1", agent.port))
    s.sendall(b"GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    s.setblocking(False)
    return s


def drain(s):
    try:
        while s.recv(1 << 16):
            pass
    except BlockingIOError:
        pass


def measure(alone, full, others, page):
    time.sleep(5)  # what is done once, at the start, is not counted
    for _ in range(WINDOWS + 1):
        for each in [alone, full, *others]:
            each.window()
        for _ in range(SECONDS):
            for each in [full, *others]:
                each.scrape()
            drain(page)
            time.sleep(1)


def report(alone, full, others):
    least, mean = alone.cost()
    resident = alone.resident
    exposed = alone.samples()
    say("agent that samples, CPU per second", least, "ms", "<= 1", "mean %.3g" % mean)
    say("  resident size", resident, "MiB", "<= 9", "Pss %.1f" % alone.memory_mib("Pss"))
    say("  samples exposed", exposed, "", ">= 500")
    full_least, mean = full.cost()
    say("agent with everything on, CPU per second", full_least, "ms", "<= 2",
        "mean %.3g; store, alerts, a dashboard, scraped each second" % mean)
    say("  resident size", full.resident, "MiB", "<= 12", "Pss %.1f" % full.memory_mib("Pss"))
    say("  scrape, median", statistics.median(full.latencies), "ms", "<= 1",
        "least %.3g; each renders anew; a new connection" % min(full.latencies))
    for each in others:
        cost, mean = each.cost()
        say(each.name + ", CPU per second", cost, "ms", "",
            "mean %.3g; %d samples; scraped each second" % (mean, each.samples()))
        say("  resident size", each.resident, "MiB", "", "Pss %.1f" % each.memory_mib("Pss"))
        say("  scrape, median", statistics.median(each.latencies), "ms", "",
            "least %.3g" % min(each.latencies))
        say("  to the agent with everything on, CPU", cost / full_least, "ratio")
        say("  to the agent that samples, CPU", cost / least, "ratio")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        alone = peers.brim("alone", "--store", "none")
        full = peers.brim("full", "--store", str(folder / "agent.db"))
        others = [peer(folder) for peer in (peers.node_exporter, peers.collectd, peers.netdata)]
        others = [other for other in others if other]
        try:
            assert full.ready()
            others = [other for other in others if other.ready() or other.stop()]
            with dashboard(full) as page:
                measure(alone, full, others, page)
            report(alone, full, others)
        finally:
            for each in [alone, full, *others]:
                each.stop()


if __name__ == "__main__":
    main()
