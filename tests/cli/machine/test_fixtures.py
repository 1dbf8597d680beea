"""The expected tree, matrix and audit of each recorded machine.

BRIM_REGENERATE=1 (script/regenerate) writes what the program prints today over what is expected.
"""

import os

import pytest
from conftest import MACHINES

NAMES = sorted(p.parent.name for p in MACHINES.glob("*/machine.pack"))
VIEWS = {
    "tree.txt": (),
    "matrix.txt": ("--matrix",),
    "audit.txt": ("--audit", "--all"),
    "nccl.xml": ("--nccl-xml",),
}


def test_there_are_enough_machines():
    assert len(NAMES) >= 8


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", NAMES)
def test_machine(brim, name, view):
    text = brim.out("machine", "--from", MACHINES / name, *VIEWS[view])
    file = MACHINES / name / view
    if os.environ.get("BRIM_REGENERATE"):
        file.write_text(text, encoding="utf-8")
    assert file.exists(), "script/regenerate writes it"
    assert text == file.read_text(encoding="utf-8")
