"""brim why: traces of operations; what it says when there is nothing to judge."""

import json
import os

import pytest
from conftest import one_line

TRACES = os.path.join(os.path.dirname(__file__), "..", "fuzz", "corpus", "trace")
TRACE = os.path.join(TRACES, "two-stages.tsv")


def test_trace(brim):
    text = brim.out("why", "--trace", TRACE)
    assert text.startswith("2 steps of 2 ranks with 2 stages, 120 operations\n")
    assert "VERDICT  no stragglers to speak of" in text and "S         1.000" in text


def test_trace_json(brim):
    told = json.loads(brim.out("why", "--json", "--trace", TRACE))
    assert told["schema"] == "brim.straggler.v1" and told["class"] == "none"
    assert abs(told["slowdown"] - 1) < 0.01
    assert len(told["by_stage"]) == 2 and len(told["by_rank"]) == 2


@pytest.mark.parametrize(
    "words, status, said",
    [
        (("--trace", os.path.join(TRACES, "interleaved.tsv")), 1, "interleaved schedules"),
        (("--trace", os.path.join(TRACES, "circle.tsv")), 1, "in a circle"),
        (("--trace", os.path.join(TRACES, "absent.tsv")), 1, "absent.tsv"),
        (("--trace", ""), 2, "empty name"),
        (("--trace", TRACE, "x"), 2, "neither a run"),
        (("--trace", TRACE, "--with", "x"), 2, "neither a run"),
        (("x", "y"), 2, "y"),
    ],
)
def test_wrong_usage(brim, words, status, said):
    one_line(brim("why", *words), status, said)
