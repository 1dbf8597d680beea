"""brim optimize on a job as many are: what it finds, and what that gains."""

from section import JOBS, Failed

TITLE = "brim optimize on a job"
LIMIT_S = 230
LIVE_S, RACE_S = 75, 80
LEAST_GAIN = 1.3  # of live settings: the job's loader unpacks images on one CPU


def gain_of(said):
    before, after = said["before"]["steps_per_s"], said["after"]["steps_per_s"]
    return after / before if before and after else None


def tell(found, said, label):
    """Each setting that was tried, or named, with the reason."""
    for each in said["settings"]:
        words = [each["outcome"]]
        if each["gain"] is not None:
            words.append("%.2f times as fast" % (1 + each["gain"]))
        if each["note"]:
            words.append(each["note"])
        found.note("%s: %s=%s" % (label, each["knob"], each["value"]), ", ".join(words))


def tried(said):
    """The knobs that had a trial, whatever came of it."""
    return [s["knob"] for s in said["settings"] if s["outcome"] != "not tried"]


def judge_tried(found, label, said, knobs):
    """Whether what was asked for had its trial."""
    missing = [knob for knob in knobs if knob not in tried(said)]
    told = "not tried: " + ", ".join(missing) if missing else "all tried"
    found.judge("%s: what was asked for" % label, told, ", ".join(knobs), not missing)


def kept(said):
    return [s["knob"] for s in said["settings"] if s["outcome"] == "adopted"]


def live(here, found, words, options, knob, least):
    """Settings that change while the job runs."""
    _, card = here.told("optimize", *options, "--", *words, limit=LIVE_S + 50)
    said = card["optimize"]
    tell(found, said, "live")
    gain = gain_of(said)
    text = "%.2f times as fast" % gain if gain else "no rates"
    found.judge("live: %s is found" % knob, ", ".join(kept(said)) or "nothing kept", knob,
                knob in kept(said))
    if least:
        enough = gain is not None and gain >= least
        found.judge("live: the gain", text, "at least %.1f times" % least, enough)
    else:
        found.note("live: the gain", text)
    return said


def race(here, found):
    """Settings that need a restart: channels last, a compiled model, a larger batch."""
    knobs = here.work / "batch.ini"
    knobs.write_text(
        "[knob.batch]\nwhat = images in a batch\nflag = --batch\nvalues = 64, 128\n"
        "risk = numeric\n",
        encoding="utf-8",
    )
    words = (here.python, JOBS / "images.py", "--seconds", "25", "--workers", "12")
    words += ("--side", "224", "--width", "192")  # steps so long that each tells its loss
    options = ["--allow", "numeric", "--restarts", "12", "--budget", "%ds" % RACE_S]
    options += ["--knobs", str(knobs), "--try", "torch.channels-last=yes"]
    options += ["--try", "torch.compile=yes", "--try", "batch"]
    _, card = here.told("optimize", *options, "--", *words, limit=RACE_S + 60)
    said = card["optimize"]
    tell(found, said, "race")
    judge_tried(found, "race", said, ("torch.channels-last", "torch.compile"))


def run(here, found):
    if here.dry:
        words = (here.tuned_job, "1500", "4000", "1000")
        live(here, found, words, ("--interval", "100ms", "--try", "loader.workers=5"),
             "loader.workers", None)
        return
    words = (here.python, JOBS / "images.py", "--seconds", str(LIVE_S))
    options = ("--allow", "numeric", "--budget", "%ds" % (LIVE_S - 15), "--try", "loader.pin=yes",
               "--try", "precision.autocast=bf16", "--try", "precision.tf32=yes")
    said = live(here, found, words, options, "loader.workers", LEAST_GAIN)
    judge_tried(found, "live", said, ("loader.pin", "precision.autocast", "precision.tf32"))
    try:
        race(here, found)
    except Failed as e:  # what live settings gained stays on the page
        found.judge("race", "failed: %s" % e, "its end", False)
