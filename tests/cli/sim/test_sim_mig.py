"""brim sim: jobs on instances of divided devices."""

import json
import re

import pytest

HEAD = "job_id,submit_s,gpus,duration_s,mig,kinds,gpu_milli\n"
TRACE = HEAD + "".join("%s,0,1,100,%s,,\n" % (name, mig) for name, mig in (
    ("a", "3g"), ("b", "3g"), ("c", "1g"), ("d", "7g")))


def starts(brim, trace, *options, policy="fifo"):
    """When each job starts, and where."""
    found = {}
    for line in brim.out("sim", trace, "--actions", "--policy", policy, *options).splitlines():
        said = re.match(r"([0-9.]+) job (\S+) starts with .* on (\w+):", line)
        if said:
            found[said[2]] = (float(said[1]), said[3])
    return found


def test_what_fits_beside_what(brim, trace):
    # two of three slices have all memory: one of one slice needs another device, as does a whole
    assert starts(brim, trace, "--nodes", "1x2") == {
        "a": (0, "n0"), "b": (0, "n0"), "c": (0, "n0"), "d": (100, "n0")}
    assert starts(brim, trace, "--nodes", "1x1") == {
        "a": (0, "n0"), "b": (0, "n0"), "c": (100, "n0"), "d": (200, "n0")}


def test_what_it_is_called(brim, trace):
    said = brim.out("sim", trace, "--nodes", "1x2", "--actions", "--policy", "fifo")
    assert "job a starts with an instance of 3g on n0" in said
    assert "job d starts with 1 device on n0" in said


def test_kinds(brim, trace):
    trace.write_text(HEAD + "a,0,1,100,1g,,\nb,0,1,100,1g,A100|T4,\nc,0,1,100,,T4,\n")
    assert starts(brim, trace, "--nodes", "1x1:T4,1x1:A100") == {
        "a": (0, "n1"), "b": (0, "n1"), "c": (0, "n0")}


def test_a_device_is_divided_or_shared(brim, trace):
    # a share of 428 thousandths is as large as an instance of 3g, and still another need
    trace.write_text(HEAD + "a,0,1,100,,A100,428\nb,1,1,100,3g,A100,\nc,2,1,100,,A100,428\n")
    assert starts(brim, trace, "--nodes", "1x1:A100", policy="greedy") == {
        "a": (0, "n0"), "c": (2, "n0"), "b": (102, "n0")}


@pytest.mark.parametrize("row, words", [
    ("a,0,1,100,5g,,", "mig is 1g, 2g, 3g, 4g or 7g"),
    ("a,0,1,100,3g.40gb,,", "mig is 1g, 2g, 3g, 4g or 7g"),
    ("a,0,2,100,3g,,", "mig is for jobs with one device"),
    ("a,0,1,100,3g,,500", "mig is for jobs with one device"),
    ("a,0,1,100,3g,T4,", "no node has a device of its kinds that is divided"),
])
def test_rows_that_cannot_be(brim, trace, row, words):
    trace.write_text(HEAD + row + "\nb,0,1,100,1g,,\n")
    done = brim("sim", trace, "--json", "--nodes", "1x1:T4,1x1:H100", "--policy", "fifo")
    said = json.loads(done.stdout)["trace"]
    assert (said["jobs"], said["bad"]) == (1, 1)
    assert done.returncode == 0 and said["notes"][0].startswith("line 2: " + words), said
