"""The loop of PyTorch's own tutorials."""

import os

import torch
from options import options
from samples import Beside, Model, Samples, tell

a = options(compile=0)

torch.manual_seed(a.seed)
loader = torch.utils.data.DataLoader(
    Samples(8 * a.steps, a), batch_size=8, shuffle=True, num_workers=a.workers
)
model = Model(a.width)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
run = torch.compile(model) if a.compile else model
beside = Beside(a)
for batch in loader:
    optimizer.zero_grad()
    run(**batch)["loss"].backward()
    optimizer.step()
    beside.step()
    if folder := beside.saves():
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, os.path.join(folder, "last.pt"))
tell(model, a.steps)
