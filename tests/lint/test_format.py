"""Form: clang-format, columns, blanks, the oldest Python, shellcheck."""

import ast
import os
import re
import shutil
import subprocess
import sys

import pytest
import tree

sys.path.insert(0, os.path.join(tree.ROOT, "script"))
import known  # noqa: E402

COLUMNS = 100
DECIDES = "14"  # bookworm's clang-format; later ones place some comments otherwise


def run(*command):
    said = subprocess.run(
        command, cwd=tree.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    assert said.returncode == 0, "\n" + said.stdout


def scripts():
    return [
        path
        for path in tree.files(under=("script/", ".ci/", "tests/"))
        if path.endswith(".sh") or re.match(r"#!.*\b(ba)?sh\b", tree_head(path))
    ]


def tree_head(path):
    with open(os.path.join(tree.ROOT, path), "rb") as f:
        return f.readline(80).decode("utf-8", "replace")


def test_clang_format():
    if not shutil.which("clang-format"):
        pytest.skip("clang-format is not installed")
    version = subprocess.run(["clang-format", "--version"], stdout=subprocess.PIPE).stdout.decode()
    if f"version {DECIDES}." not in version:
        pytest.skip(f"clang-format {DECIDES} decides; this is {version.strip()}")
    once = known.Known("format")
    names = {
        path: known.name(version, tree.read(".clang-format"), path, tree.read(path))
        for path in tree.files(".c", ".h", under=("src/", "tests/", "include/", "plugins/"))
    }
    new = {path: name for path, name in names.items() if name not in once}
    if new:
        run("clang-format", "--dry-run", "--Werror", *new)
    for name in new.values():
        once.add(name)


def test_columns_and_blanks():
    bad = []
    for path in sorted(set(tree.files(".c", ".h", ".py", ".sh")) | set(scripts())):
        text = tree.read(path)
        if text and not text.endswith("\n"):
            bad.append(f"{path}: no newline at the end")
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS:
                bad.append(f"{path}:{number}: {len(line)} columns (at most {COLUMNS})")
            if line != line.rstrip():
                bad.append(f"{path}:{number}: blanks at the end")
            if "\t" in line and not path.endswith(".py"):
                bad.append(f"{path}:{number}: a tab")
    assert not bad, "\n" + "\n".join(bad)


def test_nan_has_a_type():
    """NAN and INFINITY are floats; clang does not take them for doubles, gcc does."""
    bad = []
    for path in tree.files(".c", ".h", under=("src/", "tests/unit/")):
        text = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', plain, tree.read(path), flags=re.S)
        for m in re.finditer(r"\b(NAN|INFINITY)\b", text):
            if not re.search(r"\((double|float)\)\s*-?$", text[: m.start()]):
                line = text.count("\n", 0, m.start()) + 1
                bad.append(f"{path}:{line}: {m[1]} without a type")
    assert not bad, "\n" + "\n".join(bad)


def plain(m):
    """Lines stay what they were."""
    return "\n" * m[0].count("\n")


def test_python_is_old_enough():
    bad = []
    for path in tree.files(".py"):
        try:
            ast.parse(tree.read(path), path, feature_version=(3, 8))
        except SyntaxError as e:
            bad.append(f"{path}:{e.lineno}: not Python 3.8: {e.msg}")
    assert not bad, "\n" + "\n".join(bad)


def test_shellcheck():
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    run("shellcheck", *scripts())
