#!/usr/bin/env python3
"""Hold an agent under load and faults for minutes; script/soak runs it. Prints one line a check.

64 scrapers and 200 listeners for 60 s; slow clients; 200 kills while it writes; and what that cost.
"""

import atexit
import multiprocessing
import os
import pathlib
import signal
import socket
import sqlite3
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from load import Load  # noqa: E402
from served import Agent, read_all, request, status_of, wait_until  # noqa: E402

SECONDS = int(os.environ.get("SOAK_SECONDS", "60"))
KILLS = int(os.environ.get("SOAK_KILLS", "200"))
failed = 0


def check(good, sentence):
    global failed
    failed += not good
    print("%-6s %s" % ("ok" if good else "FAILED", sentence), flush=True)


def started(*args, **how):
    """An agent that does not outlive this program."""
    agent = Agent(*args, **how)
    atexit.register(agent.end)
    return agent


def clients(agent, scrapers, listeners, seconds, answer):
    """In a process of its own, so that it does not make our own scrapes slow."""
    load = Load(agent)
    for i in range(scrapers):
        load.scraper(keep_alive=i % 2 == 0)
    for i in range(listeners):
        load.listener(i)
    load.run(seconds)
    torn = sum(times != sorted(set(times)) for times in load.events.values())
    fewest = min(len(times) for times in load.events.values())
    load.close()
    answer.put((load.broken, torn, fewest, len(load.latencies)))


def scrape_ms(agent):
    begin = time.perf_counter()
    with agent.connect() as s:
        s.sendall(request("/metrics", "Connection: close"))
        assert status_of(read_all(s)) == 200
    return (time.perf_counter() - begin) * 1e3


def crowd(program, folder):
    agent = started(program, folder, "--interval", "1s", store=folder / "crowd.db")
    answer = multiprocessing.Queue()
    time.sleep(6)
    before, fds = agent.status_kib("VmRSS"), agent.fds()
    others = multiprocessing.Process(target=clients, args=(agent, 64, 200, SECONDS, answer))
    others.start()
    times, during = [], 0
    end = time.monotonic() + SECONDS - 2
    while time.monotonic() < end:
        times.append(scrape_ms(agent))
        during = max(during, agent.status_kib("VmRSS"))
        time.sleep(0.1)
    broken, torn, fewest, scrapes = answer.get(timeout=60)
    others.join()
    wait_until(lambda: agent.fds() <= fds + 4)
    times.sort()
    check(not broken, "64 scrapers and 200 listeners for %d s: %d scrapes, %s broken"
          % (SECONDS, scrapes, len(broken) or "none"))
    check(not torn and fewest >= SECONDS - 5,
          "each listener got whole events in order, the one with the fewest %d" % fewest)
    check(agent.value("missed_ticks_total") == 0, "no sample was missed")
    print("       scrape beside them: median %.2f ms, 99 %% %.2f ms"
          % (statistics.median(times), times[len(times) * 99 // 100]))
    check(agent.status_kib("VmHWM") < 24 << 10,
          "resident %.1f MiB before, %.1f during, %.1f after, %.1f at most"
          % tuple(k / 1024 for k in
                  (before, during, agent.status_kib("VmRSS"), agent.status_kib("VmHWM"))))
    check(agent.stop() == 0, "it ended on SIGTERM")


def slow_clients(program, folder):
    agent = started(program, folder, "--interval", "1s")
    fds = agent.fds()
    readers = []
    for _ in range(100):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.connect(("127.0.0.1", agent.port))
        s.sendall(request("/api/v1/live"))
        readers.append(s)
    writers = [agent.connect() for _ in range(100)]
    text = request("/metrics", "X-Padding: " + "a" * 200)
    begin = time.monotonic()
    for at in range(11):
        for s in writers:
            try:
                s.sendall(text[at : at + 1])
            except OSError:
                pass
        time.sleep(2)
    open_ = agent.value("connections")
    check(open_ <= 101, "100 clients who send a byte every 2 s are gone after %.0f s"
          % (time.monotonic() - begin))
    wait_until(lambda: agent.value("streams") == 0, 60, 2)
    check(True, "100 listeners who do not read are gone after %.0f s" % (time.monotonic() - begin))
    for s in readers + writers:
        s.close()
    wait_until(lambda: agent.fds() <= fds)
    check(agent.value("missed_ticks_total") == 0, "and no sample was missed")
    check(agent.stop() == 0, "it ended on SIGTERM")


def kills(program, folder):
    path, stored, lost = folder / "kills.db", 0, 0
    for i in range(KILLS):
        agent = started(program, folder, "--interval", "100ms", store=path)
        wait_until(lambda agent=agent: agent.value("stored_ticks_total"), 30)
        time.sleep((i * 37 % 100) / 250)
        told = agent.value("stored_ticks_total")
        agent.process.send_signal(signal.SIGKILL)
        agent.process.wait()
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        whole = db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        now = db.execute("SELECT count(*) FROM agent_1s").fetchone()[0]
        db.close()
        if not whole:
            check(False, "kill %d: the file is damaged" % i)
            return
        lost = max(lost, told - (now - stored))
        stored = now
    aside = [f.name for f in folder.iterdir() if "damaged" in f.name]
    check(lost <= 1 and not aside, "%d kills: the file is whole, at most %d ticks lost a time"
          % (KILLS, max(lost, 0)))


def main():
    program = os.environ["BRIM"]
    with tempfile.TemporaryDirectory() as name:
        for what in (crowd, slow_clients, kills):
            what(program, pathlib.Path(name))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
