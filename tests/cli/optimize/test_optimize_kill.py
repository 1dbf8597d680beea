"""brim optimize, or its job, is killed: the short form of tests/soak/optimize_kill.py."""

import os
import pathlib
import subprocess

import pytest

SOAK = pathlib.Path(__file__).resolve().parents[2] / "soak" / "optimize_kill.py"


@pytest.mark.timed
@pytest.mark.skipif("TUNED_JOB" not in os.environ, reason="TUNED_JOB does not name the program")
def test_kills():
    kills = 2 if os.environ.get("SANITIZED") else 5
    done = subprocess.run(
        ["/usr/bin/python3", str(SOAK), "--kills", str(kills)], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, universal_newlines=True, timeout=280,
    )
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    assert "%d of %d kills passed" % (kills, kills) in done.stdout
