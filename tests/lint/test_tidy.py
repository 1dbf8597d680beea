"""script/tidy.py: what it finds, and that nothing which may have changed counts as known."""

import json
import os
import subprocess
import sys

TIDY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "script", "tidy.py")
GOOD = "int twice(int n);\n"
BAD = GOOD + "static inline int first(int *of)\n{\n    return *of;\n}\n"


def tree(folder):
    (folder / "src").mkdir()
    (folder / "build").mkdir()
    (folder / "src" / "a.h").write_text(GOOD)
    (folder / "src" / "a.c").write_text('#include "a.h"\n'
                                        "int twice(int n)\n{\n    return 2 * n;\n}\n")
    (folder / "src" / "b.c").write_text("int one;\n")
    (folder / ".clang-tidy").write_text("Checks: '-*,readability-non-const-parameter'\n"
                                        "HeaderFilterRegex: '.*'\n")
    commands(folder, "-O1")


def commands(folder, words, compiler="clang"):
    (folder / "build" / "compile_commands.json").write_text(json.dumps([
        {"directory": str(folder / "build"), "file": "../src/" + name,
         "command": "%s %s -MD -MQ %s.o -MF %s.o.d -o %s.o -c ../src/%s" % (
             compiler, words, name, name, name, name)} for name in ("a.c", "b.c")]))


def looked(folder, *options):
    """Its exit status, and what it says."""
    env = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
    p = subprocess.run([sys.executable, TIDY, "build", "src", *options], cwd=folder, env=env,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
    return p.returncode, p.stdout.strip()


def test_what_is_known(tmp_path):
    tree(tmp_path)
    assert looked(tmp_path) == (0, "2 of 2 files were looked at")
    assert looked(tmp_path) == (0, "0 of 2 files were looked at")
    (tmp_path / "src" / "a.h").write_text(GOOD + "/* more */\n")
    assert looked(tmp_path) == (0, "1 of 2 files were looked at"), "what it includes"
    commands(tmp_path, "-O2")
    assert looked(tmp_path) == (0, "2 of 2 files were looked at"), "the command"
    with open(tmp_path / ".clang-tidy", "a", encoding="utf-8") as f:
        f.write("# another\n")
    assert looked(tmp_path) == (0, "2 of 2 files were looked at"), "the checks"


def test_what_is_found(tmp_path):
    tree(tmp_path)
    (tmp_path / "src" / "a.h").write_text(BAD)
    for _ in range(2):  # a finding is not kept
        status, said = looked(tmp_path)
        assert status == 1 and "a.h:2:30: error: " in said, said
    (tmp_path / "src" / "a.h").write_text(GOOD)
    assert looked(tmp_path)[0] == 0


def test_memory_that_nobody_looked_at(tmp_path):
    tree(tmp_path)
    commands(tmp_path, "-O2", "gcc")
    assert looked(tmp_path, "--analyzer") == (0, "2 of 2 files were looked at")
    (tmp_path / "src" / "b.c").write_text(
        "#include <stdlib.h>\n\nint *make(void)\n{\n    int *of = malloc(sizeof(*of));\n\n"
        "    *of = 1;\n    return of;\n}\n")
    for _ in range(2):
        status, said = looked(tmp_path, "--analyzer")
        assert status == 1 and "b.c:7:" in said and "possibly-NULL" in said, said


def test_no_cache(tmp_path):
    tree(tmp_path)
    (tmp_path / "cache").write_text("no folder")
    for _ in range(2):
        assert looked(tmp_path) == (0, "2 of 2 files were looked at")


def test_no_files(tmp_path):
    tree(tmp_path)
    (tmp_path / "src").rename(tmp_path / "other")
    assert looked(tmp_path)[0] == 1


def git(folder, *args):
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x.org", *args], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)


def test_what_has_changed(tmp_path):
    tree(tmp_path)
    (tmp_path / ".gitignore").write_text("build\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    assert looked(tmp_path, "--changed", "HEAD") == (0, "0 of 0 files were looked at")
    (tmp_path / "src" / "a.h").write_text(GOOD + "/* more */\n")
    assert looked(tmp_path, "--changed", "HEAD") == (0, "1 of 1 files were looked at"), "its header"
    git(tmp_path, "commit", "-q", "-a", "-m", "second")
    assert looked(tmp_path, "--changed", "HEAD") == (0, "0 of 0 files were looked at")
    assert looked(tmp_path, "--changed", "HEAD^") == (0, "0 of 1 files were looked at"), "known"
    assert looked(tmp_path, "--changed", "") == (0, "0 of 1 files were looked at"), "no fetch"
    (tmp_path / "src" / "a.h").write_text(BAD)
    assert looked(tmp_path, "--changed", "")[0] == 1


def test_no_more_than_fit(tmp_path):
    tree(tmp_path)
    left = (0, "1 of 2 files were looked at; 1 are left for script/night")
    assert looked(tmp_path, "--most", "1") == left
    assert looked(tmp_path, "--most", "1") == (0, "1 of 2 files were looked at"), "one is known"
