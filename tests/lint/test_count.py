"""script/count.py: skips inside programs count, and what every build skips is told."""

import json
import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "script"


def counted(folder, *results):
    """'passed failed skipped' of one build, and what is printed; added to folder/seen."""
    log = folder / "log.json"
    log.write_text("".join(
        json.dumps({"name": name, "result": result, "stdout": said, "duration": 1}) + "\n"
        for name, result, said in results))
    read, write = os.pipe()
    with os.fdopen(read) as numbers:
        command = '"$0" "$1" "$2" "$3" 3>&%d' % write
        done = subprocess.run(
            ["bash", "-c", command, sys.executable, SCRIPT / "count.py", folder / "seen", log],
            pass_fds=[write], stdout=subprocess.PIPE, text=True, check=True)
        os.close(write)
        return numbers.read().strip(), done.stdout


def never(folder):
    done = subprocess.run([sys.executable, SCRIPT / "count.py", "--never", folder / "seen"],
                          stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


PYTEST = "..s\nSKIPPED test_x.py::test_y[/a/b]: the moon is full\n"
TAP = "ok 1 - it runs\nok 2 - it flies # SKIP no wings\n1..2\n"


def test_skips_inside_programs_count(tmp_path):
    numbers, said = counted(tmp_path, ("one", "OK", PYTEST), ("two", "OK", TAP),
                            ("three", "FAIL", "a\nb\n"), ("four", "SKIP", "1..0 # SKIP no disk\n"))
    assert numbers == "2 1 3"
    assert "skipped in one: test_x.py::test_y[/a/b]: the moon is full" in said
    assert "skipped in two: it flies: no wings" in said and "three: FAIL" in said


def test_what_no_build_runs_is_told(tmp_path):
    counted(tmp_path, ("one", "OK", PYTEST), ("two", "OK", TAP))
    assert never(tmp_path) == (1, "one: test_x.py::test_y[/a/b]: the moon is full\n"
                                  "two: it flies: no wings\n")
    counted(tmp_path, ("one", "OK", "...\n"), ("two", "OK", TAP))
    assert never(tmp_path) == (1, "two: it flies: no wings\n"), "the other build ran it"


def test_tools_and_data_that_are_absent_may_be_missed(tmp_path):
    reason = "others' data are not here: set BRIM_SHARED"
    counted(tmp_path, ("one", "OK", "SKIPPED test_x.py::test_y: %s\n" % reason),
            ("two", "OK", "ok 1 - a small disk # SKIP not root\n"))
    assert never(tmp_path) == (0, "")
