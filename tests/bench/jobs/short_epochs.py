#!/usr/bin/env python3
"""A job without workers, whose samples take 3 ms each and whose epochs are 16 steps long. Prints
the steps of each second."""

import argparse
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __init__(self, samples, sample_s):
        self.x = torch.randn(samples, 32, generator=torch.Generator().manual_seed(5))
        self.sample_s = sample_s

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        time.sleep(self.sample_s)
        return self.x[i]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epoch", type=int, default=16, help="steps")
    p.add_argument("--sample-ms", type=float, default=3)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--workers", type=int, default=0)
    p.add_argument("--persistent", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(
        Slow(a.batch * a.epoch, a.sample_ms / 1e3),
        batch_size=a.batch,
        shuffle=True,
        num_workers=a.workers,
        persistent_workers=a.persistent,
    )
    begun = told = time.monotonic()
    steps = 0
    while told - begun < a.seconds:
        for x in loader:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            now = time.monotonic()
            if now - told >= 1:
                print("%.1f" % (steps / (now - told)), flush=True)
                told, steps = now, 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
