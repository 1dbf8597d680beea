"""Whole outputs, byte for byte: what each command of tests/fixtures/golden prints is what is there.

A file there is a transcript: a line "$ brim ..." and below it what that prints, where "! " begins a
line of stderr, "[1]" the exit status when it is not 0, and "> NAME" what was written to $OUT/NAME.
BRIM_REGENERATE=1 (script/regenerate) writes what the program prints today; to add a case, add its
line and do that. Commands run in that folder; nothing in them may depend on a time or a machine.
The runs that are kept are those of made_runs.c, the profiles those of golden/profiles. The commit
that the program was built from is left out.
"""

import os
import pathlib
import re
import shlex

import pytest
from conftest import GOLDEN

FILES = sorted(path.name for path in GOLDEN.glob("*.txt"))


def commands(text):
    return [line for line in text.splitlines() if line.startswith("$ brim ")]


def said(brim, line, folder, env):
    """The lines of one command."""
    folder.mkdir()
    words = shlex.split(line[len("$ brim "):].replace("$OUT", str(folder)))
    done = brim(*words, env=env, cwd=str(GOLDEN))
    out = [line] + done.stdout.splitlines()
    out += ["! " + each for each in done.stderr.splitlines()]
    out += ["[%d]" % done.returncode] if done.returncode else []
    for path in sorted(pathlib.Path(folder).iterdir()):
        out += ["> " + path.name] + path.read_text(encoding="utf-8").splitlines()
    text = "".join(re.sub(r"^(brim [\d.]+) \(commit .*\)$", r"\1", each) + "\n" for each in out)
    return text.replace(str(folder), "$OUT").replace(env["STATE_DIRECTORY"], "$STATE")


def test_there_are_transcripts():
    assert len(FILES) >= 5
    for name in FILES:
        asked = commands((GOLDEN / name).read_text(encoding="utf-8"))
        assert asked and len(set(asked)) == len(asked), name


@pytest.mark.parametrize("name", FILES)
def test_transcript(brim, tmp_path, made_state, name):
    file = GOLDEN / name
    want = file.read_text(encoding="utf-8")
    parts = [
        said(brim, line, tmp_path / str(i), made_state) for i, line in enumerate(commands(want))
    ]
    if os.environ.get("BRIM_REGENERATE"):
        file.write_text("".join(parts), encoding="utf-8")
        want = file.read_text(encoding="utf-8")
    assert "".join(parts).splitlines() == want.splitlines()
