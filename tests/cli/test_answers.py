"""What brim answers where something is missing, wrong or left out: one clear sentence, and the
status that a script can trust: 0 it went well, 1 it failed, 2 it cannot be meant so."""

import bz2
import lzma
import re

import pytest
from conftest import one_line

TRACE = "job_id,submit_s,gpus,duration_s\na,0,8,3600\n"
PLAN = ["Llama-3.1-8B", "--cluster=8xH100-SXM", "--batch=128"]
LARGE = ["Llama-3.1-405B", "--cluster=1xH100-SXM", "--batch=8"]

# In a folder with the file trace.csv: the words, the status, what the sentence has.
ANSWERS = [
    # words that are none, or too many
    (["help", "tpo"], 2, "no command 'tpo' (did you mean 'top'?)"),
    (["plan", "tran"], 2, "unknown subcommand 'tran' (did you mean 'train'?)"),
    (["version", "extra"], 2, "brim version: takes no argument, not 'extra'\n"),
    (["man", "rnu"], 2, "no command 'rnu' (did you mean 'run'?)"),
    (["completion", "tcsh"], 2, "unknown shell 'tcsh' (there are bash, zsh, fish)"),
    (["machine", "--fake", "8xH100"], 2, "(did you mean 'H100-SXM5-80GB'?)"),
    (["machine", "--fake", "8xH1000"], 2, "(did you mean 'H100-SXM5-80GB'?)"),
    (["top", "--fake", "8xH100"], 2, "(did you mean 'H100-SXM5-80GB'?)"),
    (["run", "--fake", "8xH100", "--", "true"], 2, "(did you mean 'H100-SXM5-80GB'?)"),
    (["agent", "--fake", "8xH100"], 2, "(did you mean 'H100-SXM5-80GB'?)"),
    (["queue", "--fake", "8xH100"], 2, "(did you mean 'H100-SXM5-80GB'?)"),
    (["machine", "--fake", "8xZZZZZZ"], 2, "(data/devices.csv lists them)"),
    (["plan", "models", "nope"], 2, "unknown model 'nope' (brim plan models lists them)\n"),
    (["plan", "gpus", "nope"], 2, "unknown GPU 'nope' (brim plan gpus lists them)\n"),
    # values that cannot be meant
    (["run", "--name", "", "--", "true"], 2, "--name needs a value, such as --name=NAME"),
    (["optimize", "--name", "", "--", "true"], 2, "--name needs a value"),
    (["submit", "--name", "", "--", "true"], 2, "--name needs a value"),
    (["jobs", "--directory", ""], 2, "--directory needs a value, such as --directory=DIR"),
    (["queue", "--directory", ""], 2, "--directory needs a value, such as --directory=DIR"),
    (["why", "--with", ""], 2, "--with needs a value"),
    (["plan", "train", *PLAN, "--pin", ""], 2, "--pin needs a value"),
    (["plan", "train", *PLAN, "--best", "0"], 2, "--best must be from 1 to 64, not '0'"),
    (["plan", "train", "Llama-3.1-8B", "--cluster=99999999999xH100-SXM", "--batch=8"], 2,
     "a whole number from 1 to 2147483647, not '99999999999'"),
    (["sim", "trace.csv", "--compare", ",,"], 2, "policies with commas between, such as easy,srtf"),
    (["sim", "trace.csv", "--compare", "easy,"], 2, "policies with commas between"),
    (["sim", "trace.csv", "--with", "8:A100"], 2, "--with is for --target"),
    (["sim", "trace.csv", "--price", "1e308"], 2, "each up to 1000000, not '1e308'"),
    (["run", "--knobs", "trace.csv", "--", "touch", "started"], 2, "--knobs is for --profile: "),
    (["submit", "--name", "n" * 64, "--", "true"], 2, "--name is longer than 63 bytes"),
    (["submit", "--class", "c" * 48, "--", "true"], 2, "--class is longer than 47 bytes"),
    (["submit", "--", ""], 2, "say which command: brim submit COMMAND ARGUMENT..."),
    (["run", "--profile-anyway", "--", "touch", "started"], 2, "--profile-anyway is for --profile"),
    (["plan", "train", *PLAN, "--price", "1e308"], 2, "from 0 to 1000000, not '1e308'"),
    (["optimize", "--goal", "cost", "--price-hour", "1e308", "--", "touch", "started"], 2,
     "--price-hour must be a number above 0, up to 1000000, not '1e308'"),
    (["sim", "trace.csv", "--price", "1,000"], 2, "--price must be dollars an hour"),
    (["cost", "trace.csv", "--price", "H100=2,5"], 2, "each up to 1000000, not 'H100=2,5'"),
    (["cost", "trace.csv", "--price", "H100=2,h100=3"], 2, "not 'H100=2,h100=3'"),
    (["cost", "trace.csv", "--power", "1,000"], 2, "--power must be watts of a device"),
    (["cost", "--price", "1e308"], 2, "--price must be dollars an hour"),
    (["cost", "--power", "1e308"], 2, "--power must be watts of a device"),
    (["cost", "--json", "--csv"], 2, "--json and --csv: give one of them"),
    # what is not there
    (["why"], 1, "brim why: no run is kept yet: brim run -- COMMAND keeps one\n"),
    (["why", "mytrain"], 1, "no run is kept yet"),
    (["report"], 1, "brim report: no run is kept yet: brim run -- COMMAND keeps one\n"),
    (["runs", "diff", "a", "b"], 1, "no run is kept yet"),
    (["plan", "train", *LARGE], 1, "does not fit 1 H100-SXM5-80GB"),
    (["jobs", "--directory", "missing"], 1, "there is no queue in "),
    (["profile", "show", "mytrain"], 1, "no profile is kept yet: brim optimize -- COMMAND keeps"),
    (["run", "--profile", "mytrain", "--", "true"], 1, "no profile is kept yet: brim optimize"),
    (["agent", "--once", "--nodes", "a,b"], 2, "'brim top --once --nodes' asks others"),
    (["agent", "--store", "/missing/a.db"], 1, "there is no folder /missing: make it, or name"),
    (["agent", "--store", "trace.csv"], 1, "trace.csv is there and is nothing that brim wrote"),
    (["up", "--store", "trace.csv"], 1, "trace.csv is there and is nothing that brim wrote"),
    (["agent", "--store", "/dev/null"], 1, "--store /dev/null is no regular file: name one"),
    (["agent", "--store", "."], 1, "--store . is no regular file: name one"),
    (["up", "--store", "/missing/a.db"], 1, "there is no folder /missing: make it, or name"),
    # what cannot be read is told before a job starts, or waits
    (["run", "--fake", "./none.ini", "--", "touch", "started"], 1, "--fake: cannot read ./none"),
    (["run", "--fake", "./trace.csv", "--", "touch", "started"], 1, "--fake: ./trace.csv:1: "),
    (["optimize", "--fake", ".", "--", "touch", "started"], 1, "--fake: cannot read .: Is a di"),
    (["queue", "--directory", "queue", "--play", "./trace.csv"], 1, "--play: ./trace.csv:1: "),
    (["submit", "--output", "none/x", "--", "true"], 1, "--output: cannot write none/x: No such"),
    (["submit", "--output", ".", "--", "true"], 1, "--output: cannot write .: Is a directory"),
    (["submit", "--error", "trace.csv/x", "--", "true"], 1, "--error: cannot write trace.csv/x"),
    (["plan", "train", *PLAN, "--constants", "trace.csv"], 1, "trace.csv:2: no GPU is named"),
    (["plan", "train", *PLAN, "--constants", "/dev/null"], 1, "no row of a GPU in it"),
    (["plan", "train", PLAN[0], "--cluster=./none", "--batch=8"], 1, "./none: No such file"),
    (["plan", "models", "./none"], 1, "brim plan: cannot read ./none: No such file"),
    # told before anything is measured: that would take minutes
    (["bench", "compute", "--seconds", "1m", "--blas", "trace.csv"], 1,
     ": --blas names a BLAS, such as libopenblas.so.0\n"),
    # files for what is written
    (["run", "--json=/missing/x", "--", "touch", "started"], 1, "cannot write /missing/x: No such"),
    (["optimize", "--json=/missing/x", "--", "touch", "started"], 1, "cannot write /missing/x"),
    (["run", "--json", "/missing/x", "--", "touch", "started"], 2,
     "a file of --json stands behind '=': --json=/missing/x"),
    (["sim", "trace.csv", "--html", "none/x.html"], 1, "--html: cannot write none/x.html: No such"),
    (["sim", "trace.csv", "--html", "trace.csv"], 1, "trace.csv is there and is nothing that brim"),
    (["sim", "trace.csv", "--json=trace.csv"], 1, "trace.csv is there and is nothing that brim"),
    (["report", "--output", "trace.csv"], 1, "trace.csv is there and is nothing that brim wrote"),
    (["machine", "--svg", "trace.csv"], 1, "trace.csv is there and is nothing that brim wrote"),
    (["plan", "train", *PLAN, "--svg", "trace.csv"], 1, "trace.csv is there and is nothing that"),
    (["machine", "--svg", "."], 1, "--svg: cannot write .: Is a directory"),
]


@pytest.fixture
def here(brim, tmp_path):
    """Calls in a folder of their own, with a state of their own."""
    (tmp_path / "trace.csv").write_text(TRACE)

    def call(*words):
        return brim(*words, cwd=tmp_path, env={"STATE_DIRECTORY": str(tmp_path / "state")})

    return call


@pytest.mark.parametrize("words, status, sentence", ANSWERS, ids=[" ".join(a[0]) for a in ANSWERS])
def test_an_answer(here, tmp_path, words, status, sentence):
    one_line(here(*words), status, sentence)
    assert [path.name for path in tmp_path.iterdir()] == ["trace.csv"]
    assert (tmp_path / "trace.csv").read_text() == TRACE


def test_the_version_has_three_names(brim):
    for word in ("--version", "-V", "-v"):
        assert brim.out(word) == brim.out("version")


def test_a_command_has_a_manual_page_of_its_own(brim):
    page = brim.out("man", "why")
    assert page.startswith(".TH BRIM-why 1") and "\\-\\-live" in page and "\\-\\-pareto" not in page


def test_memory_that_does_not_fit_is_status_1(brim):
    done = brim("plan", "memory", *LARGE)
    assert done.returncode == 1 and done.stdout.startswith("Llama-3.1-405B does not fit on")
    done = brim("plan", "memory", *LARGE, "--json")
    assert done.returncode == 1 and '"brim.plan.memory' in done.stdout
    assert "it fits, with" in brim.out("plan", "memory", "Llama-3.1-8B"), "no cluster was named"
    assert brim.out("plan", "memory", "Llama-3.2-1B").startswith("Llama-3.2-1B fits on")
    both = brim("plan", "memory", "Llama-3.2-1B", "Llama-3.1-405B", "--cluster=8xH100-SXM")
    assert both.returncode == 1


@pytest.mark.parametrize("ending, pack, program", [
    ("xz", lzma.compress, "xzcat"), ("bz2", bz2.compress, "bzcat"),
    ("zst", lambda data: b"\x28\xb5\x2f\xfd" + data, "zstdcat"),
])
def test_a_compressed_trace_says_what_unpacks_it(here, tmp_path, ending, pack, program):
    name = f"x.csv.{ending}"
    (tmp_path / name).write_bytes(pack(TRACE.encode()))
    for command in ("sim", "cost"):
        one_line(here(command, name), 1,
                 f"brim {command}: {name} is compressed: {program} {name} | brim {command} -\n")


def test_a_page_may_be_written_again(here, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("")  # as mktemp makes it
    for _ in range(2):
        assert here("sim", "trace.csv", "--html", "page.html").returncode == 0
        assert "brim sim" in page.read_text()
    for _ in range(2):
        assert here("machine", "--json=machine.json").returncode == 0
    one_line(here("machine", "--svg", "machine.json"), 1, "machine.json is there")


def test_a_run_that_is_none_proposes_the_nearest(here):
    assert here("run", "--name", "mytrain", "--", "true").returncode == 0
    one_line(here("why", "mytrian"), 1, "there is no run 'mytrian' (did you mean 'mytrain'?)")
    one_line(here("why", "nothing"), 1, "there is no run 'nothing' ('brim runs' lists them)")


BROKEN = [
    ("id", "", "'' is no id of a run"),
    ("id", '""', "'' is no id of a run"),
    ("id", '"../../etc"', "'../../etc' is no id of a run"),
    ("id", '"a b"', "'a b' is no id of a run"),
    ("id", '".hidden"', "'.hidden' is no id of a run"),
    ("end", "maybe", "'maybe' is no end of a run"),
    ("pid_space", "x", "pid_space is no number"),
    ("start_ticks", "-1", "start_ticks is no number"),
]


@pytest.mark.parametrize("key, value, sentence", BROKEN)
def test_a_run_whose_file_is_broken_is_none(here, tmp_path, key, value, sentence):
    """Not one without a name: the answer names the file."""
    assert here("run", "--name", "whole", "--", "true").returncode == 0
    (file,) = tmp_path.rglob("part-*.ini")
    text, found = re.subn("^%s = .*" % key, "%s = %s" % (key, value), file.read_text(), flags=re.M)
    assert found == 1, text
    file.write_text(text)
    for words in ["why"], ["why", "last"], ["report"]:
        one_line(here(*words), 1, f"{file}: run.ini:")
        one_line(here(*words), 1, sentence)
    listed = here("runs")
    assert listed.returncode == 0 and "whole" not in listed.stdout, listed.stdout
    assert listed.stderr.count("\n") == 1 and str(file) in listed.stderr, listed.stderr


def test_a_job_that_dies_before_its_first_step(here):
    assert here("run", "--name", "fails", "--", "sh", "-c", "exit 3").returncode == 3
    said = here("why", "fails").stdout
    assert "VERDICT  it failed with exit status 3 before its first step" in said
    assert "let it run" not in said and "% sure" not in said
    assert here("run", "--name", "ends", "--", "true").returncode == 0
    assert "VERDICT  it ended without a step that could be seen" in here("why", "ends").stdout


SETTING = "\n[%s]\nvalue = \"%s\"\ngain = 12.5\nlow = 1.9\nhigh = 62\nsteps = %d\n"


@pytest.mark.parametrize("steps, times", [((259, 259), "13.50x"), ((259, 300), "182.25x")])
def test_settings_of_one_trial_win_once(here, tmp_path, steps, times):
    text = "[profile]\nname = \"net\"\n" + SETTING % ("loader.workers", 39, steps[0])
    text += SETTING % ("loader.persistent", "yes", steps[1])
    (tmp_path / "state" / "profiles").mkdir(parents=True)
    (tmp_path / "state" / "profiles" / "net-00ff.ini").write_text(text)
    assert f"together  {times}" in here("profile", "show", "net").stdout
    assert times in here("profile", "list").stdout
