"""A loop that somebody wrote with numpy alone."""

import numpy as np
from arrays import batch, tell
from options import options

a = options()
random = np.random.default_rng(a.seed)
first = random.standard_normal((64, 256), np.float32) / 8
second = random.standard_normal((256, 8), np.float32) / 16
for i in range(a.steps):
    x, y = batch(i, a.seed, a.sleep_ms)
    hidden = np.maximum(x @ first, 0)
    scores = np.exp(hidden @ second)
    error = scores / scores.sum(1, keepdims=True)
    error[np.arange(len(y)), y] -= 1
    back = (error @ second.T) * (hidden > 0)
    second -= 1e-3 * hidden.T @ error
    first -= 1e-3 * x.T @ back
tell([first, second], i + 1)
