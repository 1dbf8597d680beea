"""Scripts tell what they do when they are asked, and do nothing then."""

import os
import subprocess

import tree

SCRIPTS = [p for p in tree.files("", under=("script/",)) if 'lib.sh"\n' in tree.read(p)]


def call(path, *words):
    return subprocess.run(
        [os.path.join(tree.ROOT, path), *words],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_help():
    assert len(SCRIPTS) > 5
    for path in SCRIPTS:
        head = tree.read(path).splitlines()[1:]
        about = [line[2:] for line in head[: next(i for i, l in enumerate(head) if l[:1] != "#")]]
        said = call(path, "--help")
        assert (said.returncode, said.stdout.splitlines()) == (0, about), path


def test_a_benchmark_that_is_not_there():
    said = call("script/bench", "nothing")
    assert (said.returncode, said.stdout) == (1, "bench: no benchmark 'nothing' in tests/bench\n")
