"""tests/fixtures/traces: its generator makes the files that lie there, to the byte."""

import pathlib
import subprocess
import sys

import pytest
import tree

HERE = pathlib.Path(tree.ROOT) / "tests" / "fixtures" / "traces"
TABLES = sorted(HERE.glob("*.csv"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, HERE / "generate.py", folder], check=True)
    return folder


def test_every_table_is_made(made):
    assert [f.name for f in sorted(made.iterdir())] == [f.name for f in TABLES]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_is_made_again(made, table):
    assert (made / table.name).read_bytes() == table.read_bytes()
