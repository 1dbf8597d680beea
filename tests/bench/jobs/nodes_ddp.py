#!/usr/bin/env python3
"""Data-parallel training over gloo whose batches take their time to come: so many steps, the same
batches whatever the speed. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are in the environment.
Each rank prints a hash of its weights; with --rings it leaves a copy of its marks."""

import argparse
import glob
import hashlib
import os
import shutil
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Slow(nn.Module):
    """What a node with a fault adds to each forward."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def forward(self, x):
        time.sleep(self.seconds)
        return x


class Batches(Dataset):
    """Batch i of a rank is the same whoever loads it, and whenever."""

    def __init__(self, count, width, rank, fetch):
        self.count, self.width, self.rank, self.fetch = count, width, rank, fetch

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        time.sleep(self.fetch)
        g = torch.Generator().manual_seed(1000003 * self.rank + i)
        x = torch.randn(16, self.width, generator=g)
        return x, torch.tanh(x[:, :8])


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=300)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--fetch", type=float, default=0.02, help="seconds to fetch a batch")
    p.add_argument("--slow", type=int, default=-1, help="a rank that is slow")
    p.add_argument("--slow-by", type=float, default=0.02)
    p.add_argument("--rings", help="a folder for a copy of the marks")
    return p.parse_args()


def weights(model):
    h = hashlib.sha256()
    for p in model.parameters():
        h.update(p.detach().numpy().tobytes())
    return h.hexdigest()[:16]


def main():
    a = parse()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    parts = [Slow(a.slow_by if rank == a.slow else 0), nn.Linear(a.width, a.width), nn.ReLU()]
    model = DistributedDataParallel(nn.Sequential(*parts, nn.Linear(a.width, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for x, y in DataLoader(Batches(a.steps, a.width, rank, a.fetch), batch_size=None):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.barrier()
    for ring in glob.glob("%s/rank-*-%d*.ring" % (os.environ.get("BRIM_RING"), os.getpid())):
        if a.rings:
            shutil.copy(ring, os.path.join(a.rings, "rank-%d" % rank))
    print("rank %d weights %s" % (rank, weights(model)), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
