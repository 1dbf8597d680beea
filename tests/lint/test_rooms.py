"""Each large room has a README, and what that names is there."""

import os
import re

import tree

FILES = 15
LINES = range(6, 26)
# Recordings and seeds have a README one floor up.
NO_ROOMS = ("tests/fixtures/", "tests/fuzz/corpus/", "tests/unit/", "docs", "data")


def rooms():
    """{folder: number of its files}"""
    count = {}
    for path in tree.files():
        folder = os.path.dirname(path)
        count[folder] = count.get(folder, 0) + 1
    return count


def test_large_rooms_have_a_readme():
    wanted = ("src/", "tests/", "plugins/")
    bad = [
        f"{folder}/ has {n} files and no README.md"
        for folder, n in rooms().items()
        if n > FILES
        and folder.startswith(wanted)
        and not folder.startswith(NO_ROOMS)
        and not any(
            os.path.exists(os.path.join(tree.ROOT, at, "README.md"))
            for at in (folder, os.path.dirname(folder))
        )
    ]
    assert not bad, "\n" + "\n".join(sorted(bad))


def test_readmes_are_short_and_name_what_is_there():
    bad = []
    for path in tree.files("README.md", under=("src/", "plugins/", "tests/")):
        if path.startswith(NO_ROOMS[:2]):
            continue
        text, folder = tree.read(path), os.path.dirname(path)
        lines = text.count("\n")
        if lines not in LINES:
            bad.append(f"{path}: {lines} lines")
        for name in re.findall(r"`((?:\.\./|[\w-]+/)*[\w.-]+\.(?:c|h|py|js|cjs))`", text):
            homes = (folder, "src")
            if not any(os.path.exists(os.path.join(tree.ROOT, at, name)) for at in homes):
                bad.append(f"{path}: there is no {name}")
    assert not bad, "\n" + "\n".join(bad)


def test_the_journeys_name_what_is_there():
    text = tree.read("docs/ARCHITECTURE.md")
    journeys = text[text.index("## Three journeys") : text.index("## Layout")]
    homes = ("", "src", "src/diagnose/verdict", "plugins/torch")
    missing = [
        name
        for name in re.findall(r"`([\w/.-]+\.(?:c|h|py|js))`", journeys)
        if not any(os.path.exists(os.path.join(tree.ROOT, at, name)) for at in homes)
    ]
    assert not missing
