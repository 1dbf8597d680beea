#!/usr/bin/env python3
"""Train on a dataset of many Python objects, which forked workers copy page by page as they count
references, with a loader whose samples take their time. Prints "weights" and a hash of them."""

import argparse
import hashlib
import time

import torch
from torch import nn
from torch.utils.data import DataLoader


class Objects:
    """Rows that are lists of numbers, each an object of its own."""

    def __init__(self, rows, columns, sleep_ms):
        self.rows = [[float(r * columns + c) for c in range(columns)] for r in range(rows)]
        self.sleep_ms = sleep_ms

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        time.sleep(self.sleep_ms / 1e3)
        sums = [sum(row) for row in self.rows[i :: 97]]  # touches rows from end to end
        return torch.tensor(self.rows[i][:16]) % 7, int(sums[0]) % 10


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=20000)
    p.add_argument("--columns", type=int, default=100)
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--sleep-ms", type=float, default=2)
    a = p.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    data = Objects(a.rows, a.columns, a.sleep_ms)
    loader = DataLoader(data, batch_size=8, shuffle=True)
    model = nn.Linear(16, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    done = 0
    while done < a.steps:
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            done += 1
            if done == a.steps:
                break
    seen = hashlib.blake2b(digest_size=8)
    for weights in model.state_dict().values():
        seen.update(weights.numpy().tobytes())
    print("weights", seen.hexdigest(), flush=True)


if __name__ == "__main__":
    main()
