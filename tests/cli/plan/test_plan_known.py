"""brim plan models, brim plan gpus: what is known by name, and what a file's model has."""

import csv
import json
import re
from pathlib import Path

import pytest
from conftest import one_line

DATA = Path(__file__).resolve().parents[3] / "data"
CONFIGS = Path(__file__).resolve().parents[2] / "fixtures" / "configs"


def rows_of(name):
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def test_all_models(brim):
    known = rows_of("models.csv")
    said = json.loads(brim.out("plan", "models", "--json"))
    assert said["schema"] == "brim.plan.models.v1"
    assert [m["name"] for m in said["models"]] == [row["name"] for row in known]
    for model, row in zip(said["models"], known):
        assert model["layers"] == int(row["layers"])
        if row["parameters"]:
            assert model["parameters"] == model["published_parameters"] == int(row["parameters"])
    text = brim.out("plan", "models").splitlines()
    assert len([line for line in text if not line.startswith("  ")]) == len(known) + 1
    assert max(len(line) for line in text) <= 100


def test_named_models(brim):
    text = brim.out("plan", "models", "meta-llama/Llama-3.1-8B", str(CONFIGS / "mixtral-8x7b.json"))
    head, llama, mixtral = text.splitlines()
    assert head.split()[:2] == ["model", "parameters"]
    assert llama.split()[:2] == ["Llama-3.1-8B", "8,030,261,248"]
    assert "46,702,792,704" in mixtral and " 2/8 " in mixtral
    said = json.loads(brim.out("plan", "models", str(CONFIGS / "mixtral-8x7b.json"), "--json"))
    (model,) = said["models"]
    assert model["parameters"] == 46702792704 and model["active_parameters"] == 12879925248
    assert "published_parameters" not in model
    one_line(brim("plan", "models", "Lama-3.1-8B"), 2, "did you mean Llama-3.1-8B?")
    one_line(brim("plan", "models", "none.json"), 1, "none.json")


def test_all_gpus(brim):
    known = rows_of("gpus.csv")
    said = json.loads(brim.out("plan", "gpus", "--json"))
    assert said["schema"] == "brim.plan.gpus.v1"
    assert [g["name"] for g in said["gpus"]] == [row["name"] for row in known]
    for gpu, row in zip(said["gpus"], known):
        assert gpu["memory_b"] == pytest.approx(float(row["memory_gb"]) * 1e9)
        if row["usable_gib"]:
            assert gpu["usable_b"] == pytest.approx(float(row["usable_gib"]) * 2**30, rel=1e-5)
        else:
            assert gpu["usable_b"] is None
        for name, rate in gpu["flops"].items():
            assert (rate is None) == (not row[f"{name}_tflops"])
    text = brim.out("plan", "gpus").splitlines()
    assert len(text) == len(known) + 2
    assert max(len(line) for line in text) <= 100


def test_named_gpus(brim):
    text = brim.out("plan", "gpus", "h100", "V100").splitlines()
    figures = "H100-SXM5-80GB NVIDIA 989 1979 80 84.94 3350 450 8 700 runs"
    assert text[2].split() == figures.split()
    assert re.search(r"^V100-SXM2-32GB +NVIDIA +125 +\? +32 +34.08 ", text[3])
    assert text[4] == "  H100-SXM5-80GB: figures from stas aic basepod oom in data/gpus.csv"
    assert text[5].startswith("  H100-SXM5-80GB: rates from ops_gemm bfloat16 ")
    assert text[6].endswith(": figures from stas llma dgx oom in data/gpus.csv; no bf16")
    assert len(text) == 7, "no rates are known of the V100"
    (gpu,) = json.loads(brim.out("plan", "gpus", "H100", "--json"))["gpus"]
    assert gpu["source"] == "stas aic basepod oom" and gpu["notes"] is None
    assert gpu["node"] == "DGX H100" and gpu["node_gpus"] == 8 and gpu["link_b_s"] == 450e9
    one_line(brim("plan", "gpus", "H10"), 2, "unknown GPU 'H10' (did you mean H100?)")


@pytest.mark.parametrize("name, rates, measured", [
    ("H100", "runs", True), ("B200", "operations", True), ("MI300X", "kernels", False),
    ("Ascend-910B", "kernels", False), ("T4", None, False)])
def test_where_rates_are_from(brim, name, rates, measured):
    (gpu,) = json.loads(brim.out("plan", "gpus", name, "--json"))["gpus"]
    assert gpu["rates"] == rates and gpu["measured"] is measured
    assert (gpu["rates_from"] is None) == (rates is None)
    last = brim.out("plan", "gpus", name).splitlines()[2].split()[-1]
    assert last == (rates or "nominal")


CARDS = {
    "3090": (71e12, 24), "A10": (125e12, 24), "A10G": (70e12, 24), "A40": (149.7e12, 48),
    "A6000": (154.8e12, 48), "T4": (65e12, 16), "V100": (125e12, 32), "V100-PCIe": (112e12, 32),
    "L40S": (362e12, 48), "RTX PRO 6000": (503.8e12, 96), "MI250": (181e12, 64),
    "MI300X": (1307e12, 192), "MI325X": (1307e12, 256), "MI355X": (2500e12, 288),
    "Gaudi 2": (432e12, 96), "Gaudi 3": (1677e12, 128), "TPU v4": (275e12, 32),
    "TPU v5p": (459e12, 95), "TPU v6e": (918e12, 32),
}


@pytest.mark.parametrize("name", CARDS)
def test_cards_that_people_have(brim, name):
    """Of each: what it computes in 16 bits, and its memory; a small model trains on eight."""
    (gpu,) = json.loads(brim.out("plan", "gpus", name, "--json"))["gpus"]
    flops, memory = CARDS[name]
    assert (gpu["flops"]["bf16"] or gpu["flops"]["fp16"]) == pytest.approx(flops)
    assert gpu["memory_b"] == pytest.approx(memory * 1e9)
    cluster = f"--cluster=8x{gpu['name']}"
    said = brim.out("plan", "train", "GPT-2", cluster, "--batch=64", "--seq=512")
    assert said.startswith(f"GPT-2 on 8 {gpu['name']}: ")


def test_every_gpu_has_a_source():
    text = (DATA / "gpus.csv").read_text()
    keys = set(re.findall(r"^#   (\w+) ", text, re.MULTILINE))
    for row in rows_of("gpus.csv"):
        assert row["source"] and set(row["source"].split()) <= keys, row["name"]


@pytest.mark.parametrize("word, name", [("models", "Llama-3.1-8B"), ("gpus", "H100-SXM5-80GB")])
def test_completion(brim, word, name):
    assert name in brim.out("completion", "words", word).splitlines()
