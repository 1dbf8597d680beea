"""Samples that come from far away, each takes so many milliseconds, most of them asleep; a model;
and what a job can be slowed down by."""

import gc
import os
import time

import torch

WARM = 20  # steps, before they are timed
COLLECT_EVERY, SAVE_EVERY = 5, 2  # steps, where there is garbage, or a folder


def spend(milliseconds):
    """On a CPU, in Python."""
    end = time.thread_time() + milliseconds / 1e3
    while time.thread_time() < end:
        pass


class Samples(torch.utils.data.Dataset):
    def __init__(self, count, a, labels="labels"):
        self.count, self.a, self.labels = count, a, labels
        self.files = sorted(os.listdir(a.data)) if a.data else []

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if self.files:
            with open(os.path.join(self.a.data, self.files[i % len(self.files)]), "rb") as f:
                f.read()
        if self.a.sleep_ms:
            time.sleep(self.a.sleep_ms / 1e3)
        spend(self.a.decode_ms)
        x = torch.arange(32, dtype=torch.float32).mul(i + 1).sin()
        return {"x": x, self.labels: i % 4}


class Model(torch.nn.Module):
    """Returns its loss, as models of Transformers do."""

    def __init__(self, width=128):
        super().__init__()
        wide = [torch.nn.Linear(width, width), torch.nn.ReLU()] if width > 128 else []
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(32, width), torch.nn.ReLU(), *wide, torch.nn.Linear(width, 4)
        )

    def forward(self, x, labels):
        y = self.layers(x)
        return {"loss": torch.nn.functional.cross_entropy(y, labels), "logits": y}


class Beside:
    """What a loop does beside training, behind each step: metrics in Python, objects that point to
    each other and are collected now and then."""

    def __init__(self, a):
        self.a, self.done, self.begin = a, 0, 0.0
        self.kept = [[None]]
        for _ in range(a.garbage):
            self.kept.append([self.kept[-1], {"a": self.kept[-1]}])

    def step(self):
        self.done += 1
        if self.done == WARM:
            self.begin = time.monotonic()
        elif self.done == self.a.steps:
            took = (time.monotonic() - self.begin) / (self.done - WARM)
            print("step %.6f s" % took, flush=True)
        spend(self.a.work_ms)
        if self.a.garbage and self.done % COLLECT_EVERY == 0:
            gc.collect()

    def saves(self):
        """Where the weights go behind this step; None when they stay."""
        return self.a.save if self.done % SAVE_EVERY == 0 and self.a.save else None


def tell(model, steps):
    """What is compared: the steps, and every bit of the weights."""
    import hashlib

    digest = hashlib.sha256()
    for p in model.parameters():
        p = p.full_tensor() if hasattr(p, "full_tensor") else p
        digest.update(p.detach().cpu().numpy().tobytes())
    print("steps %d weights %s" % (steps, digest.hexdigest()[:16]), flush=True)
