#!/usr/bin/env python3
"""What walls between virtual clusters cost: SenseTime's "Earth", minute by minute, May 2020.

Of the series of HeliosArtifact (CC-BY-4.0; not in this repository): in each minute, GPUs that are
idle in one virtual cluster are lent to those that wait in others, as far as both go. A job that
starts earlier also ends earlier: that is not counted, for the series has no jobs. Prints name,
value, unit, limit and note with tabs between them.

    BRIM_TRACES=FOLDER tests/bench/borrow.py
"""

import csv
import io
import os
import pathlib
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = pathlib.Path(os.environ.get("BRIM_TRACES", ROOT.parent / "shared/data/traces"))
PACKED = TRACES / "helios_earth_vc_sequences.tar.xz"


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def minutes():
    """By minute: (there, running, waiting, waiting in jobs of less than 8) of each cluster."""
    table = {}
    with tarfile.open(PACKED) as tar:
        for member in tar:
            if not member.name.endswith(".csv"):
                continue
            text = io.TextIOWrapper(tar.extractfile(member), "utf-8")
            for row in csv.DictReader(text):
                table.setdefault(row["time"], []).append(tuple(
                    int(row[key]) for key in ("total_gpu_num", "running_gpu_num",
                                              "pending_gpu_num", "pending_gpu_num_less_8")))
    return list(table.values())


def main():
    if not PACKED.exists():
        print(f"there is no {PACKED}: Earth is left out", file=sys.stderr)
        return
    there = running = waiting = lent = lent_small = left = held_up = enough = 0
    series = minutes()
    for clusters in series:
        idle = sum(total - used for total, used, _, _ in clusters)
        want = sum(pending for _, _, pending, _ in clusters)
        small = sum(pending for _, _, _, pending in clusters)
        there += sum(total for total, _, _, _ in clusters)
        running += sum(used for _, used, _, _ in clusters)
        waiting += want
        lent += min(idle, want)
        lent_small += min(idle, small)
        left += want - min(idle, want)
        held_up += want > 0
        enough += 0 < want <= idle
    n = len(series)
    say("Earth, 16 virtual clusters: GPUs allocated", 100 * running / there, "%", "",
        "%d minutes, %.0f GPUs idle on average, %.1f waited for" % (
            n, (there - running) / n, waiting / n))
    say("  when idle GPUs are lent", 100 * (running + lent) / there, "%", ">= 73",
        "%.1f waited for" % (left / n))
    say("  to jobs of less than 8 GPUs only", 100 * (running + lent_small) / there, "%")
    say("  minutes in which someone waits", 100 * held_up / n, "%")
    say("  of those, all could be lent what they wait for", 100 * enough / max(held_up, 1), "%")


if __name__ == "__main__":
    main()
