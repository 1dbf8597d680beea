"""brim alerts: the table of rules, files of users, and what Prometheus makes of the same rules."""

import json
import re
import shutil
import subprocess

import pytest
from conftest import ROOT, one_line

RULES = ROOT / "deploy" / "prometheus" / "brim.rules.yml"


def test_list(brim):
    text = brim.out("alerts")
    assert re.search(r"^disk-slow +warning +for +30s +disk \{thing\} takes", text, re.M)
    assert re.search(r"^xid +event +for +600s +xid sxid$", text, re.M)


def test_json(brim):
    rules = json.loads(brim.out("alerts", "--json"))["rules"]
    assert len(rules) >= 40
    for rule in rules:
        assert rule["source"] and rule["why"], rule["name"]
        assert "event" in rule or (rule["action"] and rule["promql"]), rule["name"]


def test_every_signal_exists(brim):
    """What the rules look at is measured: this lists what is not."""
    lines = brim("alerts", "--check").stdout.splitlines()
    sets = {m.group(1) for m in (re.search(r"no set '(\w+)'", line) for line in lines) if m}
    assert not sets, "no sampler for %s" % sorted(sets)
    unknown = [line for line in lines if "no set" not in line]
    assert not unknown, "\n" + "\n".join(unknown)


RULE = "[mine]\nset = %s\nseverity = note\nsay = x\nwhen = %s\n%s"


def test_file(brim, tmp_path):
    rules = tmp_path / "mine.ini"
    rules.write_text(RULE % ("disk", "io_now > 100", "by = device\n"))
    assert brim.out("alerts", "--file", rules).startswith("mine")
    assert brim.out("alerts", "--file", rules, "--check") == ""
    assert "brim_disk_io_now > 100" in brim.out("alerts", "--file", rules, "--prometheus")


@pytest.mark.parametrize(
    "fill, words",
    [
        (("disc", "io_now > 1", "by = device"), ("no set 'disc' (did you mean disk?)",)),
        (("disk", "io_nov > 1", "by = device"), ("no signal 'io_nov'", "did you mean io_now?")),
        (("disk", "io_now > 1", ""), ("'io_now' of the host",)),
        (("disk", "io_now > 1", "by = disk"), ("'disk' is by device, not by disk",)),
        (("cpu", 'seconds_total{mode="idel"} > 1', ""), ('seconds_total{mode="idel"}',)),
        (("disk", "io_now > 1 and net.speed_bytes > 1", "by = mount"), ("not by mount",)),
    ],
)
def test_check(brim, tmp_path, fill, words):
    rules = tmp_path / "mine.ini"
    rules.write_text(RULE % fill)
    done = brim("alerts", "--file", rules, "--check")
    assert done.returncode == 1 and done.stderr == ""
    for word in words:
        assert word in done.stdout
    assert done.stdout.startswith("%s:1: [mine]: " % rules)


def test_refused(brim, tmp_path):
    rules = tmp_path / "mine.ini"
    rules.write_text(RULE % ("disk", "io_now >", "by = device\n"))
    one_line(brim("alerts", "--file", rules), 1, "mine.ini:5: ", "a signal is missing")
    one_line(brim("alerts", "--file", tmp_path / "none"), 1, "none")
    one_line(brim("alerts", "--json", "--check"), 2, "give one of them")
    one_line(brim("alerts", "--file", ""), 2, "empty")


def test_prometheus_rules_are_those_of_the_table(brim):
    assert RULES.read_text() == brim.out("alerts", "--prometheus"), "run script/regenerate"


def promtool(*args):
    if not shutil.which("promtool"):
        pytest.skip("no promtool (Debian: prometheus)")
    done = subprocess.run(["promtool", *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()


def test_promtool_takes_them():
    promtool("check", "rules", RULES)


def series(name, values, **labels):
    text = ",".join('%s="%s"' % pair for pair in dict(labels, job="brim", instance="n1").items())
    return "  - {series: '%s{%s}', values: '%s'}" % (name, text, values)


def case(lines, expected):
    """One test of promtool: series, and what fires when: (minute, alert, {thing})."""
    out = ["- interval: 15s", "  input_series:", *lines, "  alert_rule_test:"]
    for when, alert, things in expected:
        out += ["  - {eval_time: %s, alertname: %s, exp_alerts: [%s]}" % (when, alert, ", ".join(
            "{exp_labels: {%s}}" % ", ".join("%s: '%s'" % pair for pair in thing.items())
            for thing in things))]
    return out


@pytest.mark.parametrize("alert, code, thing, summary, action", [
    ("xid", "79", "0000:05:00.0", "fault 79 of 0000:05:00.0", "brim xid 79"),
    ("kernel", "memory_failure", "", "fault memory_failure", "journalctl -k"),
])
def test_fault_is_told_with_its_code(tmp_path, alert, code, thing, summary, action):
    labels = {"id": "a", "alert": alert, "thing": thing, "severity": "critical", "code": code}
    full = dict({k: v for k, v in labels.items() if v}, job="brim", instance="n1")
    said = {"summary": summary, "action": action, "description": "The kernel's log of n1 told of "
            "it in the last minutes; the agent there has the line."}
    test = tmp_path / "test.yml"
    test.write_text("\n".join([
        "rule_files: ['%s']" % RULES, "tests:", "- interval: 15s", "  input_series:",
        series("brim_alert_firing", "1+0x8", **labels), "  alert_rule_test:",
        "  - {eval_time: 1m, alertname: fault, exp_alerts: [{exp_labels: %s, exp_annotations: %s}]}"
        % (json.dumps(full), json.dumps(said))]) + "\n")
    promtool("test", "rules", test)


def test_prometheus_means_the_same(tmp_path):
    """Six rules over made-up series: rates, a label, peers, the past, a join of sets, events."""
    node = {"job": "brim", "instance": "n1"}
    lines = case(
        [
            series("brim_disk_read_seconds_total", "0+%s" % step + "x100", device=device)
            for device, step in (("slow", "15"), ("fast", "0.15"), ("idle", "0"))
        ]
        + [series("brim_disk_reads_total", "0+%s" % step + "x100", device=device)
           for device, step in (("slow", "150"), ("fast", "150"), ("idle", "0"))]
        + [series("brim_disk_%s" % name, "0+0x100", device=device)
           for device in ("slow", "fast", "idle")
           for name in ("write_seconds_total", "writes_total")],
        [("30s", "disk-slow", []),
         ("5m", "disk-slow", [dict(node, severity="warning", device="slow")])],
    )
    modes = {"user": 1, "system": 1, "idle": 10, "iowait": 0, "nice": 0, "irq": 0, "softirq": 0}
    lines += case(
        [series("brim_cpu_seconds_total", "0+%dx100" % step, mode=mode)
         for mode, step in dict(modes, steal=3).items()],
        [("10m", "cpu-steal", [dict(node, severity="warning")])],
    )
    clocks = {"0": "1980000000", "1": "1980000000", "2": "1500000000", "3": "1980000000"}
    lines += case(
        [series("brim_gpu_sm_clock_hertz", "%s+0x100" % hertz, gpu=gpu)
         for gpu, hertz in clocks.items()]
        + [series("brim_gpu_busy_ratio", "0.9+0x100", gpu=gpu) for gpu in clocks],
        [("5m", "gpu-clock-below-peers", [dict(node, severity="warning", gpu="2")])],
    )
    lines += case(  # two GPUs have no median worth the name
        [series("brim_gpu_sm_clock_hertz", "%s+0x100" % clocks[gpu], gpu=gpu) for gpu in "12"]
        + [series("brim_gpu_busy_ratio", "0.9+0x100", gpu=gpu) for gpu in "12"],
        [("5m", "gpu-clock-below-peers", [])],
    )
    lines += case(
        [series("brim_net_speed_bytes", "12500000000+0x200 1250000000+0x40", device="eth0"),
         series("brim_net_speed_bytes", "12500000000+0x240", device="eth1")],
        [("40m", "net-link-slower", []),
         ("52m", "net-link-slower", [dict(node, severity="warning", device="eth0")])],
    )
    lines += case(
        [series("brim_gpu_error_pcie_replays_total", "0+%dx100" % step, gpu=gpu)
         for gpu, step in (("0", 20), ("1", 1))]
        + [series("brim_gpu_pcie_%s" % name, "%d+0x100" % value, gpu=gpu)
           for gpu in "01" for name, value in (("width", 16), ("generation", 5))],
        [("10m", "gpu-pcie-replays-gen5", [dict(node, severity="warning", gpu="0")])],
    )
    faults = {"79": "critical", "31": "warning"}
    lines += case(  # an alert of the agent that is of a condition has a rule of its own
        [series("brim_alert_firing", "_ 1+0x8 stale", id="xid/%s/g" % code, alert="xid", thing="g",
                severity=severity, code=code) for code, severity in faults.items()]
        + [series("brim_alert_firing", "1+0x20", id="disk-slow/a", alert="disk-slow", thing="a",
                  severity="warning", code="")],
        [("0s", "fault", []),
         ("30s", "fault", [dict(node, severity=severity, code=code, id="xid/%s/g" % code,
                                alert="xid", thing="g") for code, severity in faults.items()]),
         ("4m", "fault", [])],
    )
    # Annotations are compared too: take them out, so that the test says when, not how it is told.
    plain, skip = [], False
    for line in RULES.read_text().splitlines():
        skip = line.startswith("    annotations:") or (skip and line.startswith("      "))
        plain += [] if skip else [line]
    (tmp_path / "rules.yml").write_text("\n".join(plain) + "\n")
    test = tmp_path / "test.yml"
    test.write_text("\n".join(["rule_files: [rules.yml]", "evaluation_interval: 15s", "tests:",
                               *lines]) + "\n")
    promtool("test", "rules", test)
