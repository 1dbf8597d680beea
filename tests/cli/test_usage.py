"""Wrong usage, of every command and option: exit status 2, and one line that names what is wrong.

Commands and options are read from the program's own help, so that new ones are tested as well."""

import re

import pytest
from conftest import one_line

GARBAGE = "zz~garbage"
# What an option takes by these names cannot be wrong before it is looked for.
FILES = {"FILE", "DIR", "PATH", "RUN"}
# Words that the user makes up, and names of what is kept on this machine.
FREE = {
    ("run", "name"), ("optimize", "name"), ("submit", "name"), ("submit", "team"),
    ("submit", "class"),
    ("run", "profile"), ("optimize", "profile"), ("jobs", "user"), ("cancel", "user"),
    ("agent", "user"), ("up", "user"), ("control", "door"), ("control", "mail"),
}
TRACE = "job_id,submit_s,gpus,duration_s\na,0,8,3600\n"
PLAN = ["Llama-3.1-8B", "--cluster=8xH100-SXM", "--batch=128"]
CHECKPOINT = ["--gpus=1024", "--storage=100GB/s", "--state=2TB"]
OPERANDS = {"bench": ["compute"], "cancel": ["1"], "hold": ["1"], "release": ["1"],
            "priority": ["1", "1"], "run": ["--", "true"], "optimize": ["--", "true"],
            "submit": ["--", "true"], "sim": ["TRACE"]}
# Some options are for one of the things that a command does.
WITH = {
    ("machine", "fail-on"): ["--audit"],
    ("optimize", "price-hour"): ["--goal=cost"],
    ("optimize", "price-kwh"): ["--goal=cost"],
    ("sim", "rounds"): ["--pack"],
    ("sim", "load"): ["--pack"],
    ("sim", "with"): ["--target=p90-wait=1h"],
    ("plan", "stall"): ["--async"],
}


def commands(brim):
    names = re.findall(r"^  (\w+) ", brim.out("help"), re.MULTILINE)
    assert len(names) >= 27
    return names


def options(brim, command):
    """[(letter, name, placeholder)] of a command; one that may stand alone has no placeholder."""
    text = brim.out(command, "--help")
    found = re.findall(r"^  +(?:-(\w), )?--([\w-]+)(?:=(\S+)|\[=\S+)? ", text, re.MULTILINE)
    assert found[-1] == ("h", "help", "")
    return found[:-1]


def plan_words(name, help_text):
    """What 'brim plan' does with an option, and what else that needs."""
    if name in ("node-gbps", "rows"):
        return ["eval", "none.csv"]
    if help_text.startswith("checkpoint:"):
        return ["checkpoint", *[word for word in CHECKPOINT if not word.startswith(f"--{name}=")]]
    return ["train", *[word for word in PLAN if not word.startswith(f"--{name}=")
                       and not (name == "batch-tokens" and word.startswith("--batch="))]]


def line(brim, command, name, trace):
    """A command line to which only the option is missing: in front of the operands, the rest."""
    operands = [trace if word == "TRACE" else word for word in OPERANDS.get(command, [])]
    if command == "plan":
        text = brim.out("plan", "--help")
        operands = plan_words(name, re.search(rf"--{name}=\S+ +(.*)", text).group(1))
    return WITH.get((command, name), []), operands


@pytest.fixture
def sim_trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


def test_a_value_that_is_none(brim, sim_trace, tmp_path):
    tried = set()
    for command in commands(brim):
        for _, name, placeholder in options(brim, command):
            if not placeholder or placeholder in FILES or (command, name) in FREE:
                continue
            before, operands = line(brim, command, name, sim_trace)
            done = brim(command, *before, f"--{name}={GARBAGE}", *operands, cwd=tmp_path)
            one_line(done, 2, f"brim {command}: ", f"--{name}", GARBAGE)
            tried.add((command, name))
    assert len(tried) > 60
    assert not FREE - {(c, n) for c in commands(brim) for _, n, _ in options(brim, c)}
    assert not WITH.keys() - tried


def outside(least, most):
    """Values just below and just above the limits that a help text has; most may be None."""
    units = {"ms": 1, "s": 1000, "m": 60 * 1000, "h": 3600 * 1000, "d": 86400 * 1000}
    number, unit = re.fullmatch(r"(-?\d+)(\w*)", least).groups()
    if not unit:
        return [int(number) - 1, *([int(most) + 1] if most else [])]
    below = f"{int(number) * units[unit] - 1}ms"
    if not most:
        return [below]
    number, unit = re.fullmatch(r"(\d+)(\w+)", most).groups()
    return [below, f"{int(number) * units[unit] + 1}ms"]


def test_a_value_out_of_range(brim, sim_trace):
    tried = 0
    for command in commands(brim):
        text = brim.out(command, "--help")
        limits = re.findall(r"--([\w-]+)=\S+ +.*; (?:at least (\S+)|(\S+) to (\S+))( \S+)?$", text,
                            re.MULTILINE)
        for name, only, least, most, _ in limits:
            for value in outside(only or least, most):
                before, operands = line(brim, command, name, sim_trace)
                done = brim(command, *before, f"--{name}={value}", *operands)
                one_line(done, 2, f"brim {command}: --{name}", f"'{value}'")
                tried += 1
    assert tried >= 30


SCRIPT = "[fake]\ncount = 2\n[gpu *]\nmodel = H100-SXM5-80GB\n[gpu 1]\nmodel = Mystery 9\n"


def test_fake_takes_both_forms_everywhere(brim, tmp_path):
    """A count of a device of the catalogue, and a script of what they do."""
    have = {command for command in commands(brim)
            for _, name, placeholder in options(brim, command)
            if name == "fake" and placeholder == "NxNAME|FILE"}
    assert have == {"up", "top", "machine", "agent", "run", "optimize", "queue"}
    script = tmp_path / "gpus.ini"
    script.write_text(SCRIPT)
    for fake, names in [("2xH100-SXM5-80GB", ["H100-SXM5-80GB"]),
                        (script, ["H100-SXM5-80GB", "Mystery 9"])]:
        for words in [["machine", "--json"], ["agent", "--once"],
                      ["top", "--json", "--interval=200ms"]]:
            said = brim(*words, "--fake", fake, timeout=120).stdout
            for name in names if words[0] != "top" else ["fake0", "fake1"]:
                assert name in said, (words, fake)
    for command in have - {"queue", "up", "agent"}:
        end = ["--", "true"] if command in ("run", "optimize") else []
        one_line(brim(command, "--fake=99xH100-SXM5-80GB", *end), 2, "--fake 99x", "1 and 64")
    for command in ("machine", "queue", "top", "agent"):
        where = ["--listen", "127.0.0.1:0"] if command == "agent" else []  # one may be running here
        one_line(brim(command, "--fake=./none.ini", *where, cwd=tmp_path), 1, "none.ini")


def test_a_value_that_is_missing(brim):
    for command in commands(brim):
        for letter, name, placeholder in options(brim, command):
            if placeholder:
                one_line(brim(command, f"--{name}"), 2, f"--{name} needs a value")
            if placeholder and letter:
                one_line(brim(command, f"-{letter}"), 2, f"--{name} needs a value")
            if not placeholder and name not in ("json", "from-sacct"):
                one_line(brim(command, f"--{name}=x"), 2, f"--{name} takes no value")


def test_an_option_that_is_none(brim):
    for command in commands(brim):
        one_line(brim(command, "--zzzzzz"), 2, f"brim {command}: ", "'--zzzzzz'", "--help")
        one_line(brim(command, "-Z"), 2, f"brim {command}: ", "'-Z'", "--help")
        for _, name, _ in options(brim, command):
            if len(name) < 4 or any(other.startswith(name[:-1]) and other != name
                                    for _, other, _ in options(brim, command)):
                continue
            wrong = name[:-2] + name[-1] + name[-2]  # two letters have changed places
            if wrong != name:
                one_line(brim(command, f"--{wrong}"), 2, f"'--{wrong}'", f"did you mean '--{name}'")


def test_an_argument_too_many(brim):
    for command in commands(brim):
        usage = brim.out(command, "--help").splitlines()[0]
        if "..." not in usage:
            words = ["zz"] * 20
            one_line(brim(command, *OPERANDS.get(command, []), *words), 2, "zz")


@pytest.mark.parametrize("words", [
    ["plan", "train", *PLAN], ["plan", "emit", "megatron", *PLAN], ["plan", "checkpoint", "a"],
    ["runs", "list"], ["runs", "diff", "a", "b"],
    ["profile", "list"], ["profile", "show", "a"], ["profile", "remove", "a"],
])
def test_an_argument_too_many_for_a_subcommand(brim, words):
    one_line(brim(*words, "zz"), 2, "zz")


@pytest.mark.parametrize("command, word, near", [
    ("plan", "trian", "train"), ("plan", "memroy", "memory"), ("runs", "dif", "diff"),
    ("profile", "exprot", "export"), ("completion", "bahs", "bash"),
    ("bench", "computer", "compute"),
    ("help", "machin", "machine"), ("help", "optimise", "optimize"),
])
def test_a_word_that_is_none_proposes_the_nearest(brim, command, word, near):
    one_line(brim(command, word), 2, f"'{word}' (did you mean '{near}'?)")


@pytest.mark.parametrize("words, near", [
    (["plan", "train", "Llama-3.1-8C", *PLAN[1:]], "Llama-3.1-8B"),
    (["plan", "train", PLAN[0], "--cluster=8xH100-SXN", "--batch=8"], "H100-SXM"),
    (["plan", "train", *PLAN, "--pin=recompote=full"], "recompute"),
    (["plan", "train", *PLAN, "--emit=megatorn"], "megatron"),
    (["plan", "emit", "torchtitn", *PLAN], "torchtitan"),
    (["plan", "checkpoint", *CHECKPOINT, "--failures=RSC-3"], "RSC-1"),
    (["sim", "TRACE", "--policy=esay"], "easy"),
    (["sim", "TRACE", "--compare=fifo,esay"], "easy"),
    (["sim", "TRACE", "--activity=pilly"], "philly"),
    (["sim", "TRACE", "--failures=RCS-1"], "RSC-1"),
    (["sim", "TRACE", "--gpu=H10"], "H100"),
    (["cost", "--gpu=H10"], "H100"),
    (["queue", "--policy=prioriyt"], "priority"),
    (["queue", "--fake=8xH100-SXM5-80G"], "H100-SXM5-80GB"),
    (["machine", "--fake=8xH100-SXM5-80G"], "H100-SXM5-80GB"),
    (["optimize", "--try=loader.wrokers", "--", "true"], "loader.workers"),
])
def test_a_name_that_is_none_proposes_the_nearest(brim, sim_trace, tmp_path, words, near):
    state = {"STATE_DIRECTORY": str(tmp_path)}
    words = [sim_trace if word == "TRACE" else word for word in words]
    one_line(brim(*words, env=state), 2, "(did you mean ", near)


@pytest.mark.parametrize("words", [
    ["plan"], ["plan", "train"], ["plan", "memory"], ["plan", "checkpoint"], ["plan", "emit"],
    ["plan", "eval"], ["sim"], ["run"], ["optimize"], ["submit"], ["cancel"], ["hold"],
    ["release"], ["priority"], ["priority", "5"], ["bench"], ["completion"], ["runs", "diff", "a"],
    ["runs", "rm"], ["profile", "show"], ["profile", "export", "a"],
])
def test_an_argument_too_few(brim, words):
    one_line(brim(*words), 2, f"brim {words[0]}: ")
