"""The command line itself: help, usage errors, configuration, completion, manual page."""

import contextlib
import os
import re
import socket
import subprocess
import urllib.request

import pytest
from conftest import one_line
from served import wait_until

COMMANDS = ["machine", "agent", "xid", "help", "man", "completion", "version"]


def test_help_lists_every_command(brim):
    text = brim.out("help")
    for name in COMMANDS:
        assert "\n  %s " % name in text
    assert brim.out("--help") == text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(brim, name):
    text = brim.out(name, "--help")
    assert text.startswith("usage: brim %s " % name)
    assert "--help" in text
    assert brim.out("help", name) == text
    assert max(map(len, text.splitlines())) <= 100
    options = text[text.index("\noptions:\n") + 10 :].splitlines()
    assert len({re.match(r" +(-\w, )?--\S+ +", line).end() for line in options}) == 1


def test_nothing_asked_is_wrong_usage(brim):
    done = brim()
    assert done.returncode == 2 and done.stdout == "" and "usage: brim" in done.stderr


def test_unknown_words_are_named_and_the_nearest_is_proposed(brim):
    one_line(brim("machin"), 2, "no command 'machin'", "did you mean 'machine'?")
    one_line(brim("machine", "--matrx"), 2, "'--matrx'", "--matrix")
    one_line(brim("machine", "extra"), 2, "'extra'")
    one_line(brim("help", "nothing"), 2, "no command 'nothing'")
    one_line(brim("machine", "--from"), 2, "--from needs a value")
    one_line(brim("machine", "--timeout", "soon"), 2, "soon")
    one_line(brim("machine", "--fail-on", "error", "--audit"), 2, "critical")


@pytest.mark.parametrize(
    "words",
    [
        ("--matrix", "--audit"),
        ("--record", "x", "--from", "y"),
        ("--json", "--nccl-xml"),
        ("--fail-on", "note"),
        ("--timeout", "0"),
        ("--from", ""),
    ],
)
def test_options_that_exclude_each_other(brim, words, tmp_path):
    one_line(brim("machine", *words, cwd=tmp_path), 2)
    assert list(tmp_path.iterdir()) == []


def test_version(brim):
    assert brim.out("--version") == brim.out("version")
    assert re.match(r"brim 0\.\d+\.\d+( \(commit [0-9a-f]{12,}\))?\n$", brim.out("version"))


def test_configuration_presets_options(brim, tmp_path):
    conf = tmp_path / "brim.conf"
    conf.write_text("[machine]\njson = yes\n")
    assert brim.out("machine", env={"BRIM_CONF": str(conf)}).startswith("{")


def test_configuration_errors_name_file_and_line(brim, tmp_path):
    conf = tmp_path / "brim.conf"
    conf.write_text("# mine\n[machine]\njsn = yes\n")
    done = brim("machine", env={"BRIM_CONF": str(conf)})
    one_line(done, 2, "%s:3:" % conf, "'jsn'", "json")
    conf.write_text("[machine\n")
    one_line(brim("machine", env={"BRIM_CONF": str(conf)}), 2, "%s:1:" % conf)


def test_what_is_no_configuration_is_told_with_one_status(brim, tmp_path):
    """A folder, and what is too large for one: as for a text that is broken."""
    folder, large = tmp_path / "folder", tmp_path / "large"
    folder.mkdir()
    large.write_bytes(b"#" * ((1 << 20) + 1))
    for path, why in [(folder, "Is a directory"), (large, "larger than 1 MiB")]:
        done = brim("version", env={"BRIM_CONF": str(path)})
        one_line(done, 2, "brim version: cannot read %s: " % path, why)


def journal_of(path):
    """JOURNAL_STREAM as systemd sets it where stderr is that file."""
    there = path.stat()
    return "%d:%d" % (there.st_dev, there.st_ino)


def test_lines_for_the_journal_have_their_priority(brim, tmp_path):
    """A file stands in for the socket of the journal; what counts is its device and inode."""
    path, other = tmp_path / "journal", tmp_path / "other"
    other.touch()
    for words, line in [
        (["machin"], "brim: no command 'machin' (did you mean 'machine'?)\n"),
        (["agent", "--rules", "/nowhere"],
         "brim agent: cannot read /nowhere: No such file or directory\n"),
    ]:
        for stream, want in [(path, "<3>" + line), (other, line)]:
            with open(path, "w") as to:
                env = {**os.environ, "JOURNAL_STREAM": journal_of(stream)}
                subprocess.run([brim.program, *words], env=env, stderr=to, timeout=60)
            assert path.read_text() == want


@contextlib.contextmanager
def held_port():
    """A port that nobody else is given: bound here, so that who reuses addresses can listen."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", 0))
        yield s.getsockname()[1]


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20):
            return True
    except OSError:
        return False


@pytest.mark.parametrize("level, begins", [("info", "<6>sampling; dashboard at http://"),
                                           ("warning", "")])
def test_the_log_of_an_agent_has_a_least_level(brim, tmp_path, level, begins):
    path = tmp_path / "log"
    path.touch()
    with held_port() as port:
        words = ["agent", "--listen", f"127.0.0.1:{port}", "--store", "none", "--log", level]
        with open(path, "w") as to:
            env = {**os.environ, "JOURNAL_STREAM": journal_of(path)}
            agent = subprocess.Popen([brim.program, *words], env=env, stderr=to)
        try:
            wait_until(lambda: answers(port), 30)  # it has written that line before, or never will
        finally:
            agent.terminate()
    assert agent.wait(60) == 0
    said = path.read_text()
    assert said.startswith(begins) and ("sampling" in said) == bool(begins)


def test_full_stdout_is_an_error(brim):
    with open("/dev/full", "w") as full:
        done = brim("help", stdout=full)
    assert done.returncode == 1 and "No space left" in done.stderr


def test_bash_completion_proposes_commands_and_options(brim, tmp_path):
    script = tmp_path / "brim.bash"
    script.write_text(brim.out("completion", "bash"))
    probe = """. "$1"
        COMP_WORDS=(brim ma) COMP_CWORD=1; _brim; echo "${COMPREPLY[@]}"
        COMP_WORDS=(brim machine --ma) COMP_CWORD=2; _brim; echo "${COMPREPLY[@]}" """
    done = subprocess.run(
        ["bash", "-c", probe, "bash", str(script)], stdout=subprocess.PIPE, check=True,
        universal_newlines=True
    )
    assert done.stdout == "machine man\n--matrix\n"
    for shell in ("zsh", "fish"):
        assert "machine" in brim.out("completion", shell)
    one_line(brim("completion"), 2, "bash, zsh or fish")


def test_manual_page_has_every_option(brim):
    page = brim.out("man")
    assert page.startswith(".TH BRIM 1")
    for line in brim.out("machine", "--help").splitlines():
        for word in line.split():
            if word.startswith("--") and word != "--help":
                name = re.split(r"\[?=", word.strip(","))[0]
                assert name.replace("-", "\\-") in page, name
