"""A figure of each layer is fetched from the device in each step, which waits for it."""

import torch
from made import many_layers, options

a = options(layers=60, batch=64, width=256)

data = torch.utils.data.TensorDataset(
    torch.rand(a.steps * a.batch, a.width), torch.arange(a.steps * a.batch) % 10
)
loader = torch.utils.data.DataLoader(data, batch_size=a.batch, pin_memory=a.device == "cuda")
model = many_layers(a.layers, a.width).to(a.device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
loss_of = torch.nn.CrossEntropyLoss()
log = []
for rows, labels in loader:
    rows, labels = rows.to(a.device), labels.to(a.device)
    optimizer.zero_grad()
    loss = loss_of(model(rows), labels)
    loss.backward()
    optimizer.step()
    log.append([loss.item(), *(p.grad.norm().item() for p in model.parameters())])
