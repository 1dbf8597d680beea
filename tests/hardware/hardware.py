#!/usr/bin/env python3
"""Everything brim does with a GPU, in order of value, each section within its time: see
script/hardware. What a section found is written as it ends."""

import argparse
import datetime
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

import about
import compute
import cost
import dry
import marks
import pack
import page
import probe
import program
import sharing
import tune
import verdicts
from section import ROOT, WRONG, Failed, Found, Here, Skipped

SECTIONS = {
    "program": program,
    "probe": probe,
    "cost": cost,
    "compute": compute,
    "marks": marks,
    "verdicts": verdicts,
    "optimize": tune,
    "sharing": sharing,
}
SECONDS = 570  # in all: a command on a borrowed machine may take ten minutes
LEAST = 0.3  # of a section's limit: with less it is not begun
BEHIND_S = 10  # that a section leaves to each of those behind it


def parsed(words):
    p = argparse.ArgumentParser(prog="script/hardware", description=__doc__)
    p.add_argument("--dry", metavar="FILE", type=pathlib.Path, help="no GPU; write FILE")
    p.add_argument("--pack", nargs="?", const=ROOT / "build" / "hardware", type=pathlib.Path)
    p.add_argument("--page", metavar="FILE", type=pathlib.Path, default=page.PAGE)
    p.add_argument("--keep", metavar="FOLDER", type=pathlib.Path, help="raw output goes there")
    p.add_argument("--only", choices=SECTIONS, action="append", default=[])
    p.add_argument("--seconds", type=float, default=SECONDS)
    a = p.parse_args(words)
    if a.keep:
        a.keep = a.keep.resolve()
    if a.dry:
        if a.dry.resolve() == page.PAGE:
            p.error("a dry run is no run on a GPU: another FILE, not docs/hardware-runs.md")
        a.page = a.dry
    return a


def go(name, here):
    """One section: what it found, however it ended."""
    section, begin = SECTIONS[name], time.monotonic()
    found = Found(section.TITLE)
    behind = len(SECTIONS) - 1 - list(SECTIONS).index(name)
    left = max(here.ends_at - begin - BEHIND_S * behind, 0)
    here.section_ends_at = begin + min(section.LIMIT_S, left)
    if left < LEAST * section.LIMIT_S:
        found.end = "not run: %.0f s were left, it takes up to %d" % (left, section.LIMIT_S)
        return found
    try:
        section.run(here, found)
    except Skipped as e:
        found.end = "skipped: %s" % e
    except Failed as e:
        found.end = "failed: %s" % e
    except Exception as e:  # one section's mistake does not cost the others
        found.end = "failed: %s: %s" % (type(e).__name__, e)
        here.keep("%s.traceback" % name, traceback.format_exc())
        print(traceback.format_exc(), file=sys.stderr)
    found.seconds = time.monotonic() - begin
    return found


def is_bad(found):
    return found.count(WRONG) > 0 or found.end.startswith(("failed", "not run"))


def told(found):
    end = found.end or "%d right, %d wrong" % (found.count("right"), found.count(WRONG))
    lines = ["    %s: %s (%.0f s)" % (found.title, end, found.seconds)]
    for row in found.rows:
        if row.judged == WRONG:
            lines.append("      WRONG  %s: %s, beside %s" % (row.what, row.brim, row.beside))
    return "\n".join(lines)


def main(words):
    a = parsed(words)
    if a.pack:
        return pack.make(a.pack)
    if not a.dry and not shutil.which("nvidia-smi"):
        print("hardware: no nvidia-smi, no GPU: --dry FILE takes fake drivers", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="brim-hardware-") as work:
        here = Here(sys.executable, bool(a.dry), work, a.keep, a.seconds)
        if a.dry:
            dry.prepare(here)
        here.meta.update(device="no GPU was seen", date=datetime.date.today().isoformat())
        about.machine(here)
        sections = []
        for name in [n for n in SECTIONS if not a.only or n in a.only or n == "program"]:
            sections.append(go(name, here))
            print(told(sections[-1]), flush=True)
            page.write(a.page, here.meta, sections)
    print("%s: %s" % (here.meta["device"], page.summary(sections)))
    print("written: %s" % a.page)
    return any(is_bad(found) for found in sections)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
