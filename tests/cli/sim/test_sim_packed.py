"""Traces that are compressed, as brim sim and brim cost read them."""

import bz2
import gzip
import json
import lzma

import pytest
from conftest import DAYS, NODES, PODS, ROOT

NOVEMBER = ROOT / "tests" / "fixtures" / "accounting" / "november.txt"


@pytest.fixture
def packed(tmp_path):
    def one(path, with_=gzip.compress, name="packed.csv.gz"):
        (tmp_path / name).write_bytes(with_(path.read_bytes()))
        return tmp_path / name

    return one


def figures(text):
    said = json.loads(text)
    del said["trace"]["file"]
    return said


def test_a_packed_trace_says_the_same(brim, packed):
    there = figures(brim.out("sim", DAYS, "--nodes", "8x8", "--json"))
    assert figures(brim.out("sim", packed(DAYS), "--nodes", "8x8", "--json")) == there
    with packed(DAYS).open("rb") as file:
        assert figures(brim.out("sim", "-", "--nodes", "8x8", "--json", stdin=file)) == there


def test_a_packed_table_of_nodes(brim, packed):
    args = "--policy", "fgd", "--json"
    there = brim.out("sim", PODS, "--nodes", NODES, *args)
    assert brim.out("sim", PODS, "--nodes", packed(NODES), *args) == there


def test_packed_accounting(brim, packed):
    there = brim.out("cost", NOVEMBER, "--json")
    assert brim.out("cost", packed(NOVEMBER), "--json") == there


@pytest.mark.parametrize("with_, name", [(bz2.compress, "bzcat"), (lzma.compress, "xzcat")])
def test_others_are_named_with_their_program(brim, packed, with_, name):
    path = packed(DAYS, with_)
    said = brim("sim", path)
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr == f"brim sim: {path} is compressed: {name} {path} | brim sim -\n"


def test_a_cut_one_is_one_sentence(brim, packed):
    path = packed(DAYS)
    path.write_bytes(path.read_bytes()[:-9])
    said = brim("sim", path)
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr == (f"brim sim: {path} is a broken gzip archive (it ends in the middle): "
                           f"get it anew, or read what is left of it: zcat {path} | brim sim -\n")
