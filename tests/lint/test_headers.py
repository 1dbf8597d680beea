"""Every header compiles alone, twice in a row, and beside all others with both compilers."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import tree

sys.path.insert(0, os.path.join(tree.ROOT, "script"))
import known  # noqa: E402

HEADERS = tree.files(".h", under=("src/", "include/"))
FLAGS = "-std=gnu11 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Werror -Isrc -Iinclude".split()


def included_as(path):
    return path.split("/", 1)[1]


def compiled(compiler, text, *more):
    """What a compiler says of C; stdout and stderr are one."""
    return subprocess.run(
        [compiler, *FLAGS, *more, "-x", "c", "-"],
        input=text,
        cwd=tree.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


@functools.lru_cache(maxsize=None)
def included(path):
    """The headers of the tree that one includes itself."""
    names = re.findall(r'^\s*#\s*include\s*["<]([^">]+)', tree.read(path), re.M)
    beside = os.path.dirname(path)
    places = [os.path.normpath(os.path.join(folder, name)) for name in names
              for folder in (beside, "src", "include")]
    return [place for place in places if os.path.isfile(os.path.join(tree.ROOT, place))]


def parts(path):
    """A header, and all of the tree that it is made of."""
    found, left = set(), [path]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += included(one)
    return sorted(found)


def outside():
    """What headers are made of beside the tree: the compiler, and headers of the system."""
    made = compiled("gcc", all_of(HEADERS), "-M")
    if made.returncode != 0:
        return None
    paths = [path for path in made.stdout.split() if path.startswith("/")]
    version = subprocess.run(["gcc", "--version"], stdout=subprocess.PIPE, check=True).stdout
    texts = [pathlib.Path(path).read_bytes() for path in paths]
    return known.name(version, *FLAGS, *paths, *texts)


def all_of(headers):
    return "".join(f'#include "{included_as(path)}"\n' for path in headers)


def test_headers_compile_alone():
    """What a header lacks is the same for every compiler. What compiled is known (known.py)."""
    others, good = outside(), known.Known("headers")

    def compile_one(path):
        name = known.name(others or "", path, *parts(path), *map(tree.read, parts(path)))
        if others and name in good:
            return ""
        said = compiled("gcc", all_of([path]) * 2)
        if said.returncode != 0:
            return f"{path}:\n{said.stdout}"
        good.add(name)
        return ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [text for text in pool.map(compile_one, HEADERS) if text]
    assert not bad, "\n" + "\n".join(bad)


def test_what_a_header_is_made_of():
    """Whatever gcc reads of the tree: a change of it has the header compiled again."""
    for path in sorted(HEADERS, key=lambda path: len(parts(path)))[-5:]:
        read = compiled("gcc", all_of([path]), "-MM").stdout.replace("\\\n", " ").split()[1:]
        assert len(read) > 5 and set(read) <= set(parts(path)), path


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
        said = compiled(compiler, all_of(HEADERS))
        assert said.returncode == 0, f"{compiler}:\n{said.stdout}"
