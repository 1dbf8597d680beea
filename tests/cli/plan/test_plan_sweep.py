"""What brim plan makes of many layouts, clusters, shapes and measured rows (../sweeps.py): each
part of a layout with each other, each name that a column or a field may have, what is refused."""

import json

import pytest
from sweeps import Dice, Sweep

MODELS = ["Llama-3.2-1B", "Llama-3.2-1B", "GPT-2-medium", "Qwen3-30B-A3B", "DeepSeek-V2-Lite",
          "gpt-oss-20b", "Gemma-2-2B", "Mixtral-8x7B", "Phi-2", "Falcon-7B", "OPT-1.3B",
          "Mistral-7B", "MPT-1B", "Qwen1.5-MoE-A2.7B", "Pythia-1B", "BLOOM-7B1", "GPT-J-6B",
          "Llama-4-Scout", "Llama-2-70B", "DeepSeek-V3"]
EXPERTS = {"Qwen3-30B-A3B", "DeepSeek-V2-Lite", "gpt-oss-20b", "Mixtral-8x7B", "DeepSeek-V3",
           "Qwen1.5-MoE-A2.7B", "Llama-4-Scout"}
GPUS = ["H100-SXM", "H100-SXM", "H100-SXM", "A100-SXM4-80GB", "B200-SXM", "B200-SXM", "H200",
        "MI300X", "GB200-NVL72", "A100-PCIe-80GB,nic=8x200G", "L40S,nic=8x200G"]
# Keys of a cluster's words with values, some of which are wrong.
KEYS = {"nic": ["8x400G", "400G", "4x200", "0", "1x25G", "0x400G", "8x", "x400G"],
        "domain": ["4", "8", "16", "72", "0"], "link": ["450", "25.5", "-1", "x"],
        "leaf": ["1", "2", "0"], "oversubscribed": ["1", "2", "4.5"],
        "nic_latency": ["2", "10", "0"], "link_latency": ["1", "5"], "memory": ["40", "80", "0"],
        "price": ["2", "0"], "mtbf": ["50000", "1"], "nodes": ["4"], "width": ["1"]}


def cluster(dice):
    """What --cluster says, and its GPUs."""
    nodes, each = dice.pick([1, 1, 2, 4, 8]), dice.pick([8, 8, 8, 4])
    words = "%dx%dx%s" % (nodes, each, dice.pick(GPUS))
    for key in sorted(KEYS):
        if dice.one_in(8) and key + "=" not in words and key not in ("nodes", "width"):
            words += ",%s=%s" % (key, dice.pick(KEYS[key][:2]))
        elif dice.one_in(150):
            words += ",%s=%s" % (key, dice.pick(KEYS[key]))
    return words, nodes * each


def layout(dice, gpus, experts):
    """Parts of a layout as --pin has them; most of them can be."""
    tp, pp, cp = dice.pick([1, 1, 2, 4, 8]), dice.pick([1, 1, 2, 4]), dice.pick([1, 1, 1, 2])
    while tp * pp * cp > gpus and not dice.one_in(20):
        tp, pp = (max(1, tp // 2), pp) if tp > pp else (tp, max(1, pp // 2))
    pins = ["tp=%d" % tp, "pp=%d" % pp, "cp=%d" % cp]
    dp = max(1, gpus // (tp * pp * cp))
    pins += ["dp=%d" % dp, "micro_batch=%d" % dice.pick([1, 1, 2, 4])]
    pins += ["zero=%d" % dice.below(4), "recompute=" + dice.pick(["none", "selective", "norms",
                                                                 "mlp", "full"])]
    vpp = dice.pick([1, 1, 2]) if pp > 1 else 1
    pins += ["vpp=%d" % vpp]
    if experts or dice.one_in(30):
        pins += ["ep=%d" % dice.pick([1, 2, 4]), "etp=%d" % dice.pick([1, 1, 2])]
    more = {"context": ["ring", "ulysses", "gather"], "shard": ["0", "2", "8"],
            "seq_parallel": ["yes", "no"], "schedule": ["1f1b", "gpipe", "zero-bubble"],
            "stages": ["even", "ends"], "overlap_dp": ["yes", "no"], "overlap_tp": ["yes", "no"],
            "overlap_pp": ["yes", "no"], "overlap_ep": ["yes", "no"], "offload": ["yes", "no"],
            "attention": ["plain", "flash", "second", "first", "third"],
            "engine": ["megatron", "torch", "deepspeed"], "gradient_bytes": ["2", "4"],
            "fused": ["yes", "no"], "graphs": ["yes", "no"], "fused_loss": ["yes", "no"],
            "imbalance": ["1", "1.5"]}
    for key, values in more.items():
        odd = {"schedule": vpp > 1 or pp == 1, "shard": dp % 8, "stages": False,
               "overlap_ep": not experts, "context": cp == 1}.get(key, False)
        if dice.one_in(30 if odd else 4):
            pins.append("%s=%s" % (key, dice.pick(values)))
    return ",".join(pins)


def step(text):
    best = json.loads(text)["best"]
    return "a step of %s s" % best[0]["step_s"]


@pytest.mark.parametrize("part", range(3))
def test_layouts(brim, tmp_path, part):
    sweep = Sweep(brim, tmp_path, "plan-%d" % part)
    for number in range(part, 150, 3):
        dice = Dice(1000 + number)
        model = dice.pick(MODELS)
        spec, gpus = cluster(dice)
        words = [model, "--cluster", spec, "--batch", str(dice.pick([64, 128, 256])),
                 "--pin", layout(dice, gpus, model in EXPERTS)]
        if dice.one_in(3):
            words += ["--seq", str(dice.pick([1024, 2048, 8192]))]
        if dice.one_in(4):
            words += ["--precision", dice.pick(["fp16", "bf16", "fp8", "fp8", "mxfp8", "nvfp4"])]
        name = "%d %s" % (number, model)
        train = ["--threads", "1"]
        sweep.say(name, ["plan", "train", *words, *train, "--json", "--best", "1"], {}, step)
        how = dice.below(4)
        if how == 0:
            sweep.say(name + " explained", ["plan", "train", *words, *train, "--explain",
                                            "--price", "2", "--tokens", "1T"], {})
        elif how == 1:
            sweep.say(name + " memory", ["plan", "memory", *words, "--json"], {})
        elif how == 2:
            target = dice.pick(["megatron", "torchtitan", "deepspeed", "nemo", "torchrun-fsdp"])
            sweep.say("%s for %s" % (name, target), ["plan", "emit", target, *words], {})
        else:
            sweep.say(name + " as INI", ["plan", "memory", model, "--cluster", "c.ini", "--json"],
                      {"c.ini": as_ini(spec)})
    sweep.end()


def as_ini(spec):
    head, *rest = spec.split(",")
    nodes, each, gpu = head.split("x", 2)
    lines = ["[cluster]", "nodes = " + nodes, "gpus = " + each, "gpu = " + gpu]
    return "\n".join(lines + [key.replace("=", " = ") for key in rest]) + "\n"


# ---- measured rows ----

# The names that a column may have; numbers as most of them are written.
NAMES = {
    "model": ["model", "model_name", "Model Name"],
    "layers": ["layers", "num_layers", "n_layers"],
    "hidden": ["hidden", "hidden_size", "d_model"],
    "heads": ["heads", "num_heads", "n_heads", "num_attention_heads"],
    "kv_heads": ["kv_heads", "num_query_groups", "num_key_value_heads"],
    "ffn": ["ffn", "ffn_hidden_size", "intermediate_size"],
    "seq": ["seq", "seq_len", "seq_length", "sequence_length"],
    "vocab": ["vocab", "vocab_size"],
    "gpu": ["gpu", "gpu_type", "gpu_name", "accelerator"],
    "n_gpus": ["n_gpus", "num_gpus", "gpus", "gpu_count", "world_size"],
    "tp": ["tp", "tensor_parallel", "tensor_parallel_size"],
    "pp": ["pp", "pipeline_parallel", "pipeline_parallel_size"],
    "cp": ["cp", "context_parallel", "context_parallel_size"],
    "ep": ["ep", "expert_parallel", "expert_parallel_size"],
    "etp": ["etp"],
    "vpp": ["vpp", "vp", "virtual_pipeline"],
    "dp": ["dp", "data_parallel"],
    "shard": ["shard"],
    "micro_batch": ["micro_batch", "micro_batch_size", "mbs", "local_batch", "local_batch_size"],
    "batch": ["global_batch", "global_batch_size", "gbs", "batch", "batch_size"],
    "recompute": ["recompute", "activation_checkpointing", "activation_recompute", "ac"],
    "sp": ["seq_parallel", "sequence_parallel", "sp"],
    "zero": ["zero_stage", "zero"],
    "precision": ["precision", "dtype"],
    "tflops": ["measured_tflops_per_gpu", "tflops_per_gpu", "tflops_gpu", "tflops"],
    "mfu": ["mfu"],
    "time": ["iter_time_s", "step_time_s", "time_s", "iter_time_ms", "step_time_ms"],
    "tokens": ["tokens_per_s_per_gpu", "tokens_per_sec_per_gpu", "tps_per_gpu", "tokens_s_gpu",
               "tgs"],
    "all_tokens": ["tokens_per_s", "tokens_per_sec"],
    "mem": ["mem_gb", "memory_gb", "peak_memory_gb", "mem_gib", "memory_gib", "peak_memory_gib"],
    "source": ["source"],
    "notes": ["notes"],
}
ROW = {"model": "Own-1B", "layers": "16", "hidden": "2048", "heads": "16", "kv_heads": "8",
       "ffn": "8192", "seq": "2048", "vocab": "50304", "gpu": "H100", "n_gpus": "64", "tp": "2",
       "pp": "2", "cp": "2", "dp": "8", "vpp": "2", "micro_batch": "1", "batch": "64",
       "recompute": "full", "sp": "1", "zero": "1", "precision": "bf16"}
# What else a row may say; each of these stands in some.
SAID = {
    "model": ["GPT", "Llama-3.1-8B", "Mixtral-8x7B", "MPT-7B", "mpt-own", "MegaScale 175B", "BLOOM",
              "llama-own", "DeepSeek-V2-Lite", "Qwen3-30B-A3B", "Yi-6B", ""],
    "layers": ["8", "", "17"], "hidden": ["4096", ""], "heads": ["32", "", "7"],
    "kv_heads": ["", "4"], "ffn": ["", "5000"], "seq": ["", "4096", "8192"], "vocab": ["", "32000"],
    "gpu": ["A100", "8xA100-SXM4 (80GB)", "H100 96 GB 500W", "B200", "H100 PCIe", "V100 32GB",
            "TPU-v4", "A1000", "L40S", "H100-SXM 700 W", "A100 300W"],
    "n_gpus": ["", "8", "72", "0"], "tp": ["", "1", "8", "99999"], "pp": ["", "1", "3", "4"],
    "cp": ["", "1"], "ep": ["1", "2", "8"], "etp": ["1", "2"], "dp": ["", "4", "16"],
    "vpp": ["", "1", "3"], "shard": ["2", "8", "3"], "micro_batch": ["", "2", "4"],
    "batch": ["", "128", "7"],
    "recompute": ["", "none", "selective", "op", "True", "norm", "mlp", "moe", "yes", "1"],
    "sp": ["", "0", "no"], "zero": ["", "0", "2", "3", "4", "fsdp", "HSDP"],
    "precision": ["", "fp16", "FP8-MX", "float8", "nvfp4", "int8", "half", "mxfp8", "fp8 mx", "f8",
                  "fp4", "fp8_mx", "bfloat16", "float16"],
    "mfu": ["0.4", "45", "0"], "tflops": ["400", "0"], "tokens": ["10000", "0"],
    "all_tokens": ["500,000"], "mem": ["60", "OOM", "0"], "time": ["2.5", "out of memory", "0"],
    "source": ["a", "torchtitan", "bigscience", "Selene 8xHDR per node"],
    "notes": ["HFU=0.5", "HFU: 45.5", "HSDP", "ZeRO-1", "ZeRO-3", "interleaved", "1F1B overlap",
              "non-interleaved", "dualpipe", "zero-bubble", "Zero bubble", "async TP", "flash",
              "compile", "CUDA graphs", "reserved", "allocated", "LoRA", "OOM", "megascale",
              "MegaScale baseline", "Megatron", "DeepSpeed", "EP overlap", "400W",
              "4x100Gb/s Omni-Path", "400 Gbps per GPU", "8 x 200 Gbit/s", "Omni-Path", "8xNDR",
              "4xXDR", "2xEDR", "H100 800Gb/s, A100 400Gb/s", "1f1b", "200Gbps per port and GPU",
              "400Gb/s/GPU"],
}


def csv_of(rows, columns):
    """A table whose columns have these names."""
    text = ",".join(columns.values()) + "\n"
    for row in rows:
        text += ",".join('"%s"' % row.get(key, "") for key in columns) + "\n"
    return text


def eval_json(sweep, name, text):
    sweep.say(name, ["plan", "eval", "--json", "rows.csv"], {"rows.csv": text})
    sweep.say(name + " rows", ["plan", "eval", "--rows", "rows.csv"], {"rows.csv": text})


def test_names_of_columns(brim, tmp_path):
    sweep = Sweep(brim, tmp_path, "plan-columns")
    usual = {key: names[0] for key, names in NAMES.items()}
    whole = {**ROW, "model": "Mixtral-8x7B", "ep": "2", "etp": "2", "shard": "2"}
    for key, names in NAMES.items():
        row = whole if key in ("ep", "etp", "shard") else ROW
        row = {**row, "notes": "", "source": "", "time": "1.5", "mem": "30"}
        if key in ("tokens", "all_tokens", "tflops", "mfu"):
            row = {**row, key: {"tokens": "900", "all_tokens": "60000", "tflops": "300",
                                "mfu": "0.3"}[key], "time": ""}
        if key == "source":
            row[key] = "torchtitan"
        if key == "notes":
            row[key] = "compile"
        if key == "kv_heads":
            row["layers"] = "16"
        for name in names:
            columns = {k: name if k == key else usual[k] for k in usual if k in row}
            sweep.say(name, ["plan", "eval", "--json", "rows.csv"],
                      {"rows.csv": csv_of([row], columns)})
    sweep.end()


def test_rows(brim, tmp_path):
    """Each thing that a row may say, in place of the usual and beside another one."""
    sweep = Sweep(brim, tmp_path, "plan-rows")
    columns = {key: names[0] for key, names in NAMES.items()}
    number = 0
    for key, values in SAID.items():
        rows = []
        for value in values:
            dice = Dice(5000 + number)
            number += 1
            row = {**ROW, "time": "1.5", "mem": "30"}
            if key in ("tokens", "all_tokens", "tflops", "mfu"):
                row["time"] = ""
            rows.append({**row, key: value})
            for _ in range(2):
                other = dice.pick(sorted(SAID))
                rows.append({**row, other: dice.pick(SAID[other]), key: value})
        eval_json(sweep, key, csv_of(rows, columns))
    sweep.end()


# ---- shapes ----

FIELDS = {
    "layers": ["num_hidden_layers", "n_layer", "n_layers", "num_layers"],
    "hidden": ["hidden_size", "n_embd", "d_model", "n_embed"],
    "heads": ["num_attention_heads", "n_head", "n_heads", "num_heads"],
    "positions": ["max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx",
                  "max_sequence_length"],
    "ffn": ["intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"],
    "kv_heads": ["num_key_value_heads", "num_kv_heads", "n_head_kv", "num_query_groups"],
    "head_dim": ["head_dim", "kv_channels"],
    "vocab": ["vocab_size", "padded_vocab_size"],
    "experts": ["num_experts", "num_local_experts", "n_routed_experts", "num_moe_experts"],
    "active": ["num_experts_per_tok", "experts_per_token", "moe_router_topk"],
    "expert_ffn": ["moe_intermediate_size", "moe_ffn_hidden_size"],
    "every": ["decoder_sparse_step", "moe_layer_freq"],
}
SIZES = {"layers": 6, "hidden": 512, "heads": 8, "positions": 1024, "ffn": 1536, "kv_heads": 4,
         "head_dim": 48, "vocab": 32000, "experts": 8, "active": 2, "expert_ffn": 256, "every": 2}
FAMILIES = [None, "llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
            "gemma",
            "gemma2", "gpt2", "gpt_neox", "gptj", "opt", "bloom", "falcon", "phi", "phi3", "mpt",
            "gpt_oss", "deepseek_v2", "deepseek_v3", "kimi_k2"]
TRAITS = {
    "tie_word_embeddings": [True, False], "attention_bias": [True, False], "mlp_bias": [True],
    "resid_pdrop": [0.1, 0], "attn_pdrop": [0.1], "embd_pdrop": [0.1], "dropout": [0.1, "x"],
    "attention_dropout": [0.1, 0], "hidden_dropout": [0.1], "hidden_dropout_prob": [0.1],
    "resid_dropout": [0.1], "sliding_window": [256, None, "x"], "use_sliding_window": [True, 1],
    "max_window_layers": [0, 3], "mlp_only_layers": [[0], [0, 1], [1], 3],
    "shared_expert_intermediate_size": [128, 0], "n_shared_experts": [2],
    "first_k_dense_replace": [1], "topk_method": ["noaux_tc", "greedy"], "kv_lora_rank": [64],
    "q_lora_rank": [96, None], "qk_rope_head_dim": [16], "qk_nope_head_dim": [32],
    "v_head_dim": [32], "use_parallel_residual": [False], "word_embed_proj_dim": [512, 256],
    "enable_bias": [False], "new_decoder_architecture": [True], "multi_query": [False, True],
    "parallel_attn": [False, True], "bias": [True], "num_ln_in_parallel_attn": [1, 2],
    "attn_config": [{"alibi": True}, {"kv_n_heads": 2}, {"alibi": 1}], "expansion_ratio": [2],
    "no_bias": [True], "swiglu": [True], "add_bias_linear": [False],
    "untie_embeddings_and_output_weights": [True], "normalization": ["RMSNorm", "LayerNorm"],
    "position_embedding_type": ["rope", "alibi", "learned"], "_name_or_path": ["a/b", ""],
}


LATENT = {"kv_lora_rank": 64, "qk_rope_head_dim": 16, "qk_nope_head_dim": 32, "v_head_dim": 32}
EXPERT_FIELDS = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256}


def fields_of(family):
    """What files of a family have: another field that may count is an error."""
    fields = {names[0]: SIZES[key] for key, names in FIELDS.items()
              if key not in ("experts", "active", "expert_ffn", "every")}
    if family in (None, "mixtral", "qwen2_moe", "qwen3_moe", "gpt_oss"):
        fields.update(EXPERT_FIELDS, decoder_sparse_step=2)
    if family == "qwen2_moe":
        fields["shared_expert_intermediate_size"] = 128
    if family in ("deepseek_v2", "deepseek_v3", "kimi_k2"):
        fields.update(LATENT, n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=256)
    return {"model_type": family, **fields} if family else fields


def test_shapes(brim, tmp_path):
    """Each name of a size, and each trait, in a file of each family."""
    sweep = Sweep(brim, tmp_path, "plan-shapes")
    usual = fields_of(None)

    def one(name, fields):
        text = json.dumps(fields, sort_keys=True)
        sweep.say(name, ["plan", "memory", "config.json", "--json", "--cluster", "1x8xH100-SXM",
                         "--pin", "tp=2,micro_batch=2"], {"config.json": text})

    for key, names in FIELDS.items():
        for name in names:
            fields = {k: v for k, v in usual.items() if k != names[0]}
            one(name, {**fields, name: SIZES[key], "swiglu": True})
        one("no " + key, {k: v for k, v in usual.items() if k != names[0]})
    number = 0
    for trait, values in TRAITS.items():
        for value in values:
            dice = Dice(9000 + number)
            number += 1
            fields = {**fields_of(dice.pick(FAMILIES)), trait: value}
            for other in sorted(TRAITS):
                if other != trait and other not in LATENT and dice.one_in(24):
                    fields[other] = dice.pick(TRAITS[other][:1])
            one("%s %s" % (trait, value), {k: v for k, v in fields.items() if v is not None})
    for family in FAMILIES[1:]:
        fields = fields_of(family)
        one(family, fields)
        for name in ("num_attention_heads", "intermediate_size", "num_experts", "n_routed_experts",
                     "head_dim", "kv_lora_rank", "num_experts_per_tok", "vocab_size"):
            one("%s without %s" % (family, name),
                {k: v for k, v in fields.items() if k != name})
    sweep.end()


# ---- what is searched ----

LEFT = ["tp=1", "pp=1", "pp=2", "zero=1", "zero=3", "recompute=none", "recompute=full",
        "micro_batch=1", "vpp=any", "vpp=2", "context=any", "seq_parallel=any", "schedule=any",
        "overlap_dp=any", "overlap_tp=any", "overlap_pp=any", "overlap_ep=any", "offload=any",
        "cp=1", "cp=2", "ep=2", "etp=1", "dp=4", "shard=2", "stages=ends", "tp=2,pp=2",
        "schedule=gpipe",
        "schedule=zero-bubble", "offload=yes", "overlap_dp=no", "context=ulysses,cp=2"]


def test_search(brim, tmp_path):
    """What of a layout is left to be found: the fastest, those that nothing beats, and the fewest
    GPUs."""
    sweep = Sweep(brim, tmp_path, "plan-search")
    for number, pins in enumerate(LEFT):
        dice = Dice(3000 + number)
        model = dice.pick(["Llama-3.2-1B", "GPT-2-XL", "Qwen1.5-MoE-A2.7B", "Gemma-2-2B"])
        spec = dice.pick(["1x8xH100-SXM", "1x4xA100-SXM4-80GB",
                          "2x4xL40S,nic=4x200G", "1x6xH100-SXM"])
        words = [model, "--cluster", spec, "--batch", dice.pick(["16", "24", "96"]), "--pin", pins]
        more = dice.pick([["--best", "8"], ["--best", "3", "--pareto"], ["--best", "4", "--fewer"],
                          ["--best", "1", "--seq", "512"]])
        name = "%s %s %s" % (model, spec, pins)
        sweep.say(name, ["plan", "train", *words, "--threads", "1", "--json", *more], {}, step)
        if number % 3 == 0:
            sweep.say(name + " why", ["plan", "train", *words, "--threads", "1", "--why",
                                      dice.pick(["tp=8", "tp=2,pp=2", "zero=3", "cp=4", "dp=3",
                                                 "recompute=full", "ep=8"])], {})
        if number % 3 == 1:
            sweep.say(name + " compared", ["plan", "train", *words, "--threads", "1", "--compare",
                                           "tp=2", "--compare", "dp=2,pp=2", "--compare",
                                           "zero=3,recompute=full"], {})
    for number in range(40):
        dice = Dice(4000 + number)
        model = dice.pick(MODELS)
        pins = dice.pick(["tp=1", "tp=2", "tp=8,pp=4", "zero=3", "zero=0", "recompute=full",
                          "micro_batch=4", "ep=8", "offload=yes", "pp=8", "cp=2", "dp=2"])
        more = dice.pick([[], ["--seq", "8192"], ["--precision", "fp8"], ["--batch", "128"]])
        sweep.say("fewest %s %s %s" % (model, pins, " ".join(more)),
                  ["plan", "memory", model, "--pin", pins, *more], {})
    sweep.end()


def test_checkpoint(brim, tmp_path):
    sweep = Sweep(brim, tmp_path, "plan-checkpoint")
    for number in range(90):
        dice = Dice(6000 + number)
        words = ["plan", "checkpoint"]
        words += dice.pick([["--state", dice.pick(["2TB", "1GB", "80GB"])],
                            [dice.pick(["Llama-3.1-70B", "Llama-3.2-1B"])]] * 6 + [[]])
        words += ["--storage", dice.pick(["100GB/s", "1GB/s", "20MB/s"] * 5 + ["x"])]
        words += dice.pick([["--gpus", dice.pick(["64", "1024", "1", "100000"])],
                            ["--cluster", dice.pick(["8x8xH100-SXM", "64x8xH100-SXM,mtbf=50000",
                                                     "4x4xA100-SXM4-80GB,price=2,mtbf=1",
                                                     "512x8xB200-SXM,price=3"])]])
        rates = {"--mtbf-node": ["50d", "1h", "5m"],
                 "--failures": ["Llama-3-405B", "rsc1", "OPT-175B", "RSC-9"]}
        rate = dice.pick(sorted(rates))
        more = {rate: rates[rate], "--restart": ["1m", "2h"], "--every": ["30m", "10s", "5h"],
                "--stall": ["5s", "10m"]}
        for option, values in more.items():
            if dice.one_in(4):
                words += [option, dice.pick(values)]
        if dice.one_in(3) or "--stall" in words and not dice.one_in(4):
            words.append("--async")
        if dice.one_in(2):
            words.append("--json")
        sweep.say("%d %s" % (number, " ".join(words[2:])), words, {})
    sweep.end()


CONSTANTS = ["gemm_best_bf16", "gemm_k0_bf16", "gemm_sustained_bf16", "gemm_t0_us", "memory_best",
             "attention_best", "attention_first", "attention_back", "attention_half", "launch_us",
             "link_best", "link_few", "link_fill_us", "spread"]


def test_constants(brim, tmp_path):
    """Figures of a GPU that are fitted: what each of them does to a step."""
    sweep = Sweep(brim, tmp_path, "plan-constants")
    usual = {"gemm_best_bf16": 0.8, "gemm_k0_bf16": 128, "gemm_sustained_bf16": 0.7,
             "gemm_t0_us": 2, "memory_best": 0.8, "attention_best": 0.5, "attention_first": 0.3,
             "attention_back": 0.7, "attention_half": 1000, "launch_us": 10, "link_best": 0.8,
             "link_few": 0.5, "link_fill_us": 50, "spread": 0.04}
    for model, pins in {"Llama-3.2-1B": "tp=2,pp=2", "GPT-2-XL": "attention=plain,fused=no",
                        "Qwen1.5-MoE-A2.7B": "ep=4,cp=2,attention=first",
                        "Gemma-2-2B": "zero=3,attention=second,recompute=selective"}.items():
        for key in ["none", *CONSTANTS]:
            row = {**usual, key: usual.get(key, 1) * 0.5}
            text = "name," + ",".join(CONSTANTS) + "\nH100-SXM5-80GB," + ",".join(
                str(row[k]) for k in CONSTANTS) + "\n"
            sweep.say("%s %s" % (model, key),
                      ["plan", "train", model, "--cluster", "2x8xH100-SXM", "--batch", "64",
                       "--pin",
                       pins + ",micro_batch=1", "--threads", "1", "--json", "--best", "1",
                       "--constants", "fit.csv"], {"fit.csv": text}, step)
    sweep.end()


AMOUNTS = ["1", "300B", "1.5T", "4Ki", "4Mi", "2Gi", "3K", "3k", "5M", "6G", "20x", "0x", "x", "0",
           "-1", "1e18", "1.1e18", "", "5 B", "0" * 30 + "5", "0" * 31 + "5", "0" * 40 + "5B", "BB"]


def test_amounts(brim, tmp_path):
    """Tokens as people write them."""
    sweep = Sweep(brim, tmp_path, "plan-amounts")
    words = ["plan", "train", "Llama-3.2-1B", "--cluster", "1x8xH100-SXM", "--pin",
             "tp=1,pp=1,micro_batch=1,zero=1,recompute=none", "--threads", "1", "--best", "1"]
    for text in AMOUNTS:
        sweep.say("--tokens=" + text, [*words, "--batch", "64", "--tokens=" + text], {})
        sweep.say("--batch-tokens=" + text, [*words, "--batch-tokens=" + text, "--json"], {})
    sweep.end()
