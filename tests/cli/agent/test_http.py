"""The agent's HTTP: what is served, and what is refused."""

import json
import re
import urllib.error

import pytest
from conftest import one_line
from served import request, status_of

API = ("/api/v1/history", "/api/v1/live.json", "/api/v1/events")
TOKEN = "0123456789abcdefABCDEF"


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


UNANSWERABLE = [
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
]


def test_questions_that_cannot_be_answered(stored):
    for path, status in UNANSWERABLE:
        answer = stored.exchange(request(path, "Connection: close"))
        assert status_of(answer) == status, path
        assert answer.partition(b"\r\n\r\n")[2].count(b"\n") == 1, (path, answer)


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


def test_a_refusal_is_one_line(agent):
    with pytest.raises(urllib.error.HTTPError) as refused:
        agent.get("/nosuch")
    assert refused.value.read().count(b"\n") == 1


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
    one_line(done, 1, words)


def test_a_missing_token_file_is_named(brim, tmp_path):
    path = tmp_path / "nosuch"
    one_line(brim("agent", "--store", "none", "--token-file", path), 1, path)
