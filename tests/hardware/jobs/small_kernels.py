"""Many layers with next to nothing to do in each."""

import torch
from made import many_layers, options

a = options(layers=150, batch=8, width=64)

data = torch.utils.data.TensorDataset(
    torch.rand(a.steps * a.batch, a.width), torch.arange(a.steps * a.batch) % 10
)
loader = torch.utils.data.DataLoader(data, batch_size=a.batch, pin_memory=a.device == "cuda")
model = many_layers(a.layers, a.width).to(a.device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
loss_of = torch.nn.CrossEntropyLoss()
for rows, labels in loader:
    rows, labels = rows.to(a.device), labels.to(a.device)
    optimizer.zero_grad()
    loss_of(model(rows), labels).backward()
    optimizer.step()
