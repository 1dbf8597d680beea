"""data/rules/thresholds.ini: each threshold is used, has a source, and the pages on why name it."""

import configparser
import re

import tree

THRESHOLDS = configparser.ConfigParser(inline_comment_prefixes=None, interpolation=None)
THRESHOLDS.read_string(tree.read("data/rules/thresholds.ini"))
PAGE = tree.read("docs/why.md") + tree.read("docs/why/causes.md")
RULES = "".join(
    tree.read(path)
    for path in tree.files(".c", under=("src/diagnose/verdict/",))
    if not path.endswith("/limits.c")
)


def test_each_is_whole():
    for name in THRESHOLDS.sections():
        row = THRESHOLDS[name]
        assert set(row) == {"value", "unit", "source"}, name
        assert row["unit"] in ("share", "ratio", "count", "s", "B", "B/s", "1/s"), name
        assert float(row["value"]) > 0 and row["source"], name
        assert row["unit"] != "share" or float(row["value"]) <= 1, name


def test_each_is_used():
    unused = [
        n for n in THRESHOLDS.sections() if not re.search(rf"l\.{n.replace('-', '_')}\b", RULES)
    ]
    assert not unused


def test_the_page_names_each():
    named = set(re.findall(r"`([a-z0-9-]+)`", PAGE))
    missing = [n for n in THRESHOLDS.sections() if n not in named]
    assert not missing


def test_the_page_names_each_cause():
    causes = re.findall(r'\[CAUSE_\w+\] = "([a-z-]+)"', tree.read("src/model/verdict/verdict.c"))
    rows = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.M)
    assert len(causes) > 20 and sorted(rows) == sorted(causes)
