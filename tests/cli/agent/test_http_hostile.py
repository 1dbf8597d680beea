"""Hostile bytes, and silence, for the agent's HTTP."""

import contextlib
import random
import resource
import select
import socket
import time

import pytest
from served import read_all, request, status_of, wait_until


def test_oversized_requests(start):
    """They are answered at once, not when the next sample is due, in an hour."""
    agent = start("--interval", "1h", "--client-timeout", "1m")
    big = b"a" * 70000
    for raw in (
        b"GET /" + big + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + big + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 12000 + b"\r\n",
        b"GET /?" + b"a=b&" * 12000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        big,
    ):
        with agent.connect() as s:
            try:
                s.sendall(raw)
                answer = s.recv(65536)
            except ConnectionError:  # it was closed while we were sending
                continue
        assert answer == b"" or 400 <= status_of(answer) < 500, answer[:80]
    assert agent.get("/healthz")[1] == "ok\n"


def test_requests_in_a_row(start):
    """100 in one go, on one connection: each is answered, at once and not in an hour."""
    agent = start("--interval", "1h", "--client-timeout", "1m")
    with agent.connect() as s:
        s.sendall(request("/healthz") * 99 + request("/healthz", "Connection: close"))
        assert read_all(s).count(b"\r\n\r\nok\n") == 100


SEEDS = [
    request("/metrics", "Connection: close"),
    request("/metrics", "Accept: application/openmetrics-text", "Accept-Encoding: gzip"),
    request("/api/v1/live", "Sec-Fetch-Site: same-origin", "Cookie: brim=a; b=c"),
    request("/api/v1/series?set=disk&thing=vda&signal=read_bytes_total&seconds=60&step=1"),
    request("/api/v1/events?limit=10", "Authorization: Bearer abc", "Origin: http://127.0.0.1"),
    request("/", "Content-Length: 5", method="POST") + b"hello",
    request("/", "Transfer-Encoding: chunked", method="POST") + b"5\r\nhello\r\n0\r\n\r\n",
    request("/", "Expect: 100-continue", "Content-Length: 4", method="PUT"),
    request("/", "Upgrade: websocket", "Connection: Upgrade"),
]
PIECES = [
    b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"%", b"%00", b"../", b"HTTP/9.9", b"\xff\xfe",
    b"Content-Length: -1\r\n", b"Content-Length: 99999999999999999999\r\n", b"a" * 9000,
    b"Transfer-Encoding: chunked\r\n", b"\r\n\r\n", b"&seconds=", b"=", b"&", b"Host: x\r\n",
]


def mutated(chance):
    text = bytearray(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            text[at:at] = chance.choice(PIECES)
        elif kind == 1:
            del text[at : at + chance.randint(1, 40)]
        elif kind == 2 and at < len(text):
            text[at] = chance.randrange(256)
        elif kind == 3:
            text[at:at] = text[at : at + chance.randint(1, 200)]
        else:
            other = chance.choice(SEEDS)
            text[at:] = other[chance.randrange(len(other)) :]
    return bytes(text)


def test_malformed_requests(impatient):
    send_malformed(impatient, 700, 20260101)


@pytest.mark.timed
def test_many_malformed_requests(impatient):
    send_malformed(impatient, 5000, time.time_ns())


def send_malformed(stored, count, seed):
    """It lives, and has no more descriptors and hardly more memory than before."""
    print("seed", seed)
    chance = random.Random(seed)
    stored.get_sure("/api/v1/history")
    fds, rss = stored.fds(), stored.status_kib("VmRSS")
    for round_ in range(count):
        text = mutated(chance)
        with stored.connect(5) as s:
            try:
                s.sendall(text)
                if round_ % 3 == 0:
                    s.shutdown(socket.SHUT_WR)
                s.settimeout(0.005)
                s.recv(4096)
            except OSError:
                pass
        assert stored.process.poll() is None, (round_, text, stored.said()[-2000:])
    wait_until(lambda: stored.fds() <= fds)
    if not stored.is_sanitized():
        assert stored.status_kib("VmRSS") - rss < 4 << 10
    assert stored.get_sure("/healthz") == "ok\n"
    assert stored.stop() == 0


@pytest.fixture
def impatient(start, tmp_path):
    """An agent with a store that drops clients soon."""
    agent = start("--interval", "100ms", "--client-timeout", "2s", store=tmp_path / "agent.db")
    wait_until(lambda: agent.value("stored_ticks_total") >= 3)
    return agent


def test_silent_clients_do_not_keep_others_out(impatient):
    silent = [impatient.connect() for _ in range(200)]
    for s in silent[:100]:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
    assert impatient.get_sure("/healthz") == "ok\n"
    wait_until(lambda: impatient.value("connections") < 20, pause=0.5)
    for s in silent:
        s.close()


@pytest.fixture
def descriptors():
    """As many as the machine lets us have, for clients by the hundred."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[1], 4096), limits[1]))
    yield min(limits[1], 4096)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def ended(clients):
    """How many connections the agent has ended: there is nothing to read but their end."""
    poll = select.poll()
    for client in clients:
        poll.register(client, select.POLLIN)
    return len(poll.poll(0))


@pytest.mark.parametrize("begun", [b"", b"GET /metrics HTTP/1.1\r\nHost: "])
def test_slow_clients_do_not_fill_the_table(start, descriptors, begun):
    """More than there is room for, none of whom finishes a request in the hour that it has."""
    if descriptors < 800:
        pytest.skip("too few descriptors for so many clients")
    agent = start("--interval", "200ms", "--client-timeout", "1h")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(agent.connect()) for _ in range(700)]
        for client in clients:
            with contextlib.suppress(ConnectionError):
                client.sendall(begun)
        # each is asked on a connection of its own
        for _ in range(5):
            assert agent.get("/healthz")[1] == "ok\n"
        assert agent.get("/metrics")[1].count("\n") > 20
        wait_until(lambda: 500 <= agent.value("connections") <= 640)
        wait_until(lambda: ended(clients) >= 180)
        assert not ended(clients[-1:]), "those who came last stay"


def test_a_scraper_that_waits_stays_among_slow_clients(start, descriptors):
    """It had an answer, keeps its connection, and asks again: others are dropped before it."""
    if descriptors < 800:
        pytest.skip("too few descriptors for so many clients")
    agent = start("--interval", "1h", "--client-timeout", "1h")
    with contextlib.ExitStack() as stack:
        scraper = stack.enter_context(agent.connect())
        scraper.sendall(request("/healthz"))
        wait_until(lambda: b"ok\n" in scraper.recv(4096))
        clients = [stack.enter_context(agent.connect()) for _ in range(700)]
        wait_until(lambda: ended(clients) >= 180)
        scraper.sendall(request("/healthz"))
        assert b"ok\n" in scraper.recv(4096)


def test_one_who_sends_a_byte_now_and_then_is_dropped(impatient):
    """Twice the time of one who is silent is allowed for a whole request."""
    begin = time.monotonic()
    dropped = False
    with impatient.connect() as s:
        for byte in request("/metrics", "X-Long: " + "x" * 200):
            try:
                s.sendall(bytes([byte]))
                s.settimeout(0.3)
                dropped = s.recv(1) == b""
            except socket.timeout:
                continue
            except OSError:
                dropped = True
            break
    assert dropped and time.monotonic() - begin > 2
