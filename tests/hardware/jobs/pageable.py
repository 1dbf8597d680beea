"""Large batches that are there, in memory that the device cannot copy from by itself."""

import torch
from made import Batches, convolutions, options

a = options(side=512, width=16)

loader = torch.utils.data.DataLoader(Batches(a.steps, a.batch, a.side), batch_size=None)
model = convolutions(a.width).to(a.device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loss_of = torch.nn.CrossEntropyLoss()
for images, labels in loader:
    images, labels = images.to(a.device), labels.to(a.device)
    optimizer.zero_grad()
    loss_of(model(images), labels).backward()
    optimizer.step()
