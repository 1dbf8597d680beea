"""brim plan emit: the texts are what the programs' own parsers take."""

import ast
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import one_line

CASES = {
    "megatron": [
        ("Llama-3.1-70B", "tp=8,pp=4,vpp=5,recompute=selective"),
        ("DeepSeek-V3", "tp=2,pp=8,ep=16,stages=ends,recompute=full"),
        ("Llama-3.1-8B", "zero=3"),
        ("GPT-3-175B", "tp=8,pp=8,fused=no,attention=plain"),
        ("Mistral-7B", "tp=2,cp=2,context=ulysses"),
    ],
    "torchtitan": [
        ("Llama-3.1-70B", "tp=8,zero=3,recompute=full"),
        ("Llama-3.1-405B", "tp=8,pp=8,stages=ends,zero=2"),
        ("DeepSeek-V3", "tp=4,ep=16,zero=3"),
        ("Qwen3-14B", "zero=3,shard=8"),
    ],
    "deepspeed": [
        ("Llama-3.1-8B", "zero=1"),
        ("Qwen3-32B", "zero=3,gradient_bytes=2,recompute=full"),
        ("Llama-3.1-8B", "tp=2,zero=2,seq_parallel=no,gradient_bytes=2"),
    ],
    "nemo": [
        ("Mixtral-8x7B", "tp=2,pp=4,vpp=2,ep=8"),
        ("Llama-3.1-70B", "tp=4,pp=4,cp=2,recompute=full,attention=plain,graphs=no"),
    ],
    "torchrun-fsdp": [
        ("Llama-3.1-8B", "zero=3,shard=8,recompute=full"),
        ("Gemma-2-9B", "zero=2,gradient_bytes=2"),
    ],
}
EVERY = [(target, *case) for target, cases in CASES.items() for case in cases]
# Arguments of Megatron-LM (megatron/training/arguments.py), to catch a slip of the pen.
MEGATRON = """num-layers hidden-size ffn-hidden-size num-attention-heads kv-channels
group-query-attention num-query-groups seq-length max-position-embeddings position-embedding-type
normalization swiglu untie-embeddings-and-output-weights disable-bias-linear add-qkv-bias
attention-dropout hidden-dropout tensor-model-parallel-size sequence-parallel tp-comm-overlap
pipeline-model-parallel-size num-virtual-stages-per-pipeline-rank no-overlap-p2p-communication
pipeline-model-parallel-layout account-for-embedding-in-pipeline-split
account-for-loss-in-pipeline-split context-parallel-size cp-comm-type expert-model-parallel-size
expert-tensor-parallel-size use-distributed-optimizer use-megatron-fsdp ckpt-format
data-parallel-sharding-strategy no-gradient-accumulation-fusion
num-distributed-optimizer-instances overlap-grad-reduce overlap-param-gather micro-batch-size
global-batch-size recompute-granularity recompute-method recompute-num-layers bf16 fp16 fp8-format
fp8-recipe fp4-format fp4-recipe accumulate-allreduce-grads-in-fp32 grad-reduce-in-bf16
attention-backend cuda-graph-impl cross-entropy-loss-fusion cross-entropy-fusion-impl
no-bias-gelu-fusion no-bias-swiglu-fusion no-bias-dropout-fusion no-rope-fusion
no-masked-softmax-fusion no-persist-layer-norm multi-latent-attention q-lora-rank kv-lora-rank
qk-head-dim qk-pos-emb-head-dim v-head-dim qk-layernorm window-size window-attn-skip-freq
num-experts moe-router-topk moe-ffn-hidden-size moe-grouped-gemm moe-token-dispatcher-type
moe-shared-expert-intermediate-size moe-layer-freq moe-router-score-function
moe-router-enable-expert-bias mock-data tokenizer-type vocab-size train-iters lr log-interval
log-throughput""".split()


def emit(brim, target, model, pins, *more):
    job = ("--cluster", "32x8xH100", "--batch", "1024", "--seq", "2048", "--pin", pins)
    return brim.out("plan", "emit", target, model, *job, *more)


def check_shell(text):
    done = subprocess.run(
        ["bash", "-n"], input=text, stderr=subprocess.PIPE, universal_newlines=True, timeout=20
    )
    assert done.returncode == 0, done.stderr


def file_in(text):
    """What a script writes for its program."""
    return re.search(r"<<'END'\n(.*?)^END$", text, re.S | re.M).group(1)


def check_file(target, text):
    if target == "torchtitan":
        if sys.version_info < (3, 11):
            pytest.skip("tomllib is not here")
        import tomllib

        titan = tomllib.loads(text)
        degrees = titan["parallelism"]
        product = 1
        for axis in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
            product *= degrees[axis + "_degree"]
        for axis in ("replicate", "shard"):
            product *= degrees[f"data_parallel_{axis}_degree"]
        assert product == 256
    elif target in ("nemo", "torchrun-fsdp"):
        ast.parse(text)
    elif target == "deepspeed":
        config = json.loads(text)
        tp = config.get("tensor_parallel", {}).get("autotp_size", 1)
        assert config["train_batch_size"] == (
            config["train_micro_batch_size_per_gpu"]
            * config["gradient_accumulation_steps"]
            * (256 // tp)
        )


@pytest.mark.parametrize("target,model,pins", EVERY)
def test_parsers_take_it(brim, target, model, pins):
    text = emit(brim, target, model, pins)
    if target in ("megatron", "deepspeed"):
        assert text.startswith("#!/bin/bash\n")
        check_shell(text)
    if target == "deepspeed":
        check_file(target, file_in(text))
    elif target != "megatron":
        check_file(target, text)


@pytest.mark.parametrize("target,model,pins", EVERY)
def test_in_a_batch_script(brim, target, model, pins):
    text = emit(brim, "sbatch+" + target, model, pins)
    check_shell(text)
    assert "#SBATCH --nodes=32\n" in text and "srun " in text
    if target != "megatron":
        check_file(target, file_in(text))


@pytest.mark.parametrize("model,pins", CASES["megatron"])
def test_megatron_knows_the_flags(brim, model, pins):
    text = emit(brim, "megatron", model, pins)
    # From the array on; torchrun's own flags stand behind it.
    mine = text[text.index("ARGS=(") :].split("torchrun")[0]
    flags = re.findall(r"(?<=[\s(-])--([a-z0-9-]+)", mine)
    assert flags and set(flags) <= set(MEGATRON), set(flags) - set(MEGATRON)
    assert len(flags) == len(set(flags)), "none twice"


# In place of torchrun, srun and scontrol: say what is started.
FAKE = """#!/usr/bin/python3
import json, sys
print(json.dumps(sys.argv))
"""


@pytest.fixture
def started(tmp_path):
    """started(text): the arguments with which a script starts torchrun, with more of its own."""
    for name in ("torchrun", "srun", "scontrol"):
        (tmp_path / name).write_text(FAKE)
        (tmp_path / name).chmod(0o755)

    def start(text, **more):
        script = tmp_path / "script.sh"
        script.write_text(text)
        env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_NODELIST": "n", **more}
        env["SLURM_JOB_ID"] = "7"
        done = subprocess.run(
            ["bash", script, "--exit-interval", "5"], cwd=tmp_path, env=env, timeout=20,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return start


def test_scripts_run(brim, started, tmp_path):
    args = started(emit(brim, "megatron", "DeepSeek-V3", "tp=2,pp=8,ep=16,stages=ends"))
    assert args[args.index("--nproc-per-node") + 1] == "8"
    assert "./pretrain_gpt.py" in args and args[-2:] == ["--exit-interval", "5"]
    # Each word that the shell could have changed is whole.
    assert args[args.index("--moe-layer-freq") + 1] == "([0]*3+[1]*58)"
    split = args[args.index("--pipeline-model-parallel-layout") + 1]
    stages = [int(n) for n in re.findall(r"t\*(\d+)", split)]
    assert split.startswith("Et*") and split.endswith("L") and split.count("|") == 7
    assert len(stages) == 8 and sum(stages) == 61
    own = started(emit(brim, "megatron", "Llama-3.1-8B", "tp=2"), DATA="--data-path a b")
    assert own[own.index("--data-path") :][:3] == ["--data-path", "a", "b"]
    assert "--mock-data" in args and "--mock-data" not in own
    started(emit(brim, "deepspeed", "Llama-3.1-8B", "zero=1"))
    assert json.loads((tmp_path / "ds_config.json").read_text())["train_batch_size"] == 1024


def test_a_batch_script_runs(brim, started, tmp_path):
    args = started(emit(brim, "sbatch+torchtitan", "Llama-3.1-8B", "tp=2,zero=3"))
    assert args[1:3] == ["--kill-on-bad-exit=1", "--cpu-bind=none"] and args[3] == "torchrun"
    assert args[args.index("--rdzv-id") + 1] == "7"
    assert args[args.index("--job.config_file") + 1] == "torchtitan.toml"
    check_file("torchtitan", (tmp_path / "torchtitan.toml").read_text())


def test_the_version_and_the_layout_are_in_it(brim):
    text = emit(brim, "torchtitan", "Llama-3.1-8B", "tp=2,zero=3")
    assert text.startswith("# torchtitan 0.2, by brim plan\n")
    assert "\n# tp=2,pp=1,dp=128,micro_batch=1,recompute=none,zero=3\n" in text


def test_json(brim):
    said = json.loads(emit(brim, "sbatch", "Llama-3.1-8B", "tp=2", "--json"))
    assert said["schema"] == "brim.plan.emit.v1" and said["target"] == "sbatch"
    assert said["text"] == emit(brim, "sbatch", "Llama-3.1-8B", "tp=2")


def test_the_fastest_that_can_be_told(brim):
    job = ("plan", "train", "Llama-3.1-8B", "--cluster=2x8xH100", "--batch=128", "--threads=1")
    fastest = json.loads(brim.out(*job, "--json"))["best"][0]
    text = brim.out(*job, "--emit", "megatron")
    assert text.startswith("#!/bin/bash\n") and "pretrain_gpt.py" in text
    assert f"--micro-batch-size {fastest['layout']['micro_batch']} " in text
    # FSDP2 has no ZeRO-1, which is the fastest here: what that costs is said.
    told = brim.out(*job, "--emit", "torchrun-fsdp", "--pin", "tp=1,pp=1,cp=1")
    assert "reshard_after_forward=" in told
    ast.parse(told)
    one_line(brim(*job, "--emit", "megatrn"), 2, "did you mean megatron?")
    one_line(brim(*job, "--emit", "megatron", "--json"), 2, "different answers")
    refused = brim(*job, "--emit", "torchtitan", "--pin", "zero=1")
    one_line(refused, 1, "none of the", "torchtitan 0.2 cannot express zero=1")


def test_a_name_is_no_part_of_a_script(brim, tmp_path):
    """Options for sbatch, a codec for Python, an end of a text: none comes out of a config.json."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "num_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "vocab_size": 50304,
        "_name_or_path": "x --wrap=y # coding: utf-7 +AAo-`z` $(z) \"'\\ END"}))
    for target in "sbatch", "sbatch+deepspeed", "torchrun-fsdp":
        said = brim.out("plan", "emit", target, path, "--cluster", "8x8xH100", "--batch", "256",
                        "--pin", "tp=1,zero=3" if target != "sbatch" else "tp=2")
        assert "x?--wrap?y???coding??utf-7??AAo-" in said
        assert not re.search(r"--wrap=|coding:|\+AAo|`z`|\$\(z\)", said)


def test_bad_input(brim):
    job = ("--cluster", "2x8xH100", "--batch", "64")
    for words in ((), ("megatron",)):
        done = brim("plan", "emit", *words)
        assert done.returncode == 2 and "name a program and a model" in done.stderr
    model = ("Llama-3.1-8B", *job)
    one_line(brim("plan", "emit", "megatrn", *model), 2, "did you mean megatron?")
    one_line(brim("plan", "emit", "sbatch+pax", *model), 2, "is no program to write for")
    one_line(brim("plan", "emit", "megatron", "Llama-3.1-8B", "--batch", "64"), 2, "--cluster")
    one_line(brim("plan", "emit", "megatron", "Llama-3.1-8B", "-c", "2x8xH100"), 2, "--batch")
    one_line(brim("plan", "emit", "megatron", *model, "--pin", "tp=3"), 1, "do not divide by tp 3")
    pins = "schedule=zero-bubble,pp=2,zero=3"
    refused = brim("plan", "emit", "torchtitan", *model, "--pin", pins)
    one_line(refused, 1, "torchtitan 0.2 cannot express schedule=zero-bubble")
    one_line(brim("plan", "emit", "megatron", "A", "B", *job), 2, "one model at a time")
