"""deploy/: what is there is made from the program, and says nothing that the program does not."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT
from prometheus import PROGRAM, Prometheus

DEPLOY = ROOT / "deploy"
RECORDS = DEPLOY / "prometheus" / "brim.records.yml"


def signals(brim):
    """{"brim_disk_reads_total"}, of all sets of the program."""
    found = set()
    for line in brim.out("alerts", "--signals").splitlines():
        name = line.split()[0]
        found.add("brim_%s_%s" % (name, line[24:].split()[0].split("{")[0]))
        found.add("brim_%s_info" % name)
    # What the agent makes of the others.
    return found | {"brim_alert_firing", "brim_stage_limiting", "brim_stage_load_ratio"}


def test_dashboard_is_what_its_script_writes():
    made = subprocess.run([sys.executable, str(ROOT / "script" / "dashboard.py")],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    assert (DEPLOY / "grafana" / "brim.json").read_text() == made, "run script/regenerate"


def board():
    return json.loads((DEPLOY / "grafana" / "brim.json").read_text())


def panels(of):
    """All, those of rows that are closed among them."""
    for panel in of["panels"]:
        yield panel
        yield from panel.get("panels", [])


def expressions(of):
    """(title, expression, whether it is of now) with Grafana's variables filled in."""
    for panel in panels(of):
        for target in panel.get("targets", []):
            text = target["expr"].replace("$instance", ".*")
            for name in ("$__rate_interval", "$__range"):
                text = text.replace(name, "1m")
            yield panel["title"], text, target["instant"]


def test_dashboard_asks_for_what_there_is(brim):
    known, ids, used = signals(brim), set(), set()
    for panel in panels(board()):
        assert panel["id"] not in ids
        ids.add(panel["id"])
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
    for _, text, _ in expressions(board()):
        used |= set(re.findall(r"\bbrim_\w+", text))
    for variable in board()["templating"]["list"]:
        used |= set(re.findall(r"\bbrim_\w+", json.dumps(variable)))
    used |= set(re.findall(r"\bbrim_\w+", RECORDS.read_text()))
    assert len(used) > 30 and not used - known


def test_dashboard_begins_with_what_limits_the_nodes():
    row, first = board()["panels"][:2]
    assert row["type"] == "row" and row["title"] == "Nodes"
    assert "brim_stage_limiting" in first["targets"][0]["expr"]
    kinds = {panel["type"] for panel in panels(board())}
    assert {"stat", "heatmap", "table", "timeseries"} <= kinds
    assert not [panel["title"] for panel in panels(board())
                if panel["type"] == "stat" and "thresholds" not in panel["fieldConfig"]["defaults"]]


def test_dashboard_asks_for_what_is_recorded():
    """A panel over a record that no rule makes stays empty for ever."""
    made = set(re.findall(r"record: (\S+)", RECORDS.read_text()))
    asked = set()
    for _, text, _ in expressions(board()):
        asked |= set(re.findall(r"brim:\w+:\w+", text))
    assert asked == made
    assert RECORDS.name in (DEPLOY / "prometheus" / "scrape.yml").read_text()


# JSON has the texts and numbers of the schema's enumerations, and leaves out what has a default.
SCHEMA = """
import type { Dashboard, Panel, RowPanel } from "%(at)s/raw/dashboard/x/types.gen";
%(imports)s
type Json<T> = T extends string ? `${T}`
  : T extends (infer U)[] ? Json<U>[]
  : T extends object ? { [K in keyof T]?: Json<T[K]> } : T;
export const whole: Json<Omit<Dashboard, "panels">> = %(whole)s;
%(panels)s
"""
KINDS = ("stat", "heatmap", "table", "timeseries")


def type_check(tmp_path, of):
    """What TypeScript says of the board as a value of Grafana's own types."""
    modules = ROOT / "web" / "node_modules"
    compiler = modules / "typescript" / "lib" / "tsc.js"
    if not shutil.which("node") or not compiler.exists():
        pytest.skip("no node or typescript (script/setup test installs them)")
    at = modules / "@grafana" / "schema" / "dist" / "types"
    lines = []
    for panel in panels(of):
        name, kind = "p%d" % panel["id"], panel["type"]
        if kind == "row":
            row = dict(panel, panels=[])
            lines.append("export const %s: Json<RowPanel> = %s;" % (name, json.dumps(row)))
            continue
        lines.append("export const %s: Json<Panel> = %s;" % (name, json.dumps(panel)))
        lines.append("export const %s_o: Json<%s.Options> = %s;"
                     % (name, kind, json.dumps(panel["options"])))
        custom = panel["fieldConfig"]["defaults"].get("custom")
        if custom:
            lines.append("export const %s_f: Json<%s.FieldConfig> = %s;"
                         % (name, kind, json.dumps(custom)))
    source = tmp_path / "board.ts"
    source.write_text(SCHEMA % {
        "at": at, "whole": json.dumps({k: v for k, v in of.items() if k != "panels"}),
        "imports": "\n".join('import type * as %s from "%s/raw/composable/%s/panelcfg/x/types.gen";'
                             % (kind, at, kind) for kind in KINDS),
        "panels": "\n".join(lines)})
    (tmp_path / "node_modules").symlink_to(modules)
    done = subprocess.run(
        ["node", str(compiler), "--noEmit", "--strict", "--skipLibCheck", "--target", "es2020",
         "--module", "esnext", "--moduleResolution", "bundler", str(source)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode()


@pytest.mark.once
def test_dashboard_is_of_grafanas_schema(tmp_path):
    """Grafana itself is in no registry that this may use; its types are (@grafana/schema)."""
    assert type_check(tmp_path, board()) == ""


@pytest.mark.once
def test_schema_refuses_what_grafana_does_not_know(tmp_path):
    of = board()
    of["panels"][1]["options"]["colourMode"] = "value"
    of["panels"][2]["options"]["colorMode"] = "bright"
    of["panels"][3]["fieldConfig"]["defaults"]["thresholds"]["mode"] = "relative"
    said = type_check(tmp_path, of)
    for word in ("colourMode", '"bright"', '"relative"'):
        assert word in said


def test_dashboard_is_promql(tmp_path):
    """promtool reads every expression, with Grafana's variables filled in."""
    if not shutil.which("promtool"):
        pytest.skip("no promtool (Debian: prometheus)")
    lines = ["groups:", "- name: a", "  rules:"]
    for _, text, _ in expressions(board()):
        lines += ["  - record: a", "    labels: {n: '%d'}" % len(lines),
                  "    expr: %s" % json.dumps(text)]
    rules = tmp_path / "rules.yml"
    rules.write_text("\n".join(lines) + "\n")
    for file in (rules, RECORDS):
        subprocess.run(["promtool", "check", "rules", str(file)], check=True,
                       stdout=subprocess.PIPE)


# One accelerator works, one is idle, and one fell off the bus.
GPUS = """[fake]
count = 3
[gpu *]
busy_ratio = 0.9
temperature_celsius = 60
pcie_width = 16
pcie_width_max = 16
[gpu 1]
busy_ratio = 0
[event]
after = 1s
kind = xid
severity = critical
code = 79
thing = fake2
text = "GPU has fallen off the bus"
"""
ALWAYS = {  # panels of the first row that have something to show on any node
    "Nodes by what limits them", "Accelerators that are idle", "GPU-hours lost today", "Alerts",
    "Accelerators by how busy they are",
}


def test_prometheus_answers_the_dashboard(start, tmp_path):
    """An agent, its rules and records in a real Prometheus, and every expression of the board."""
    if not PROGRAM:
        pytest.skip("no prometheus (Debian: prometheus)")
    (tmp_path / "gpus.ini").write_text(GPUS)
    agent = start("--fake", tmp_path / "gpus.ini")
    for name in ("brim.rules.yml", RECORDS.name):
        text = (DEPLOY / "prometheus" / name).read_text()
        (tmp_path / name).write_text(text.replace("interval: 1m", "interval: 1s"))
    config = (DEPLOY / "prometheus" / "scrape.yml").read_text()
    config = config.replace("127.0.0.1:9410", "127.0.0.1:%d" % agent.port)
    with Prometheus(tmp_path, re.sub(r"(_interval:) \d+s", r"\1 1s", config)) as server:
        (fault,) = server.wait('ALERTS{alertname="fault", alertstate="firing"}')
        assert fault["metric"]["code"] == "79" and fault["metric"]["severity"] == "critical"
        server.wait("brim:gpus_idle:sum")
        shown = set()
        for title, text, _ in expressions(board()):
            if server.ask(text):
                shown.add(title)
        assert ALWAYS <= shown, ALWAYS - shown
        idle = server.ask("avg(brim_gpu_busy_ratio < bool 0.05)")
        assert float(idle[0]["value"][1]) == pytest.approx(1 / 3)
        buckets = {one["metric"]["le"]: float(one["value"][1])
                   for one in server.ask("sum by (le) (brim:gpus_busy:bucket)")}
        assert buckets["0.05"] == 1 and buckets["0.8"] == 1 and buckets["+Inf"] == 3


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
    text = (DEPLOY / "systemd" / "brim-agent.service.in").read_text()
    unit = tmp_path / "brim-agent.service"
    unit.write_text(text.replace("@bindir@/brim", brim.program))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    assert "brim-agent.service" not in said, said
