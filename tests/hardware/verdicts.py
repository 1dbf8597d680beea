"""Bottlenecks of a GPU that were injected into small jobs: what brim why names first."""

import importlib.util

from section import JOBS

TITLE = "Verdicts on injected bottlenecks"
LIMIT_S = 160
# What is injected, the job, and the causes that are right. Clocks are settings of the device, which
# stay as they are: thermal and power-cap are tested with the fake driver (tests/unit).
INJECTED = (
    ("nothing", ("healthy.py", "--steps", "800"), ("none",)),
    ("a loader that waits", ("loader.py", "--steps", "120"), ("loader-waits", "few-workers")),
    ("pageable copies", ("pageable.py", "--steps", "200"), ("pageable-copy",)),
    ("small kernels", ("small_kernels.py", "--steps", "800"), ("small-batch",)),
    (".item() in each step", ("item.py", "--steps", "500"), ("small-batch", "loop")),
    ("a checkpoint in each step", ("checkpoint.py", "--steps", "150"), ("checkpoint",)),
)
# All that the jobs do, once, on a CPU: so that none of them fails where a GPU is lent for minutes.
WALK = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
for script in sys.argv[2:]:
    sys.argv = [script, "--device", "cpu", "--steps", "2", "--batch", "2", "--side", "32",
                "--width", "32", "--workers", "0"]
    runpy.run_path(script, run_name="__main__")
"""


def judge(found, injected, causes, told):
    """told: what brim why --json says."""
    first = told["items"][0] if told["items"] else {"cause": "nothing at all", "share": None}
    share = " (%.0f %% of the step)" % (100 * first["share"]) if first["share"] else ""
    right = first["cause"] in causes
    found.judge(injected, first["cause"] + share, " or ".join(causes), right)


def one(here, found, injected, words, causes):
    script = JOBS / words[0]
    here.must(here.brim, "run", "-q", "--name", script.stem, "--interval", "500ms", "--",
              here.python, script, *words[1:], limit=45)
    told = here.json(here.brim, "why", "--json", script.stem)
    here.keep("why-%s.txt" % script.stem, here.run(here.brim, "why", script.stem).out)
    judge(found, injected, causes, told)


def dry(here, found):
    """A job of tests/cli, which waits 30 % of its time by its own clock, and a walk through the
    jobs. What the machine did meanwhile says nothing of it: that is taken out of the run."""
    here.must(here.brim, "run", "-q", "--name", "waits", "--interval", "200ms", "--",
              here.step_job, "150", "900", "2100")
    for path in (here.work / "state" / "runs").glob("*/*.moments"):
        path.unlink()
    told = here.json(here.brim, "why", "--json", "waits")
    judge(found, "waiting for data", here.dry_causes, told)
    if importlib.util.find_spec("torch") is None:
        found.note("the jobs", "not walked through: torch is not installed")
        return
    scripts = [JOBS / words[0] for _, words, _ in INJECTED] + [JOBS / "images.py"]
    here.must(here.python, "-c", WALK, JOBS, *scripts)
    found.note("the jobs", "%d run on a CPU" % len(scripts))


def run(here, found):
    if here.dry:
        dry(here, found)
        return
    for injected, words, causes in INJECTED:
        try:
            one(here, found, injected, words, causes)
        except Exception as e:  # one job's failure does not cost the others' verdicts
            if here.left() <= 0:
                raise
            found.judge(injected, "failed: %s" % e, " or ".join(causes), False)
    found.note("lowered clocks", "not injected", "settings of the device stay as they are")
