"""Every header compiles alone, twice in a row, and beside all others with both compilers."""

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import tree

HEADERS = tree.files(".h", under=("src/", "include/"))
FLAGS = "-std=gnu11 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Werror -Isrc -Iinclude".split()


def included_as(path):
    return path.split("/", 1)[1]


def test_headers_compile_alone():
    """What a header lacks is the same for every compiler."""

    def compile_one(path):
        line = f'#include "{included_as(path)}"\n'
        said = subprocess.run(
            ["gcc", *FLAGS, "-x", "c", "-"],
            input=line * 2,
            cwd=tree.ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        return "" if said.returncode == 0 else f"{path}:\n{said.stdout}"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [text for text in pool.map(compile_one, HEADERS) if text]
    assert not bad, "\n" + "\n".join(bad)


def test_guards():
    bad = []
    for path in HEADERS:
        name = re.sub(r"^brim/", "", included_as(path))
        guard = "BRIM_" + re.sub(r"\W", "_", name).upper()
        if not re.search(rf"^#ifndef {guard}\n#define {guard}\n", tree.read(path), re.M):
            bad.append(f"{path}: lacks the guard {guard}")
    assert not bad, "\n" + "\n".join(bad)


def test_all_headers_can_be_included_together():
    """No tag and no macro stands for two things."""
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        said = subprocess.run(
            [compiler, *FLAGS, "-x", "c", "-"],
            input="".join(f'#include "{included_as(path)}"\n' for path in HEADERS),
            cwd=tree.ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert said.returncode == 0, f"{compiler}:\n{said.stdout}"
