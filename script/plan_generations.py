#!/usr/bin/env python3
"""How far brim plan eval is off one job on several generations of GPUs, for docs/accuracy.md.

    script/plan_generations.py BRIM

The table is tests/fixtures/generations.csv, figures of others with their source. No rate but that
of 8 bits with a scale for each row was fitted to it, as a share of the usual 8 bits. What the
program errs on the H100 it errs elsewhere, if the rates of products are right: the last column
shows that.
"""
import json
import os
import subprocess
import sys
import textwrap

TABLE = os.path.join(os.path.dirname(__file__), "../tests/fixtures/generations.csv")

ABOUT = """One job on three kinds of GPU: Llama 3 8B on 8 GPUs, one sequence of 8,192 tokens each,
FSDP with torch.compile and recompute of every other product (`tests/fixtures/generations.csv`,
torchao's page on training). No rate but that of `fp8_rows` was fitted to it, as a share of `fp8`.
*Next to the H100* is what is left when all is taken as much longer as the same precision takes
there: 0 would say that the rates of products stand as they should to the H100's."""

COLUMNS = """| GPU | Precision | Predicted | Measured | Error | Next to the H100 |
|---|---|---|---|---|---|
"""

WHY = """PyTorch takes longer than the model says on all of them. The B200s ran below a limit of
power that the source does not state, and are no measure of a B200 with 1,000 W. 8 bits
on the MI300X gain less than its fastest products promise."""


def section(brim):
    said = subprocess.run([brim, "plan", "eval", "--json", TABLE], capture_output=True, check=True)
    with open(TABLE, encoding="utf-8") as f:
        precisions = [line.split(",")[9] for line in f][1:]
    first, text = {}, "## Other generations\n\n" + textwrap.fill(ABOUT, 116) + "\n\n" + COLUMNS
    rows = json.loads(said.stdout)["tables"][0]["predictions"]
    for row, precision in zip(rows, precisions):
        ratio = row["time_s"] / row["measured_s"]
        same = first.setdefault(precision.replace("mxfp8", "fp8"), ratio)
        times = f"{row['time_s']:.3f} s | {row['measured_s']:.3f} s | {100 * (ratio - 1):+.1f} %"
        beside = f"{100 * (ratio / same - 1):+.1f} %" if same != ratio else ""
        text += f"| {row['gpu']} | {precision} | {times} | {beside} |\n"
    return text + "\n" + textwrap.fill(WHY, 116) + "\n"


if __name__ == "__main__":
    sys.stdout.write(section(sys.argv[1]))
