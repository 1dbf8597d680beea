"""Made-up models of twelve families: a config.json, and the tensors that such a model has.

The tensors are written down here one by one, from how the families are defined (transformers 5.24,
whose own code was run for each of these and built as many parameters), and multiplied out: a count
of its own, which shares nothing with src/plan/shape. A weight that a checkpoint keeps as a buffer
counts, as it does in the totals that the Hugging Face Hub shows: the one that shifts an expert's
score, a layer's scale.
"""

import math
from random import Random

FULL, LINEAR, WINDOW = "full_attention", "linear_attention", "sliding_attention"


def size(tensors):
    return sum(math.prod(shape) for shape in tensors)


def usual(r, **more):
    heads = r.choice([2, 4, 6])
    fields = {
        "num_hidden_layers": r.randint(3, 9),
        "hidden_size": 16 * heads,
        "num_attention_heads": heads,
        "num_key_value_heads": heads // 2,
        "head_dim": r.choice([8, 24]),
        "intermediate_size": r.randint(20, 90),
        "vocab_size": r.randint(90, 200),
        "max_position_embeddings": 4096,
        "tie_word_embeddings": r.random() < 0.5,
    }
    return {**fields, **more}


def ends(c, tied):
    """The embedding, the last norm, and the head."""
    table = (c["vocab_size"], c["hidden_size"])
    return [table, (c["hidden_size"],)] + ([] if tied else [table])


def attention(c, bias=False, out_bias=None, dim=None, keys=None):
    h, d = c["hidden_size"], dim or c["head_dim"]
    q, k = c["num_attention_heads"] * d, (keys or c["num_key_value_heads"]) * d
    tensors = [(q, h), (k, h), (k, h), (h, q)]
    if bias:
        tensors += [(q,), (k,), (k,)]
    if bias if out_bias is None else out_bias:
        tensors += [(h,)]
    return tensors


def latent(c):
    h, n = c["hidden_size"], c["num_attention_heads"]
    rope, nope, v, kv = (
        c[k] for k in ("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "kv_lora_rank")
    )
    tensors = [(kv + rope, h), (kv,), (n * (nope + v), kv), (h, n * v)]
    if c.get("q_lora_rank"):
        return tensors + [
            (c["q_lora_rank"], h),
            (c["q_lora_rank"],),
            (n * (nope + rope), c["q_lora_rank"]),
        ]
    return tensors + [(n * (nope + rope), h)]


def gated(h, ffn):
    return [(ffn, h), (ffn, h), (h, ffn)]


def experts(h, ffn, n, score_bias=True):
    tensors = [(n, h)] + gated(h, ffn) * n
    return tensors + ([(n,)] if score_bias else [])


# ---- families: (config.json, total) ----


def gemma3(r):
    c = usual(
        r,
        model_type="gemma3_text",
        sliding_window=512,
        sliding_window_pattern=r.choice([2, 6]),
        attention_bias=r.random() < 0.5,
    )
    h, d = c["hidden_size"], c["head_dim"]
    layer = (
        attention(c, c["attention_bias"])
        + [(d,), (d,)]
        + [(h,)] * 4
        + gated(h, c["intermediate_size"])
    )
    return c, size(ends(c, c["tie_word_embeddings"]) + layer * c["num_hidden_layers"])


def gemma3_of_parts(r):
    """As its files on the Hub: what the part for text leaves out is as in transformers."""
    text = {
        "model_type": "gemma3_text",
        "num_hidden_layers": r.randint(6, 9),
        "hidden_size": 64,
        "intermediate_size": 100,
        "sliding_window": 1024,
    }
    h = 64
    full = {
        **text,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "vocab_size": 262208,
    }
    layer = attention(full) + [(256,), (256,)] + [(h,)] * 4 + gated(h, 100)
    return (
        {"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 1152}},
        size(ends(full, True) + layer * text["num_hidden_layers"]),
    )


def gemma4(r):
    c = usual(
        r,
        model_type="gemma4_text",
        sliding_window=512,
        global_head_dim=r.choice([16, 32]),
        attention_k_eq_v=r.random() < 0.5,
        use_double_wide_mlp=r.random() < 0.5,
        hidden_size_per_layer_input=r.choice([0, 12]),
        vocab_size_per_layer_input=70,
        enable_moe_block=r.random() < 0.5,
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=26,
    )
    layers = c["num_hidden_layers"]
    c["layer_types"] = [FULL if i % 3 == 2 or i == layers - 1 else WINDOW for i in range(layers)]
    c["num_kv_shared_layers"] = r.randint(1, layers - 3) if layers > 4 and r.random() < 0.5 else 0
    if c["attention_k_eq_v"]:
        c["num_global_key_value_heads"] = 1
    h, per_layer = c["hidden_size"], c["hidden_size_per_layer_input"]
    tensors = ends(c, c["tie_word_embeddings"])
    if per_layer:
        tensors += [(70, layers * per_layer), (layers * per_layer, h), (per_layer,)]
    for i, kind in enumerate(c["layer_types"]):
        d = c["global_head_dim"] if kind == FULL else c["head_dim"]
        keys = 1 if kind == FULL and c["attention_k_eq_v"] else c["num_key_value_heads"]
        q, k = c["num_attention_heads"] * d, keys * d
        borrows = i >= layers - c["num_kv_shared_layers"]
        tensors += [(q, h), (h, q), (d,)]
        if not borrows:
            tensors += [(k, h), (d,)]
            if not (kind == FULL and c["attention_k_eq_v"]):
                tensors += [(k, h)]
        wide = 2 if borrows and c["use_double_wide_mlp"] else 1
        tensors += gated(h, wide * c["intermediate_size"]) + [(h,)] * 4 + [(1,)]
        if per_layer:
            tensors += [(per_layer, h), (h, per_layer), (h,)]
        if c["enable_moe_block"]:
            tensors += experts(h, 26, 4, score_bias=False) + [(h,), (4,)] + [(h,)] * 3
    return c, size(tensors)


def llama4(r):
    text = usual(
        r,
        model_type="llama4_text",
        num_hidden_layers=r.choice([4, 8]),
        intermediate_size_mlp=70,
        num_local_experts=r.choice([2, 4]),
        num_experts_per_tok=1,
        attention_chunk_size=64,
        interleave_moe_layer_step=r.choice([1, 2]),
        use_qk_norm=True,
    )
    tied = text.pop("tie_word_embeddings")
    step, h = text["interleave_moe_layer_step"], text["hidden_size"]
    text["moe_layers"] = list(range(step - 1, text["num_hidden_layers"], step))
    tensors = ends(text, tied)
    for i in range(text["num_hidden_layers"]):
        tensors += attention(text) + [(h,), (h,)]
        if i in text["moe_layers"]:
            tensors += experts(
                h, text["intermediate_size"], text["num_local_experts"], score_bias=False
            )
            tensors += gated(h, text["intermediate_size"])
        else:
            tensors += gated(h, 70)
    return {"model_type": "llama4", "text_config": text, "tie_word_embeddings": tied}, size(
        tensors
    )


def deepseek_sizes(r):
    return {
        "q_lora_rank": 24,
        "kv_lora_rank": 20,
        "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 12,
        "v_head_dim": 10,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": r.randint(10, 30),
        "n_shared_experts": r.randint(1, 2),
        "first_k_dense_replace": r.randint(1, 2),
    }


def deepseek_layer(c, i, mixer):
    h, ffn = c["hidden_size"], c["moe_intermediate_size"]
    if i < c["first_k_dense_replace"]:
        return mixer + [(h,), (h,)] + gated(h, c["intermediate_size"])
    return mixer + [(h,), (h,)] + experts(h, ffn, 4) + gated(h, ffn * c["n_shared_experts"])


def deepseek_v32(r):
    c = usual(
        r,
        model_type="deepseek_v32",
        index_n_heads=3,
        index_head_dim=14,
        index_topk=2048,
        num_nextn_predict_layers=1,
        **deepseek_sizes(r),
    )
    del c["head_dim"]
    h = c["hidden_size"]
    index = [(3 * 14, 24), (14, h), (14,), (14,), (3, h)]
    tensors = ends(c, c["tie_word_embeddings"])
    for i in range(c["num_hidden_layers"]):
        tensors += deepseek_layer(c, i, latent(c) + index)
    return c, size(tensors)


def glm_moe_dsa(r):
    c, _ = deepseek_v32(r)
    c.update(model_type="glm_moe_dsa", index_topk_freq=r.choice([1, 3]), index_skip_topk_offset=2)
    h = c["hidden_size"]
    index = [(3 * 14, 24), (14, h), (14,), (14,), (3, h)]
    tensors = ends(c, c["tie_word_embeddings"])
    for i in range(c["num_hidden_layers"]):
        own = max(i - 1, 0) % c["index_topk_freq"] == 0
        tensors += deepseek_layer(c, i, latent(c) + (index if own else []))
    return c, size(tensors)


def glm4_moe(r):
    more = {k: v for k, v in deepseek_sizes(r).items() if "lora" not in k and "head_dim" not in k}
    c = usual(
        r,
        model_type="glm4_moe",
        use_qk_norm=r.random() < 0.5,
        attention_bias=r.random() < 0.5,
        num_nextn_predict_layers=1,
        **more,
    )
    d = c["head_dim"]
    mixer = attention(c, c["attention_bias"], out_bias=False) + (
        [(d,), (d,)] if c["use_qk_norm"] else []
    )
    tensors = ends(c, c["tie_word_embeddings"])
    for i in range(c["num_hidden_layers"]):
        tensors += deepseek_layer(c, i, mixer)
    return c, size(tensors)


def minimax_m2(r):
    c = usual(
        r,
        model_type="minimax_m2",
        num_local_experts=4,
        num_experts_per_tok=2,
        use_qk_norm=True,
        use_mtp=True,
        num_mtp_modules=3,
    )
    h, d = c["hidden_size"], c["head_dim"]
    norms = [(c["num_attention_heads"] * d,), (c["num_key_value_heads"] * d,)]
    layer = attention(c) + norms + [(h,), (h,)] + experts(h, c["intermediate_size"], 4)
    return c, size(ends(c, c["tie_word_embeddings"]) + layer * c["num_hidden_layers"])


def qwen3_vl(r):
    text = usual(r, model_type="qwen3_vl_text", attention_bias=r.random() < 0.5)
    tied = text.pop("tie_word_embeddings")
    h, d = text["hidden_size"], text["head_dim"]
    layer = (
        attention(text, text["attention_bias"])
        + [(d,), (d,), (h,), (h,)]
        + gated(h, text["intermediate_size"])
    )
    return (
        {"model_type": "qwen3_vl", "text_config": text, "tie_word_embeddings": tied},
        size(ends(text, tied) + layer * text["num_hidden_layers"]),
    )


def delta_sizes(r):
    return {
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 6,
        "linear_num_value_heads": r.choice([2, 4]),
        "linear_value_head_dim": 10,
        "linear_conv_kernel_dim": r.choice([3, 4]),
        "full_attention_interval": r.choice([2, 4]),
    }


def qwen3_5(r, moe=False):
    c = usual(r, model_type="qwen3_5_text", mtp_num_hidden_layers=1, **delta_sizes(r))
    if moe:
        c.update(
            model_type="qwen3_5_moe_text",
            num_experts=4,
            num_experts_per_tok=2,
            moe_intermediate_size=18,
            shared_expert_intermediate_size=22,
        )
        del c["intermediate_size"]
    h, d, n = c["hidden_size"], c["head_dim"], c["linear_num_value_heads"]
    keys, values = 12, n * 10
    gate = (c["num_attention_heads"] * d, h)
    tensors = ends(c, c["tie_word_embeddings"])
    for i in range(c["num_hidden_layers"]):
        if (i + 1) % c["full_attention_interval"] == 0:
            tensors += attention(c) + [gate, (d,), (d,)]
        else:
            tensors += [
                (2 * keys + values, h),
                (values, h),
                (n, h),
                (n, h),
                (n,),
                (n,),
                (10,),
                (h, values),
                (2 * keys + values, c["linear_conv_kernel_dim"]),
            ]
        tensors += [(h,), (h,)]
        if moe:
            tensors += experts(h, 18, 4, score_bias=False) + gated(h, 22) + [(1, h)]
        else:
            tensors += gated(h, c["intermediate_size"])
    return c, size(tensors)


def qwen3_5_moe(r):
    return qwen3_5(r, moe=True)


def kimi_linear(r):
    more = {k: v for k, v in deepseek_sizes(r).items() if k != "q_lora_rank"}
    c = usual(r, model_type="kimi_linear", **more)
    c["tie_word_embeddings"] = False
    layers, h, width = c["num_hidden_layers"], c["hidden_size"], 3 * 10
    full = [i for i in range(1, layers + 1) if i % 4 == 0]
    c["linear_attn_config"] = {
        "num_heads": 3,
        "head_dim": 10,
        "short_conv_kernel_size": 4,
        "full_attn_layers": full,
        "kda_layers": [i for i in range(1, layers + 1) if i % 4],
    }
    for new, old in (
        ("num_experts", "n_routed_experts"),
        ("num_experts_per_token", "num_experts_per_tok"),
        ("num_shared_experts", "n_shared_experts"),
    ):
        c[new] = c[old]
    kda = (
        [(width, h)] * 3
        + [(width, 4)] * 3
        + [(10, h), (width, 10)] * 2
        + [(width,), (3,), (3, h), (10,), (h, width)]
    )
    tensors = ends(c, c["tie_word_embeddings"])
    for i in range(layers):
        tensors += deepseek_layer(c, i, latent(c) if i + 1 in full else kda)
    for old in ("n_routed_experts", "num_experts_per_tok", "n_shared_experts"):
        del c[old]
    return c, size(tensors)


def jamba(r):
    c = usual(
        r,
        model_type="jamba",
        num_experts=r.choice([1, 4]),
        num_experts_per_tok=1,
        mamba_d_state=6,
        mamba_d_conv=r.choice([3, 4]),
        mamba_expand=2,
        mamba_dt_rank=r.choice(["auto", 5]),
        mamba_conv_bias=r.random() < 0.5,
        mamba_proj_bias=r.random() < 0.5,
        attn_layer_period=3,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
    )
    del c["head_dim"]
    h = c["hidden_size"]
    width, rank = 2 * h, -(-h // 16) if c["mamba_dt_rank"] == "auto" else 5
    mamba = [
        (2 * width, h),
        (width, c["mamba_d_conv"]),
        (rank + 12, width),
        (width, rank),
        (width,),
        (width, 6),
        (width,),
        (rank,),
        (6,),
        (6,),
        (h, width),
    ]
    mamba += [(width,)] if c["mamba_conv_bias"] else []
    mamba += [(2 * width,), (h,)] if c["mamba_proj_bias"] else []
    tensors = ends(c, c["tie_word_embeddings"])
    for i in range(c["num_hidden_layers"]):
        tensors += attention(c, dim=16) if i % 3 == 1 else mamba
        tensors += [(h,), (h,)]
        if i % 2 == 1 and c["num_experts"] > 1:
            tensors += experts(h, c["intermediate_size"], c["num_experts"], score_bias=False)
        else:
            tensors += gated(h, c["intermediate_size"])
    return c, size(tensors)


def nemotron_h(r):
    c = usual(
        r,
        model_type="nemotron_h",
        mamba_num_heads=4,
        mamba_head_dim=6,
        n_groups=2,
        ssm_state_size=5,
        conv_kernel=4,
        use_conv_bias=r.random() < 0.5,
        use_bias=r.random() < 0.5,
        mlp_bias=r.random() < 0.5,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_shared_experts=1,
        moe_intermediate_size=14,
        moe_shared_expert_intermediate_size=22,
        moe_latent_size=r.choice([None, 9]),
        time_step_limit=[0.0, math.inf],
    )
    c["tie_word_embeddings"] = False
    pattern = "".join(r.choice("M*-E") for _ in range(c["num_hidden_layers"] - 1)) + "M"
    c["hybrid_override_pattern"] = pattern
    h, narrow = c["hidden_size"], c["moe_latent_size"]
    mixed, bias = 24 + 2 * 2 * 5, c["mlp_bias"]
    mamba = [(24 + mixed + 4, h), (mixed, 4), (4,), (4,), (4,), (24,), (h, 24)]
    mamba += [(mixed,)] if c["use_conv_bias"] else []
    mamba += [(24 + mixed + 4,), (h,)] if c["use_bias"] else []
    ffn = c["intermediate_size"]
    mlp = [(ffn, h), (h, ffn)] + ([(ffn,), (h,)] if bias else [])
    moe = [(4, h), (4,), (22, h), (h, 22)] + [(14, narrow or h), (narrow or h, 14)] * 4
    moe += [(22,), (h,)] if bias else []
    if narrow:
        moe += [(narrow, h), (h, narrow)] + ([(narrow,), (h,)] if bias else [])
    kinds = {"M": mamba, "*": attention(c), "-": mlp, "E": moe}
    tensors = ends(c, c["tie_word_embeddings"])
    for kind in pattern:
        tensors += kinds[kind] + [(h,)]
    return c, size(tensors)


FAMILIES = {
    f.__name__: f
    for f in (
        gemma3,
        gemma3_of_parts,
        gemma4,
        llama4,
        deepseek_v32,
        glm_moe_dsa,
        glm4_moe,
        minimax_m2,
        qwen3_vl,
        qwen3_5,
        qwen3_5_moe,
        kimi_linear,
        jamba,
        nemotron_h,
    )
}


def made(name, n):
    """The n-th made-up model of a family, always the same."""
    return FAMILIES[name](Random(f"{name} {n}"))
