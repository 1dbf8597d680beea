"""The agent under faults: kills, full and vanishing stores."""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest
from served import wait_until


def ticks_of(path):
    """integrity_check, and the times that are stored, in ms: of the agent itself, whose rows differ
    each tick (rows that repeat are left out)."""
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return (
            db.execute("PRAGMA integrity_check").fetchone()[0],
            [t for (t,) in db.execute("SELECT t FROM agent_1s ORDER BY t")],
        )
    finally:
        db.close()


def test_killed_while_it_writes(start, tmp_path):
    """The file is whole each time, and has all that was said to be stored but the last tick."""
    path = tmp_path / "agent.db"
    before = 0
    for round_ in range(0, 30, 3 if os.environ.get("SANITIZED") else 1):
        agent = start("--interval", "100ms", store=path)
        wait_until(lambda: agent.value("stored_ticks_total"), 30)
        time.sleep(0.05 + round_ * 0.013)
        told = agent.value("stored_ticks_total")
        agent.process.send_signal(signal.SIGKILL)
        agent.process.wait()
        integrity, times = ticks_of(path)
        assert integrity == "ok"
        assert len(times) - before >= told - 1, (round_, told)
        before = len(times)
        assert not [f for f in os.listdir(tmp_path) if "damaged" in f]
    assert times == sorted(set(times))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "brim-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("a file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(start, small_disk):
    """It samples and serves on, says so once, loses nothing that was stored, and goes on."""
    path = small_disk / "agent.db"
    agent = start("--interval", "100ms", store=path)
    wait_until(lambda: agent.value("stored_ticks_total") > 5, 30)
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as f, pytest.raises(OSError):
        while True:
            f.write(bytes(4096))
    wait_until(lambda: agent.value("unstored_ticks_total") > 20, 60)
    stored = agent.value("stored_ticks_total")
    ticks = agent.value("ticks_total")
    assert agent.get("/healthz")[1] == "ok\n"
    said = agent.said()
    assert said.count("the disk is full") == 1, said
    filler.unlink()
    wait_until(lambda: agent.value("stored_ticks_total") > stored + 5, 30)
    assert agent.said().count("storing again") == 1
    assert agent.value("ticks_total") > ticks
    assert agent.stop() == 0
    integrity, times = ticks_of(path)
    assert integrity == "ok"
    assert len(times) >= stored + 5


@pytest.mark.parametrize("path", ["/proc/brim/agent.db", "/dev/null/agent.db"])
def test_a_place_that_cannot_be_written(start, path):
    agent = start("--interval", "100ms", store=path)
    wait_until(lambda: agent.value("unstored_ticks_total") > 10, 30)
    assert agent.said().count("\n") == 2, agent.said()
    assert path.rpartition("/")[0] in agent.said()
    assert json.loads(agent.get("/api/v1/live.json")[1])["schema"] == "brim.live.v1"
    assert agent.stop() == 0


def test_a_store_that_is_deleted_while_it_runs(start, tmp_path):
    """Asked or not it lives, and the next agent begins anew."""
    folder = tmp_path / "store"
    agent = start("--interval", "100ms", store=folder / "agent.db")
    wait_until(lambda: agent.value("stored_ticks_total") > 5, 30)
    assert json.loads(agent.get("/api/v1/history")[1])["time"]
    shutil.rmtree(folder)
    ticks = agent.value("ticks_total")
    wait_until(lambda: agent.value("ticks_total") > ticks + 10)
    assert json.loads(agent.get("/api/v1/history")[1])["schema"] == "brim.history.v1"
    assert agent.get("/healthz")[1] == "ok\n"
    assert agent.stop() == 0


def test_a_store_that_is_rubbish(start, tmp_path):
    path = tmp_path / "agent.db"
    path.write_bytes(os.urandom(100000))
    (tmp_path / "agent.db-lock").touch()  # of the agent whose store it was
    agent = start("--interval", "100ms", store=path)
    wait_until(lambda: (agent.value("stored_ticks_total") or 0) > 5, 30)
    assert "damaged" in agent.said()
    assert agent.stop() == 0
    assert ticks_of(path)[0] == "ok"
    assert [f for f in os.listdir(tmp_path) if f.startswith("agent.db.damaged-")]


def test_a_folder_that_is_gone(start, tmp_path):
    """The store's folder is made anew; the working directory does not matter."""
    where = tmp_path / "gone"
    where.mkdir()
    agent = start("--interval", "100ms", store=tmp_path / "new" / "deep" / "agent.db", cwd=where)
    where.rmdir()
    wait_until(lambda: agent.value("stored_ticks_total") > 2, 30)
    assert pathlib.Path(tmp_path / "new" / "deep" / "agent.db").stat().st_mode & 0o077 == 0o040
    assert agent.stop() == 0
