"""A load that takes nothing: the fake drivers say what they say."""

import time

print("computes", flush=True)
time.sleep(60)
