#!/usr/bin/env python3
"""Data-parallel training over gloo. One process a rank, told by RANK, WORLD_SIZE, MASTER_ADDR and
MASTER_PORT; --slow-rank computes longer than the others."""

import argparse
import hashlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.norm(x)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--slow-rank", type=int, default=-1)
    p.add_argument("--slow-ms", type=float, default=20)
    p.add_argument("--hash", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    model = DistributedDataParallel(Model(a.width))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch.manual_seed(100 + rank)
    data = torch.utils.data.TensorDataset(torch.randn(16 * a.steps, a.width))
    begin = time.monotonic()
    for (x,) in torch.utils.data.DataLoader(data, batch_size=16):
        loss = model(x).square().mean()
        if rank == a.slow_rank:
            time.sleep(a.slow_ms / 1e3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    took = time.monotonic() - begin
    print("loss %.6f" % float(total))
    print("steps %d, %.1f steps/s" % (a.steps, a.steps / took))
    if a.hash:
        digest = hashlib.sha256()
        for name, value in sorted(model.module.state_dict().items()):
            digest.update(name.encode() + value.numpy().tobytes())
        print("hash %s" % digest.hexdigest())
    # Gloo lets go of tensors, for which its threads need the lock of Python, before they are ended.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
