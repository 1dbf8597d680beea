#!/usr/bin/env python3
"""What loader.readahead gains on storage with latency, and that it costs nothing without.

    script/bench readahead [--pairs 3]

A job without workers whose samples are drawn at random, so that it may have none, reads files of
64 KiB from a file system that takes so long to open a file and to read; with and without, in the
order ABBA. Needs FUSE and torch."""

import argparse
import os
import statistics
import subprocess
import sys

import inject

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(os.path.dirname(os.path.abspath(os.environ["BRIM"])), "..", "..")
SLOWFS = os.path.join(BUILD, "tests", "bench", "jobs", "slowfs")
JOB = ["/usr/bin/python3", os.path.join(HERE, "jobs", "files.py")]
FILES, SIZE_B = 1280, 65536
STORES = [("opens 2 ms, reads 3 ms", 2000, 3000, 1.5), ("reads 8 ms", 0, 8000, 1.5),
          ("no latency", 0, 0, 0.95)]


def run(folder, rings, batches):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "PYTHON"))}
    env.update(BRIM_RING=rings, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    env.update(PYTHONPATH=os.path.join(ROOT, "plugins", "torch"))
    env.update(BRIM_LIB=os.path.join(BUILD, "plugins", "torch"))
    if batches:
        env["BRIM_KNOBS"] = "loader.readahead=%d" % batches
    said = subprocess.run(JOB + [folder], env=env, check=True, stdout=subprocess.PIPE)
    words = said.stdout.decode().split()
    return float(words[3]), words[5]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pairs", type=int, default=3)
    a = p.parse_args()
    work = inject.work_folder()
    data, rings = os.path.join(work, "data"), os.path.join(work, "rings")
    os.mkdir(data), os.mkdir(rings)
    for i in range(FILES):
        with open(os.path.join(data, "%05d" % i), "wb") as f:
            f.write(os.urandom(SIZE_B))
    for name, open_us, read_us, limit in STORES:
        took, weights = {0: [], 4: []}, set()
        for i in range(a.pairs):
            for batches in (0, 4) if i % 2 == 0 else (4, 0):
                with inject.slow_mount(SLOWFS, data, work, open_us, read_us, "auto_cache") as m:
                    ms, seen = run(m[0], rings, batches)
                took[batches].append(ms)
                weights.add(seen)
                print("%s, %d batches: %.1f ms" % (name, batches, ms), file=sys.stderr)
        without, with_ = statistics.median(took[0]), statistics.median(took[4])
        note = "a step %.1f ms, then %.1f; %d pairs" % (without, with_, a.pairs)
        line = ["readahead: " + name, "%.3g" % (without / with_), "times", ">= %g" % limit, note]
        print("\t".join(line), flush=True)
        print("\t".join(["readahead: other weights", "%d" % (len(weights) - 1), "", "<= 0", name]))


if __name__ == "__main__":
    main()
