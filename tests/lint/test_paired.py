"""The statistics of script/bench overhead: intervals hold as often as they say, also when one stops
as soon as they are narrow enough."""

import importlib.util
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location(
    "paired", os.path.join(HERE, "..", "bench", "paired.py")
)
paired = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(paired)


def noise(rng):
    """As blocks on a shared machine: most lie close, one of ten does not."""
    return rng.gauss(0, 2.0 if rng.random() < 0.1 else 0.3)


def covered(shift, runs, rng):
    """How often the interval has the shift in it, and how many values that took in the mean."""
    hits, used = 0, 0
    for _ in range(runs):
        values = []
        while len(values) < 60:
            values += [shift + noise(rng) for _ in range(5)]
            if paired.is_narrow(values, 0.12, 20):
                break
        _, low, high = paired.interval(values)
        hits += low <= shift <= high
        used += len(values)
    return hits / runs, used / runs


def test_interval_holds():
    rng = random.Random(4)
    share, used = covered(0.1, 400, rng)
    assert 0.92 <= share <= 0.98, share
    assert 20 < used < 60, used  # some stopped before their time


def test_a_difference_is_seen():
    rng = random.Random(5)
    seen = sum(paired.interval([0.5 + noise(rng) for _ in range(40)])[1] > 0 for _ in range(50))
    assert seen >= 48


def test_wild_values_do_not_move_it():
    values = [0.1 * (i % 5 - 2) for i in range(30)]
    assert abs(paired.middle(values + [50.0, 60.0])) < 0.1
    assert abs(sum(values + [50.0, 60.0]) / 32) > 3


def test_few_values():
    assert paired.interval([1.0, 2.0])[1:] == (-float("inf"), float("inf"))
    assert paired.middle([1.0, 2.0, 9.0]) == 3.5
