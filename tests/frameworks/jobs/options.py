"""What each job is told."""

import argparse


def options(**more):
    """more: a job's own, with their defaults."""
    p = argparse.ArgumentParser()
    numbers = {"steps": 600, "sleep_ms": 2.0, "workers": 0, "seed": 0, "width": 128, **more}
    # What slows it down, on purpose; of PyTorch's jobs.
    numbers.update(decode_ms=0.0, data="", work_ms=0.0, garbage=0, save="")
    for name, default in numbers.items():
        p.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    return p.parse_args()
