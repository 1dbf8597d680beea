"""brim sim --engine: what engines make of policies and what they refuse, and the page about it."""

import json
import re

import pytest
from conftest import DAYS, ROOT

TRACE = "job_id,submit_s,gpus,duration_s,limit_s\n" \
        "a,0,3,100,100\nb,1,4,50,60\nc,2,1,90,120\nd,3,1,90,\n"
LAS = "order = las\nqueues = 1h\n"
# A policy with each part that the page names.
PARTS = {
    "`order = fifo`": ["order = fifo"],
    "`order = fair`": ["order = fair"],
    "`order = smallest`": ["order = smallest"],
    "`order = sjf`, `srtf`, `srsf`, `las`, `deadline`": [
        "order = sjf\nlength = limit", "order = srtf\nlength = limit\npreempt = victims",
        "order = srsf\nlength = limit\npreempt = victims", LAS + "preempt = victims",
        "order = deadline\npreempt = victims"],
    "`priorities = yes`, `preempt = victims`": ["priorities = yes\npreempt = victims"],
    "`preempt = victims` without priorities": ["preempt = victims"],
    "`preempt = quota`": ["preempt = quota"],
    "`preempt = rebuild`, `restart-each-pass`": ["preempt = rebuild", "restart-each-pass = yes"],
    "`interleave = 4`": [LAS + "preempt = rebuild\ninterleave = 4"],
    "`backfill = none`": ["backfill = none"],
    "`backfill = greedy`": ["backfill = greedy"],
    "`backfill = easy`": ["backfill = easy\nlength = limit"],
    "`backfill = conservative`": ["backfill = conservative\nlength = limit"],
    "`length = limit`": ["length = limit"],
    "`length = oracle`, `history`": ["length = oracle", "length = history"],
    "`length = steps`": ["length = steps"],
    "`place = topology`": ["place = topology"],
    "`place = best-fit`, `fgd`, `balance`": [
        "place = best-fit", "place = fgd", "place = balance"],
    "`least-run`": ["priorities = yes\npreempt = victims\nleast-run = 5m"],
    "`ageing`": ["ageing = 1d"],
    "`[quota]`, `borrow = no`": ["[quota]\nshare = a 4"],
    "`[quota]`, `borrow = yes`": ["[quota]\nshare = a 4\nborrow = yes"],
    "`[idle]`, `action = requeue`": ["[idle]\nreclaim = 1h\naction = requeue"],
    "`[idle]`, `action = shrink`": ["[idle]\nreclaim = 1h\naction = shrink"],
    "`[elastic]`": ["[elastic]\nevery = 10m"],
    "`[share]`": ["[share]\nbelow = 50%\ntogether = 90%\nafter = 5m"],
    "`[service]`": ["[service]\nclass = chat\nreserve = chat 1"],
    "`[spot]`": ["[spot]\nclass = spot"],
    "`[power]`": ["[power]\ncap = 9kW"],
}
ROWS = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$",
                  (ROOT / "docs" / "sim" / "engines.md").read_text("utf-8"), re.M)[1:]


def test_the_page_has_all_parts():
    assert [part for part, _, _ in ROWS] == list(PARTS)


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_row(brim, trace, policy, number):
    part, *cells = ROWS[number]
    for i, text in enumerate(PARTS[part]):
        head = "" if text.startswith("order") else "order = fifo\n"
        file = policy(f"[policy]\n{head}{text}\n", f"p{i}")
        for engine, cell in zip(("local", "slurm"), cells):
            said = brim("sim", trace, "--nodes", "1x4:A100-40GB", "--policy", file,
                        "--engine", engine, "--json")
            if cell.startswith("no"):
                assert (said.returncode, said.stdout) == (1, ""), (part, engine)
                at = rf"--engine {engine}: \S*p{i}.ini:\d+: \["
                assert re.search(at, said.stderr), said.stderr
                continue
            assert said.returncode == 0, said.stderr
            changes = json.loads(said.stdout)["policies"][0]["engine_changes"]
            assert bool(changes) == cell.startswith("instead"), (part, engine, changes)


def test_it_is_what_the_engine_does(brim, trace, policy):
    """The figures are those of the changed policy: b goes ahead of nobody by true lengths."""
    changed = brim("sim", trace, "--nodes", "1x4", "--policy", "easy", "--engine", "slurm",
                   "--actions")
    same = brim("sim", trace, "--nodes", "1x4", "--policy",
                policy("[policy]\nbackfill = conservative\nlength = limit\n", "s"), "--actions")
    as_is = brim("sim", trace, "--nodes", "1x4", "--policy", "easy", "--actions")
    assert changed.stdout == same.stdout != as_is.stdout


def test_without_an_engine_the_queue_is_the_measure(brim):
    said = brim("sim", DAYS, "--nodes", "8x8", "--policy", "interleave", "--compare", "fifo")
    lines = [line for line in said.stdout.splitlines() if "cannot carry out" in line]
    assert lines == ["interleave: brim's queue cannot carry out preempt = rebuild, interleave: "
                     "--engine local says why"]
    policies = json.loads(brim("sim", DAYS, "--nodes", "8x8", "--policy", "interleave",
                               "--compare", "fifo", "--json").stdout)["policies"]
    assert [p["queue_lacks"] for p in policies] == [["preempt = rebuild", "interleave"], []]


def test_a_policy_with_a_name_is_wrong_usage(brim):
    said = brim("sim", DAYS, "--policy", "fifo", "--compare", "rebuild-srtf", "--engine", "local")
    assert said.returncode == 2
    assert said.stderr == ("brim sim: --engine local: policy rebuild-srtf: preempt = rebuild: it "
                           "moves jobs that run, which only brim sim can do\n")


def test_several_nodes_are_more_than_the_queue_has(brim):
    said = brim("sim", DAYS, "--nodes", "8x8", "--policy", "fifo", "--engine", "local")
    assert "brim's queue is of one machine: here it decides for 8 nodes\n" in said.stdout


def test_the_list_of_policies(brim):
    said = brim("sim", "--policies", "--engine", "slurm").stdout
    assert "\n                   Slurm: cannot do order = las, preempt = victims\n" in said
    assert "Slurm: does length = limit for length = oracle\n" in said
    said = brim("sim", "--policies", "--engine", "local").stdout
    assert "brim's queue: cannot do preempt = rebuild, restart-each-pass = yes\n" in said


def test_what_waits_for_a_job_without_a_limit(brim, tmp_path):
    """Nobody knows when a ends: b and c are planned for then, and d, which is known, is beside."""
    file = "job_id,submit_s,gpus,duration_s,limit_s\n" \
           "a,0,3,100,\nb,1,4,50,60\nc,2,4,50,60\nd,3,1,90,100\n"
    path = tmp_path / "unlimited.csv"
    path.write_text(file)
    said = brim.out("sim", path, "--nodes", "1x4", "--policy", "slurm", "--actions")
    starts = [line.split(" with ")[0] for line in said.splitlines()]
    assert starts == ["0.000 job a starts", "3.000 job d starts", "100.000 job b starts",
                      "150.000 job c starts"]
    assert "it does not delay job b, which waits for 4 devices: it fits into the plan" in said
