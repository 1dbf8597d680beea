"""docs/hardware-runs.md: one part for each kind of GPU, the run that was made last."""

import pathlib
import re

from section import NOTED, ROOT, WRONG

PAGE = ROOT / "docs" / "hardware-runs.md"
HEAD = (pathlib.Path(__file__).resolve().parent / "head.md").read_text(encoding="utf-8")
NONE = "No run on a GPU has been recorded yet.\n"


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def row(*cells):
    return "| %s |" % " | ".join(cell(c) for c in cells)


def shown(found):
    """The lines of a section. What was not judged has an empty last column."""
    end = found.end or "%.0f s" % found.seconds
    lines = ["### %s" % found.title, "", end[0].upper() + end[1:] + ".", ""]
    if not found.rows:
        return lines
    lines += [row("what", "brim", "beside", ""), "|---|---|---|---|"]
    for each in found.rows:
        judged = "**%s**" % WRONG if each.judged == WRONG else each.judged
        lines.append(row(each.what, each.brim, each.beside, judged))
    return lines + [""]


def summary(sections):
    rows = [each for found in sections for each in found.rows]
    wrong = sum(each.judged == WRONG for each in rows)
    noted = sum(each.judged == NOTED for each in rows)
    broken = [found.title for found in sections if found.end.startswith("failed")]
    words = "%d right, %d wrong, %d noted" % (len(rows) - wrong - noted, wrong, noted)
    return words + ("; failed: %s" % ", ".join(broken) if broken else "")


def part(meta, sections):
    """What is told of one run."""
    lines = ["## %s" % cell(meta["device"]), "", row("", ""), "|---|---|"]
    lines += [row(name, text) for name, text in meta.items()]
    lines += [row("found", summary(sections)), ""]
    for found in sections:
        lines += shown(found)
    return "\n".join(lines).rstrip("\n") + "\n"


def parts_of(text):
    """{heading: part} of a page."""
    found = {}
    for each in re.split(r"^(?=## )", text, flags=re.M)[1:]:
        found[each.splitlines()[0]] = each.rstrip("\n") + "\n"
    return found


def whole(text, new):
    """A page with that part in place of the one with its heading."""
    parts = parts_of(text)
    parts[new.splitlines()[0]] = new
    return HEAD + "\n" + "\n".join(parts.values())


def write(path, meta, sections):
    """In one go, so that whoever is cut off leaves a page that is whole."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    half = path.with_name(path.name + ".new")
    half.write_text(whole(before, part(meta, sections)), encoding="utf-8")
    half.replace(path)
