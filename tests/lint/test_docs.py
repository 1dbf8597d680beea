"""What the documents say is so: links lead somewhere, commands and options exist."""

import os
import re
import subprocess

import pytest
import tree

DOCUMENTS = tree.files(".md")
BRIM = os.environ.get("BRIM")
# Written so that this file does not contain what it looks for.
LEFTOVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
MACHINE = re.compile(r"(?<![\w.~-])/(wo" + r"rk/|tmp/w" + r"t\b)")


def test_links():
    bad = []
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)\s]+)\)", tree.read(path)):
            if re.match(r"[a-z]+:|#", target):
                continue
            file = os.path.join(tree.ROOT, os.path.dirname(path), target.split("#")[0])
            if not os.path.exists(file):
                bad.append(f"{path}: {target} does not exist")
    assert not bad, "\n" + "\n".join(bad)


def commands(path):
    """(words after "brim") of each command line in the fenced blocks of a document."""
    for block in re.findall(r"^```\w*\n(.*?)^```", tree.read(path), re.M | re.S):
        for line in block.splitlines():
            line = re.split(r"\s#\s", line)[0]
            for words in re.findall(r"(?:^|[\s/])brim[ \t]+([^|;&>]+)", line):
                yield words.split()


def brim(*words):
    said = subprocess.run(
        [BRIM, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    return said.stdout


@pytest.mark.skipif(not BRIM, reason="BRIM, the program, is not set")
def test_commands_exist():
    listed = brim("help")
    bad = []
    for path in DOCUMENTS:
        for name, *rest in commands(path):
            if name.startswith("-") or name == "help":
                continue
            if not re.search(rf"\b{re.escape(name)}\b", listed):
                bad.append(f"{path}: brim {name}: 'brim help' does not list it")
                continue
            said = brim(name, "--help")
            for option in (w.split("=")[0] for w in rest if re.match(r"--?[a-zA-Z]", w)):
                if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", said):
                    bad.append(f"{path}: brim {name} {option}: --help does not list it")
    assert not bad, "\n" + "\n".join(bad)


def test_nothing_is_left_over():
    bad = []
    for path in tree.files():
        try:
            text = tree.read(path)
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if LEFTOVER.search(line):
                bad.append(f"{path}:{number}: unfinished: {line.strip()[:80]}")
            if MACHINE.search(line) and not path.startswith("tests/fixtures/"):
                bad.append(f"{path}:{number}: a path of one machine: {line.strip()[:80]}")
    assert not bad, "\n" + "\n".join(bad)


def test_files_that_are_named_are_there():
    """`x.c` and `room/x.c` in a document: some file of the tree has that name."""
    there = ["/" + path for path in tree.files()]
    bad = []
    for path in DOCUMENTS:
        for name in re.findall(r"`((?:[\w-]+/)*\w[\w-]*\.(?:c|h))`", tree.read(path)):
            # NAME and X stand for any.
            if re.search(r"NAME|\bX_", name):
                continue
            if not any(file.endswith("/" + name) for file in there):
                bad.append(f"{path}: there is no {name}")
    assert not bad, "\n" + "\n".join(bad)


NAMED = re.compile(r"(?<![\w<./-])(?:\w+/)?\w\w+\.[ch]\b(?!/)")
# Named in comments as the sources of facts: they are other projects'.
ELSEWHERE = {"bnxt_re/hw_counters.c", "lprocfs_status.c", "smu_v13_0_6_pmfw.h"}


def test_files_that_comments_name_are_there():
    """`x.c` or `room/x.h` in a comment of the program, where it is not a path of another one."""
    there = ["/" + path for path in tree.files()]
    bad = []
    for path in tree.files():
        if not re.match(r"(src|include|plugins)/.*\.[ch]$", path):
            continue
        for comment in re.findall(r"/\*.*?\*/|//[^\n]*", tree.read(path), re.S):
            for name in NAMED.findall(comment):
                named = not re.search(r"NAME|\bX\b", name) and name not in ELSEWHERE
                if named and not any(file.endswith("/" + name) for file in there):
                    bad.append(f"{path}: there is no {name}")
    assert not bad, "\n" + "\n".join(bad)
