"""What the jobs have in common: options, made-up images, a small network for them."""

import argparse
import time

import torch
from torch import nn

POOL = 32  # images that there are; a sample is one of them


def options(**more):
    """What each job is told; more: its own, with their defaults."""
    p = argparse.ArgumentParser()
    numbers = {"steps": 200, "batch": 64, "side": 128, "width": 64, "workers": 4, **more}
    p.add_argument("--device", default="cuda")
    for name, default in numbers.items():
        p.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    return p.parse_args()


class Images(torch.utils.data.Dataset):
    """Each takes so many milliseconds to come, asleep."""

    def __init__(self, count, side, sleep_ms=0.0):
        random = torch.Generator().manual_seed(7)
        self.pool = torch.rand(POOL, 3, side, side, generator=random)
        self.count, self.sleep_s = count, sleep_ms / 1e3

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if self.sleep_s:
            time.sleep(self.sleep_s)
        return self.pool[i % POOL], i % 10


class Batches(torch.utils.data.Dataset):
    """Whole batches that are there already: a loader has nothing to do."""

    def __init__(self, count, batch, side):
        self.count = count
        self.images = torch.rand(batch, 3, side, side)
        self.labels = torch.arange(batch) % 10

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.images, self.labels


def convolutions(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(2 * width, 4 * width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, 10),
    )


def many_layers(count, width):
    """Each of them next to nothing for a GPU."""
    layers = [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(count)]
    return nn.Sequential(*layers, nn.Linear(width, 10))
