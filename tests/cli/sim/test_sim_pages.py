"""Pages on brim sim whose commands make policies and traces one after the other: each is run from
its first command to its last, and prints the tables that it shows."""

import os
import re
import subprocess

import pytest
from conftest import ROOT

RESTART = "restart = 40s\nrestart-multi = 60s\n"
GREEDY = "[policy]\norder = fifo\nbackfill = greedy\n"
# Policies that the pages name by those of 'brim sim --policies'.
KNOWN = {
    "greedy": GREEDY + RESTART,
    "las": "[policy]\norder = las\nqueues = 1h 10h 100h\npreempt = victims\n" + RESTART,
    "history": "[policy]\norder = srtf\npreempt = victims\nlength = history\n" + RESTART,
    "easy": "[policy]\norder = fifo\nbackfill = easy\nlength = oracle\n" + RESTART,
    "free": GREEDY,
}


def blocks(page):
    text = (ROOT / "docs" / "sim" / f"{page}.md").read_text("utf-8")
    return re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)


def block(page, start):
    return next(text for text in blocks(page) if text.startswith(start))


@pytest.fixture
def folder(brim, others, tmp_path):
    """One in which the commands can be run as they stand, with the policies of the pages."""
    others("philly_week")  # skips the test where it is not here
    (tmp_path / "brim").symlink_to(brim.program)
    for name in ("script", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    made = dict(KNOWN)
    service, spot = block("services", "[policy]"), block("services", "[spot]")
    made["batch"] = service.split("[service]")[0]
    made["service"], made["notice"] = service, service + spot
    made["lent"] = service + "".join(spot.splitlines(True)[:2])
    for cap in (120, 100, 80):
        made[f"wait{cap}"] = GREEDY + f"[power]\ncap = {cap}kW\n"
        made[f"limit{cap}"] = made[f"wait{cap}"] + "action = limit\n"
    made["shares"] = block("together", "[quota]")
    for name, text in made.items():
        (tmp_path / f"{name}.ini").write_text(text)
    return tmp_path


def run(folder, command):
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command], cwd=str(folder), encoding="utf-8",
        stdout=subprocess.PIPE, timeout=300, check=True,
        env={"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder),
             "BRIM_CONF": "/nonexistent/brim.conf",
             "BRIM_SHARED": os.environ.get("BRIM_SHARED", "")},
    ).stdout.splitlines()


@pytest.mark.parametrize(("page", "tables"),
                         [("services", 1), ("power", 1), ("together", 3), ("elastic", 2)])
def test_a_page_from_its_first_command_to_its_last(folder, page, tables):
    run(folder, block("services", "{"))  # mixed.csv, which two of them replay
    said, compared = [], 0
    for text in blocks(page):
        if re.match(r"brim|cat|for|script|\{", text):
            said = run(folder, text)
        elif re.match(r"policy|\S+ \(brim\)", text):
            missing = [line for line in text.splitlines() if line and line not in said]
            assert not missing, f"docs/sim/{page}.md:\n" + "\n".join(missing + ["is not in"] + said)
            compared += 1
    assert compared == tables
