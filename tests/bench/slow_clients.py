#!/usr/bin/env python3
"""An agent with 2,000 clients that never finish a request: the time of a scrape beside them, each
on a connection of its own. First they come back when they are dropped, then all of them leave and
come back at the same moment, every second. Prints what script/bench makes a table of."""

import contextlib
import multiprocessing
import os
import pathlib
import resource
import select
import socket
import statistics
import sys
import tempfile
import time

import peers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from served import Agent  # noqa: E402

CLIENTS = 2000
SECONDS = 20
PARTS = 20


def client(port):
    """One that connects, and asks nothing yet."""
    s = socket.socket()
    s.setblocking(False)
    with contextlib.suppress(BlockingIOError, OSError):
        s.connect(("127.0.0.1", port))
    return s


def crowd(port, ready):
    """In a process of its own. A byte a second of each, spread over the second; who was dropped
    comes back then."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    clients = [client(port) for _ in range(CLIENTS)]
    ready.set()
    end = time.monotonic() + SECONDS + 10
    part = 0
    while time.monotonic() < end:
        mine = range(part, CLIENTS, PARTS)
        poll = select.poll()
        for i in mine:
            poll.register(clients[i], select.POLLIN)
        ended = {fd for fd, _ in poll.poll(0)}
        for i in mine:
            if clients[i].fileno() in ended:
                clients[i].close()
                clients[i] = client(port)
            with contextlib.suppress(OSError):
                clients[i].send(b"G")
        part = (part + 1) % PARTS
        time.sleep(1 / PARTS)


def stampede(port, ready):
    """In a process of its own: all leave and come back at once, and a byte of each."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    clients = [client(port) for _ in range(CLIENTS)]
    ready.set()
    end = time.monotonic() + SECONDS + 10
    while time.monotonic() < end:
        begin = time.monotonic()
        for s in clients:
            s.close()
        clients = [client(port) for _ in range(CLIENTS)]
        for s in clients:
            with contextlib.suppress(OSError):
                s.send(b"G")
        time.sleep(max(0, begin + 1 - time.monotonic()))


def scrape(port):
    """Milliseconds of each, one after the other."""
    probe = peers.Scraped("probe", ["true"], port)
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        probe.scrape()
        time.sleep(0.05)
    probe.stop()
    return sorted(probe.latencies)


def p99(times):
    return times[len(times) * 99 // 100]


def beside(agent, crowd_of):
    """Scrapes of an agent beside clients, and how many connections it has then."""
    ready = multiprocessing.Event()
    others = multiprocessing.Process(target=crowd_of, args=(agent.port, ready))
    others.start()
    try:
        ready.wait()
        time.sleep(2)
        return scrape(agent.port), agent.value("connections")
    finally:
        others.terminate()
        others.join()


def main():
    with tempfile.TemporaryDirectory() as name:
        agent = Agent(os.environ["BRIM"], name)
        try:
            time.sleep(3)
            alone = scrape(agent.port)
            times, connections = beside(agent, crowd)
            at_once, connections_then = beside(agent, stampede)
            missed = agent.value("missed_ticks_total")
        finally:
            agent.end()
    peers.say("agent without slow clients, scrape, 99 of 100", p99(alone), "ms")
    peers.say("agent with 2,000 slow clients, scrape, median", statistics.median(times), "ms")
    peers.say("  99 of 100", p99(times), "ms", "<= 50")
    peers.say("  connections then", connections, "", "<= 640")
    peers.say("  all come back each second, median", statistics.median(at_once), "ms")
    peers.say("  99 of 100", p99(at_once), "ms", "<= 50")
    peers.say("  connections then", connections_then, "", "<= 640")
    peers.say("  missed samples", missed, "", "<= 0")


if __name__ == "__main__":
    main()
