"""Differences of pairs: their middle, and how sure it is. Nothing but the standard library."""

import math

Z = 1.959964  # 95 % of a normal distribution, both sides


def walsh(values):
    """The means of all pairs, each value with itself among them, in order."""
    return sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])


def middle(values):
    """Hodges and Lehmann's estimate: the median of the means of all pairs. Of a normal distribution
    it varies 5 % more than the mean, of one with wild values much less."""
    means = walsh(values)
    n = len(means)
    return (means[(n - 1) // 2] + means[n // 2]) / 2


def interval(values):
    """(middle, low, high): 95 %, after Wilcoxon's signed ranks. It asks nothing of the values but
    that they lie alike on both sides of the middle: differences of pairs whose order was drawn do.
    Five values and less have no such interval."""
    means, n = walsh(values), len(values)
    left = n * (n + 1) / 4 - Z * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    k = math.floor(left)
    if n <= 5 or k < 0:
        return middle(values), -math.inf, math.inf
    return middle(values), means[k], means[len(means) - 1 - k]


def is_narrow(values, half_width, least):
    """Whether there are values enough to stop: so many, and an interval that narrow."""
    if len(values) < least:
        return False
    _, low, high = interval(values)
    return (high - low) / 2 < half_width
