#!/usr/bin/env python3
"""Train a small CNN on photos of a store that is far away, as first versions of such scripts are:
no workers, one request after the other. With RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the
environment it is one rank of several."""

import argparse
import hashlib
import os
import time
import urllib.request
import zlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

SIDE = 48


class Photos(Dataset):
    def __init__(self, store, count):
        self.store, self.count = store, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        with urllib.request.urlopen("%s/photo/%d" % (self.store, i)) as answer:
            pixels = bytearray(zlib.decompress(answer.read()))
        return torch.frombuffer(pixels, dtype=torch.uint8).view(3, SIDE, SIDE).float() / 255, i % 10


def make_model():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(24, 48, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(48, 10),
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("store", help="its address: http://HOST:PORT")
    p.add_argument("--photos", type=int, default=4000)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--hash", action="store_true", help="print a hash of the weights at the end")
    a = p.parse_args()
    torch.set_num_threads(1)
    world = int(os.environ.get("WORLD_SIZE", "1"))
    data, model = Photos(a.store, a.photos), make_model()
    if world > 1:
        dist.init_process_group("gloo")
        model = DistributedDataParallel(model)
    sampler = DistributedSampler(data) if world > 1 else None
    loader = DataLoader(data, batch_size=a.batch, sampler=sampler, shuffle=sampler is None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    begin, seen = time.monotonic(), 0
    for epoch in range(a.epochs):
        if sampler:
            sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            seen += len(labels) * world
    took = time.monotonic() - begin
    if int(os.environ.get("RANK", "0")) == 0:
        print("%d photos, %.0f/s, loss %.4f" % (seen, seen / took, float(loss.detach())))
        if a.hash:
            weights = b"".join(v.numpy().tobytes() for _, v in sorted(model.state_dict().items()))
            print("hash %s" % hashlib.sha256(weights).hexdigest())
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
