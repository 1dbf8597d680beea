"""brim sim against published simulators: the same jobs, the same policies, the same figures. The
jobs are data of others; test_sim_made.py has made-up ones.

Lucid's simulator on a week of Philly, and Muri's on its third trace; how they were run is in
docs/sim/checked.md."""

import json
import os

import pytest

# (nodes, policy): mean completion, mean wait, 99th percentile of waits, preemptions
PHILLY = {
    ("64x8", "fifo"): (34309, 26480, 90728, 0),
    ("64x8", "sjf"): (9943, 2114, 15441, 0),
    ("64x8", "srtf"): (8338, 477, 6906, 8366),
    ("64x8", "tiresias"): (8658, 819, 29985, 2464),
    ("80x8", "fifo"): (8777, 948, 5245, 0),
    ("80x8", "sjf"): (8139, 310, 4076, 0),
    ("80x8", "srtf"): (7982, 144, 1507, None),
    ("80x8", "tiresias"): (7962, 130, 2299, None),
}
# policy: mean completion, the last end
MURI = {
    "rebuild-srtf": (193082, 8.174e6),
    "rebuild-srsf": (185022, 8.174e6),
    "rebuild-tiresias": (347213, 8.174e6),
}
# Shares of the GPUs given away when 130 % were asked for: pods, best fit, FGD. Each takes seconds:
# at night all. The first has whole GPUs, shares of them and several at once.
OPENB = [
    ("default", 93.1, 95.4),
    pytest.param("gpushare100", 85.0, 86.9, marks=pytest.mark.timed),
    pytest.param("multigpu50", 95.7, 97.2, marks=pytest.mark.timed),
    pytest.param("gpuspec33", 93.1, 94.5, marks=pytest.mark.timed),
    pytest.param("cpu250", 91.4, 93.4, marks=pytest.mark.timed),
]


def policies(brim, path, nodes, names):
    more = ["--compare", ",".join(names[1:])] if names[1:] else []
    said = brim.out("sim", path, "--json", "--nodes", nodes, "--policy", names[0], *more)
    return {run["policy"]: run for run in json.loads(said)["policies"]}


@pytest.mark.parametrize("nodes", ["64x8", "80x8"])
def test_a_week_of_philly(brim, others, nodes):
    path = others("philly_week")
    runs = policies(brim, path, nodes, ["fifo", "sjf", "srtf", "tiresias"])
    for (where, name), (completion, wait, p99, preemptions) in PHILLY.items():
        if where != nodes:
            continue
        run = runs[name]
        said = [round(run["all"][key]) for key in ("completion_s", "wait_s", "wait_p99_s")]
        assert said == [completion, wait, p99], name
        assert preemptions is None or run["preemptions"] == preemptions, name


def test_better_without_lengths(brim, others):
    """Knows no lengths, pays the same for preemptions, and is ahead of SRTF, which knows them."""
    path = others("philly_week")
    for nodes in ("64x8", "80x8"):
        las = policies(brim, path, nodes, ["las"])["las"]["all"]
        completion, _, p99, _ = PHILLY[(nodes, "srtf")]
        assert las["completion_s"] < completion and las["wait_p99_s"] < p99, nodes


def test_muri_beaten(brim, others):
    """The least device time left, without sharing; with it, Muri-S (with lengths) and Muri-L.
    Those that know no more than what jobs declare, their steps, are ahead of those that do."""
    path = others("muri_trace3")
    runs = policies(brim, path, "8x8", ["srsf", "srsf-steps", "interleave", "interleave-steps",
                                        "interleave-las"])
    assert runs["srsf"]["all"]["completion_s"] < 185022
    assert runs["srsf-steps"]["all"]["completion_s"] < 185022
    assert runs["interleave"]["all"]["completion_s"] < 83242
    assert runs["interleave-steps"]["all"]["completion_s"] < 83242
    assert runs["interleave-las"]["all"]["completion_s"] < 88687


def test_muri(brim, others):
    path = others("muri_trace3")
    for name, run in policies(brim, path, "8x8", list(MURI)).items():
        completion, end = MURI[name]
        assert run["all"]["completion_s"] == pytest.approx(completion, abs=1), name
        assert run["end_s"] == pytest.approx(end, rel=0.001), name


@pytest.mark.parametrize("pods, best_fit, fgd", OPENB)
def test_openb(brim, others, pods, best_fit, fgd):
    if os.environ.get("SANITIZED"):
        pytest.skip("half a minute for each of these tables with sanitizers")
    nodes, path = others("openb_nodes"), others(f"openb_pods_{pods}")
    said = brim.out("sim", path, "--nodes", nodes, "--pack", "--json", "--policy", "best-fit",
                    "--compare", "fgd,balance")
    share = {run["policy"]: run["allocated_at_load"] * 100 for run in json.loads(said)["policies"]}
    assert share["best-fit"] == pytest.approx(best_fit, abs=0.5)
    assert share["fgd"] == pytest.approx(fgd, abs=0.5)
    assert share["balance"] > max(fgd, share["fgd"])
