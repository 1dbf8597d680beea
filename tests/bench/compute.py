#!/usr/bin/env python3
"""What brim bench compute measures here: two libraries in one run, by turns, as a ratio.

One figure alone moves with what else the machine does; the median of ratios of neighbours does not.
Prints name, value, unit, limit and note with tabs between them; script/bench makes the table.
"""

import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

BRIM = os.environ["BRIM"]
ROUNDS = 5


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def measure(folder, path, seconds="300ms"):
    done = subprocess.run(
        [BRIM, "bench", "compute", "--json", "--seconds", seconds, "--blas", path],
        env=dict(os.environ, STATE_DIRECTORY=folder), stdout=subprocess.PIPE, check=True,
        timeout=120
    )
    return json.loads(done.stdout)


def main():
    slow = glob.glob("/usr/lib/*/blas/libblas.so.3")
    fast = glob.glob("/usr/lib/*/openblas-*/libblas.so.3")
    if not slow or not fast:
        print("needs libblas3 and libopenblas0-pthread", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(measure(folder, slow[0]), measure(folder, fast[0])) for _ in range(ROUNDS)]
    for kind in ("float32_gflops", "float64_gflops"):
        for which in ("one_core", "all_cores"):
            ratio = statistics.median(b[kind][which] / a[kind][which] for a, b in pairs)
            note = "%.3g and %.3g GFLOP/s" % tuple(
                statistics.median(x[kind][which] for x in side) for side in zip(*pairs)
            )
            limit = ">= 4" if which == "one_core" else ""
            say("OpenBLAS to reference, %s, %s" % (kind[:7], which[:3]), ratio, "x", limit, note)
    best = max(b["float32_gflops"]["one_core"] for _, b in pairs)
    nominal = pairs[0][1]["float32_gflops"]["nominal_core"]
    if nominal:
        # more than all would mean that the formula is wrong for this CPU
        say("OpenBLAS to nominal, a core", best / nominal, "", "<= 1.1", "float32, the best")
    copies = [b["copy_gbs"] for _, b in pairs]
    say("copies, one core", statistics.median(c["one_core"] for c in copies), "GB/s")
    say("copies, all cores", statistics.median(c["all_cores"] for c in copies), "GB/s")


main()
