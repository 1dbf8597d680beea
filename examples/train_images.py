#!/usr/bin/env python3
"""Train a small CNN on made-up images that are decoded from files: a job whose loader works
hard."""

import argparse
import hashlib
import os
import tempfile
import time
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    """Files of compressed pixels; decode_ms of CPU and sleep_ms of waiting come on top for each."""

    def __init__(self, folder, count, side, decode_ms, sleep_ms):
        self.paths = [os.path.join(folder, "%05d.bin" % i) for i in range(count)]
        self.side, self.decode_s, self.sleep_s = side, decode_ms / 1e3, sleep_ms / 1e3
        random = torch.Generator().manual_seed(7)
        for path in self.paths:
            pixels = torch.randint(0, 256, (3 * side * side,), dtype=torch.uint8, generator=random)
            with open(path, "wb") as f:
                f.write(zlib.compress(bytes(pixels.tolist())))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with open(self.paths[i], "rb") as f:
            packed = f.read()
        end = time.thread_time() + self.decode_s
        pixels = bytearray(zlib.decompress(packed))
        while time.thread_time() < end:
            zlib.decompress(packed)
        if self.sleep_s:
            time.sleep(self.sleep_s)
        image = torch.frombuffer(pixels, dtype=torch.uint8).view(3, self.side, self.side)
        return image.float() / 255, i % 10


def make_model():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )


def validate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in loader:
            right += int((model(images).argmax(1) == labels).sum())
    model.train()
    return right


def state_hash(model):
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode() + bytes(value.numpy().tobytes()))
    return digest.hexdigest()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--images", type=int, default=512)
    p.add_argument("--side", type=int, default=32)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--workers", type=int, default=0)
    p.add_argument("--decode-ms", type=float, default=0)
    p.add_argument("--sleep-ms", type=float, default=0)
    p.add_argument("--accumulate", type=int, default=1, help="batches for each optimizer step")
    p.add_argument("--validate", action="store_true", help="look at 64 images after each epoch")
    p.add_argument("--save", help="write a checkpoint here after each epoch")
    p.add_argument("--hash", action="store_true", help="print a hash of the weights at the end")
    a = p.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        data = Images(folder, a.images, a.side, a.decode_ms, a.sleep_ms)
        loader = DataLoader(data, batch_size=a.batch, shuffle=True, num_workers=a.workers)
        held_out = DataLoader(torch.utils.data.Subset(data, range(64)), batch_size=a.batch)
        model = make_model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        loss_of = nn.CrossEntropyLoss()
        steps, begin = 0, time.monotonic()
        for epoch in range(a.epochs):
            for i, (images, labels) in enumerate(loader):
                loss = loss_of(model(images), labels) / a.accumulate
                loss.backward()
                if (i + 1) % a.accumulate == 0:
                    optimizer.step()
                    optimizer.zero_grad()
                    steps += 1
            right = validate(model, held_out) if a.validate else -1
            if a.save:
                torch.save(model.state_dict(), a.save)
            print("epoch %d loss %.6f right %d" % (epoch, float(loss.detach()), right))
        took = time.monotonic() - begin
        print("steps %d, %.1f steps/s" % (steps, steps / took))
        if a.hash:
            print("hash %s" % state_hash(model))


if __name__ == "__main__":
    main()
