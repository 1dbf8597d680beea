#!/usr/bin/env python3
"""An agent that 64 scrapers and 200 dashboards ask at once: the time of a scrape beside them,
memory, CPU time, missed samples. Prints what script/bench makes a table of."""

import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
import time

import peers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from load import Load  # noqa: E402
from served import Agent  # noqa: E402

SECONDS = 20


def crowd(agent):
    """In a process of its own, so that it does not make our own scrapes slow."""
    load = Load(agent)
    for i in range(64):
        load.scraper(keep_alive=i % 2 == 0)
    for i in range(200):
        load.listener(i)
    load.run(SECONDS)
    sys.exit(len(load.broken) > 0)


def cpu_ms(agent):
    folder = agent.folder / "task"
    texts = [(folder / task / "schedstat").read_text() for task in os.listdir(folder)]
    return sum(int(text.split()[0]) for text in texts) / 1e6


def main():
    with tempfile.TemporaryDirectory() as name:
        store = pathlib.Path(name) / "agent.db"
        agent = Agent(os.environ["BRIM"], name, store=store)
        others = multiprocessing.Process(target=crowd, args=(agent,))
        try:
            time.sleep(6)
            others.start()
            time.sleep(1)
            probe = peers.Scraped("probe", ["true"], agent.port)
            begin, cpu = time.monotonic(), cpu_ms(agent)
            while time.monotonic() - begin < SECONDS - 3:
                probe.scrape()
                time.sleep(0.1)
            cost = (cpu_ms(agent) - cpu) / (time.monotonic() - begin)
            probe.stop()
            missed = agent.value("missed_ticks_total")
            peak = agent.status_kib("VmHWM") / 1024
        finally:
            others.join()
            agent.end()
    times = sorted(probe.latencies)
    peers.say("agent with 264 clients, scrape, median", statistics.median(times), "ms", "",
              "64 scrapers and 200 dashboards besides, each once a second")
    peers.say("  99 of 100", times[len(times) * 99 // 100], "ms")
    peers.say("  CPU per second", cost, "ms")
    peers.say("  resident size, at most", peak, "MiB", "<= 16")
    peers.say("  missed samples", missed, "", "<= 0")
    peers.say("  broken answers", float(others.exitcode), "", "<= 0")


if __name__ == "__main__":
    main()
