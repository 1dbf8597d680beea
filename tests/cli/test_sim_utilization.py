"""A row of docs/utilization.md: a week of Philly behind walls, and with all that brim has."""

import gzip
import json

from conftest import ROOT

WEEK = ROOT / "tests" / "fixtures" / "traces" / "philly_week_vc.csv.gz"
POLICIES = ROOT / "tests" / "fixtures" / "policies"


def test_from_walls_to_busy_devices(brim, tmp_path):
    path = tmp_path / "week.csv"
    path.write_bytes(gzip.decompress(WEEK.read_bytes()))
    said = json.loads(brim.out("sim", path, "--nodes", "24x8", "--activity", "philly", "--json",
                               "--seed", "1", "--policy", POLICIES / "walls.ini",
                               "--compare", POLICIES / "full.ini"))
    walls, full = said["policies"]
    assert 0.43 < walls["busy_of_allocated"] < 0.48
    assert full["busy_of_allocated"] > 0.75 and full["busy"] > 2 * walls["busy"]
    before = {group["name"]: group["wait_p90_s"] for group in walls["groups"]}
    assert all(group["wait_p90_s"] <= before[group["name"]] + 60 for group in full["groups"])
    assert full["joined"] > 100 and full["reclaimed"] > 1000
