"""A profile is tried again where something has changed: what holds carries the new key, what does
not is taken out, and nothing is lost of what was not tried."""

import glob
import os
import re
import shutil
import subprocess
import time

import pytest
from conftest import ROOT, one_line
from test_optimize import BRIM, JOB, TRY, Optimized, last, read_line

TRAIN = str(ROOT / "tests" / "soak" / "jobs" / "train_hash.py")
PYTHON = "/usr/bin/python3"
HAS_TORCH = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))"
ELSEWHERE = 'machine = "8 x H100-SXM5-80GB"'
SLOW = (JOB, 2000, 4000, 1000)


class Known(Optimized):
    """A job that has a profile, found here; text is what it says."""

    def __init__(self, folder, found):
        super().__init__(folder)
        self.found = found

    def begin(self, *command):
        self.job = command
        shutil.copytree(str(self.found(*command)), str(self.folder), dirs_exist_ok=True)
        (path,) = glob.glob(str(self.folder / "profiles" / "*.ini"))
        self.path, self.text = path, open(path).read()
        return self

    def change(self, *pairs, more=""):
        for pattern, to in pairs:
            self.text, n = re.subn(pattern, to, self.text, flags=re.M)
            assert n == 1, (pattern, self.text)
        self.text += more
        self.write(self.text)

    def write(self, text):
        with open(self.path, "w") as f:
            f.write(text)

    def now(self):
        return open(self.path).read()

    def brim(self, *args):
        return subprocess.run(
            [BRIM, *[str(a) for a in args]], env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300,
        )


def said(done, words):
    lines = [line for line in done.stderr.splitlines() if words in line]
    assert len(lines) == 1, (words, done.stderr)
    return lines[0]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """found(*command): the state folder after a first run of that job, which all tests share."""
    made = {}

    def find(*command):
        if command not in made:
            first = Optimized(tmp_path_factory.mktemp("found"))
            done = first.run(*command, options=TRY if JOB in command else ())
            assert done.returncode == 0, done.stderr
            first.json.unlink()
            made[command] = first.folder
        return made[command]

    return find


@pytest.fixture
def known(tmp_path, found):
    if not BRIM or not JOB:
        pytest.skip("BRIM and TUNED_JOB do not name the programs")
    return Known(tmp_path, found)


WORKERS = (r'(?<=^\[loader.workers\]\n)value = "\d+"', 'value = "7"')
LONG_AGO = (r'^date = ".*"$', 'date = "2020-02-20"')
MACHINE = (r'^machine = ".*"$', ELSEWHERE)


def test_another_machine(known):
    known.begin(*SLOW)
    here = re.search(r"^machine = .*$", known.text, re.M).group()
    known.change(WORKERS, MACHINE)
    done = known.run(*SLOW)
    assert done.returncode == 0
    line = said(done, "tried again first")
    assert "was found on another machine (8 x H100-SXM5-80GB; here " in line
    first = done.settings[0]
    assert (first["value"], first["outcome"]) == ("7", "adopted"), done.stderr
    assert first["why"].startswith("the profile has it: ")
    assert last(done)[3] >= 7
    assert here in known.now() and ELSEWHERE not in known.now()
    assert 'value = "%s"' % [k for k in done.settings if k["outcome"] == "adopted"][-1]["value"] \
        in known.now()
    # and brim run takes it from there without a word of another machine
    done = known.brim("run", "-p", known.path, "--", *SLOW[:1], 20, 100, 100)
    assert "another machine" not in done.stderr


def test_nothing_has_changed(known):
    """The profile of the job is found by itself, and its settings are the first."""
    known.begin(*SLOW)
    known.change(WORKERS)
    done = known.run(*SLOW, options=("--name", "other"))
    assert "is of this job on this machine: its setting is tried again first" in done.stderr
    assert done.settings[0]["value"] == "7", done.settings
    assert 'name = "tuned_job"' in known.now(), "its name stays"


def test_what_does_not_hold_goes(known):
    known.begin(*SLOW)
    done = known.run(*SLOW, mode="worse")
    line = said(done, "of the profile does not hold here and is taken out: ")
    assert "loader.workers=" in line and "steps/s" in line
    assert "loader.workers" not in known.now()
    assert done.seen["optimize"]["profile"] is None and "brim run --profile" not in done.stderr
    done = known.brim("run", "-p", known.path, "--", "true")
    assert done.returncode == 0 and "nothing is applied" in done.stderr
    done = known.run(*SLOW, options=TRY)
    assert "tried again first" not in done.stderr, "it has nothing to be tried"
    assert "[loader.workers]" in known.now()


def test_what_does_not_hold_elsewhere_stays_there(known):
    known.begin(*SLOW)
    known.change(MACHINE)
    done = known.run(*SLOW, mode="worse")
    said(done, "of the profile does not hold here: ")
    said(done, "nothing of the profile holds here: it stays as it is")
    assert known.now() == known.text


def on_trial(known):
    """A job whose profile, of another machine, is being tried."""
    known.begin(*SLOW)
    known.change(MACHINE)
    job = known.start(*SLOW)
    read_line(job.stderr, "trying")
    return job


def test_an_early_end_loses_nothing(known):
    job = on_trial(known)
    job.send_signal(2)
    _, err = job.communicate(timeout=120)
    assert job.returncode == 130
    assert "the profile stays as it is: none of its settings was tried to the end" in err
    assert known.now() == known.text


@pytest.mark.once
def test_a_killed_brim_loses_nothing(known):
    job = on_trial(known)
    job.kill()
    job.communicate(timeout=120)
    assert known.now() == known.text


OTHERS = '\n[malloc.arenas]\nvalue = 2\ngain = 0.1\n[batch.accumulation]\nvalue = 8\n'


def test_what_was_not_tried(known):
    """It stays with its proof where nothing has changed; else it is left out, and told."""
    known.begin(*SLOW)
    known.change(more=OTHERS)
    assert known.run(*SLOW).returncode == 0
    assert "[malloc.arenas]" in known.now() and "[batch.accumulation]" in known.now()
    known.write(re.sub(*MACHINE, known.now(), flags=re.M))
    done = known.run(*SLOW)
    line = said(done, "malloc.arenas=2 of the profile was not tried here and is left out: ")
    assert "--restarts 12 would try it" in line
    said(done, "batch.accumulation=8 of the profile was not tried here and is left out: ")
    assert "[malloc.arenas]" not in known.now() and "[loader.workers]" in known.now()


def test_named(known, tmp_path):
    """A path; and a profile of another command, which stays as it is."""
    known.begin(*SLOW)
    known.change(WORKERS, LONG_AGO)
    mine = tmp_path / "mine.ini"
    os.rename(known.path, str(mine))
    options = ("--profile", mine)
    other = (JOB, 2001, 4000, 1000)
    done = known.run(*other, options=options)
    assert "for another command, or its script has changed" in said(done, "tried again first")
    assert done.settings[0]["value"] == "7" and mine.read_text() == known.text
    (new,) = glob.glob(str(known.folder / "profiles" / "*.ini"))
    assert "[loader.workers]" in open(new).read()
    done = known.run(*SLOW, options=options)
    assert done.seen["optimize"]["profile"] == str(mine)
    assert "2020" not in mine.read_text()


@pytest.mark.parametrize("options, status, words", [
    (("--profile", "nosuch"), 1, "no profile is kept yet"),
    (("--profile", "/nowhere/x.ini"), 1, "/nowhere/x.ini: No such file"),
    (("--profile", ""), 2, "--profile needs a value"),
])
def test_one_that_is_not_there(known, options, status, words):
    done = known.run("touch", known.folder / "started", options=options)
    one_line(done, status, words)
    assert not (known.folder / "started").exists()


def damage(known, how):
    if how == "cut":
        known.write(known.text[: known.text.index("value") + 3])
    elif how == "newer":
        known.write(known.text.replace("[profile]", '[profile]\nformat = 9'))
    elif how == "binary":
        known.write("\0" * 5000)
    elif how == "open":
        os.chmod(known.path, 0o666)
    else:
        os.unlink(known.path)
        os.mkfifo(known.path)


@pytest.mark.parametrize("how, words", [
    ("cut", ".ini:8: "), ("newer", "unknown key 'format'"), ("binary", ".ini:1: "),
    ("open", "any user may write to it"), ("pipe", "is no file"),
])
def test_a_bad_one(known, how, words):
    """Named it ends with status 1 before the job starts; found by itself it is told and left."""
    known.begin(*SLOW)
    damage(known, how)
    one_line(known.run(*known.job, options=("-p", known.path)), 1, words)
    one_line(known.brim("run", "-p", known.path, "--", *known.job), 1, words)
    done = known.run(*known.job, options=("--budget", "1s"))
    assert done.returncode == 0 and last(done)[0] == 2000
    line = said(done, "the job is optimized without its profile")
    assert words in line


def test_run_says_what_to_do(known):
    known.begin(*SLOW)
    known.change(MACHINE, (r'^versions = ".*"$', 'versions = "torch 0.1"'))
    done = known.brim("run", "-p", known.path, "--", PYTHON, "-c", "")
    line = said(done, "was found")
    assert "on another machine (8 x H100-SXM5-80GB; here " in line
    assert "nothing of it is applied; 'brim optimize --profile %s -- COMMAND' tries it" \
        % known.path in line


@pytest.mark.timed
@pytest.mark.once
@pytest.mark.skipif(subprocess.run([PYTHON, "-c", HAS_TORCH]).returncode != 0,
                    reason="there is no torch")
def test_a_torch_job(known):
    """The profile of a real loader, from another torch: tried again in less time than found."""
    job = (PYTHON, TRAIN, "--steps", 900)
    untouched = subprocess.run([str(w) for w in job], stdout=subprocess.PIPE, check=True,
                               universal_newlines=True).stdout
    known.begin(*job)
    known.change((r"torch [0-9.]+", "torch 0.4"))
    begin = time.monotonic()
    done = known.run(*job)
    assert time.monotonic() - begin < 60
    assert done.returncode == 0 and done.stdout == untouched, "numbers are as they were"
    assert "with other versions (" in said(done, "tried again first")
    assert done.settings[0]["outcome"] == "adopted", done.stderr
    assert "torch 0.4" not in known.now() and "[loader.workers]" in known.now()
