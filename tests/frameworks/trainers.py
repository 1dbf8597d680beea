"""Each trainer, by its name in docs/frameworks.md: its command, and what it needs beside torch."""

import pathlib

JOBS = pathlib.Path(__file__).resolve().parent / "jobs"
# Beside the caller's variables: on CPUs, and what libraries print or do of themselves.
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false", "USE_LIBUV": "1"}

RANKS = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
TRAINERS = {
    "plain loop": (("plain.py",), None),
    "torch.compile": (("plain.py", "--compile", "1"), None),
    "DDP, torchrun": ((*RANKS, "ddp.py"), None),
    "FSDP2, torchrun": ((*RANKS, "fsdp2.py"), None),
    "Transformers Trainer": (("hf_trainer.py",), "transformers"),
    "Lightning": (("lightning_trainer.py",), "lightning"),
    "Accelerate": (("accelerate_loop.py",), "accelerate"),
    "Accelerate, 4 accumulated": (("accelerate_loop.py", "--accumulate", "4"), "accelerate"),
    "DeepSpeed ZeRO-1, torchrun": ((*RANKS, "deepspeed_zero.py"), "deepspeed"),
    "DeepSpeed ZeRO-2, torchrun": ((*RANKS, "deepspeed_zero.py", "--stage", "2"), "deepspeed"),
}

# Loops of which the shim knows nothing: what they need, and where their batches are made.
LOOPS = {
    "numpy": ("numpy_loop.py", ["numpy"], "arrays.py"),
    "JAX, Flax NNX": ("flax_loop.py", ["jax", "flax", "optax"], "arrays.py"),
    "Keras `fit()`, on JAX": ("keras_fit.py", ["keras", "jax"], "arrays.py"),
}

# What a job is slowed down by, and the causes that may stand first: bottlenecks.py injects it.
BOTTLENECKS = {
    "samples that sleep": {"loader-waits"},
    "samples that compute": {"loader-cpu"},
    "files of a slow server": {"storage-latency"},
    "half a CPU for each rank": {"cpu-quota"},
    "four busy neighbours": {"cpu-neighbours"},
    "garbage to collect": {"gc"},
    "metrics in Python": {"loop"},
    "a checkpoint each 2 steps": {"checkpoint"},
    "nothing": {"none", "communication"},  # two ranks with one small bucket do communicate
}
LIMITED = [name for name in TRAINERS if "accumulated" not in name and "ZeRO-2" not in name]
