"""Bad input: one sentence that names the file, the right exit status, nothing else affected."""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest
from conftest import MACHINES, ROOT, one_line

PACK = MACHINES / "workstation" / "machine.pack"


def test_truncated_recording(brim, tmp_path):
    whole = PACK.read_bytes()
    for size in (0, 5, 12, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "machine.pack").write_bytes(whole[:size])
        one_line(brim("machine", "--from", tmp_path), 1, tmp_path / "machine.pack")


def test_damaged_recording(brim, tmp_path):
    text = PACK.read_text()
    (tmp_path / "machine.pack").write_text(text.replace("\nf ", "\nq ", 1))
    one_line(brim("machine", "--from", tmp_path), 1, "damaged", "record it again")


def test_directory_that_is_no_recording(brim, tmp_path):
    (tmp_path / "other").mkdir()
    one_line(brim("machine", "--from", tmp_path), 1, tmp_path, "no recording")


def test_path_that_is_not_there(brim, tmp_path):
    one_line(brim("machine", "--from", tmp_path / "none"), 1, tmp_path / "none", "No such file")
    one_line(brim("machine", "--audit", "--from", PACK, "--against", tmp_path / "none"), 1, "none")


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "topo.xml"),
        ("<html><body/></html>", "no NCCL topology"),
        ("<system version='1'><cpu numaid='0'><pci busid='x'/></cpu></system>", "busid"),
        ("<system version='1'><cpu numaid='0'>", "topo.xml"),
        ("<system version='7'></system>", "version"),
        ("<system version='1'></system>", "no <cpu>"),
        ("GPU0 GPU1\n", "topo.xml"),
    ],
)
def test_xml_that_is_not_nccls(brim, tmp_path, text, words):
    file = tmp_path / "topo.xml"
    file.write_text(text)
    one_line(brim("machine", "--from", file), 1, file, words)


def test_a_refused_file_of_a_recording(brim, tmp_path):
    """A file that was refused when it was recorded is refused in the replay."""
    text = PACK.read_text()
    at = text.index("/config\n")
    start = text.rindex("\n", 0, at) + 1
    kind, size, path = text[start : at + 7].split(" ", 2)
    body = at + 8
    entry = "e 2 %s\n13\n" % path
    text = text[:start] + entry + text[body + int(size) + 1 :]
    (tmp_path / "machine.pack").write_text(text)
    done = brim("machine", "--from", tmp_path)
    assert done.returncode == 1
    assert path in done.stderr and "Permission denied" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "4090" in done.stdout, "the rest is shown all the same"


@pytest.fixture
def public_path():
    """A folder that every user can enter: that of pytest is closed again with each pytest."""
    with tempfile.TemporaryDirectory(prefix="brim-test-") as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def test_a_refused_file_of_a_tree(brim, public_path):
    """The same with real files, as a user without rights."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to take rights away")
    tree = public_path / "tree"
    unpack = ROOT / "tests" / "fixtures" / "machines" / "unpack.py"
    subprocess.run([sys.executable, str(unpack), str(PACK), str(tree)], check=True)
    refused = tree / "proc" / "meminfo"
    refused.chmod(0o000)

    def drop():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    program = public_path / "brim"
    program.write_bytes(open(brim.program, "rb").read())
    program.chmod(0o755)
    brim.program = str(program)
    done = brim("machine", "--from", tree, preexec_fn=drop)
    assert done.returncode == 1
    assert "proc/meminfo" in done.stderr and "Permission denied" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "4090" in done.stdout


def test_links_do_not_lead_out_of_a_tree(brim, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("leaked\n")
    kernel = tmp_path / "tree" / "proc" / "sys" / "kernel"
    kernel.mkdir(parents=True)
    (tmp_path / "tree" / "sys").mkdir()
    (kernel / "hostname").symlink_to(secret)
    (kernel / "osrelease").symlink_to("../../../../secret")
    done = brim("machine", "--from", tmp_path / "tree")
    assert "leaked" not in done.stdout + done.stderr


def test_a_hostile_name_writes_no_control_characters(brim, tmp_path):
    text = PACK.read_text()
    (tmp_path / "machine.pack").write_text(text.replace("\nworkstation\n", "\nwork\x1b[2Jtio\n"))
    for view in ((), ("--matrix",), ("--audit",), ("--json",), ("--nccl-xml",)):
        assert "\x1b" not in brim.out("machine", "--from", tmp_path, *view)
    done = brim("machine", "--from", tmp_path / "no\x1b[2Jne")
    assert "\x1b" not in done.stderr


def test_a_recording_that_cannot_be_written(brim, tmp_path):
    (tmp_path / "file").write_text("")
    one_line(brim("machine", "--record", tmp_path / "file" / "rec"), 1, tmp_path / "file")
    one_line(brim("machine", "--record", tmp_path / "file"), 1, tmp_path / "file")


def test_a_full_disk_leaves_nothing_behind(brim, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    script = 'mount -t tmpfs -o size=8k tmpfs "$1" && "$2" machine --record "$1/rec"'
    script += '; s=$?; ls "$1/rec"; exit $s'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(tmp_path), brim.program],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60
    )
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip("cannot mount here: " + done.stderr.strip())
    assert done.returncode == 1 and done.stdout == ""
    assert "machine.pack" in done.stderr and "No space left" in done.stderr


@pytest.mark.parametrize("once", [(), ("--once",)])
@pytest.mark.parametrize("option", ["--store", "--rules", "--fake", "--token-file"])
def test_an_agent_with_empty_names(brim, option, once):
    one_line(brim("agent", option, "", *once), 2, f"{option} needs a value")
    one_line(brim("up", option, ""), 2, f"{option} needs a value")


@pytest.mark.parametrize("words", [["machine", "--json=%s"], ["machine", "--svg=%s"],
                                   ["xid", "79", "--json=%s"], ["plan", "gpus", "--json=%s"],
                                   ["profile", "export", "all", "--env", "--output=%s"],
                                   ["report", "-o", "%s", "optimized"]])
def test_a_pipe_that_nobody_reads(brim, tmp_path, made_state, words):
    """It is not waited for, in none of the commands that write a file."""
    os.mkfifo(tmp_path / "pipe")
    pipe = str(tmp_path / "pipe")
    one_line(brim(*[word.replace("%s", pipe) for word in words], env=made_state, timeout=60), 1,
             "cannot write %s: nobody reads that pipe" % pipe)


def test_a_pipe_that_somebody_reads(brim, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE)
    fd = os.open(tmp_path / "pipe", os.O_WRONLY)  # there is one
    assert brim.out("machine", "--from", PACK, "--json=%s" % (tmp_path / "pipe")) == ""
    os.close(fd)
    assert reader.communicate()[0].startswith(b"{")
