"""The table of script/bench: a limit is met by numbers only."""

import os
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(__file__), "..", "..", "script", "bench_table.py")


def made(tmp_path, *lines):
    path = tmp_path / "results.tsv"
    path.write_text("".join("\t".join(line) + "\n" for line in lines))
    done = subprocess.run([sys.executable, TABLE, str(path)], stdout=subprocess.PIPE,
                          universal_newlines=True)
    return done.returncode, done.stdout.splitlines()


def test_table(tmp_path):
    rows = ("start", "1.25", "ms", "<= 5", "of ten"), ("rate", "3e6", "1/s", ">= 1000000", ""), (
        "size", "12", "MiB", "", "no limit")
    assert made(tmp_path, *rows) == (0, [
        "name   value  unit  limit       met  note",
        "start  1.25   ms    <= 5        yes  of ten",
        "rate   3e6    1/s   >= 1000000  yes",
        "size   12     MiB                    no limit",
    ])


def test_what_meets_no_limit(tmp_path):
    for value, limit, met in [("6", "<= 5", "NO"), ("4", ">= 5", "NO"), ("nan", "<= 5", "NO"),
                              ("nan", ">= 5", "NO"), ("-nan", "<= 5", "NO"), ("", "<= 5", "NO"),
                              ("?", ">= 0", "NO"), ("4", "< 5", "?"), ("4", "<= x", "?"),
                              ("4", "5", "?")]:
        status, lines = made(tmp_path, ("a", "1", "", "<= 2", ""), ("b", value, "s", limit, ""))
        assert status == 1 and lines[1].split()[-1] == "yes", (value, limit)
        assert lines[2].split()[-1] == met, (value, limit)
