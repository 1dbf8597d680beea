"""Texts of strangers: names with what a terminal acts upon come out of no command as they are, and
standard streams that are closed, full or no files."""

import json
import os
import socket

import pytest
from conftest import one_line

# sets a title, a colour, clears the screen: with ESC, with U+009B, and with bytes that are no UTF-8
NAME = b"a\x1b]0;t\x07b\x1b[31mc\xc2\x9b2Jd\x9d0;t\x7fe\xc3\xa4"
SHOWN = "a?]0;t?b?[31mc?2Jd?0;t?eä"
SIM = b"job_id,submit_s,gpus,duration_s,user,team,class,kinds\n" \
      b"%s,0,8,100,%s,%s,%s,\nbig%s,0,99,5,,,,\nx,1,1,5,,,,%s\n" % ((NAME,) * 6)
COST = b"job_id,gpus,duration_s,user,team,project,kinds,state,idle_cause,gpu_busy\n" \
       b"%s,8,3600,%s,%s,%s,%s,%s,%s,0.5\n" % ((NAME,) * 7)
SACCT = b"JobIDRaw|User|Account|Partition|Submit|ElapsedRaw|AllocTRES|State\n" \
        b"1|%s|%s|%s|2024-03-01T10:00:00|60|gres/gpu=8|%s\n" % ((NAME,) * 4)
EVAL = b"model,gpu,gpus,seq,global_batch,tp,pp,dp,step_time_s\n%s,%s,8,2048,8,1,1,8,1\n" % (
    (NAME,) * 2)
CONFIG = b'{"model_type": "%s", "_name_or_path": "%s"}' % (
    (NAME.replace(b"\x1b", b"\\u001b").replace(b"\x07", b"").replace(b"\x9d", b""),) * 2)


def harmless(done):
    bad = [c for c in done.stdout + done.stderr
           if (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0"]
    assert not bad, done.stdout + done.stderr
    return done


@pytest.fixture
def file(tmp_path):
    def write(data, name):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def test_sim(brim, file):
    path = file(SIM, "trace.csv")
    done = harmless(brim("sim", path, "--nodes", "1x8:A100", "--by", "user"))
    assert SHOWN in done.stdout and "big" + SHOWN in done.stdout and done.returncode == 0
    done = harmless(brim("sim", path, "--nodes", "1x8:A100", "--actions"))
    assert "job " + SHOWN + " starts" in done.stdout
    said = harmless(brim("sim", path, "--nodes", "1x8:A100", "--json", "--by", "user")).stdout
    assert "\\u001b" in said and "\\u009b" in said
    assert "\x9b" in json.loads(said)["policies"][0]["users"][0]["name"]
    for options in (["--policy", NAME], ["--policy", NAME + b"/x"], ["--nodes", NAME],
                    ["--failures", NAME], ["--gpu", NAME], ["--what-if", NAME], [NAME],
                    ["--activity", NAME], ["--target", NAME], ["--" + "x", NAME]):
        done = harmless(brim("sim", path, *map(os.fsdecode, options)))
        assert done.returncode in (1, 2) and done.stderr.count("\n") == 1, options


def test_cost(brim, file):
    for path in (file(COST, "jobs.csv"), file(SACCT, "sacct.txt"), file(SIM, "trace.csv")):
        for options in ([], ["--csv"], ["--json"], ["--by", "team"], ["--by", "project"],
                        ["--by", "job"]):
            assert harmless(brim("cost", path, *options)).returncode == 0, (path, options)


def test_plan(brim, file):
    path = file(EVAL, "rows.csv")
    for options in ([], ["--rows"], ["--json"]):
        assert harmless(brim("plan", "eval", path, *options)).returncode == 0
    one_line(harmless(brim("plan", "memory", file(CONFIG, "config.json"))), 1, "model_type")
    for verb in ("train", "memory", "checkpoint"):
        done = harmless(brim("plan", verb, os.fsdecode(NAME)))
        assert done.returncode in (1, 2) and done.stderr.count("\n") == 1


def test_words_of_the_command_line(brim):
    name = os.fsdecode(NAME)
    for words in ([name], ["help", name], ["why", name], ["report", name], ["runs", "show", name],
                  ["cancel", name], ["jobs", name], ["priority", "1", name], ["machine", name],
                  ["plan", name], ["profile", "show", name], ["xid", name], ["bench", name],
                  ["run", "--profile", name, "--", "true"], ["run", "--", name], ["top", name],
                  ["agent", "--listen", name], ["alerts", "--file", name]):
        done = harmless(brim(*words))
        assert done.returncode in (1, 2, 127) and done.stdout == "", words
        assert done.stderr.count("\n") == 1, (words, done.stderr)


def test_standard_input_that_cannot_be_opened(brim, file):
    """As under sshd and some services: a socket has no file that /dev/stdin could lead to."""
    for command, data, word in (("sim", SIM, "standard input (brim): "), ("cost", COST, "8.0")):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(data)
            ours.shutdown(socket.SHUT_WR)
            assert word in brim.out(command, "-", stdin=theirs), command
    one_line(brim("sim", "-"), 1, "standard input is no trace")
    with open(file(b"\x1f\x8b\x08\0", "x.gz"), "rb") as packed:
        one_line(brim("sim", "-", stdin=packed), 1, "input is a broken gzip archive (it ends in "
                 "the middle): get it anew, or read what is left of it: zcat FILE | brim sim -\n")
    one_line(brim("cost", "-"), 1, "standard input is no trace")


def test_the_page_of_standard_input_has_a_name(brim, file, tmp_path):
    page = tmp_path / "page.html"
    with open(file(SIM, "trace.csv"), "rb") as trace:
        brim.out("sim", "-", "--html", page, stdin=trace)
    assert "<title>standard input: brim sim</title>" in page.read_text()


@pytest.mark.parametrize("words", [["help"], ["version"], ["sim", "--policies"], ["man"],
                                   ["plan", "memory", "GPT-3", "--json"], ["machine"]])
def test_output_that_cannot_be_written(brim, words):
    with open("/dev/full", "w") as full:
        done = brim(*words, stdout=full)
    assert done.returncode == 1 and "standard output: No space left" in done.stderr
    done = brim(*words, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1 and "standard output: Bad file descriptor" in done.stderr
    assert brim(*words, preexec_fn=lambda: os.close(2)).returncode == 0
    assert brim(*words, preexec_fn=lambda: os.close(0)).returncode == 0


def test_no_file_gets_the_number_of_a_closed_stream(brim, tmp_path):
    """Or it would hold what is meant for people, and a job could write into it."""
    look = "for f in 0 1 2; do readlink /proc/$$/fd/$f; done"
    env = {"STATE_DIRECTORY": str(tmp_path)}
    for closed in (0, 1, 2):
        out = tmp_path / f"out{closed}"
        words = ["run", "-q", "--", "sh", "-c", f"({look}) >{out}"]
        done = brim(*words, env=env, preexec_fn=lambda fd=closed: os.close(fd))
        assert done.returncode == 0
        assert str(tmp_path) not in out.read_text().replace(str(out), "")
