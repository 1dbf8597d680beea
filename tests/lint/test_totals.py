"""Rows and sums of the tables of facts in data/, against tests/fixtures/totals.json.

What no test computes with would change unseen by a stroke of a key: a figure of a device that no
recording has, a row that is lost, a threshold that no run is near. Where a change is meant,
script/regenerate rewrites the totals, and the difference shows how much of which column, or of
which key of an .ini file, changed.
"""

import collections
import configparser
import csv
import fractions
import json
import os
import re

import pytest
import tree

TOTALS = os.path.join(tree.ROOT, "tests/fixtures/totals.json")
# Keys of .ini files whose values are for people.
WORDS = ("source", "unit", "why", "say", "action", "what", "risk", "apply", "undo")


def number(cell):
    """The figure in a cell; 0 for what is none."""
    try:
        return fractions.Fraction(cell)
    except (ValueError, ZeroDivisionError):
        return fractions.Fraction(0)


def ini_totals(path):
    """{"rows": how many sections, KEY: the sum of all figures behind it as text}."""
    ini = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=("#",))
    ini.read_string(tree.read(path))
    found = collections.defaultdict(fractions.Fraction)
    for section in ini.sections():
        for key, value in ini[section].items():
            for figure in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", value):
                if key not in WORDS:
                    found[key] += fractions.Fraction(figure)
    rows = {"rows": str(len(ini.sections()))}
    return {**rows, **{key: "%.12g" % total for key, total in found.items() if total}}


def totals(path):
    """{"rows": how many, COLUMN: its sum as text}: of columns that have figures."""
    if path.endswith(".ini"):
        return ini_totals(path)
    lines = [line for line in tree.read(path).splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    found = {"rows": str(len(rows))}
    for column in rows[0]:
        total = sum((number(row[column] or "") for row in rows), fractions.Fraction(0))
        if total:
            found[column] = "%.12g" % total
    return found


def tables():
    return sorted([*tree.files(".csv", under=("data/",)), *tree.files(".ini", under=("data/",))])


def test_totals_can_be_rewritten():
    """With BRIM_REGENERATE they are, for the tests below and for a look at the difference."""
    if os.environ.get("BRIM_REGENERATE"):
        with open(TOTALS, "w", encoding="utf-8") as f:
            json.dump({path: totals(path) for path in tables()}, f, indent=1)
            f.write("\n")
    with open(TOTALS, encoding="utf-8") as f:
        assert sorted(json.load(f)) == tables()


@pytest.mark.parametrize("path", tables())
def test_totals_are_those_that_were_looked_at(path):
    """Each table has the rows and sums of its last change that was meant."""
    with open(TOTALS, encoding="utf-8") as f:
        assert totals(path) == json.load(f)[path], "script/regenerate, if the change is meant"
