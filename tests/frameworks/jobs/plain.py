"""The loop of PyTorch's own tutorials."""

import argparse

import torch
from samples import Model, Samples, tell

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=600)
p.add_argument("--sleep-ms", type=float, default=2)
p.add_argument("--workers", type=int, default=0)
p.add_argument("--seed", type=int, default=0)
p.add_argument("--compile", action="store_true")
a = p.parse_args()

torch.manual_seed(a.seed)
loader = torch.utils.data.DataLoader(
    Samples(8 * a.steps, a.sleep_ms), batch_size=8, shuffle=True, num_workers=a.workers
)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
run = torch.compile(model) if a.compile else model
for batch in loader:
    optimizer.zero_grad()
    run(**batch)["loss"].backward()
    optimizer.step()
tell(model, a.steps)
