"""Twenty jobs, each with a line that takes most of its time: it ends in "# slow". A few of them
have more than one such line, which then are one statement or loop. Each trains until the file that
its first argument names is there; one of that name and ".begun" tells of its fifth step."""

TRAIN = '''\
import os
import sys

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

{before}

class Items(Dataset):
    def __len__(self):
        return 1 << 24

    def __getitem__(self, i):
        return {item}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader({dataset}, batch_size=8, {loader})
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        out = model(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        {loop}
        if step == 5:
            open(sys.argv[1] + ".begun", "w").close()
        if os.path.exists(sys.argv[1]):
            break


if __name__ == "__main__":
    main()
'''

PARTS = {
    "before": "",
    "item": "torch.full((64,), float(i % 7)), i % 10",
    "dataset": "Items()",
    "loader": "num_workers=0",
    "loop": "pass",
}

JOBS = {
    "transform": {
        "before": '''\
def augment(i):
    x = [0.0] * 64
    for k in range(64):
        for n in range(30):
            x[k] += (i * 31 + k * n) % 17  # slow
    return torch.tensor(x)
''',
        "item": "augment(i), i % 10",
        "loader": "num_workers=2",
    },
    "collate": {
        "before": '''\
def pad(batch):
    rows = []
    for x, _ in batch:
        rows.append([float(v) * 0.5 for v in x for _ in range(20)][:64])  # slow
    return torch.tensor(rows), torch.tensor([y for _, y in batch])
''',
        "loader": "num_workers=0, collate_fn=pad",
    },
    "json": {
        "before": '''\
import json

HISTORY = [{"step": i, "values": list(range(20))} for i in range(400)]


def log(step, loss):
    HISTORY[step % 400]["loss"] = loss
    text = json.dumps(HISTORY)  # slow
    return len(text)
''',
        "loop": "log(step, loss.item())",
    },
    "callback": {
        "before": '''\
import time


class Progress:
    def on_step(self, step):
        time.sleep(0.01)  # slow


CALLBACKS = [Progress()]
''',
        "loop": "[c.on_step(step) for c in CALLBACKS]",
    },
    "tokenizer": {
        "before": '''\
import re

TEXT = "the quick brown fox's 12 dogs, jumped; over 3.5 lazy cats " * 120
WORD = re.compile(r"'s|[a-z]+|[0-9]+(?:\\.[0-9]+)?|[^a-z0-9 ]+")


def tokens(i):
    found = WORD.findall(TEXT)  # slow
    return torch.full((64,), float(len(found) + i % 7))
''',
        "item": "tokens(i), i % 10",
        "loader": "num_workers=2",
    },
    "lock": {
        "before": '''\
import threading
import time

LOCK = threading.Lock()
COUNTS = {"steps": 0}


def export():
    while True:
        with LOCK:
            time.sleep(0.02)
        time.sleep(0.001)


def count():
    LOCK.acquire()  # slow
    COUNTS["steps"] += 1
    LOCK.release()


threading.Thread(target=export, daemon=True).start()
''',
        "loop": "count()",
    },
    "open": {
        "before": '''\
def settings():
    total = 0
    for _ in range(400):
        with open(__file__) as f:  # slow
            total += f.fileno()
    return total
''',
        "loop": "settings()",
    },
    "pickle": {
        "before": '''\
import pickle

STATE = {"seen": list(range(200000)), "name": "x" * 1000}


def remember():
    return len(pickle.dumps(STATE))  # slow
''',
        "loop": "remember()",
    },
    "checkpoint": {
        "before": '''\
BIG = torch.nn.Linear(1500, 1500)


def save():
    torch.save(BIG.state_dict(), "state.pt")  # slow
''',
        "loop": "save()",
    },
    "print": {
        "before": '''\
def report(out):
    for row in out.tolist() * 60:
        print("row", *row, flush=True)  # slow
''',
        "loop": "report(out)",
    },
    "sort": {
        "before": '''\
POOL = numpy.random.default_rng(0).random(200000)


def hardest():
    return numpy.sort(POOL)[-5:]  # slow
''',
        "loop": "hardest()",
    },
    "decode": {
        "before": '''\
RAW = bytes(range(256)) * 12


def decode(raw):
    out, last = [], 0
    for b in raw:  # slow
        last = (last + b) & 255  # slow
        out.append(last)  # slow
    return out


class Picture:
    def __init__(self, raw):
        self.raw = raw

    def load(self):
        return torch.tensor(decode(self.raw)[:64], dtype=torch.float32)
''',
        "item": "Picture(RAW).load(), i % 10",
    },
    "sampler": {
        "before": '''\
class Shuffled(torch.utils.data.Sampler):
    def __init__(self):
        self.left = list(range(400000))

    def __iter__(self):
        while True:
            self.left = self.left[1:] + self.left[:1]  # slow
            yield self.left[0]

    def __len__(self):
        return 1 << 24
''',
        "loader": "num_workers=0, sampler=Shuffled()",
    },
    "gc": {
        "before": '''\
import gc

KEPT = [[i] for i in range(150000)]


def tidy():
    gc.collect()  # slow
''',
        "loop": "tidy()",
    },
    "subprocess": {
        "before": '''\
import subprocess


def probe():
    return subprocess.run(["sleep", "0.02"], check=True)  # slow
''',
        "loop": "probe()",
    },
    "csv": {
        "before": '''\
import csv

LINES = [",".join(str((i * k) % 97) for k in range(65)) for i in range(100)]


class Rows(IterableDataset):
    def __iter__(self):
        while True:
            for row in csv.reader(LINES):
                values = [float(v) for v in row * 6][:65]  # slow
                yield torch.tensor(values[:64]), int(values[64]) % 10
''',
        "dataset": "Rows()",
    },
    "property": {
        "before": '''\
class Meter:
    def __init__(self):
        self.losses = [0.5] * 2000

    @property
    def mean(self):
        return sum(v * v for v in self.losses) / len(self.losses)  # slow


METER = Meter()
''',
        "loop": '''for _ in range(40):
            METER.losses[step % 2000] = METER.mean''',
    },
    "lambda": {
        "before": '''\
def scale(values):
    half = lambda v: v / 2 + sum(range(200))  # slow
    return [half(v) for v in values]  # slow
''',
        "loop": "scale(range(2000))",
    },
    "generator": {
        "before": '''\
def windows(values, n):
    for i in range(len(values) - n):
        yield sum(values[i : i + n])  # slow


VALUES = list(range(2000))
''',
        "loop": "max(windows(VALUES, 200))",
    },
    "item": {
        "before": '''\
def accuracy(out, y):
    right = 0
    for k in range(800):
        right += (out[k % 8].argmax() == y[k % 8]).item()  # slow
    return right / 800
''',
        "loop": "accuracy(out, y)",
    },
}


def source(name):
    """The text of a job, and the numbers of its slow lines."""
    text = TRAIN.format(**dict(PARTS, **JOBS[name]))
    slow = [i for i, line in enumerate(text.splitlines(), 1) if line.endswith("# slow")]
    return text, slow
