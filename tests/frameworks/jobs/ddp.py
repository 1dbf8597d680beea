"""DistributedDataParallel under torchrun, as PyTorch's tutorial has it."""

import os

import torch
from options import options
from samples import Beside, Model, Samples, tell
from torch.nn.parallel import DistributedDataParallel

a = options()

torch.distributed.init_process_group("gloo")
torch.manual_seed(a.seed)
world = torch.distributed.get_world_size()
samples = Samples(8 * a.steps * world, a)
sampler = torch.utils.data.distributed.DistributedSampler(samples, seed=a.seed)
loader = torch.utils.data.DataLoader(
    samples, batch_size=8, sampler=sampler, num_workers=a.workers
)
model = DistributedDataParallel(Model(a.width))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
beside = Beside(a)
for batch in loader:
    optimizer.zero_grad()
    model(**batch)["loss"].backward()
    optimizer.step()
    beside.step()
    folder = beside.saves()
    if folder and torch.distributed.get_rank() == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, os.path.join(folder, "last.pt"))
if torch.distributed.get_rank() == 0:
    tell(model, a.steps)
torch.distributed.barrier()
torch.distributed.destroy_process_group()
