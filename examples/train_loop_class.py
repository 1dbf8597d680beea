#!/usr/bin/env python3
"""A loop that lives in a class with callbacks, as in trainer libraries: a check of the validation
data first, a batch fetched ahead, step() given a closure, two parameter groups of two
optimizers."""

import argparse
import hashlib
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        random = torch.Generator().manual_seed(9)
        for _ in range(self.count):
            x = torch.randn(16, generator=random)
            yield x, x.sum().reshape(1)


class Job:
    def __init__(self):
        self.body = nn.Sequential(nn.Linear(16, 64), nn.Tanh())
        self.head = nn.Linear(64, 1)

    def optimizers(self):
        return [
            torch.optim.Adam(self.body.parameters(), lr=1e-3),
            torch.optim.SGD(self.head.parameters(), lr=1e-2),
        ]

    def training_step(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.head(self.body(x)), y)


class Trainer:
    def __init__(self, epochs, check_batches, wait_ms):
        self.epochs, self.check_batches, self.wait_s = epochs, check_batches, wait_ms / 1e3
        self.steps = 0

    def validate(self, job, loader, batches):
        """Without no_grad(), and left early: nothing tells that this is no training."""
        total = 0.0
        for i, batch in enumerate(loader):
            if i == batches:
                break
            time.sleep(self.wait_s)
            total += float(job.training_step(batch).detach())
        return total

    @staticmethod
    def fetch_ahead(loader):
        iterator = iter(loader)
        ahead = next(iterator, None)
        while ahead is not None:
            batch, ahead = ahead, next(iterator, None)
            yield batch

    def fit(self, job, train, held_out):
        optimizers = job.optimizers()
        self.validate(job, held_out, self.check_batches)
        for _ in range(self.epochs):
            for batch in self.fetch_ahead(train):
                def closure():
                    for optimizer in optimizers:
                        optimizer.zero_grad(set_to_none=True)
                    loss = job.training_step(batch)
                    loss.backward()
                    return loss

                loss = optimizers[0].step(closure)
                optimizers[1].step()
                self.steps += 1
            self.validate(job, held_out, 4)
        return float(loss.detach())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--samples", type=int, default=512)
    p.add_argument("--wait-ms", type=float, default=0, help="in each batch of a validation")
    p.add_argument("--hash", action="store_true")
    a = p.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    job = Job()
    x = torch.randn(64, 16)
    trainer = Trainer(a.epochs, 2, a.wait_ms)
    begin = time.monotonic()
    train = DataLoader(Stream(a.samples), batch_size=16)
    loss = trainer.fit(job, train, DataLoader(TensorDataset(x, x[:, :1]), batch_size=8))
    print("loss %.6f" % loss)
    print("steps %d, %.1f steps/s" % (trainer.steps, trainer.steps / (time.monotonic() - begin)))
    if a.hash:
        digest = hashlib.sha256()
        for value in [*job.body.parameters(), *job.head.parameters()]:
            digest.update(value.detach().numpy().tobytes())
        print("hash %s" % digest.hexdigest())


if __name__ == "__main__":
    main()
