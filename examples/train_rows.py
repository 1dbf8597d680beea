"""A job that waits for its rows, as for small files of a shared disk (docs/tutorial.md)."""

import time
import torch

rows, labels = torch.randn(6400, 64), torch.randint(0, 2, (6400,))


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return len(rows)

    def __getitem__(self, i):
        time.sleep(0.003)  # as long as a small file of a shared disk takes
        return rows[i], labels[i]


model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in torch.utils.data.DataLoader(Samples(), batch_size=16):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
