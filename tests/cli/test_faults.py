"""Each call that can fail does so once: memory (from arenas, too) and system calls.

The commands are those of the transcripts (test_golden.py). Each runs as it is, which shows the ways
through the program to such calls; then once for each place on them, over all commands, that was
not seen to fail, with that one call failing. A place whose callers do without what failed says
nothing of them: they are asked by two more ways. So one run is at the command as before, or it ends
with another status and one sentence, which says "out of memory" where that is so, and prints either
all or nothing.

Two things may be otherwise where a system call fails: what is read of a machine (src/probe) may be
absent; and one thing of several may be left out, with the status as before, that is told of.
And a shell that completes a word may be offered fewer.
"""

import os
import shlex

import pytest
from conftest import GOLDEN
from faulty import Faulty, takes_memory
from test_golden import commands

# The quick ones first: a place fails in the first command that has it.
QUICK = ["general", "machine", "runs", "report", "cost", "options", "plan", "emit"]
FILES = QUICK + sorted(path.stem for path in GOLDEN.glob("*.txt") if path.stem not in QUICK)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    return Faulty(os.environ["FAULTY_BRIM"], tmp_path_factory.mktemp("faulty"), str(GOLDEN))


def allowed(finding, frames):
    """What may differ while a call fails."""
    end, whole = finding.end, finding.whole
    if finding.line.startswith("$ brim completion words ") and end.status == 0:
        return not set(end.out.splitlines()) - set(whole.out.splitlines())
    if takes_memory(finding.way.name) or end.status < 0 or b"Sanitizer" in end.err:
        return False
    told = len(end.err.splitlines()) > len(whole.err.splitlines()) or b"left out" in end.out
    of_machine = any(" src/probe/" in frame for frame in frames)
    return told and end.status == whole.status or of_machine


@pytest.mark.parametrize("name", FILES)
def test_each_call_fails_once(faulty, made_state, name):
    del faulty.findings[:]
    for line in commands((GOLDEN / (name + ".txt")).read_text(encoding="utf-8")):
        words = shlex.split(line[len("$ brim "):].replace("$OUT", str(faulty.out)))
        faulty.take(line, words, made_state)
    found = faulty.report(allowed)
    assert not found, "%d findings\n%s" % (len(found), "\n".join(found))


def test_calls_of_all_kinds_failed(faulty):
    """What is wrapped under a wrong name is never asked."""
    if faulty.names:
        assert {"malloc", "calloc", "realloc", "arena_alloc", "arena_push"} <= set(faulty.names)
        assert {"open64", "read", "stat64", "opendir", "readdir64", "close"} <= set(faulty.names)
        assert {"write", "fsync", "rename", "fflush"} <= set(faulty.names)
        assert sum(faulty.names.values()) > 1000
