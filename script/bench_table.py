#!/usr/bin/env python3
"""Lines of five fields with tabs between them (name, value, unit, limit, note) as an aligned table
that says which limits are met. Exits with 1 when one is not, or is none, or its value is none."""

import math
import sys

HEAD = ["name", "value", "unit", "limit", "met", "note"]


def number(text):
    """NaN when the text is none: no limit is met by that."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def met(value, limit):
    """'yes', 'NO', '' without a limit, '?' for a limit that is none."""
    if not limit:
        return ""
    how, _, bound = limit.partition(" ")
    if how not in ("<=", ">=") or math.isnan(number(bound)):
        return "?"
    if how == "<=":
        return "yes" if number(value) <= number(bound) else "NO"
    return "yes" if number(value) >= number(bound) else "NO"


def table(lines):
    """The rows, head first."""
    rows = [HEAD]
    for line in filter(str.strip, lines):
        name, value, unit, limit, note = (line.rstrip("\n").split("\t") + [""] * 5)[:5]
        rows.append([name, value, unit, limit, met(value, limit), note])
    return rows


def main(path):
    with open(path, encoding="utf-8") as results:
        rows = table(results)
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    return any(row[4] in ("NO", "?") for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
