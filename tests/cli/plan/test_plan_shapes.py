"""Shapes out of config.json files: exact totals, or a sentence that says why there is none."""

import json

import pytest
import shapes_counted
from conftest import one_line

MODELS = 6
HYBRIDS = (
    "gemma4",
    "deepseek_v32",
    "glm_moe_dsa",
    "qwen3_5",
    "qwen3_5_moe",
    "kimi_linear",
    "jamba",
    "nemotron_h",
)


def write(folder, name, fields):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(fields))
    return str(path)


@pytest.mark.parametrize("family", shapes_counted.FAMILIES)
def test_totals(brim, tmp_path, family):
    made = [shapes_counted.made(family, n) for n in range(MODELS)]
    paths = [write(tmp_path, f"{family}-{n}", fields) for n, (fields, _) in enumerate(made)]
    said = json.loads(brim.out("plan", "models", "--json", *paths))["models"]
    assert [model["parameters"] for model in said] == [total for _, total in made]
    assert all(0 < model["active_parameters"] <= model["parameters"] for model in said)
    assert all((model["not_modelled"] is not None) == (family in HYBRIDS) for model in said)
    assert all(
        model["text_part"] == ("text_config" in fields) for model, (fields, _) in zip(said, made)
    )


@pytest.mark.parametrize("family", shapes_counted.FAMILIES)
def test_what_is_planned(brim, tmp_path, family):
    """Memory of what it can be told of; of other models the parameters, and no advice."""
    fields, total = shapes_counted.made(family, 0)
    path = write(tmp_path, "config", fields)
    ran = brim("plan", "memory", path)
    if family not in HYBRIDS:
        assert ran.returncode == 0, ran.stderr
        return
    one_line(
        ran,
        1,
        "config.json: ",
        "whose memory and time are not modelled; what is known: it has ",
        f"{total} parameters",
    )
    assert "plain" not in ran.stderr and "without model_type" not in ran.stderr
    saved = brim.out("plan", "checkpoint", path, "--gpus", "64", "--storage", "1GB/s", "--json")
    assert json.loads(saved)["state_b"] == 14 * total


def test_what_is_left_out_is_said(brim, tmp_path):
    fields, _ = shapes_counted.made("glm4_moe", 0)
    path = write(tmp_path, "glm", {**fields, "num_nextn_predict_layers": 1})
    assert "without its 1 layer for multi-token prediction" in brim.out("plan", "models", path)
    said = brim.out(
        "plan", "train", path, "--cluster=8xH100-SXM", "--batch=64", "--seq=512", "--explain"
    )
    assert "without its 1 layer for multi-token prediction" in said
    said = brim.out("plan", "models", "DeepSeek-V3", "MiniMax-M2")
    assert "DeepSeek-V3: without its 1 layer for multi-token prediction" in said
    assert "MiniMax-M2: without its 3 layers for multi-token prediction" in said
    fields, _ = shapes_counted.made("llama4", 0)
    path = write(tmp_path, "llama4", fields)
    assert "the part of the model for text" in brim.out("plan", "models", path)


UNKNOWN = [
    ("num_mixers", 2),
    ("use_extra_bias", True),
    ("mamba_d_state", 16),
    ("kv_lora_rank", 512),
    ("engram_layer_ids", [1, 2]),
    ("linear_attn_config", {"num_heads": 4}),
    ("hybrid_layer_ids", [1]),
]


@pytest.mark.parametrize("family", ["gemma3", "glm4_moe", "jamba"])
@pytest.mark.parametrize("name, value", UNKNOWN)
def test_a_field_that_may_count_is_no_secret(brim, tmp_path, family, name, value):
    fields, _ = shapes_counted.made(family, 0)
    if name in fields:
        return
    path = write(tmp_path, "config", {**fields, name: value})
    one_line(
        brim("plan", "models", path),
        1,
        f"{name} is not known of {fields['model_type']}",
        "it may change how many parameters there are, so that none are counted",
    )


@pytest.mark.parametrize("family", ["gemma3", "glm4_moe", "jamba"])
def test_a_field_that_counts_nothing_is_passed_over(brim, tmp_path, family):
    fields, total = shapes_counted.made(family, 0)
    more = {
        "rms_norm_eps": 1e-6,
        "rope_scaling": {"factor": 8},
        "num_mixers": None,
        "use_extra_bias": False,
        "num_logits_to_keep": 1,
        "quantization_config": {"weight_block_size": [128, 128]},
        "torch_dtype": "bfloat16",
        "initializer_range": 0.02,
        "vision_soft_tokens_per_image": 280,
        "norm_topk_prob": True,
    }
    path = write(tmp_path, "config", {**fields, **more})
    assert (
        json.loads(brim.out("plan", "models", path, "--json"))["models"][0]["parameters"] == total
    )


def test_two_names_of_one_size(brim, tmp_path):
    fields, total = shapes_counted.made("jamba", 0)
    same = write(tmp_path, "same", {**fields, "num_layers": fields["num_hidden_layers"]})
    assert (
        json.loads(brim.out("plan", "models", same, "--json"))["models"][0]["parameters"] == total
    )
    other = write(tmp_path, "other", {**fields, "num_layers": fields["num_hidden_layers"] + 1})
    one_line(brim("plan", "models", other), 1, "num_layers is not known of jamba")


def test_a_file_of_transformers_is_no_plain_gpt(brim, tmp_path):
    sizes = {"num_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100}
    path = write(tmp_path, "plain", {**sizes, "architectures": ["JambaForCausalLM"]})
    one_line(brim("plan", "models", path), 1, "the file has architectures but no model_type")
    for name, value in (
        ("n_routed_experts", 8),
        ("hybrid_override_pattern", "M*"),
        ("multi_latent_attention", True),
    ):
        path = write(tmp_path, "plain", {**sizes, name: value})
        one_line(brim("plan", "models", path), 1, f"{name} is not known without a model_type")
