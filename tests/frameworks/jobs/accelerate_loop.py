"""A loop with Hugging Face's Accelerate, as its quick tour has it."""

import os

import accelerate
import torch
from accelerate.utils import set_seed
from options import options
from samples import Beside, Model, Samples, tell

a = options(accumulate=1, profile=0)

set_seed(a.seed)
handlers = [accelerate.ProfileKwargs(activities=["cpu"])] if a.profile else []
accelerator = accelerate.Accelerator(
    cpu=True, gradient_accumulation_steps=a.accumulate, kwargs_handlers=handlers
)
model = Model(a.width)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(
    Samples(8 * a.steps * a.accumulate, a),
    batch_size=8,
    shuffle=True,
    num_workers=a.workers,
)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
beside = Beside(a)


def train():
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(**batch)["loss"])
            optimizer.step()
            optimizer.zero_grad()
        beside.step()
        if folder := beside.saves():
            accelerator.save_state(os.path.join(folder, "last"))


if a.profile:
    with accelerator.profile() as profile:
        train()
    print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=5))
else:
    train()
tell(accelerator.unwrap_model(model), a.steps)
