"""brim plan memory: what a layout takes of each GPU."""

import json

import pytest
from conftest import one_line


def models(brim, *args):
    said = json.loads(brim.out("plan", "memory", "--json", *args))
    assert said["schema"] == "brim.plan.memory.v1"
    return said["models"]


def test_one_gpu_and_what_would_fit(brim):
    said = brim.out("plan", "memory", "Llama-3.1-8B")
    assert said.startswith("Llama-3.1-8B does not fit on H100-SXM5-80GB: ")
    assert "\n  1 GPU, tp=1,pp=1,dp=1," in said and "\n  it fits, with " in said
    (one,) = models(brim, "Llama-3.1-8B")
    fit = one["fits_with"]
    assert not one["fits"] and one["gpus"] == 1 and fit["total_b"] <= one["capacity_b"]
    # One GPU fewer in its degree, and it would not have been proposed.
    (with_it,) = models(brim, "Llama-3.1-8B", "--pin", fit["layout"])
    assert with_it["fits"] and with_it["total_b"] == fit["total_b"]


def test_parts_of_the_states(brim):
    (one,) = models(brim, "Llama-3.1-8B")
    (stage,) = one["stages"]
    n = one["parameters"]
    assert stage["weights_b"] == 2 * n and stage["gradients_b"] == 4 * n
    assert stage["states_b"] == 12 * n
    parts = [v for k, v in stage.items() if k.endswith("_b") and k != "total_b"]
    assert sum(parts) == pytest.approx(stage["total_b"], rel=1e-9)


def test_stages(brim):
    (one,) = models(
        brim, "Llama-3.1-70B", "-c", "32x8xH100", "--pin", "tp=8,pp=4,recompute=full"
    )
    assert [s["stage"] for s in one["stages"]] == [0, 1, 2, 3]
    assert one["total_b"] == max(s["total_b"] for s in one["stages"])
    assert one["gpus"] == 256 and "dp=8" in one["layout"]
    said = brim.out("plan", "memory", "Llama-3.1-405B", "--pin", "tp=8,pp=18,recompute=full")
    head = next(line for line in said.splitlines() if line.startswith("GB of stage"))
    assert head.split()[3:] == ["0", "1", "17"]  # those that differ


def test_side_by_side(brim):
    said = brim.out("plan", "memory", "Llama-3.1-8B", "Qwen3-8B", "--pin", "tp=8")
    row = next(line for line in said.splitlines() if line.startswith("total"))
    assert len(row.split()) == 3
    names = [m["model"] for m in models(brim, "Llama-3.1-8B", "Qwen3-8B", "--pin", "tp=8")]
    assert names == ["Llama-3.1-8B", "Qwen3-8B"]


def test_pins_change_it(brim):
    def total(*args):
        return models(brim, "Llama-3.1-8B", "--pin", "tp=2,dp=4", *args)[0]["total_b"]

    usual = total()
    assert total("--pin", "zero=3") < usual and total("--pin", "zero=0") > usual
    assert total("--pin", "recompute=full") < usual < total("--pin", "micro_batch=2")
    assert total("--seq", "8192") > usual
    assert total("--pin", "gradient_bytes=2") < usual
    assert total("--pin", "moment_bytes=2") < usual


def test_experts_are_shared(brim):
    (one,) = models(brim, "DeepSeek-V3")
    assert ",ep=" in one["fits_with"]["layout"]


def test_bad_input(brim):
    done = brim("plan", "memory")
    assert done.returncode == 2 and "name a model" in done.stderr
    one_line(brim("plan", "memory", "Llama-9"), 2, "unknown model 'Llama-9'")
    one_line(brim("plan", "memory", "Llama-3.1-8B", "--pin", "tp=7"), 1, "do not divide by tp 7")
    one_line(brim("plan", "memory", "Llama-3.1-8B", "--pin", "recompute=most"), 2, "recompute")
    one_line(brim("plan", "memory", *["Llama-3.1-8B"] * 9), 2, "more than the 8 models")
    one_line(brim("plan", "memory", "Llama-3.1-8B", "-c", "8xH10"), 2, "unknown GPU 'H10'")
    big = brim("plan", "memory", "Llama-3.1-8B", "--pin", "tp=1048576,pp=1048576,cp=1048576")
    one_line(big, 1)
