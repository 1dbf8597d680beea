"""Rows of docs/sim/utilization.md: a week of Philly behind walls and with all that brim has; and
what a few made-up days show of it."""

import json

from conftest import DAYS, ROOT

POLICIES = ROOT / "tests" / "fixtures" / "policies"


def walls_and_full(brim, path, nodes):
    """What is said of both, of which none waits longer under the second."""
    said = json.loads(brim.out("sim", path, "--nodes", nodes, "--activity", "philly", "--json",
                               "--seed", "1", "--policy", POLICIES / "walls.ini",
                               "--compare", POLICIES / "full.ini"))
    walls, full = said["policies"]
    before = {group["name"]: group["wait_p90_s"] for group in walls["groups"]}
    assert all(group["wait_p90_s"] <= before[group["name"]] + 60 for group in full["groups"])
    return walls, full


def test_made_up_days(brim):
    walls, full = walls_and_full(brim, DAYS, "8x8")
    assert (walls["joined"], walls["reclaimed"]) == (0, 0)
    assert (full["joined"], full["reclaimed"]) == (73, 225)
    assert full["busy_of_allocated"] > 1.2 * walls["busy_of_allocated"]
    assert full["busy"] > 1.7 * walls["busy"]


def test_from_walls_to_busy_devices(brim, others):
    walls, full = walls_and_full(brim, others("philly_week_vc"), "24x8")
    assert 0.43 < walls["busy_of_allocated"] < 0.48
    assert full["busy_of_allocated"] > 0.75 and full["busy"] > 2 * walls["busy"]
    assert full["joined"] > 100 and full["reclaimed"] > 1000
