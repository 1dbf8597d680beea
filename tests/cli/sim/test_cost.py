"""brim cost: who used what, from accounting, tables, traces and the runs that brim keeps."""

import csv
import io
import json

import pytest
from conftest import ROOT

ACCOUNTING = ROOT / "tests" / "fixtures" / "accounting" / "november.txt"
GPUS = '[fake]\ncount = 4\n[gpu *]\nmodel = "NVIDIA A100-SXM4-40GB"\nbusy_ratio = 0.25\n' \
       "power_watts = 200\n"


def sums(said, key):
    return {row["name"]: row for row in said[key]}


def test_accounting(brim):
    said = json.loads(brim.out("cost", ACCOUNTING, "--json"))
    assert said["schema"] == "brim.cost.v1"
    users, causes = sums(said, "users"), sums(said, "wasted_by")
    assert list(users) == ["bob", "ann", "eve"]
    # 101: 8 x 10 h, of which 62 % busy; 102: 8 x 2 h, in vain
    ann = users["ann"]
    assert (ann["device_hours"], ann["idle_hours"]) == (96, pytest.approx(30.4))
    assert ann["wasted_hours"] == pytest.approx(46.4)
    assert ann["cost_usd"] == pytest.approx(96 * 3.99)
    assert ann["energy_measured_kwh"] == 25 and ann["energy_kwh"] == pytest.approx(25 + 16 * 0.7)
    assert causes["a node failed"]["device_hours"] == 40
    assert causes["idle, cause not known"]["device_hours"] == pytest.approx(30.4 + 96 * 0.92)
    assert sum(c["device_hours"] for c in causes.values()) == pytest.approx(
        said["all"]["wasted_hours"])
    assert sums(said, "teams")["text"]["jobs"] == 3
    assert sums(said, "projects")["seg"]["jobs"] == 2
    assert "jobs" not in said
    said = json.loads(brim.out("cost", ACCOUNTING, "--json", "--by", "job", "--price", "2"))
    assert sums(said, "jobs")["104"]["cost_usd"] == 192
    text = brim.out("cost", ACCOUNTING)
    assert text in (ROOT / "docs" / "cost.md").read_text()


def test_tables(brim, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text('job_id,gpus,duration_s,user,kinds,state,gpu_busy,idle_cause\n'
                    'a,8,3600,"x, ""y""",A100-40GB,done,0.5,small-files\nb,1,3600,z,T9,failed,,\n')
    text = brim.out("cost", path)
    assert "idle: small-files" in text and "T9: no price known (--price)" in text
    # what has no price has none in a sum
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("all")] == ["?"]
    rows = list(csv.DictReader(io.StringIO(brim.out("cost", path, "--csv", "--price", "T9=1"))))
    assert rows[0]["user"] == 'x, "y"' and float(rows[0]["cost_usd"]) == pytest.approx(8 * 1.99)
    assert float(rows[0]["energy_kwh"]) == pytest.approx(8 * (0.5 * 0.4 + 0.5 * 0.0532))
    assert float(rows[1]["wasted_usd"]) == 1 and rows[1]["energy_kwh"] == ""
    both = json.loads(brim.out("cost", path, ACCOUNTING, "--json"))
    assert both["all"]["jobs"] == 7
    philly = tmp_path / "philly.csv"
    philly.write_text("timestamp,duration,num_gpus,gpu_time,cluster\n"
                      "2017-10-09 07:02:55,7200,2,1,aaa\n")
    said = json.loads(brim.out("cost", philly, "--json"))
    assert sums(said, "projects")["aaa"]["device_hours"] == 4


def test_what_nobody_knows(brim, tmp_path):
    """Each figure that the table lacks is ?, empty or null, never 0."""
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,gpus,duration_s,user,state\na,8,3600,ann,\nb,4,3600,bob,failed\n")
    rows = {line.split()[0]: line.split()[1:] for line in brim.out("cost", path).splitlines()
            if line.startswith(("ann", "bob"))}
    assert rows["ann"] == ["1", "8.0", "?", "?", "?", "?", "?"]
    assert rows["bob"] == ["1", "4.0", "?", "100.0", "?", "?", "?"]
    ann, bob = csv.DictReader(io.StringIO(brim.out("cost", path, "--csv", "--price", "2")))
    lacks = ("idle_hours", "wasted_hours", "energy_kwh", "wasted_usd")
    assert [ann[key] for key in lacks] == [""] * 4
    assert (float(ann["cost_usd"]), float(bob["wasted_hours"]), bob["idle_hours"]) == (16, 4, "")
    users = sums(json.loads(brim.out("cost", path, "--json")), "users")
    for key in ("idle_hours", "wasted_hours", "energy_kwh", "cost_usd", "wasted_usd"):
        assert users["ann"][key] is None, key
    path.write_text("job_id,gpus,duration_s,user,gpu_busy\na,8,3600,ann,1\n")
    ann = sums(json.loads(brim.out("cost", path, "--json", "--price", "2")), "users")["ann"]
    assert (ann["idle_hours"], ann["wasted_hours"], ann["wasted_usd"]) == (0, 0, 0)


def test_runs(brim, tmp_path):
    gpus = tmp_path / "gpus.ini"
    gpus.write_text(GPUS)
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}

    def cost(*options):
        return json.loads(brim.out("cost", "--json", *options, env=state))

    assert brim.out("cost", env=state) == "no job had devices\n"
    for command, env in [("sleep 0.6", "seg"), ("sleep 0.3; exit 3", "text")]:
        brim("run", "--fake", gpus, "--interval", "100ms", "-q", "--", "sh", "-c", command,
             env={**state, "BRIM_PROJECT": env})
    brim("run", "--interval", "100ms", "-q", "--", "sleep", "0.2", env=state)
    said = cost("--gpu", "A100-40GB")
    projects, total = sums(said, "projects"), said["all"]
    assert total["jobs"] == 2 and said["skipped"] == 1
    assert total["idle_hours"] == pytest.approx(total["device_hours"] * 0.75, abs=2e-4)
    assert total["energy_kwh"] == total["energy_measured_kwh"] > 0
    assert projects["text"]["wasted_hours"] == projects["text"]["device_hours"] > 0
    assert sums(said, "wasted_by")["failed"]["jobs"] == 1
    assert cost(ACCOUNTING, "--runs")["all"]["jobs"] == 7
    assert cost("--since", "1h")["all"]["jobs"] == 2
    assert "no job had devices" in brim.out("cost", ACCOUNTING, "--since", "1s")


def test_what_it_refuses(brim, tmp_path):
    for options, code, why in [
        (["none.txt"], 1, "none.txt"),
        ([ACCOUNTING, "--by", "shoe"], 2, "--by"),
        ([ACCOUNTING, "--price", "cheap"], 2, "dollars an hour"),
        ([ACCOUNTING, "--gpu", "H10"], 2, "did you mean"),
    ]:
        done = brim("cost", *options)
        assert done.returncode == code and why in done.stderr, options
        assert len(done.stderr.splitlines()) == 1
    path = tmp_path / "x"
    path.write_text("hello\n")
    done = brim("cost", path)
    assert done.returncode == 1 and "is no trace" in done.stderr
