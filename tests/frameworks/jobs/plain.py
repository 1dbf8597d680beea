"""The loop of PyTorch's own tutorials."""

import torch
from options import options
from samples import Model, Samples, tell

a = options(compile=0)

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
