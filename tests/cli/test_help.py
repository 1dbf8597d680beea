"""The help of subcommands, and what completion proposes."""

import re
import shlex
import subprocess

import pytest
from conftest import one_line

SUBCOMMANDS = {
    "plan": ["train", "memory", "checkpoint", "emit", "eval"], "runs": ["list", "diff", "rm"],
    "profile": ["list", "show", "export", "remove"], "bench": ["compute"],
}
PAIRS = [(command, sub) for command, subs in SUBCOMMANDS.items() for sub in subs]


@pytest.fixture
def state(brim, tmp_path):
    """An environment with a run of the name 'mine' and a profile 'net'."""
    env = {"STATE_DIRECTORY": str(tmp_path)}
    assert brim("run", "--name", "mine", "--", "true", env=env).returncode == 0
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "net-0123456789abcdef.ini").write_text("[profile]\nname = net\n")
    return env


@pytest.mark.parametrize("command, sub", PAIRS)
def test_a_subcommand_has_help_of_its_own(brim, command, sub):
    text = brim.out("help", command, sub)
    assert text == brim.out(command, sub, "--help") == brim.out(command, "--help", sub)
    assert text.startswith(f"usage: brim {command} {sub} [OPTIONS]")
    assert len(re.findall(rf"^  brim {command} {sub}", text, re.MULTILINE)) == 2
    assert f"\n  {sub} " in brim.out("help", command)


def test_its_options_are_those_that_it_takes(brim):
    train, memory = brim.out("help", "plan", "train"), brim.out("help", "plan", "memory")
    assert "--pareto" in train and "--cluster" in train and "--mtbf-node" not in train
    assert "--pareto" not in memory and "--cluster" in memory
    assert "of the layout: tp=8" in train, "what stands before a colon is no name of a subcommand"
    assert "--slurm" in brim.out("help", "profile", "export")
    assert "--slurm" not in brim.out("help", "profile", "show")
    assert "--older" not in brim.out("help", "runs", "diff")


@pytest.mark.parametrize("command, sub", [pair for pair in PAIRS if pair[0] != "bench"])
def test_its_examples_are_no_wrong_usage(brim, tmp_path, command, sub):
    text = brim.out("help", command, sub)
    for line in re.findall(r"^  brim (.*)", text, re.MULTILINE):
        done = brim(*shlex.split(line), cwd=tmp_path, env={"STATE_DIRECTORY": str(tmp_path)})
        assert done.returncode in (0, 1), (line, done.stderr)


def test_a_subcommand_that_is_none(brim):
    one_line(brim("help", "plan", "trian"), 2, "'trian' (did you mean 'train'?)")
    one_line(brim("help", "why", "it"), 2, "why has no subcommand 'it': brim help why")
    one_line(brim("completion", "words", "run"), 2, "(did you mean 'runs'?)")
    one_line(brim("completion", "words"), 2, "runs, profiles, policies, models or gpus")


def proposed(brim, tmp_path, env, *words):
    """What bash would propose for the last word."""
    script = tmp_path / "brim.bash"
    script.write_text(brim.out("completion", "bash"))
    probe = """brim() { "$BRIM" "$@"; }; . "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _brim; echo "${COMPREPLY[@]}" """
    done = subprocess.run(
        ["bash", "-c", probe, "bash", str(script), "brim", *words], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, check=True, universal_newlines=True,
        env={**env, "BRIM": brim.program, "BRIM_CONF": "/nonexistent", "PATH": "/usr/bin:/bin"})
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("words, some, others", [
    (["pla"], ["plan"], ["top"]),
    (["plan", ""], ["train", "memory", "--pin"], ["Llama-3.1-8B"]),
    (["plan", "train", "Llama-3.1"], ["Llama-3.1-8B", "Llama-3.1-70B"], []),
    (["plan", "train", "--pa"], ["--pareto"], ["--mtbf-node"]),
    (["plan", "memory", "--pa"], [], ["--pareto"]),
    (["plan", "train", "--precision", "f"], ["fp16", "fp8"], ["bf16"]),
    (["plan", "train", "--precision", "=", "f"], ["fp16", "fp8"], ["bf16"]),
    (["why", ""], ["mine", "last", "--live"], []),
    (["why", "--with", "mi"], ["mine"], []),
    (["runs", "di"], ["diff"], ["rm"]),
    (["runs", "diff", "mi"], ["mine"], []),
    (["report", "mi"], ["mine"], []),
    (["profile", "show", "n"], ["net-0123456789abcdef"], []),
    (["run", "--profile", "n"], ["net-0123456789abcdef"], []),
    (["optimize", "-p", "n"], ["net-0123456789abcdef"], []),
    (["sim", "--policy", "s"], ["sjf", "srtf"], ["fifo"]),
    (["queue", "-p", "fi"], ["fifo"], ["sjf"]),
    (["sim", "--by", ""], ["class", "user", "team"], ["--policy"]),
    (["help", "pl"], ["plan"], ["top"]),
    (["completion", ""], ["bash", "zsh", "fish"], []),
])
def test_what_completion_knows(brim, tmp_path, state, words, some, others):
    said = proposed(brim, tmp_path, state, *words)
    assert set(some) <= set(said) and not set(others) & set(said), said


def test_other_shells_know_the_same(brim):
    fish = brim.out("completion", "fish")
    for text in ("'__fish_seen_subcommand_from plan' -a train -d", "(brim completion words models",
                 "-l profile -s p -r -a '(brim completion words profiles", "-a 'class user team'"):
        assert text in fish, text
    assert "brim completion words" in brim.out("completion", "zsh")


def test_names_that_a_shell_would_act_upon_are_left_out(brim, tmp_path):
    env = {"STATE_DIRECTORY": str(tmp_path)}
    for name in ("$(touch x)", "a;b", "fine"):
        assert brim("run", "--name", name, "--", "true", env=env).returncode == 0
    words = brim.out("completion", "words", "runs", env=env).split("\n")
    assert "fine" in words and not [word for word in words if "touch" in word or ";" in word]
