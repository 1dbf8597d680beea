#!/usr/bin/env python3
"""Write the Grafana dashboard: dashboard.py > deploy/grafana/brim.json

Rows follow the way of the data to the accelerators: storage, CPU and memory, PCIe, GPU, network.
Valid for Grafana 9 to 11: schema 36, "timeseries", "stat" and "table" panels, two variables.
"""

import json

ME = 'instance=~"$instance"'


def rate(name, labels=""):
    """A counter's growth per second over what the panel shows in a point."""
    return "rate(%s{%s}[$__rate_interval])" % (name, ",".join(filter(None, (ME, labels))))


def gauge(name, labels=""):
    return "%s{%s}" % (name, ",".join(filter(None, (ME, labels))))


READ = rate("brim_disk_read_seconds_total")
WRITE = rate("brim_disk_write_seconds_total")
REQUESTS = "(%s + %s)" % (rate("brim_disk_reads_total"), rate("brim_disk_writes_total"))
ROOM = "%s / %s" % (gauge("brim_filesystem_free_bytes"), gauge("brim_filesystem_size_bytes"))
CPU = "sum by (instance, mode) (%s)" % rate("brim_cpu_seconds_total", 'mode!="idle"')

# (row, [(title, unit, [(expression, legend)])])
ROWS = [
    ("State", [
        ("Alerts that fire", "table", [(gauge("brim_alert_firing"), "")]),
        ("Load", "short", [(gauge("brim_host_load1"), "{{instance}}")]),
        ("Memory that can be had", "bytes", [
            (gauge("brim_memory_available_bytes"), "{{instance}}")]),
    ]),
    ("Storage", [
        ("Time of a request", "s", [
            ("(%s + %s) / %s" % (READ, WRITE, REQUESTS), "{{instance}} {{device}}")]),
        ("Disks, bytes a second", "Bps", [
            (rate("brim_disk_read_bytes_total"), "{{device}} read"),
            (rate("brim_disk_write_bytes_total"), "{{device}} write")]),
        ("Disks, share of time busy", "percentunit", [
            (rate("brim_disk_io_seconds_total"), "{{instance}} {{device}}")]),
        ("NFS, bytes a second", "Bps", [(rate("brim_nfs_bytes_total"), "{{mount}} {{op}}")]),
        ("NFS, time in the queue and on the wire", "s", [
            (rate("brim_nfs_queue_seconds_total"), "{{mount}} {{op}} queue"),
            (rate("brim_nfs_rpc_seconds_total"), "{{mount}} {{op}} wire")]),
        ("File systems, room left", "percentunit", [(ROOM, "{{instance}} {{mount}}")]),
    ]),
    ("CPU and memory", [
        ("CPUs by what they do", "short", [(CPU, "{{instance}} {{mode}}")]),
        ("Pressure: share of time in which work waits", "percentunit", [
            (rate("brim_pressure_waiting_seconds_total"), "{{instance}} {{resource}}")]),
        ("Swap and reclaim, pages a second", "short", [
            (rate("brim_vmstat_swap_in_pages_total"), "swap in"),
            (rate("brim_vmstat_swap_out_pages_total"), "swap out"),
            (rate("brim_vmstat_direct_scanned_pages_total"), "reclaimed by allocations")]),
    ]),
    ("PCIe", [
        ("GPUs, bytes a second", "Bps", [
            (rate("brim_gpu_pcie_received_bytes_total"), "{{instance}} {{gpu}} in"),
            (rate("brim_gpu_pcie_sent_bytes_total"), "{{instance}} {{gpu}} out")]),
        ("Lanes, share of the best", "percentunit", [
            ("%s / %s" % (gauge("brim_gpu_pcie_width"), gauge("brim_gpu_pcie_width_max")),
             "{{instance}} {{gpu}}")]),
        ("Packets sent again", "short", [
            (rate("brim_gpu_error_pcie_replays_total"), "{{instance}} {{gpu}}")]),
    ]),
    ("GPU", [
        ("Busy", "percentunit", [(gauge("brim_gpu_busy_ratio"), "{{instance}} {{gpu}}")]),
        ("Matrix units at work", "percentunit", [
            (gauge("brim_gpu_tensor_active_ratio"), "{{instance}} {{gpu}}")]),
        ("Clock", "hertz", [(gauge("brim_gpu_sm_clock_hertz"), "{{instance}} {{gpu}}")]),
        ("Power", "watt", [(gauge("brim_gpu_power_watts"), "{{instance}} {{gpu}}")]),
        ("Temperature", "celsius", [
            (gauge("brim_gpu_temperature_celsius"), "{{instance}} {{gpu}}")]),
        ("Memory in use", "bytes", [
            (gauge("brim_gpu_memory_used_bytes"), "{{instance}} {{gpu}}")]),
        ("Time with the clock held down", "percentunit", [
            (rate("brim_gpu_throttle_seconds_total"), "{{instance}} {{gpu}} {{reason}}")]),
        ("Links to other GPUs, bytes a second", "Bps", [
            (rate("brim_gpu_link_received_bytes_total"), "{{instance}} {{gpu}} in"),
            (rate("brim_gpu_link_sent_bytes_total"), "{{instance}} {{gpu}} out")]),
        ("GPUs", "table", [(gauge("brim_gpu_info"), "")]),
    ]),
    ("Network", [
        ("Interfaces, bytes a second", "Bps", [
            (rate("brim_net_receive_bytes_total"), "{{device}} in"),
            (rate("brim_net_transmit_bytes_total"), "{{device}} out")]),
        ("Errors and drops", "short", [
            (rate("brim_net_receive_errors_total"), "{{device}} errors"),
            (rate("brim_net_receive_dropped_total"), "{{device}} dropped")]),
        ("InfiniBand and RoCE, bytes a second", "Bps", [
            (rate("brim_infiniband_received_bytes_total"), "{{port}} in"),
            (rate("brim_infiniband_sent_bytes_total"), "{{port}} out")]),
    ]),
]
WIDTH, HEIGHT = 8, 8
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def panel(title, unit, targets, place):
    table = unit == "table"
    made = {
        "type": "table" if table else "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {} if table else {"unit": unit, "min": 0}, "overrides": []},
        "options": {},
        "targets": [
            {
                "refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression,
                "legendFormat": legend, "instant": table, "range": not table,
                "format": "table" if table else "time_series",
            }
            for i, (expression, legend) in enumerate(targets)
        ],
    }
    if table:
        hidden = {"Time": True, "Value": True, "__name__": True, "id": True, "job": True}
        made["transformations"] = [{"id": "organize", "options": {"excludeByName": hidden}}]
    else:
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom"},
                           "tooltip": {"mode": "multi"}}
    return made


def dashboard():
    panels, y = [], 0
    for row, content in ROWS:
        panels.append({"type": "row", "title": row, "collapsed": False, "panels": [],
                       "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}})
        y += 1
        for i, (title, unit, targets) in enumerate(content):
            place = {"h": HEIGHT, "w": WIDTH, "x": i % 3 * WIDTH, "y": y + i // 3 * HEIGHT}
            panels.append(panel(title, unit, targets, place))
        y += (len(content) + 2) // 3 * HEIGHT
    for number, one in enumerate(panels, 1):
        one["id"] = number
    instance = {
        "name": "instance", "label": "node", "type": "query", "datasource": SOURCE,
        "query": {"query": "label_values(brim_host_load1, instance)", "refId": "instance"},
        "definition": "label_values(brim_host_load1, instance)",
        "refresh": 2, "multi": True, "includeAll": True, "sort": 1,
        "current": {"text": ["All"], "value": ["$__all"]}, "options": [],
    }
    source = {"name": "datasource", "label": "source", "type": "datasource",
              "query": "prometheus", "current": {}, "options": []}
    return {
        "title": "brim: what keeps accelerators waiting", "uid": "brim-node", "tags": ["brim"],
        "schemaVersion": 36, "version": 1, "editable": True, "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "graphTooltip": 1,
        "templating": {"list": [source, instance]}, "annotations": {"list": []},
        "links": [], "panels": panels,
    }


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1))
