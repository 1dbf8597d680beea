#!/usr/bin/env python3
"""Train a tiny transformer on a memory-mapped file of tokens, without a DataLoader."""

import argparse
import array
import hashlib
import mmap
import os
import random
import tempfile
import time

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.block = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.block(self.embed(tokens)))


def write_tokens(path, count, vocabulary):
    numbers = random.Random(3)
    with open(path, "wb") as f:
        array.array("H", [numbers.randrange(vocabulary) for _ in range(count)]).tofile(f)


def state_hash(model):
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode() + bytes(value.numpy().tobytes()))
    return digest.hexdigest()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=50)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--length", type=int, default=32)
    p.add_argument("--hash", action="store_true")
    a = p.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tokens.bin")
        write_tokens(path, 50000, 256)
        with open(path, "rb") as f:
            tokens = memoryview(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)).cast("H")
        numbers = random.Random(5)
        model = Model(256, 64)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        begin = time.monotonic()
        for _ in range(a.steps):
            starts = [numbers.randrange(len(tokens) - a.length - 1) for _ in range(a.batch)]
            rows = torch.tensor([list(tokens[s : s + a.length + 1]) for s in starts])
            logits = model(rows[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        took = time.monotonic() - begin
        print("loss %.6f" % float(loss.detach()))
        print("steps %d, %.1f steps/s" % (a.steps, a.steps / took))
        if a.hash:
            print("hash %s" % state_hash(model))


if __name__ == "__main__":
    main()
