"""Keep the first GPU busy for so many seconds."""

import argparse
import time

import torch

p = argparse.ArgumentParser()
p.add_argument("--seconds", type=float, default=30)
a = p.parse_args()

x, y = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
to = torch.empty_like(x)
end, told = time.monotonic() + a.seconds, False
begin = time.monotonic()
while time.monotonic() < end:
    for _ in range(20):
        torch.mm(x, y, out=to)
    torch.cuda.synchronize()
    if not told and time.monotonic() > begin + 3:  # clocks and power have risen
        print("computes", flush=True)
        told = True
