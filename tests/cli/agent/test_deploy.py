"""deploy/: what is there is made from the program, and says nothing that the program does not."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

DEPLOY = ROOT / "deploy"


def signals(brim):
    """{"brim_disk_reads_total"}, of all sets of the program."""
    found = set()
    for line in brim.out("alerts", "--signals").splitlines():
        name = line.split()[0]
        found.add("brim_%s_%s" % (name, line[24:].split()[0].split("{")[0]))
        found.add("brim_%s_info" % name)
    return found | {"brim_alert_firing"}


def test_dashboard_is_what_its_script_writes():
    made = subprocess.run([sys.executable, str(ROOT / "script" / "dashboard.py")],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    assert (DEPLOY / "grafana" / "brim.json").read_text() == made, "run script/regenerate"


def test_dashboard_asks_for_what_there_is(brim):
    board = json.loads((DEPLOY / "grafana" / "brim.json").read_text())
    known, ids, used = signals(brim), set(), set()
    for panel in board["panels"]:
        assert panel["id"] not in ids
        ids.add(panel["id"])
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        for target in panel.get("targets", []):
            used |= set(re.findall(r"\bbrim_\w+", target["expr"]))
    for variable in board["templating"]["list"]:
        used |= set(re.findall(r"\bbrim_\w+", json.dumps(variable)))
    assert len(used) > 30 and not used - known


def test_dashboard_is_promql(tmp_path):
    """promtool reads every expression, with Grafana's variables filled in."""
    if not shutil.which("promtool"):
        pytest.skip("no promtool (Debian: prometheus)")
    board = json.loads((DEPLOY / "grafana" / "brim.json").read_text())
    lines = ["groups:", "- name: a", "  rules:"]
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
            lines += ["  - record: a", "    labels: {n: '%d'}" % len(lines),
                      "    expr: %s" % json.dumps(text)]
    rules = tmp_path / "rules.yml"
    rules.write_text("\n".join(lines) + "\n")
    subprocess.run(["promtool", "check", "rules", str(rules)], check=True,
                   stdout=subprocess.PIPE)


def test_scrape_example(tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("no promtool (Debian: prometheus)")
    config = str(DEPLOY / "prometheus" / "scrape.yml")
    done = subprocess.run(["promtool", "check", "config", config],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()


def test_service(brim, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze (Debian: systemd)")
    text = (DEPLOY / "systemd" / "brim-agent.service").read_text()
    unit = tmp_path / "brim-agent.service"
    unit.write_text(text.replace("/usr/bin/brim", brim.program))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    assert "brim-agent.service" not in said, said
