"""The agent's HTTP: what is served, what is refused, and clients of all kinds, many at once."""

import json
import random
import re
import socket
import statistics
import threading
import time
import urllib.error

import pytest
from conftest import one_line
from load import Load
from served import read_all, request, status_of, wait_until

API = ("/api/v1/history", "/api/v1/live.json", "/api/v1/events")
TOKEN = "0123456789abcdefABCDEF"


@pytest.fixture
def stored(start, tmp_path):
    """An agent that stores, with a few ticks in its store."""
    agent = start("--interval", "100ms", store=tmp_path / "agent.db")
    wait_until(lambda: agent.value("stored_ticks_total") >= 10, 30)
    return agent


def test_what_is_served(stored):
    for path in API:
        headers, text = stored.get(path)
        assert headers["Content-Type"].startswith("application/json"), path
        assert json.loads(text)["schema"].startswith("brim."), path
    headers, text = stored.get("/api/v1/series?set=memory&signal=total_bytes&seconds=5")
    values = json.loads(text)["values"]
    assert len(values) == len(json.loads(text)["time"]) > 0
    assert any(v and v > 1 << 20 for v in values), values
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "<html" in stored.get("/")[1]


@pytest.mark.parametrize(
    "path, status",
    [
        ("/api/v1/series", 400),
        ("/api/v1/series?set=disk", 400),
        ("/api/v1/series?set=%s&signal=x" % ("a" * 200), 400),
        ("/api/v1/series?set=nosuch&signal=x", 404),
        ("/api/v1/history?seconds=0", 400),
        ("/api/v1/history?seconds=-5", 400),
        ("/api/v1/history?seconds=1e9", 400),
        ("/api/v1/history?seconds=99999999999999999999", 400),
        ("/api/v1/history?seconds=86400&step=1", 400),
        ("/api/v1/history?step=0", 400),
        ("/api/v1/events?limit=1001", 400),
        ("/api/v1/events?limit=%00", 400),
    ],
)
def test_questions_that_cannot_be_answered(stored, path, status):
    answer = stored.exchange(request(path, "Connection: close"))
    assert status_of(answer) == status
    assert answer.partition(b"\r\n\r\n")[2].count(b"\n") == 1, answer


@pytest.mark.parametrize(
    "path",
    [
        "/nosuch", "/../etc/passwd", "/%2e%2e/etc/passwd", "/%2e%2e%2fetc%2fpasswd", "//metrics",
        "/metrics/", "//", "/./metrics", "/metrics%00", "/%00", "/api/v1/live/../history",
        "/metrics%2f..", "/index.html%00.js", "http://127.0.0.1/nosuch", "/%", "/%zz", "/\\..\\x",
    ],
)
def test_paths_that_lead_nowhere(agent, path):
    assert status_of(agent.exchange(request(path, "Connection: close"))) == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "get"])
def test_methods_that_would_change_something(agent, method):
    answer = agent.exchange(
        request("/metrics", "Connection: close", "Content-Length: 0", method=method)
    )
    assert status_of(answer) == 405
    assert b"\r\nAllow: GET, HEAD\r\n" in answer


@pytest.mark.parametrize(
    "header",
    [
        "Host: evil.example", "Host: 127.0.0.1.evil.example", "Host: ", "Host: 127.0.0.1@evil",
        "Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ],
)
def test_other_sites_are_refused(agent, header):
    """With every kind of page; a Host replaces ours."""
    for path in ("/", "/metrics", "/api/v1/live", "/api/v1/history"):
        lines = ["GET %s HTTP/1.1" % path, header, "Connection: close"]
        if not header.startswith("Host"):
            lines.insert(1, "Host: 127.0.0.1")
        answer = agent.exchange(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert status_of(answer) == 403, path


def test_head_has_no_body(agent):
    answer = agent.exchange(request("/metrics", "Connection: close", method="HEAD"))
    assert status_of(answer) == 200
    assert answer.partition(b"\r\n\r\n")[2] == b""


# ---- the token


@pytest.fixture
def guarded(start, tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    return start("--interval", "200ms", "--token-file", str(path))


@pytest.mark.parametrize(
    "header, status",
    [
        ("Authorization: Bearer " + TOKEN, 200),
        ("Authorization: Bearer " + TOKEN[:-1], 401),
        ("Authorization: Bearer " + TOKEN + "0", 401),
        ("Authorization: Bearer ", 401),
        ("Authorization: Bearer " + TOKEN[::-1], 401),
        ("Authorization: Basic " + TOKEN, 401),
        ("Cookie: brim_token=" + TOKEN, 200),
        ("Cookie: brim_token=", 401),
        ("Cookie: other=" + TOKEN, 401),
        ("X-Nothing: 1", 401),
    ],
)
def test_the_token(guarded, header, status):
    for path in ("/", "/metrics", "/api/v1/live.json", "/api/v1/history"):
        answer = guarded.exchange(request(path, header, "Connection: close"))
        assert status_of(answer) == status, path
    assert status_of(guarded.exchange(request("/healthz", "Connection: close"))) == 200


def test_the_token_becomes_a_cookie(guarded):
    answer = guarded.exchange(request("/login?token=" + TOKEN, "Connection: close"))
    assert status_of(answer) == 303
    cookie = re.search(rb"Set-Cookie: (\S+=\S+); Path=/; HttpOnly; SameSite=Strict\r\n", answer)
    header = "Cookie: " + cookie.group(1).decode()
    assert status_of(guarded.exchange(request("/metrics", header, "Connection: close"))) == 200
    for wrong in ("/login", "/login?token=", "/login?token=" + TOKEN[1:]):
        assert status_of(guarded.exchange(request(wrong, "Connection: close"))) == 401


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "has no token"), ("\n", "has no token"), ("short\n", "16 characters at least"),
        ("sixteen characters\n", "16 characters at least"), ("a" * 200, "128 characters at most"),
        ("0123456789abcdef;\n", "letters, digits"),
    ],
)
def test_files_that_have_no_good_token(brim, tmp_path, text, words):
    """The first word of the file counts."""
    path = tmp_path / "token"
    path.write_text(text)
    done = brim("agent", "--store", "none", "--listen", "127.0.0.1:0", "--token-file", path)
    one_line(done, 1 if "no token" in words else 2, words)


def test_a_missing_token_file_is_named(brim, tmp_path):
    path = tmp_path / "nosuch"
    one_line(brim("agent", "--store", "none", "--token-file", path), 1, path)


# ---- many at once


def test_scrapers_and_listeners_together(start, record_property):
    """64 scrapers and 200 listeners: no tick is missed, and each gets whole events in order."""
    agent = start("--interval", "500ms")
    load = Load(agent)
    fds = agent.fds()
    for i in range(64):
        load.scraper(keep_alive=i % 2 == 0)
    for i in range(200):
        load.listener(i)
    load.run(5)
    load.close()
    assert not load.broken
    for times in load.events.values():
        assert times == sorted(set(times))
        assert len(times) >= 3, times
    assert len(load.latencies) >= 64
    record_property("scrape_p50_ms", statistics.median(load.latencies))
    if not agent.is_sanitized():
        assert agent.value("missed_ticks_total") == 0
        assert agent.status_kib("VmHWM") < 24 << 10
    wait_until(lambda: agent.fds() <= fds)
    assert agent.stop() == 0


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
    """What waits for one is one event, whatever the time; after 10 s of nothing taken it goes."""
    agent = start("--interval", "100ms")
    rss = agent.status_kib("VmRSS")
    slow = []
    for _ in range(100):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.connect(("127.0.0.1", agent.port))
        s.sendall(request("/api/v1/live"))
        slow.append(s)
    wait_until(lambda: agent.value("streams") >= 100)
    wait_until(lambda: agent.value("streams") == 0, 90, 0.5)
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
    """Those beyond the limit are closed; those who were there are served on."""
    fds = agent.fds()
    first = agent.connect()
    sockets = []
    for _ in range(700):
        try:
            sockets.append(agent.connect(2))
        except OSError:
            break
    first.sendall(request("/healthz", "Connection: close"))
    assert status_of(read_all(first)) == 200
    assert agent.fds() < fds + 600
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
    agent = start("--interval", "30s", store=tmp_path / "agent.db")
    time.sleep(2)  # while the file is being made it cannot be read
    begin = time.monotonic()
    for path in ("/healthz", "/api/v1/history", "/api/v1/events", "/metrics", "/healthz"):
        assert status_of(agent.exchange(request(path, "Connection: close"))) == 200
    assert time.monotonic() - begin < 5


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
    assert took < (3 if not stored.said().count("Sanitizer") else 20)
    assert "Sanitizer" not in stored.said()


# ---- hostile bytes


def test_oversized_requests(start):
    """They are answered at once, not when the next sample is due."""
    agent = start("--interval", "30s")
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
                begin = time.monotonic()
                answer = s.recv(65536)
                assert time.monotonic() - begin < 5
            except OSError:  # it was closed while we were sending
                continue
        assert answer == b"" or 400 <= status_of(answer) < 500, answer[:80]
    assert agent.get("/healthz")[1] == "ok\n"


def test_requests_in_a_row(start):
    """100 in one go, on one connection: each is answered, at once."""
    agent = start("--interval", "30s")
    with agent.connect() as s:
        s.sendall(request("/healthz") * 99 + request("/healthz", "Connection: close"))
        begin = time.monotonic()
        assert read_all(s).count(b"\r\n\r\nok\n") == 100
    assert time.monotonic() - begin < 5


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


def test_malformed_requests(stored):
    """2,000 of them: it lives, and has no more descriptors and hardly more memory than before."""
    chance = random.Random(20260101)
    stored.get("/api/v1/history")
    fds, rss = stored.fds(), stored.status_kib("VmRSS")
    for round_ in range(2000):
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
    wait_until(lambda: stored.fds() <= fds, 40)
    if not stored.is_sanitized():
        assert stored.status_kib("VmRSS") - rss < 4 << 10
    assert stored.get("/healthz")[1] == "ok\n"
    assert stored.stop() == 0


def test_silent_clients_do_not_keep_others_out(agent):
    silent = [agent.connect() for _ in range(200)]
    for s in silent[:100]:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
    assert agent.get("/healthz")[1] == "ok\n"
    wait_until(lambda: agent.value("connections") < 20, 30, 0.5)
    for s in silent:
        s.close()


def test_one_who_sends_a_byte_now_and_then_is_dropped(agent):
    """20 s are allowed for a whole request."""
    begin = time.monotonic()
    with agent.connect() as s:
        for byte in request("/metrics"):
            try:
                s.sendall(bytes([byte]))
                s.settimeout(0.8)
                if s.recv(1) == b"":
                    break
            except socket.timeout:
                continue
            except OSError:
                break
        took = time.monotonic() - begin
    assert 18 < took < 26, took


def test_a_refusal_is_one_line(agent):
    with pytest.raises(urllib.error.HTTPError) as refused:
        agent.get("/nosuch")
    assert refused.value.read().count(b"\n") == 1
