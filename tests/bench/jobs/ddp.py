#!/usr/bin/env python3
"""Data-parallel training over gloo that learns something: so many steps, the same samples whatever
the speed. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are in the environment. Rank 0 prints the
mean loss of the last steps."""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

LAST = 20


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--width", type=int, default=360)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--times", help="rank 0 writes the end of each step here, in seconds")
    return p.parse_args()


def samples(count, width, rank):
    """A smooth function of the inputs, the same for all ranks, to be learned."""
    teacher = torch.randn(width, 8, generator=torch.Generator().manual_seed(5)) / width**0.5
    x = torch.randn(count, width, generator=torch.Generator().manual_seed(100 + rank))
    return TensorDataset(x, torch.tanh(x @ teacher))


def make_model(width, layers):
    torch.manual_seed(1)
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(width, 8))


def main():
    a = parse()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(make_model(a.width, a.layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    data = samples(a.batch * a.steps, a.width, rank)
    ends, losses, begin = [], [], time.monotonic()
    for x, y in DataLoader(data, batch_size=a.batch):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        ends.append(time.monotonic() - begin)
    loss = torch.tensor([sum(losses[-LAST:]) / LAST])
    dist.all_reduce(loss)
    if rank == 0:
        mean = ends[-1] / len(ends)
        print("steps %d mean_s %.6f loss %.5f" % (len(ends), mean, loss / dist.get_world_size()))
        if a.times:
            with open(a.times, "w") as f:
                f.writelines("%.6f\n" % t for t in ends)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
