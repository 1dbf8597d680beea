"""Every test is named in the meson.build beside it: one that is not never runs."""

import os
import re

import pytest
import tree


def test_all_units_are_listed():
    build = tree.read("tests/unit/meson.build")
    names = [path[len("tests/unit/") : -2] for path in tree.files(".c", under=("tests/unit/",))]
    # A library of a test is listed by its files: 'all.c'.
    assert not [
        name
        for name in names
        if f"'{name}'" not in build and f"'{os.path.basename(name)}.c'" not in build
    ]


@pytest.mark.parametrize("folder", ["cli", "e2e", "lint"])
def test_all_are_listed(folder):
    build = tree.read(f"tests/{folder}/meson.build")
    missing = []
    for path in tree.files(".py", under=(f"tests/{folder}/",)):
        name = re.fullmatch(r"((?:\w+/)?)test_(\w+)\.py", os.path.relpath(path, f"tests/{folder}"))
        if name and f"'{name[1]}{name[2]}'" not in build and f"'{name[0]}'" not in build:
            missing.append(path)
    assert not missing


def test_each_command_is_a_file():
    """src/cmd has one file for each command, main.c and table.c, and nothing else."""
    table = tree.read("src/cmd/table.c")
    commands = re.findall(r"&cmd_(\w+)", table)
    wanted = {name.replace("help_command", "help") for name in commands} | {"main", "table"}
    there = tree.files(".c", under=("src/cmd/",))
    names = {os.path.basename(path)[:-2] for path in there if path.count("/") == 2}
    assert names == wanted
