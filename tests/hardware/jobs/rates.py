"""What PyTorch reaches on the first GPU: products of matrices, copies on it, copies to and from the
host. Prints JSON."""

import json
import time

import torch

SIDE, SECONDS = 8192, 1.5
MIB = 256


def timed(work, seconds=SECONDS):
    """Least seconds of one call, by the device's clock."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    best, end = float("inf"), time.monotonic() + seconds
    while time.monotonic() < end:
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(5):
            work()
        last.record()
        last.synchronize()
        best = min(best, first.elapsed_time(last) / 5e3)
    return best


def product(kind):
    a, b = (torch.randn(SIDE, SIDE, device="cuda").to(kind) for _ in range(2))
    to = torch.empty_like(a)
    return 2 * SIDE**3 / timed(lambda: torch.mm(a, b, out=to)) / 1e12


def copy_on_device():
    a = torch.empty(SIDE * SIDE, dtype=torch.float64, device="cuda")
    to = torch.empty_like(a)
    return 2 * a.nbytes / timed(lambda: to.copy_(a)) / 1e9


def copy_over_link(pinned, to_device):
    host = torch.empty(MIB << 20, dtype=torch.uint8, pin_memory=pinned)
    host.fill_(1)
    card = torch.empty(MIB << 20, dtype=torch.uint8, device="cuda")
    to, source = (card, host) if to_device else (host, card)
    return (MIB << 20) / timed(lambda: to.copy_(source, non_blocking=pinned), 0.7) / 1e9


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    told = {
        "bfloat16_tflops": product(torch.bfloat16),
        "float32_tflops": product(torch.float32),
        "float64_tflops": product(torch.float64),
        "copy_gbs": copy_on_device(),
        "to_device_pinned_gbs": copy_over_link(True, True),
        "to_host_pinned_gbs": copy_over_link(True, False),
        "to_device_pageable_gbs": copy_over_link(False, True),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
