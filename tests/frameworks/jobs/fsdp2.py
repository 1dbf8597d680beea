"""fully_shard() under torchrun."""

import os

import torch
from options import options
from samples import Beside, Model, Samples, tell
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict
from torch.distributed.device_mesh import init_device_mesh

try:
    from torch.distributed.fsdp import fully_shard
except ImportError:  # torch before 2.6
    from torch.distributed._composable.fsdp import fully_shard

a = options()

torch.distributed.init_process_group("gloo")
torch.manual_seed(a.seed)
mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),))
samples = Samples(8 * a.steps * mesh.size(), a)
sampler = torch.utils.data.distributed.DistributedSampler(samples, seed=a.seed)
loader = torch.utils.data.DataLoader(
    samples, batch_size=8, sampler=sampler, num_workers=a.workers
)
model = Model(a.width)
for layer in model.layers:
    if isinstance(layer, torch.nn.Linear):
        fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
beside = Beside(a)
for batch in loader:
    model(**batch)["loss"].backward()
    optimizer.step()
    optimizer.zero_grad()
    beside.step()
    if folder := beside.saves():
        whole = StateDictOptions(full_state_dict=True)
        state = get_state_dict(model, optimizer, options=whole)
        if torch.distributed.get_rank() == 0:
            torch.save(state, os.path.join(folder, "last.pt"))
whole = [p.full_tensor() for p in model.parameters()]
if torch.distributed.get_rank() == 0:
    stand_in = torch.nn.ParameterList(whole)
    tell(stand_in, a.steps)
torch.distributed.barrier()
torch.distributed.destroy_process_group()
