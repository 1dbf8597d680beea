"""What a command does takes the options that are for it, and no others: none is without effect."""

import re

import pytest
from conftest import one_line

COMMANDS = ("bench", "plan", "profile", "runs")


def sections(text):
    return {part.split(":\n")[0]: part for part in text.split("\n\n") if ":\n" in part}


def options(text):
    """Long name: what stands behind it, of a help text."""
    lines = sections(text)["options"].splitlines()[1:]
    found = (re.match(r"  (?:-\w, |    )--([\w-]+)(\S*)  +(.*)", line) for line in lines)
    return {m[1]: (m[2], m[3]) for m in found if m and m[1] != "help"}


def subcommands(text):
    lines = sections(text)["subcommands"].splitlines()[1:]
    return [line.split()[0] for line in lines if line.startswith("  ")]


def word(name, arg, said):
    """An option with a value that it can have."""
    if not arg or arg.startswith("["):
        return f"--{name}"
    choices = re.search(r"\(([\w, ]+)\)$", said)
    if arg in ("=N", "=TIME"):
        return f"--{name}={'1' if arg == '=N' else '1d'}"
    return f"--{name}={choices[1].split(',')[0] if choices else 'x'}"


def cases(brim):
    """(command, subcommand, option as a word, whether it is for it)"""
    for command in COMMANDS:
        every = options(brim.out("help", command))
        for sub in subcommands(brim.out("help", command)):
            own = options(brim.out("help", command, sub))
            assert set(own) <= set(every)
            for name, (arg, said) in every.items():
                yield command, sub, name, word(name, arg, said), name in own


def test_options_of_others_are_wrong_usage(brim):
    seen = 0
    for command, sub, name, given, is_own in cases(brim):
        if is_own:
            continue
        for words in ((command, sub, given), (command, given, sub, "operand")):
            one_line(brim(*words), 2, f"--{name} is no option of {command} {sub}",
                     f"brim help {command} {sub}")
        seen += 1
    assert seen > 100


def test_options_of_plan_go_with_what_they_are_for(brim):
    """Each is taken by one subcommand at least; of those that it names none refuses it."""
    taken = {}
    for command, sub, name, given, is_own in cases(brim):
        if command == "plan" and is_own:
            taken.setdefault(name, set()).add(sub)
            assert "is no option of" not in brim(command, sub, given).stderr, (sub, given)
    assert set(taken) == set(options(brim.out("help", "plan")))
    assert taken["json"] == set(subcommands(brim.out("help", "plan")))


@pytest.mark.parametrize("words, name", [
    (("plan", "memory", "-k", "3", "Llama-3.1-8B"), "best"),
    (("plan", "memory", "-k3", "Llama-3.1-8B"), "best"),
    (("plan", "-jk3", "memory", "Llama-3.1-8B"), "best"),
    (("plan", "gpus", "--batch", "2", "H100"), "batch"),
])
def test_other_forms(brim, words, name):
    one_line(brim(*words), 2, f"--{name} is no option of plan")


def test_a_configuration_is_for_all(brim, tmp_path):
    """What stands in brim.conf is not on the command line: it is for those that know it."""
    (tmp_path / "brim.conf").write_text("[plan]\nbest = 3\n")
    env = {"BRIM_CONF": str(tmp_path / "brim.conf")}
    assert brim("plan", "gpus", "H100", env=env).returncode == 0


def test_older_without_rm(brim):
    one_line(brim("runs", "--older", "30d"), 2, "--older is for rm: brim runs rm --older 30d")
