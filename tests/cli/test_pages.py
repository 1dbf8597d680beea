"""What pages of docs show is what the program prints, and what their index names runs."""

import re
import shlex

import pytest
from conftest import ROOT

# Their commands take a job with torch, or have a test of their own (plan/test_plan_train.py).
ELSEWHERE = {"tutorial.md", "plan-train.md"}


def shown():
    """(page, command, what is shown of its output, parted where that has '...')."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if page.name in ELSEWHERE:
            continue
        for block in re.findall(r"^```\n(\$ brim .*?)^```", page.read_text("utf-8"), re.M | re.S):
            for example in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, said = example.partition("\n")
                yield page.name, command, re.split(r"^\.\.\.\n", said, flags=re.M)


def asked():
    """Commands of the index that end by themselves, and need nothing but the tree."""
    serves = r"(up|demo|jobs|submit|agent|top|mcp)$"
    serves += r"|(control|why|runs|run|report|optimize|profile|bench)\b"
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for line in re.findall(r"\| `brim (.*)` \|$", index, re.M):
        if not re.match(serves, line) and not re.search(r"\b[A-Z]{3,}(\.csv)?( |$)|\./", line):
            yield line


@pytest.mark.parametrize(("page", "command", "parts"), list(shown()))
def test_a_page_shows_what_is_said(brim, page, command, parts):
    said = brim(*shlex.split(command)[1:], cwd=str(ROOT)).stdout
    at = 0
    for part in parts:
        found = said.find(part, at)
        assert found >= 0, f"{page}: '{command}' prints other than this:\n{part}\nbut\n{said}"
        at = found + len(part)


@pytest.mark.parametrize("command", list(asked()))
def test_the_index_names_what_runs(brim, command):
    assert brim.out(*shlex.split(command), cwd=str(ROOT))


PICTURES = {
    "machine.svg": ("machine", "--from", "tests/fixtures/machines/l40s-bad"),
    "plan.svg": ("plan", "train", "Llama-3.1-70B", "--cluster=8x8xH100-SXM", "--batch=1024",
                 "--seq=8192"),
}


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_drawing_is_what_is_drawn(brim, name, tmp_path):
    brim.out(*PICTURES[name], "--svg", tmp_path / name, cwd=str(ROOT))
    kept = ROOT / "docs" / "pictures" / name
    assert (tmp_path / name).read_text("utf-8") == kept.read_text("utf-8"), "run script/pictures"


def test_enough_is_found():
    assert len(list(shown())) >= 8 and len(list(asked())) >= 20
