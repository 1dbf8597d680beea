"""DeepSpeed's engine with ZeRO on CPU ranks, started by torchrun."""

import os

os.environ.setdefault("DS_ACCELERATOR", "cpu")

import deepspeed
import torch
from options import options
from samples import Beside, Model, Samples, tell

a = options(stage=1)

deepspeed.init_distributed("gloo")
torch.manual_seed(a.seed)
world = torch.distributed.get_world_size()
samples = Samples(8 * a.steps * world, a)
sampler = torch.utils.data.distributed.DistributedSampler(samples, seed=a.seed)
loader = torch.utils.data.DataLoader(
    samples, batch_size=8, sampler=sampler, num_workers=a.workers
)
model = Model(a.width)
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={
        "train_micro_batch_size_per_gpu": 8,
        "zero_optimization": {"stage": a.stage},
        "zero_allow_untested_optimizer": True,
    },
)
beside = Beside(a)
for batch in loader:
    loss = engine(**batch)["loss"]
    engine.backward(loss)
    engine.step()
    beside.step()
    if folder := beside.saves():
        engine.save_checkpoint(folder, tag="last")
if torch.distributed.get_rank() == 0:
    tell(engine.module, a.steps)
torch.distributed.barrier()
torch.distributed.destroy_process_group()
