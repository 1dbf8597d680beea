"""A loop with Hugging Face's Accelerate, as its quick tour has it."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from options import options
from samples import Model, Samples, tell

a = options(accumulate=1)

set_seed(a.seed)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=a.accumulate)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(
    Samples(8 * a.steps * a.accumulate, a.sleep_ms),
    batch_size=8,
    shuffle=True,
    num_workers=a.workers,
)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(**batch)["loss"])
        optimizer.step()
        optimizer.zero_grad()
tell(accelerator.unwrap_model(model), a.steps)
