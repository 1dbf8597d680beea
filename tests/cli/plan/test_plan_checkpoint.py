"""brim plan checkpoint: how often to save."""

import json
import math

import pytest
from conftest import one_line

RUN = ("plan", "checkpoint", "--storage", "100GB/s")


def asked(brim, *args):
    said = json.loads(brim.out(*RUN, "--json", *args))
    assert said["schema"] == "brim.plan.checkpoint.v1"
    return said


def test_a_model(brim):
    said = brim.out(*RUN, "Llama-3.1-405B", "--gpus", "16384", "--every", "3h")
    assert said.startswith("Llama-3.1-405B on 16384 GPUs: save every ")
    assert "a save of 5.68 TB at 100 GB/s takes 57 s" in said
    assert "every 3.0 h it is " in said and "points less" in said
    assert "assumed: failures as often as in Llama-3-405B (llama3)" in said
    rows = [line.split()[0] for line in said.splitlines() if line.strip()[:1].isdigit()]
    assert rows == ["64", "256", "1024", "4096", "16384", "32768"]


def test_figures(brim):
    said = asked(brim, "--state", "6TB", "--gpus", "1024", "--mtbf-node", "128d")
    one = said["asked"]
    assert said["state_b"] == 6e12 and said["node_mtbf_s"] == 128 * 86400
    assert one["mtbf_s"] == pytest.approx(86400) and one["stall_s"] == 60
    assert one["young_s"] == pytest.approx(math.sqrt(2 * 60 * 86400), rel=1e-5)
    assert one["interval_s"] == pytest.approx(one["daly_s"], rel=1e-3)
    shares = [one[k] for k in ("useful", "saving", "repeated", "restarting")]
    assert sum(shares) == pytest.approx(1, abs=1e-5)


def test_sizes_in_order(brim):
    sizes = asked(brim, "--state", "1TB", "--gpus", "100000")["sizes"]
    assert [s["gpus"] for s in sizes] == [64, 256, 1024, 4096, 16384, 32768, 100000]
    useful = [s["useful"] for s in sizes]
    assert useful == sorted(useful, reverse=True)


def test_asynchronous(brim):
    usual = ("--state", "6TB", "--gpus", "1024")
    blocking, beside = asked(brim, *usual), asked(brim, *usual, "--async")
    assert beside["asked"]["write_s"] == blocking["asked"]["stall_s"] == 60
    assert beside["asked"]["stall_s"] < 1
    assert beside["asked"]["useful"] > blocking["asked"]["useful"]
    assert asked(brim, *usual, "--async", "--stall", "5s")["asked"]["stall_s"] == 5
    slow = asked(brim, "--state", "60TB", "--gpus", "16384", "--async")["asked"]
    assert slow["by_storage"] and slow["interval_s"] == 600


def test_failure_rates(brim):
    usual = ("--state", "1TB", "--gpus", "1024")
    llama = asked(brim, *usual)["asked"]["mtbf_s"]
    assert llama == pytest.approx(16384 * 54 / 419 / 1024 * 86400, rel=1e-5)
    rsc = asked(brim, *usual, "--failures", "rsc-1")["asked"]["mtbf_s"]
    assert rsc == pytest.approx(1000 / 6.5 / 128 * 86400, rel=1e-5)
    own = asked(brim, "--state", "1TB", "-c", "128x8xH100,mtbf=50000")["asked"]
    both = ("-c", "128x8xH100,mtbf=50000", "--failures", "rsc-1")
    assert asked(brim, "--state", "1TB", *both)["asked"]["mtbf_s"] == rsc
    assert own["gpus"] == 1024 and own["mtbf_s"] == pytest.approx(50000 * 3600 / 1024, rel=1e-5)


def test_bad_input(brim):
    state = ("--state", "1TB", "--gpus", "8")
    one_line(brim("plan", "checkpoint", *state), 2, "--storage=100GB/s")
    one_line(brim(*RUN), 2, "--state=2TB")
    one_line(brim(*RUN, "--state", "1TB"), 2, "--gpus=1024")
    one_line(brim(*RUN, "Llama-3.1-8B", *state), 2, "give one of them")
    one_line(brim(*RUN, "--state", "1T", "--gpus", "8"), 2, "such as 2TB, not '1T'")
    one_line(brim(*RUN, "--state", "-1TB", "--gpus", "8"), 2, "not '-1TB'")
    one_line(brim(*RUN, "--state", "1TB", "--gpus", "0"), 2, "--gpus")
    one_line(brim(*RUN, *state, "--mtbf-node", "soon"), 2, "--mtbf-node", "not 'soon'")
    one_line(brim(*RUN, *state, "--mtbf-node", "1d", "--failures", "RSC-1"), 2, "one of them")
    one_line(brim(*RUN, *state, "--failures", "RSC-3"), 2, "did you mean RSC-1?")
    one_line(brim(*RUN, *state, "--stall", "1s"), 2, "add --async")
    one_line(brim(*RUN, *state, "--every", "0s"), 2, "--every")
    one_line(brim(*RUN, "Llama-3.1-8B", "Qwen3-8B", "--gpus", "8"), 2, "one model at a time")
