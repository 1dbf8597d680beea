"""DistributedDataParallel under torchrun, as PyTorch's tutorial has it."""

import torch
from options import options
from samples import Model, Samples, tell
from torch.nn.parallel import DistributedDataParallel

a = options()

torch.distributed.init_process_group("gloo")
torch.manual_seed(a.seed)
world = torch.distributed.get_world_size()
samples = Samples(8 * a.steps * world, a.sleep_ms)
sampler = torch.utils.data.distributed.DistributedSampler(samples, seed=a.seed)
loader = torch.utils.data.DataLoader(
    samples, batch_size=8, sampler=sampler, num_workers=a.workers
)
model = DistributedDataParallel(Model())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for batch in loader:
    optimizer.zero_grad()
    model(**batch)["loss"].backward()
    optimizer.step()
if torch.distributed.get_rank() == 0:
    tell(model, a.steps)
torch.distributed.barrier()
torch.distributed.destroy_process_group()
