#!/usr/bin/env python3
"""Deadlines for a trace that has none, for brim sim.

A job has one by chance (--share): the time of its submission, and its length, and half an hour or
a part of its length that is drawn between nothing and --slack times, whichever is longer. Reads and
writes brim's own CSV form.

    script/others.py philly_week | tests/bench/deadlines.py > due.csv
"""

import argparse
import csv
import random
import sys

LEAST_S = 1800


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.5, help="of the jobs (0.5)")
    parser.add_argument("--slack", type=float, default=2, help="of a job's length, at most (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the draws (1)")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    rows = csv.DictReader(sys.stdin)
    out = csv.DictWriter(sys.stdout, [*rows.fieldnames, "deadline_s"], lineterminator="\n")
    out.writeheader()
    for row in rows:
        has, part = chance.random() < args.share, chance.uniform(0, args.slack)
        length = float(row["duration_s"])
        if has:
            due = float(row["submit_s"]) + length + max(LEAST_S, part * length)
            row["deadline_s"] = "%.3f" % due
        out.writerow(row)


if __name__ == "__main__":
    main()
