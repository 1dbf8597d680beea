#!/usr/bin/env python3
"""Train on one process until --seconds are over: the model, the data and what else the loop does
are options. Prints the median time of a step and of a sample."""

import argparse
import gc
import mmap
import os
import statistics
import subprocess
import threading
import time
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    """Each sample is a file, which is dropped from the page cache when it was read: the data are
    larger than the memory."""

    def __init__(self, a):
        self.paths = sorted(os.path.join(d, f) for d, _, fs in os.walk(a.data) for f in fs)
        self.a = a
        for path in self.paths if a.cold else []:
            self.drop(path)

    @staticmethod
    def drop(path):
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        path = self.paths[i % len(self.paths)]
        with open(path, "rb") as f:
            data = f.read()
            if self.a.cold:
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        head = torch.frombuffer(bytearray(data[:2048].ljust(2048)), dtype=torch.uint8)
        return head.float() / 255, i % 10


class Made(Dataset):
    """Samples in memory; decode_ms of CPU and sleep_ms of waiting for each."""

    def __init__(self, a):
        self.a = a
        self.kept = torch.rand(64, 2048)
        self.packed = zlib.compress(os.urandom(20000))

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        end = time.thread_time() + self.a.decode_ms / 1e3
        while time.thread_time() < end:
            zlib.decompress(self.packed)
        if self.a.sleep_ms:
            time.sleep(self.a.sleep_ms / 1e3)
        return self.kept[i % 64], i % 10


class Mapped(Dataset):
    """Windows of one large file, in no order, which is mapped: the kernel reads what is touched."""

    def __init__(self, a):
        self.file = open(a.mapped, "rb")
        self.map = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ)
        self.window, self.cold = a.window_kb << 10, a.cold

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        at = i * 7919 % (len(self.map) // self.window) * self.window
        data = self.map[at : at + self.window]
        if self.cold:
            self.map.madvise(mmap.MADV_DONTNEED, at, self.window)
            os.posix_fadvise(self.file.fileno(), at, self.window, os.POSIX_FADV_DONTNEED)
        return torch.frombuffer(bytearray(data[:2048]), dtype=torch.uint8).float() / 255, i % 10


class Cnn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, width // 8, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width // 8, width // 8, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(width // 8, 10),
        )

    def forward(self, x):
        return self.body(x.view(-1, 2, 32, 32))


class Transformer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.into = nn.Linear(64, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(self.into(x.view(-1, 32, 64))).mean(1))


def make_model(a):
    if a.model == "cnn":
        return Cnn(a.width)
    if a.model == "transformer":
        return Transformer(a.width)
    layers = [nn.Linear(2048, a.width), nn.ReLU()]
    for _ in range(a.layers):
        layers += [nn.Linear(a.width, a.width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(a.width, 10))


class Node:
    def __init__(self, other):
        self.other, self.words = other, ["a", "b"]


def litter(count):
    """Objects that point to each other, as caches of a tokenizer or of metrics are."""
    nodes = [None]
    for _ in range(count):
        nodes.append(Node(nodes[-1]))
    nodes[1].other = nodes[-1]
    return nodes


def save(a, weights, path):
    if a.checkpoint_kind == "direct":
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DSYNC), "wb") as f:
            torch.save(weights, f)
        return
    with open(path, "wb") as f:
        torch.save(weights, f)
        f.flush()
        os.fsync(f.fileno())


def spend(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def extra(a):
    if a.extra_kind == "sleep":
        time.sleep(a.extra_ms / 1e3)
    elif a.extra_kind == "write":
        with open(a.extra_file, "a") as f:
            f.write("a step\n")
            f.flush()
            os.fsync(f.fileno())
    elif a.extra_kind == "process":
        text = "import time\nwhile time.process_time() < %g: pass" % (a.extra_ms / 1e3)
        subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", text], check=True)
    else:
        spend(a.extra_ms / 1e3)


def spin():
    x = 0
    while True:
        x += 1


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--model", default="mlp")
    p.add_argument("--width", type=int, default=512)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--workers", type=int, default=0)
    p.add_argument("--data", help="a folder of files; else samples are made")
    p.add_argument("--mapped", help="a file that is mapped into memory")
    p.add_argument("--window-kb", type=int, default=64, help="of it, for a sample")
    p.add_argument("--cold", action="store_true", help="drop files from the cache")
    p.add_argument("--decode-ms", type=float, default=0)
    p.add_argument("--sleep-ms", type=float, default=0)
    p.add_argument("--save", help="write checkpoints here")
    p.add_argument("--save-every", type=int, default=0)
    p.add_argument("--save-mb", type=int, default=32)
    p.add_argument("--checkpoint-kind", default="fsync")
    p.add_argument("--garbage", type=int, default=0, help="objects that live all the time")
    p.add_argument("--collect-every", type=int, default=0)
    p.add_argument("--extra-ms", type=float, default=0, help="beside training")
    p.add_argument("--extra-kind", default="cpu", help="cpu, sleep, process or write")
    p.add_argument("--extra-file", help="to write to")
    p.add_argument("--extra-every", type=int, default=1)
    p.add_argument("--grow-us", type=float, default=0, help="of CPU, more in each step")
    p.add_argument("--spin", action="store_true", help="a second thread that computes in Python")
    p.add_argument("--times", help="write the end of each step here, in seconds from the first")
    return p.parse_args()


def main():
    a = parse()
    torch.manual_seed(1)
    data = Files(a) if a.data else Mapped(a) if a.mapped else Made(a)
    loader = DataLoader(data, batch_size=a.batch, num_workers=a.workers)
    model = make_model(a)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    weights = {"extra": torch.zeros(a.save_mb * 250000)} if a.save else {}
    kept = litter(a.garbage) if a.garbage else None
    if a.spin:
        threading.Thread(target=spin, daemon=True).start()
    took, ends, begin = [], [], time.monotonic()
    end = begin + a.seconds
    last = begin
    for i, (x, y) in enumerate(loader):
        loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if a.collect_every and i % a.collect_every == a.collect_every - 1:
            gc.collect()
        if a.extra_ms and i % a.extra_every == a.extra_every - 1:
            extra(a)
        if a.grow_us:
            spend(i * a.grow_us / 1e6)
        if a.save_every and i % a.save_every == a.save_every - 1:
            save(a, dict(model.state_dict(), **weights), a.save)
        now = time.monotonic()
        took.append(now - last)
        ends.append(now)
        last = now
        if now >= end:
            break
    took = took[min(3, len(took) // 2) :]
    mean = sum(took) / len(took)
    print("steps %d median_s %.6f mean_s %.6f" % (len(took), statistics.median(took), mean))
    if a.times:
        with open(a.times, "w") as f:
            f.writelines("%.6f\n" % (t - begin) for t in ends)
    del kept


if __name__ == "__main__":
    main()
