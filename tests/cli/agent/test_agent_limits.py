"""The agent with hardly any descriptors, and after many ticks."""

import resource
import time

import pytest
from conftest import one_line
from served import wait_until


def limit_descriptors(count):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def test_few_descriptors(start, tmp_path):
    """Clients that find none left wait or are closed; samples and those who have one go on."""
    agent = start(
        "--interval", "100ms", store=tmp_path / "agent.db", preexec_fn=limit_descriptors(64)
    )
    sockets = [agent.connect() for _ in range(100)]
    time.sleep(1)
    for s in sockets:
        s.close()
    before = agent.value("ticks_total")
    wait_until(lambda: agent.value("ticks_total") > before + 5)
    assert agent.get("/healthz")[1] == "ok\n"
    assert agent.stop() == 0


@pytest.mark.parametrize("count", [*range(4, 40, 3), 6, 48, 63])
def test_hardly_any_descriptors(brim, count):
    """With 6 its loop ended it, with 48 it answered nobody."""
    done = brim("agent", "--listen", "127.0.0.1:0", "--store", "none", timeout=60,
                preexec_fn=limit_descriptors(count))
    one_line(done, 1, "an agent needs 64 files open and may have %d: raise the limit" % count)


def test_many_ticks_leave_nothing_behind(start, tmp_path):
    """Descriptors and memory are as before."""
    after_many_ticks(start("--interval", "100ms", store=tmp_path / "agent.db"), 50, 100)


def after_many_ticks(agent, first, more):
    wait_until(lambda: agent.value("ticks_total") > first, 120, 1)
    agent.get("/api/v1/history")
    fds, rss = agent.fds(), agent.status_kib("VmRSS")
    last = agent.value("ticks_total") + more
    wait_until(lambda: agent.value("ticks_total") > last, 240, 1)
    agent.get("/api/v1/history")
    assert agent.fds() <= fds + 2  # a sensor or a mount may have come
    if not agent.is_sanitized():
        assert agent.status_kib("VmRSS") - rss < 2 << 10
    unstored = agent.value("unstored_ticks_total")
    assert agent.stop() == 0
    return unstored


@pytest.mark.timed
def test_500_ticks_are_stored(start, tmp_path):
    stores = start("--interval", "100ms", store=tmp_path / "agent.db")
    assert after_many_ticks(stores, 100, 500) == 0


def test_its_library_is_loaded_when_it_serves(brim, tmp_path):
    """Others start without it, and without the time that it takes."""
    (tmp_path / "libmicrohttpd.so.12").write_text("no library")
    env = dict(LD_LIBRARY_PATH=str(tmp_path))
    assert brim.out("--version", env=env).startswith("brim ")
    done = brim("agent", "--listen", "127.0.0.1:0", "--store", "none", env=env)
    one_line(done, 1, tmp_path / "libmicrohttpd.so.12", "install it (Debian: libmicrohttpd12)")
