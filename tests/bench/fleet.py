#!/usr/bin/env python3
"""The dashboard's row over the nodes, asked of a real Prometheus that has 500 nodes of 8 GPUs.

A day of what brim.records.yml records, and the last 10 minutes of the agents' own series, one
sample in 5 s, made up; then every expression of the row, as Grafana asks it for an hour and a day.
Prints name, value, unit, limit and note with tabs between them.
"""

import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from peers import say  # noqa: E402
from prometheus import PROGRAM, Prometheus  # noqa: E402

NODES, GPUS, ROUNDS = 500, 8, 5
DAY, HOUR, BLOCK, FRESH = 86400, 3600, 7200, 600
STAGES = ("storage", "cpu", "pcie", "gpu", "network")
BUCKETS = ("0.05", "0.2", "0.4", "0.6", "0.8", "+Inf")


def label(node, **more):
    pairs = dict(job="brim", instance="node%d:9410" % node, **more)
    return ",".join('%s="%s"' % pair for pair in pairs.items())


def recorded(chance):
    """(series, a function of its value) of what the records have."""
    for node in range(NODES):
        yield "brim:gpus_idle:sum{%s}" % label(node), lambda: round(chance.random() * GPUS, 2)
    for n, le in enumerate(BUCKETS):
        most = NODES * GPUS * (n + 1) // len(BUCKETS)
        yield ('brim:gpus_busy:bucket{job="brim",le="%s"}' % le,
               lambda most=most: chance.randint(most // 2, most))
    for stage in STAGES:
        yield 'brim:limiting:sum{job="brim",stage="%s"}' % stage, lambda: chance.randint(0, 100)


def sampled(chance):
    """The same of what agents measure and the row asks for."""
    for node in range(NODES):
        yield "brim_host_load1{%s}" % label(node), chance.random
        for n, stage in enumerate(STAGES):
            at = label(node, stage=stage)
            yield "brim_stage_limiting{%s}" % at, lambda n=n, node=node: int(n == node % 6)
            yield "brim_stage_load_ratio{%s}" % at, lambda: round(chance.random(), 4)
        for gpu in range(GPUS):
            yield ("brim_gpu_busy_ratio{%s}" % label(node, gpu=gpu),
                   lambda: round(chance.random(), 2))
        yield ("brim_alert_firing{%s}" % label(node, id="a/%d" % node, alert="a", thing="x",
                                               severity="warning", code=""), lambda: 1)


def make_block(folder, series, times):
    """A block of made-up samples; promtool reads a text again for each block it makes."""
    text = folder / "samples.txt"
    with text.open("w") as out:
        for name, value in series:
            out.write("".join("%s %s %d\n" % (name, value(), at) for at in times))
        out.write("# EOF\n")
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "-q", str(text),
                    str(folder / "tsdb")], check=True, stdout=subprocess.DEVNULL)
    text.unlink()


def fill(folder, now):
    chance = random.Random(1)
    begin = now - DAY
    while begin < now:
        end = min(begin - begin % BLOCK + BLOCK, now)
        make_block(folder, recorded(chance), range(begin, end, 60))
        begin = end
    make_block(folder, sampled(chance), range(now - FRESH, now + 1, 5))


def row():
    """The panels of the first row."""
    board = json.loads((ROOT / "deploy" / "grafana" / "brim.json").read_text())
    for panel in board["panels"][1:]:
        if panel["type"] == "row":
            return
        yield panel


def ask_row(server, now, span):
    """Seconds of each panel's questions, and how many series came back."""
    took, series = {}, 0
    for panel in row():
        begin = time.perf_counter()
        for target in panel["targets"]:
            text = target["expr"].replace("$instance", ".*").replace("$__range", "%ds" % DAY)
            if target["instant"]:
                answer = server.get("/api/v1/query", query=text, time=now)
            else:
                step = max(15, span // panel["maxDataPoints"])
                answer = server.get("/api/v1/query_range", query=text, start=now - span, end=now,
                                    step=step)
            assert answer["result"], "nothing came for %s" % text
            series += len(answer["result"])
        took[panel["title"]] = time.perf_counter() - begin
    return took, series


def main():
    now = int(time.time()) // 60 * 60
    with tempfile.TemporaryDirectory(prefix="brim-fleet-") as name:
        folder = pathlib.Path(name)
        fill(folder, now)
        with Prometheus(folder, "{}", "--storage.tsdb.retention.time=10d") as server:
            server.wait("brim_host_load1 offset 1s")
            for span, what in ((HOUR, "an hour"), (DAY, "a day")):
                rounds = [ask_row(server, now, span) for _ in range(ROUNDS)]
                worst = max(rounds[-1][0], key=lambda title: max(r[0][title] for r in rounds))
                sums = [sum(took.values()) for took, _ in rounds]
                say("row over %d nodes, %s" % (NODES, what), statistics.median(sums), "s", "<= 1",
                    "worst of %d: %.2f; longest: %s, %.2f; %d series" % (
                        ROUNDS, max(sums), worst, max(r[0][worst] for r in rounds), rounds[0][1]))


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit("no prometheus (Debian: prometheus)")
    main()
