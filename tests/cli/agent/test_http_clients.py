"""Clients of the agent's HTTP of all kinds, many at once."""

import json
import socket
import statistics
import threading
import time

import pytest
from load import Load
from served import read_all, request, status_of, wait_until


def many_clients(agent):
    """64 scrapers and 200 listeners: each gets whole events in order."""
    load = Load(agent)
    for i in range(64):
        load.scraper(keep_alive=i % 2 == 0)
    for i in range(200):
        load.listener(i)
    load.run(60, until=lambda: len(load.latencies) >= 128
             and min(map(len, load.events.values())) >= 3)
    load.close()
    assert not load.broken
    for times in load.events.values():
        assert times == sorted(set(times))
        assert len(times) >= 3, times
    assert len(load.latencies) >= 128
    return load


def test_scrapers_and_listeners_together(start):
    agent = start("--interval", "500ms", "--client-timeout", "1m")
    fds = agent.fds()
    many_clients(agent)
    if not agent.is_sanitized():
        assert agent.status_kib("VmHWM") < 24 << 10
    wait_until(lambda: agent.fds() <= fds)
    assert agent.stop() == 0


@pytest.mark.timed
def test_no_tick_is_missed_for_many_clients(start, record_property):
    agent = start("--interval", "500ms")
    load = many_clients(agent)
    record_property("scrape_p50_ms", statistics.median(load.latencies))
    if not agent.is_sanitized():
        assert agent.value("missed_ticks_total") == 0


@pytest.mark.timed
def test_samples_are_an_interval_apart(start):
    """From the first on, however long one takes."""
    for _ in range(3):
        load = Load(start("--interval", "300ms"))
        load.listener(0)
        load.run(1.2)
        load.close()
        times = load.events[0]
        assert len(times) >= 2
        assert min(b - a for a, b in zip(times, times[1:])) > 150, times


def test_listeners_who_do_not_read_are_dropped(start):
    """What waits for one is one event, whatever the time; who takes nothing for long goes."""
    agent = start("--interval", "100ms", "--client-timeout", "2s")
    rss = agent.status_kib("VmRSS")
    slow = []
    for _ in range(100):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.connect(("127.0.0.1", agent.port))
        s.sendall(request("/api/v1/live"))
        slow.append(s)
    wait_until(lambda: agent.value("requests_total") >= 110)
    wait_until(lambda: agent.value("streams") == 0, 120, 0.5)
    if not agent.is_sanitized():
        assert agent.status_kib("VmHWM") - rss < 8 << 10
    for s in slow:
        s.close()
    assert agent.stop() == 0


def test_more_listeners_than_there_is_room_for(agent):
    sockets = [agent.connect() for _ in range(300)]
    for s in sockets:
        s.sendall(request("/api/v1/live"))
    wait_until(lambda: agent.value("streams") == 256)
    for s in sockets:
        s.close()
    wait_until(lambda: agent.value("streams") == 0)


def test_more_connections_than_there_is_room_for(agent):
    """Those who ask nothing are closed; who had an answer before is served on."""
    fds = agent.fds()
    first = agent.connect()
    first.sendall(request("/healthz"))
    wait_until(lambda: b"ok\n" in first.recv(4096))
    sockets = []
    for _ in range(700):
        try:
            sockets.append(agent.connect(2))
        except OSError:
            break
    first.sendall(request("/healthz", "Connection: close"))
    assert status_of(read_all(first)) == 200
    wait_until(lambda: agent.fds() < fds + 600)
    for s in sockets + [first]:
        s.close()
    wait_until(lambda: agent.fds() <= fds)
    assert agent.get("/healthz")[1] == "ok\n"


# ---- questions


def ask_many(agent, count, path):
    """The answers of so many who ask at once."""
    sockets = [agent.connect() for _ in range(count)]
    for s in sockets:
        s.sendall(request(path, "Connection: close"))
    answers = [read_all(s) for s in sockets]
    for s in sockets:
        s.close()
    return answers


def test_many_questions_at_once(stored):
    """16 wait at a time; the others hear so at once, and none is left without an answer."""
    answers = ask_many(stored, 60, "/api/v1/history?seconds=1800")
    codes = [status_of(a) for a in answers]
    assert set(codes) <= {200, 503} and codes.count(200) >= 16, codes
    for code, answer in zip(codes, answers):
        body = answer.partition(b"\r\n\r\n")[2]
        if code == 200:
            assert json.loads(body)["schema"] == "brim.history.v1"
        else:
            assert body == b"too many such requests at once; try again\n"
    assert status_of(stored.exchange(request("/api/v1/history", "Connection: close"))) == 200


def test_answers_do_not_wait_for_a_sample(start, tmp_path):
    """The next one is in an hour."""
    agent = start("--interval", "1h", store=tmp_path / "agent.db")
    history = request("/api/v1/history", "Connection: close")
    # while the file is being made it cannot be read
    wait_until(lambda: status_of(agent.exchange(history)) == 200)
    for path in ("/healthz", "/api/v1/history", "/api/v1/events", "/metrics", "/healthz"):
        assert status_of(agent.exchange(request(path, "Connection: close"))) == 200


def test_those_who_ask_and_go(stored):
    fds = stored.fds()
    for _ in range(20):
        sockets = [stored.connect() for _ in range(12)]
        for s in sockets:
            s.sendall(request("/api/v1/history?seconds=1800"))
        for s in sockets:
            s.close()
    wait_until(lambda: stored.fds() <= fds + 4, 60)  # the reader's files, opened by the first
    ask = request("/api/v1/history", "Connection: close")  # 503 while theirs are being answered
    wait_until(lambda: status_of(stored.exchange(ask)) == 200, 60)
    assert stored.stop() == 0


def test_the_end_while_streams_and_questions_are_open(stored):
    """Those who go on asking do not keep it alive."""
    seconds_to_end(stored)
    assert "Sanitizer" not in stored.said()


@pytest.mark.timed
def test_the_end_takes_no_time(stored):
    assert seconds_to_end(stored) < 3 or stored.is_sanitized()


def seconds_to_end(stored):
    """Of an agent to which 12 clients talk without a pause, and 50 listen."""
    going = threading.Event()

    def pester():
        while not going.is_set():
            try:
                with stored.connect(5) as s:
                    s.sendall(request("/api/v1/history?seconds=1800", "Connection: close"))
                    read_all(s)
            except OSError:
                time.sleep(0.01)

    listeners = [stored.connect() for _ in range(50)]
    for s in listeners:
        s.sendall(request("/api/v1/live"))
    threads = [threading.Thread(target=pester) for _ in range(12)]
    for t in threads:
        t.start()
    try:
        time.sleep(1)
        begin = time.monotonic()
        assert stored.stop() == 0
        took = time.monotonic() - begin
    finally:
        going.set()
        for t in threads:
            t.join()
        for s in listeners:
            s.close()
    return took
