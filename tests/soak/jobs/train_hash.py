#!/usr/bin/env python3
"""Train a small model in a fixed number of steps, two epochs of them, with a loader whose samples
take their time. Prints a hash of the order of its samples and of all its weights, bit for bit."""

import argparse
import hashlib
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Made(Dataset):
    def __init__(self, count, sleep_ms):
        self.kept = torch.rand(64, 256, generator=torch.Generator().manual_seed(7))
        self.count, self.sleep_ms = count, sleep_ms

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        time.sleep(self.sleep_ms / 1e3)
        return self.kept[i % 64] + i % 13, i % 10, i


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=600)
    p.add_argument("--sleep-ms", type=float, default=2)
    a = p.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    batch = 4
    loader = DataLoader(Made(a.steps // 2 * batch, a.sleep_ms), batch_size=batch, shuffle=True)
    model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    seen = hashlib.blake2b(digest_size=8)
    for _ in range(2):
        for x, y, i in loader:
            seen.update(i.numpy().tobytes())
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    for weights in model.state_dict().values():
        seen.update(weights.numpy().tobytes())
    print("weights", seen.hexdigest(), flush=True)


if __name__ == "__main__":
    main()
