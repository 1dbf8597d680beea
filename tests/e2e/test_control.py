"""What brim asks of a PyTorch job that runs, and what it sets when the job starts: the job does it,
refuses it or lets it be, and is the same job in all else."""

import json
import os
import re

import pytest

from control_file import ControlFile  # noqa: F401
from test_shim import Job, each, job, pytestmark  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
DONE, REFUSED, FAILED = range(3)
SINKS = {"extension": "brim_mark.abi3.so", "library": "libbrim-step.so", "python": None}

# A loop that asks itself: a request before each of the steps that are given.
LOOP = """
import hashlib, json, os, sys, torch
sys.path.append(%r)
from control_file import ControlFile  # noqa: F401
requests = {int(k): v for k, v in json.loads(sys.argv[1]).items()}
control = ControlFile(os.environ["BRIM_RING"]) if "BRIM_RING" in os.environ else None
torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
data = torch.randn(%d, 2, 8)
for step, x in enumerate(data):
    for request in requests.get(step, []):
        control.ask(*request)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("threads", torch.get_num_threads())
digest = hashlib.sha256()
for value in model.state_dict().values():
    digest.update(value.numpy().tobytes())
print("hash", digest.hexdigest())
"""


def run_loop(job, requests=None, steps=400, **more):
    """What it prints, as a dict, and what it says on the other stream."""
    path = os.path.join(job.folder, "loop.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(LOOP % (HERE, steps))
    status, out, err = job.run(path, json.dumps(requests or {}), **more)
    assert status == 0, err
    return dict(line.split(None, 1) for line in out.splitlines()), err


def reasons(ring):
    return {n.split("=")[0]: n.split("=", 1)[1] for n in ring.notes if n.startswith("switch.")}


@pytest.fixture(params=list(SINKS))
def sink(tmp_path, request):
    """A job with each way of marking."""
    name = SINKS[request.param]
    folders = os.environ.get("BRIM_LIB", "").split(":")
    if name and not any(os.path.exists(os.path.join(f, name)) for f in folders):
        pytest.skip(f"{name} was not built here")
    return Job(tmp_path, BRIM_SINK=request.param)


def test_a_request_is_carried_out(sink):
    without, _ = run_loop(sink, shim=False)
    asked, err = run_loop(sink, {10: [["threads.intra=2"]]})
    ring = sink.ring()
    assert err == "" and asked["threads"] == "2"
    assert len(ring.switches) == 1 and reasons(ring) == {}
    switch = ring.switches[0]
    assert (switch["switch"], switch["outcome"]) == (1, DONE)
    assert 11 <= switch["before_step"] <= 10 + 65
    assert asked["hash"] == without["hash"]  # too small for two threads to share


def test_requests_that_are_refused(sink):
    asked = {
        10: [["threads.intra=0"]],
        100: [["threads.intra"]],
        200: [["no.such=1"]],
        300: [["threads.intra=2"]],
        301: [["threads.intra=3", 20]],
        400: [[""]],
    }
    out, err = run_loop(sink, asked, steps=500)
    ring = sink.ring()
    assert err == "" and out["threads"] in "12"
    told = reasons(ring)
    assert told["switch.1"] == "threads.intra takes 1 to 256, not '0'"
    assert told["switch.2"] == "'threads.intra' is not of the form target=value"
    assert told["switch.3"] == "this shim has no knob no.such"
    assert re.match(r"step 20 was over when this was seen, after step 3\d\d$", told["switch.5"])
    assert all(s["outcome"] == REFUSED for s in ring.switches if s["switch"] != 4)
    assert [s["switch"] for s in ring.switches if s["switch"] != 4] == [1, 2, 3, 5, 6]


def test_a_step_that_is_named(sink):
    run_loop(sink, {10: [["threads.intra=2", 150]], 200: [["threads.intra=1", 399]]})
    assert [(s["switch"], s["before_step"]) for s in sink.ring().switches] == [(1, 151), (2, 400)]


def test_the_last_request_takes_the_place_of_others(job):
    run_loop(job, {10: [["threads.intra=4", 350], ["threads.intra=2", 300]]})
    assert [(s["switch"], s["outcome"]) for s in job.ring().switches] == [(2, DONE)]


def test_a_request_that_was_there_before(job):
    """Asked of a process that has only just begun."""
    out, _ = run_loop(job, {0: [["threads.intra=2"]]})
    assert out["threads"] == "2" and job.ring().switches[0]["before_step"] == 1
