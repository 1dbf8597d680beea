"""The pages on brim sim: what their commands on traces of the tree and of others print is what they
say."""

import os
import re
import subprocess

import pytest
from conftest import ROOT

# These have files of their own: test_sim_elastic.py, test_sim_services.py, test_sim_utilization.py.
OTHERS = {"elastic", "power", "services", "together", "utilization"}
# [(block, what stands between it and the next one)] of each page.
PAGES = [
    re.findall(r"^```\w*\n(.*?)^```\n(.*?)(?=^```|\Z)", page.read_text("utf-8"), re.M | re.S)
    for page in sorted((ROOT / "docs").glob("sim/*.md")) + [ROOT / "docs" / "sim.md"]
    if page.stem not in OTHERS
]
BLOCKS = [block for page in PAGES for block in page]
# A command with the block behind it, where nothing but a few words stand between the two.
EXAMPLES = [
    (command, after[0]) for page in PAGES for (command, between), after in zip(page, page[1:])
    if re.search("tests/fixtures/traces|script/others.py", command) and len(between) < 60
]


def section(start):
    return next(text for text, _ in BLOCKS if text.startswith(start))


@pytest.fixture
def folder(brim, tmp_path):
    """One in which the commands can be run as they stand."""
    (tmp_path / "brim").symlink_to(brim.program)
    for name in ("script", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    walls = next(text for text, _ in BLOCKS if "borrow = no " in text)
    (tmp_path / "walls.ini").write_text(walls)
    idle = re.sub(r"action = \w+", "action = shrink", section("[idle]"))
    (tmp_path / "idle.ini").write_text("[policy]\nrestart = 40s\n" + idle)
    return tmp_path


def test_they_are_found():
    assert len(EXAMPLES) == 9


@pytest.mark.parametrize("number", range(9))
def test_example(folder, others, number):
    command, want = EXAMPLES[number]
    for name in re.findall(r"script/others.py (\w+)", command):
        others(name)  # skips the test where it is not here
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    said = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command], cwd=str(folder), encoding="utf-8",
        stdout=subprocess.PIPE, timeout=100, check=True,
        env={"PATH": path, "BRIM_CONF": "/nonexistent/brim.conf", "HOME": str(folder),
             "BRIM_SHARED": os.environ.get("BRIM_SHARED", "")},
    ).stdout.splitlines()
    missing = [line for line in want.splitlines() if line and line not in said]
    assert not missing, "\n".join(said)
