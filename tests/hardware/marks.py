"""Marks of a real loop of PyTorch: the device's seconds in each stage against the job's own events,
and what the marks cost, by pairs of whole runs."""

import importlib.util
import json
import sys

import steps_file
from section import JOBS, ROOT, Skipped

sys.path.insert(0, str(ROOT / "tests" / "bench"))
import paired  # noqa: E402

TITLE = "Marks of a loop"
LIMIT_S = 150
STEPS, PAIRS = 600, 3
WITHIN = 0.15  # of the job's own events, which lie around brim's
SLACK_S = 30e-6  # what it takes to record events, of stages that are as short
MOST = 0.01  # of the run's time
STAGES = ("copy", "forward", "backward", "optimizer")


def size(here, steps):
    if here.dry:
        return ("--device", "cpu", "--steps", "16", "--batch", "2", "--side", "16", "--width", "4",
                "--workers", "0")
    return ("--steps", str(steps))


def answer(text):
    """The JSON that the job prints last."""
    return json.loads(text.strip().splitlines()[-1])


def newest_steps(here):
    """Of the run that was stored last."""
    runs = here.work / "state" / "runs"
    files = sorted(runs.glob("*/part-*.steps"), key=lambda path: path.stat().st_mtime)
    return steps_file.read(files[-1]) if files else []


def compare_stages(found, brim, job):
    """{stage: seconds} of both sides."""
    for stage in STAGES:
        mine, theirs = brim.get(stage), job.get(stage)
        if theirs is None:
            continue
        told = "not told" if mine is None else "%.3f ms" % (1e3 * mine)
        right = mine is not None and abs(mine - theirs) <= WITHIN * theirs + SLACK_S
        found.judge("%s, the device's time" % stage, told, "%.3f ms" % (1e3 * theirs), right)


def look(here, found):
    """One run under brim, in which the job times itself."""
    words = (here.python, JOBS / "loop.py", "--measure", "1", *size(here, STEPS))
    done, card = here.told("run", "--name", "loop", "--", *words)
    job = answer(done.out)
    found.judge("steps", "%.0f" % card["steps"], job["steps"], card["steps"] == job["steps"])
    wanted = ("wait", "forward", "backward", "optimizer") + (() if here.dry else ("copy",))
    missing = [stage for stage in wanted if not card["share"][stage] > 0]
    found.judge("stages", "no " + ", ".join(missing) if missing else ", ".join(wanted),
                ", ".join(wanted), not missing)
    said = [line for line in done.err.splitlines() if "the shim" in line]
    found.judge("the shim", said[0] if said else "says nothing", "nothing to say", not said)
    steps = newest_steps(here)
    if here.dry:
        stored, untold = len(steps), set(wanted) - set(steps_file.medians(steps, "host_s"))
        found.judge("steps that were stored", stored, job["steps"], stored == job["steps"])
        told = "no " + ", ".join(sorted(untold)) if untold else "all"
        found.judge("stages of these", told, "all", not untold)
        odd = [s.number for s in steps if not s.adds_up() or s.samples != job["batch"]]
        told = "odd in steps %s" % odd[:4] if odd else "right in each"
        found.judge("sums of stages, and samples", told, "the step's, the batch's", not odd)
    else:
        compare_stages(found, steps_file.medians(steps), job["median_s"])


def overhead(here, found):
    """Seconds of the same steps with and without brim, by turns."""
    words = (here.python, JOBS / "loop.py", *size(here, STEPS))
    ratios, losses = [], set()
    for pair in range(PAIRS):
        seconds = {}
        for with_brim in ((False, True), (True, False))[pair % 2]:
            before = (here.brim, "run", "-q", "--name", "pair", "--") if with_brim else ()
            job = answer(here.must(*before, *words).out)
            seconds[with_brim] = job["seconds"]
            losses.add(job["loss"])
        ratios.append(seconds[True] / seconds[False] - 1)
    middle = paired.middle(ratios)
    each = ", ".join("%+.2f %%" % (100 * r) for r in ratios)
    found.judge("what brim run costs", "%+.2f %% of the time (%s)" % (100 * middle, each),
                "less than %.0f %%" % (100 * MOST), middle < MOST)
    found.note("the loss at the end, of %d runs" % (2 * PAIRS),
               "one value" if len(losses) == 1 else "%d values" % len(losses))


def run(here, found):
    if importlib.util.find_spec("torch") is None:
        raise Skipped("torch is not installed")
    look(here, found)
    if not here.dry:
        overhead(here, found)
