"""The model is saved in each step."""

import os
import tempfile

import torch
from made import Images, many_layers, options

a = options(layers=8, width=1024, side=16)

loader = torch.utils.data.DataLoader(
    Images(a.steps * a.batch, a.side), batch_size=a.batch, pin_memory=a.device == "cuda"
)
first = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * a.side**2, a.width))
model = torch.nn.Sequential(first, many_layers(a.layers, a.width)).to(a.device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loss_of = torch.nn.CrossEntropyLoss()
with tempfile.TemporaryDirectory() as folder:
    for images, labels in loader:
        images, labels = images.to(a.device), labels.to(a.device)
        optimizer.zero_grad()
        loss_of(model(images), labels).backward()
        optimizer.step()
        torch.save(model.state_dict(), os.path.join(folder, "last.pt"))
