"""A loop that times its own stages, by events on a GPU: what brim says of them is compared with it.
Prints JSON: steps, batch, seconds of the last half of the steps, the median of each stage, the
loss."""

import json
import statistics
import time

import torch
from made import Images, convolutions, options

a = options(width=256, workers=8, measure=0)
on_gpu = a.device == "cuda"
stages = ("copy", "forward", "backward", "optimizer")
seen = {stage: [] for stage in stages}


class Clock:
    """Points between the stages of a step, by the device where there is one."""

    def __init__(self):
        self.points = []

    def point(self):
        if not a.measure:
            return
        if on_gpu:
            self.points.append(torch.cuda.Event(enable_timing=True))
            self.points[-1].record()
        else:
            self.points.append(time.perf_counter())

    def read(self):
        if on_gpu and self.points:
            self.points[-1].synchronize()
        for stage, first, last in zip(stages, self.points, self.points[1:]):
            seen[stage].append(first.elapsed_time(last) / 1e3 if on_gpu else last - first)


def now():
    """When all that was asked of the device is done."""
    if on_gpu:
        torch.cuda.synchronize()
    return time.perf_counter()


def main():
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(
        Images(a.steps * a.batch, a.side),
        batch_size=a.batch,
        num_workers=a.workers,
        pin_memory=on_gpu,
    )
    model = convolutions(a.width).to(a.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loss_of = torch.nn.CrossEntropyLoss()
    for step, (images, labels) in enumerate(loader):
        if step == a.steps // 2:
            begin = now()
        clock = Clock()
        clock.point()
        images = images.to(a.device, non_blocking=True)
        labels = labels.to(a.device, non_blocking=True)
        clock.point()
        loss = loss_of(model(images), labels)
        clock.point()
        optimizer.zero_grad()
        loss.backward()
        clock.point()
        optimizer.step()
        clock.point()
        clock.read()
    medians = {stage: statistics.median(took) for stage, took in seen.items() if took}
    told = {"steps": a.steps, "batch": a.batch, "seconds": now() - begin, "median_s": medians}
    print(json.dumps({**told, "loss": loss.item()}))


if __name__ == "__main__":  # workers may be started anew
    main()
