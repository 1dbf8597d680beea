"""How the rows of the tables of measured runs are parted.

Fitted: script/calibrate fits rows whose line number (the header is line 1) divides by the number
here and that have one of the words. Of all others a third is held back: it is drawn by a hash of
the table's name and of what was run, so that a row stays where it is when others are added. The
model is developed on what is left; held rows are scored, seldom, by script/accuracy --held."""
import csv
import hashlib

FITTED = {
    "vtrain_ground_truth": (4, ("gpt",)),
    "megatron_2020": (3, ("a100-sxm",)),
    "nemo_misc": (2, ("h100-sxm",)),
    "llm_foundry": (4, ("a100", "h100")),
}

# The first from 1 on that draws a third of each table, by a row or a sixteenth of the table more or
# less; no error was looked at.
SEED = 277
# What a run gave, and what is said about it: these make no other run.
GIVEN = {
    "params",
    "measured_tflops_per_gpu",
    "mfu",
    "iter_time_s",
    "tokens_per_s_per_gpu",
    "mem_gb",
    "source",
    "notes",
}


def is_fitted(table, number, line):
    every, words = FITTED.get(table, (0, ()))
    return bool(every) and number % every == 0 and any(w in line.lower() for w in words)


def is_drawn(table, row, seed=SEED):
    """Whether the hash draws a row, a dictionary of its fields."""
    run = "|".join(f"{k}={(v or '').strip()}" for k, v in sorted(row.items()) if k not in GIVEN)
    drawn = hashlib.sha256(f"{seed}|{table}|{run}".encode()).digest()
    return int.from_bytes(drawn[:8], "big") % 3 == 0


def parts_of(table, lines):
    """{line number: "fitted", "held" or "development"} of the lines of a table."""
    rows = csv.DictReader(lines)
    parts = {}
    for row in rows:
        number = rows.line_num
        if is_fitted(table, number, lines[number - 1]):
            parts[number] = "fitted"
        else:
            parts[number] = "held" if is_drawn(table, row) else "development"
    return parts
