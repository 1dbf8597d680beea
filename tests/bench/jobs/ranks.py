#!/usr/bin/env python3
"""Data-parallel training over gloo for about --seconds; RANK, WORLD_SIZE, MASTER_ADDR and
MASTER_PORT are in the environment. Without WORLD_SIZE it trains alone."""

import argparse
import os
import random
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

PROBED = 6  # steps that tell how long one takes


class Samples(Dataset):
    def __init__(self, sleep_ms):
        self.kept, self.sleep_s = torch.rand(64, 256), sleep_ms / 1e3

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        if self.sleep_s:
            time.sleep(self.sleep_s)
        return self.kept[i % 64]


class Lengths:
    """Batches of unequal length: as of sentences that are not sorted."""

    def __init__(self, a, rank):
        self.a, self.random = a, random.Random(1000 + rank)
        self.batch = int(a.batch * (a.more if rank == 1 else 1))

    def __iter__(self):
        at = 0
        while True:
            n = self.batch
            if self.a.spread:
                n = max(1, int(n * self.random.lognormvariate(0, self.a.spread)))
            yield list(range(at, at + n))
            at += n

    def __len__(self):
        return 1 << 18


class Model(nn.Module):
    def __init__(self, width, layers, repeat):
        super().__init__()
        self.into = nn.Linear(256, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.repeat = repeat

    def forward(self, x):
        x = self.into(x)
        for _ in range(self.repeat):
            for layer in self.layers:
                x = torch.relu(layer(x))
        return x


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--width", type=int, default=256)
    p.add_argument("--layers", type=int, default=3)
    p.add_argument("--repeat", type=int, default=1, help="passes through the same weights")
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--slow-rank", type=int, default=-1)
    p.add_argument("--slow-ms", type=float, default=0)
    p.add_argument("--slow-kind", default="sleep")
    p.add_argument("--spread", type=float, default=0, help="of the batches' lengths, in logarithms")
    p.add_argument("--more", type=float, default=1, help="rank 1's samples to the others'")
    p.add_argument("--sleep-ms", type=float, default=0, help="for a sample, in the loader")
    p.add_argument("--sleep-rank", type=int, default=-1, help="of that rank alone")
    return p.parse_args()


def slow(a):
    if a.slow_kind == "sleep":
        time.sleep(a.slow_ms / 1e3)
    end = time.thread_time() + a.slow_ms / 1e3
    while a.slow_kind != "sleep" and time.thread_time() < end:
        pass


def main():
    a = parse()
    world, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    torch.manual_seed(1)
    model = Model(a.width, a.layers, a.repeat)
    if world > 1:
        dist.init_process_group("gloo")
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    last, took, steps = time.monotonic(), [], 1 << 30
    late = a.sleep_rank in (-1, rank)
    loader = DataLoader(Samples(a.sleep_ms if late else 0), batch_sampler=Lengths(a, rank))
    for i, x in enumerate(loader):
        loss = model(x).square().mean()
        if rank == a.slow_rank:
            slow(a)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        now = time.monotonic()
        took.append(now - last)
        last = now
        if i == PROBED:
            mean = torch.tensor([sum(took[2:]) / len(took[2:])])
            if world > 1:
                dist.all_reduce(mean, dist.ReduceOp.MAX)
            steps = max(12, min(4000, int(a.seconds / float(mean))))
        if i + 1 >= steps:
            break
    took = sorted(took[3:])
    mean = sum(took) / len(took)
    if rank == 0:
        print("steps %d median_s %.6f mean_s %.6f" % (len(took), took[len(took) // 2], mean))
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
