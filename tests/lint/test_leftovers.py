"""The check behind all tests sees what a test leaves on the machine, of each kind."""

import contextlib
import os
import subprocess
import sys

import pytest
import tree

sys.path.insert(0, os.path.join(tree.ROOT, "script"))
import leftovers  # noqa: E402

SESSION = "of.test_leftovers"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder that stands for the shared ones, so that nothing of the machine is touched."""
    for name in ("quiet", "busy"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(leftovers, "SHARED", (str(tmp_path / "quiet"),))
    monkeypatch.setattr(leftovers, "QUIET", (str(tmp_path / "quiet"),))
    monkeypatch.setattr(leftovers, "BUSY", (str(tmp_path / "busy"),))
    monkeypatch.setenv(leftovers.SESSION, SESSION)
    return tmp_path


def before():
    return {"all": leftovers.look(), "steady": leftovers.look(leftovers.STEADY)}


def left(was, *words):
    """How many of the lines about what has changed have these words."""
    return sum(all(str(word) in line for word in words) for line in leftovers.changes(was))


def test_files(place):
    was = before()
    (place / "quiet" / "anything").touch()
    (place / "busy" / "brim-run-x").touch()
    (place / "busy" / "of-others").touch()
    (place / "quiet" / ("ring-%d" % os.getpid())).touch()
    assert left(was, place / "quiet" / "anything") == 1
    assert left(was, place / "busy" / "brim-run-x") == 1
    assert left(was, place) == 2, "a file of others, and one that is in use, are left alone"


def test_modes(place):
    was = before()
    (place / "quiet").chmod(0o1777)
    assert left(was, "quiet has mode 1777") == 1
    assert left(was, "gone: ", "quiet has mode") == 1


@contextlib.contextmanager
def waiting(session):
    """A process that says when it is there and ends with its input."""
    words = ["sh", "-c", "echo; read wait", session]
    env = dict(os.environ, **{leftovers.SESSION: session})
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=env, stdin=pipe, stdout=pipe) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def test_processes(place):
    was = before()
    with waiting(SESSION), waiting("of.others"):
        assert left(was, "process", SESSION) == 1
        assert left(was, "process", "of.others") == 0
    assert left(was, "process", SESSION) == 0


KINDS = [("mounts", "mount /x"), ("networks", "network namespace x"),
         ("control_groups", "/sys/fs/cgroup/brim-x"), ("kernel_log", "kernel log, record 1: NVRM")]


@pytest.mark.parametrize("kind, thing", KINDS)
def test_what_only_root_makes(place, monkeypatch, kind, thing):
    """The look itself is replaced: no test mounts anything on the machine for this."""
    was = before()
    now = getattr(leftovers, kind)
    kinds = [one if one is not now else lambda: now() | {thing} for one in leftovers.ALL]
    monkeypatch.setattr(leftovers, "ALL", kinds)
    assert left(was, thing) == 1


@pytest.mark.parametrize("kind", ["mounts", "networks"])
def test_what_is_gone(place, monkeypatch, kind):
    was = before()
    monkeypatch.setattr(leftovers, "STEADY", [one for one in leftovers.STEADY
                                              if one is not getattr(leftovers, kind)])
    assert left(was, "gone: " + kind.rstrip("s")[:5]) >= 1


def test_it_ends_with_1(place, monkeypatch, capsys):
    monkeypatch.setattr(leftovers, "PATIENCE_S", 0)
    kinds = (leftovers.files, leftovers.modes)  # other tests may mount something meanwhile
    monkeypatch.setattr(leftovers, "ALL", kinds)
    monkeypatch.setattr(leftovers, "STEADY", kinds[1:])
    kept = str(place / "before.json")
    assert leftovers.main("--before", kept) == 0
    assert leftovers.main("--after", kept) == 0
    (place / "quiet" / "left").touch()
    assert leftovers.main("--after", kept) == 1
    assert str(place / "quiet" / "left") in capsys.readouterr().out
