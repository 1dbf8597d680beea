"""brim agent and brim up: one sample, how they start and end, and a real Prometheus."""

import json
import shutil
import signal
import socket
import subprocess

import pytest
from conftest import one_line
from prometheus import PROGRAM, Prometheus
from served import wait_until

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def test_one_sample(brim):
    text = brim.out("agent", "--once")
    for name in ("brim_cpu_seconds_total", "brim_memory_total_bytes", "brim_host_load1"):
        assert "\n# TYPE %s " % name in "\n" + text
    assert "nan" not in text.lower()
    with open("/proc/meminfo") as f:
        total = int(f.readline().split()[1]) * 1024
    assert "brim_memory_total_bytes %d\n" % total in text


def test_one_sample_as_json(brim):
    rows = json.loads(brim.out("agent", "--once", "--json"))["rows"]
    assert {"cpu", "memory", "host"} <= {row["set"] for row in rows}


def test_wrong_usage(brim):
    one_line(brim("agent", "--json"), 2, "--once")
    none = ("agent", "--store", "none")
    one_line(brim(*none, "--interval", "1ms"), 2, "100ms")
    one_line(brim(*none, "--listen", "0.0.0.0:9410"), 2, "not a loopback address")
    one_line(brim(*none, "--listen", "here"), 2, "'here'", "127.0.0.1:9410")
    for word in ("here", "127.0.0.1:99999", "[::1"):
        one_line(brim("agent", "--once", "--listen", word), 2, "--listen: '%s'" % word)
    one_line(brim(*none, "--store-mib", "1"), 2, "--store-mib", "16")


@pytest.mark.parametrize("command, word", [("agent", "in use"), ("up", "is taken")])
def test_a_port_in_use_is_named(brim, command, word):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = "127.0.0.1:%d" % taken.getsockname()[1]
        one_line(brim(command, "--store", "none", "--listen", where), 1, where, word)


def test_up_prints_the_address_and_ends(start):
    up = start("--interval", "200ms", command="up")
    where = "127.0.0.1:%d" % up.port
    assert "dashboard: http://%s/\n" % where in up.said()
    assert "<html" in up.get("/")[1]
    assert up.stop() == 0


def test_ends_on_an_interrupt(start):
    assert start(command="up").stop(signal.SIGINT) == 0


def test_a_second_agent_does_not_store(start, tmp_path):
    """It runs on without storing and says so once."""
    store = tmp_path / "store" / "agent.db"
    first = start("--interval", "100ms", store=store)
    wait_until(lambda: first.value("stored_ticks_total") > 2)
    second = start("--interval", "100ms", store=store)
    wait_until(lambda: second.value("unstored_ticks_total") > 10)
    assert second.value("stored_ticks_total") == 0
    assert second.said().count("is in use by another agent") == 1
    assert second.get("/healthz")[1] == "ok\n"
    before = first.value("stored_ticks_total")
    wait_until(lambda: first.value("stored_ticks_total") > before)
    assert (second.stop(), first.stop()) == (0, 0)


def test_without_a_store_nothing_is_stored(agent):
    wait_until(lambda: agent.value("ticks_total") >= 3)
    assert agent.value("stored_ticks_total") is None
    assert agent.value("unstored_ticks_total") is None


def test_metrics_change_with_time(agent):
    headers, first = agent.get("/metrics")
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    wait_until(lambda: agent.get("/metrics")[1] != first)
    headers, text = agent.get("/metrics", Accept=OPENMETRICS)
    assert headers["Content-Type"].startswith("application/openmetrics-text")
    assert text.endswith("# EOF\n")
    assert agent.get("/healthz")[1] == "ok\n"
    assert agent.stop() == 0


def test_prometheus_scrapes_it(agent, tmp_path):
    """A real Prometheus takes both formats and answers with our series."""
    if not PROGRAM:
        pytest.skip("no prometheus (Debian: prometheus)")
    tool = shutil.which("promtool")
    checked = subprocess.run(
        [tool, "check", "metrics"], input=agent.get("/metrics")[1], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert checked.returncode in (0, 3), checked.stdout  # 3: advice about names
    config = (
        "scrape_configs:\n- job_name: brim\n  scrape_interval: 1s\n"
        "  static_configs: [{targets: ['127.0.0.1:%d']}]\n" % agent.port
    )
    with Prometheus(tmp_path, config) as server:
        result = server.wait("brim_memory_total_bytes")
        assert float(result[0]["value"][1]) > 1 << 20


RULE = "[%s]\nset = gpu\nby = gpu\nseverity = note\nsay = x\nwhen = power_watts > 100\n"
GPUS = "[fake]\ncount = 2\n[gpu *]\npower_watts = 650\n"


def test_one_sample_has_the_alerts_of_its_rules(brim, tmp_path):
    rules, gpus = tmp_path / "mine.ini", tmp_path / "gpus.ini"
    gpus.write_text(GPUS)
    rules.write_text(RULE % "hungry")
    text = brim.out("agent", "--once", "--rules", rules, "--fake", gpus)
    assert text.count('alert="hungry"') == 2, text
    assert 'alert="hungry"' not in brim.out("agent", "--once", "--fake", gpus)
    rules.write_text("[hungry]\n")
    one_line(brim("agent", "--once", "--rules", rules), 1, "mine.ini")


def test_alerts_that_are_too_many_are_told(start, tmp_path):
    rules, gpus = tmp_path / "mine.ini", tmp_path / "gpus.ini"
    gpus.write_text(GPUS)
    rules.write_text("".join(RULE % ("hungry-%d" % i) for i in range(200)))
    agent = start("--interval", "100ms", "--rules", rules, "--fake", gpus)
    wait_until(lambda: agent.value("alerts_dropped") == 400 - 256)
    assert agent.said().count("144 alerts are not shown") == 1
