#!/usr/bin/env python3
"""Data of others: public traces and tables that tests, benches and documents use and that are not
in the tree. BRIM_SHARED names the folder that has them; without it that is ../shared beside the
tree.

    script/others.py                    what is here of those that have a name
    script/others.py NAME > FILE        one of them, as a table

docs/tests.md says where each comes from.
"""

import csv
import datetime
import gzip
import io
import os
import pathlib
import signal
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("BRIM_SHARED") or ROOT.parent / "shared")
TRACES = SHARED / "data" / "traces"
PLANNER = SHARED / "data" / "planner"
# Why a test is skipped: always in these words, which tests/unit/others.h has, too.
MISSING = "others' data are not here: set BRIM_SHARED"

WEEK = TRACES / "philly_week.csv.gz"
ALL_OF_PHILLY = TRACES / "philly_82k.csv.gz"
MURI = TRACES / "muri_philly_4traces.tar.xz"
OPENB = TRACES / "alibaba_openb_v2023.tar.xz"
# By the clock of the table of all jobs; submissions of the week count from its first job.
WEEK_BEGINS = datetime.datetime(2017, 10, 1)
WEEK_ENDS = WEEK_BEGINS + datetime.timedelta(days=7)


def unpacked(packed):
    return gzip.decompress(packed.read_bytes())


def rows_of(packed):
    return list(csv.DictReader(io.StringIO(unpacked(packed).decode())))


def classes_of_week():
    """{(submission, devices, length): virtual cluster} of the jobs of the week."""
    some = []
    for row in rows_of(ALL_OF_PHILLY):
        at = datetime.datetime.fromisoformat(row["timestamp"])
        if WEEK_BEGINS <= at < WEEK_ENDS:
            some.append((at, row))
    first = min(at for at, _ in some)
    return {
        (int((at - first).total_seconds()), int(row["num_gpus"]), int(float(row["duration"]))):
            row["cluster"]
        for at, row in some
    }


def week_with_classes():
    classes = classes_of_week()
    text = "job_id,submit_s,gpus,duration_s,class\n"
    for row in rows_of(WEEK):
        key = tuple(int(row[name]) for name in ("submit_s", "gpus", "duration_s"))
        text += ",".join(row.values()) + f",{classes[key]}\n"
    return text.encode()


def member(packed, name):
    with tarfile.open(packed) as tar:
        return tar.extractfile(name).read()


def openb(name):
    """A table of OpenB without memory, which the simulator that is compared leaves out."""
    rows = csv.DictReader(io.StringIO(member(OPENB, f"csv/{name}.csv").decode()))
    text = io.StringIO()
    writer = csv.DictWriter(text, rows.fieldnames, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "memory_mib": 0} for row in rows)
    return text.getvalue().encode()


# Measured runs, which script/accuracy and script/calibrate read: a file each.
RUNS = ("vtrain_ground_truth", "korthikanti2022", "megatron_2020", "megatron_core_h100",
        "llm_foundry", "fms_fsdp", "nemo_misc", "moe_modelzoo", "literature", "maxtext")
OPENB_PODS = ("default", "multigpu50", "gpushare100", "gpuspec33", "cpu250")
# name: the files that it is made of, and how
TABLES = {
    "philly_82k": ([ALL_OF_PHILLY], lambda: unpacked(ALL_OF_PHILLY)),
    "philly_week": ([WEEK], lambda: unpacked(WEEK)),
    "philly_week_vc": ([WEEK, ALL_OF_PHILLY], week_with_classes),
    "muri_trace3": ([MURI], lambda: member(MURI, "trace-data/trace3.csv")),
    "openb_nodes": ([OPENB], lambda: openb("openb_node_list_gpu_node")),
    **{
        f"openb_pods_{pods}": ([OPENB], lambda pods=pods: openb(f"openb_pod_list_{pods}"))
        for pods in OPENB_PODS
    },
    **{
        name: ([PLANNER / f"{name}.csv"], lambda name=name: (PLANNER / f"{name}.csv").read_bytes())
        for name in RUNS
    },
}


def is_here(name):
    return all(path.is_file() for path in TABLES[name][0])


def table(name):
    """The bytes of a table with a name; None where it is not here."""
    return TABLES[name][1]() if is_here(name) else None


def main():
    names = sys.argv[1:]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if not names:
        for name in TABLES:
            print(f"{name}{'' if is_here(name) else ': not here'}")
        return
    if len(names) > 1 or names[0] not in TABLES:
        sys.exit(__doc__)
    text = table(names[0])
    if text is None:
        sys.exit(f"{names[0]}: {MISSING}")
    sys.stdout.buffer.write(text)


if __name__ == "__main__":
    main()
