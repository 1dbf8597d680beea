#!/usr/bin/env python3
"""Write the Grafana dashboard: dashboard.py > deploy/grafana/brim.json

The first row is over all nodes: what has a course is of what brim.records.yml records. The others
follow the way of the data to the accelerators: storage, CPU and memory, PCIe, GPU, network; they
have a line for each device, so all but the state are closed until somebody opens them.
Valid for Grafana 10 to 13: schema 36, panels that these have in common, two variables.
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

LIMITING = gauge("brim_stage_limiting")
BUSY = gauge("brim_gpu_busy_ratio")
GREEN, ORANGE, RED = "green", "orange", "red"


def above(orange, red):
    """Thresholds of what is bad when it is high."""
    return [(None, GREEN), (orange, ORANGE), (red, RED)]


def below(red, orange):
    """Thresholds of what is bad when it is low."""
    return [(None, RED), (red, ORANGE), (orange, GREEN)]


def stat(title, unit, targets, steps, about, **more):
    return dict(heat(title, unit, targets, about, **more), kind="stat", steps=steps)


def heat(title, unit, targets, about, **more):
    return dict(more, kind="heatmap", title=title, unit=unit, targets=targets, about=about)


def table(title, targets, **more):
    return dict(more, kind="table", title=title, targets=targets)


# Of the row over the nodes. Thresholds of alerts are those of data/alerts.ini.
NODES = [
    stat("Nodes by what limits them", "short", [
        ("count by (stage) (%s == 1)" % LIMITING, "{{stage}}"),
        ("count(max by (job, instance) (%s) == 0)" % LIMITING, "nothing")],
        [(None, "text")], "Of each node the stage at its limit now, as its agent has it."),
    stat("Accelerators that are idle", "percentunit", [
        ("avg(%s < bool 0.05)" % BUSY, "")],
        above(0.2, 0.5), "Share of accelerators that are busy less than 5 % of the time, now."),
    stat("GPU-hours lost today", "h", [
        ("sum(sum_over_time(%s[$__range])) / 60" % gauge("brim:gpus_idle:sum"), "")],
        [(None, "text")], "Hours in which accelerators did nothing, all together, since midnight. "
        "Needs brim.records.yml.", today=True),
    stat("Alerts", "short", [
        ("count(%s) or vector(0)" % gauge("brim_alert_firing", 'severity="%s"' % severity),
         severity) for severity in ("critical", "warning")],
        above(1, 10), "Alerts that fire on the nodes, faults among them."),
    dict(kind="timeseries", title="Nodes by what limits them, over time", unit="short", points=200,
         targets=[("sum by (stage) (brim:limiting:sum)", "{{stage}}")],
         about="Of all nodes. Needs brim.records.yml.", stacked=True),
    heat("Accelerators by how busy they are", "percentunit", [
        ("sum by (le) (brim:gpus_busy:bucket)", "{{le}}")],
        "Of all nodes; dark below is many that wait. Needs brim.records.yml.",
        buckets=True, points=200),
    table("Nodes that something limits, the most loaded first", [
        ("topk(50, %s and on (job, instance, stage) %s == 1)"
         % (gauge("brim_stage_load_ratio"), LIMITING), "")],
        value="load", unit="percentunit", steps=above(0.8, 0.95)),
]

# (row, [(title, unit, [(expression, legend)])], or a dict where there is more to say)
ROWS = [
    ("Nodes", NODES),
    ("State", [
        table("Alerts that fire", [(gauge("brim_alert_firing"), "")]),
        ("Load of the stages", "percentunit", [
            (gauge("brim_stage_load_ratio"), "{{instance}} {{stage}}")], above(0.8, 0.95)),
        ("Load", "short", [(gauge("brim_host_load1"), "{{instance}}")]),
        ("Memory that can be had", "bytes", [
            (gauge("brim_memory_available_bytes"), "{{instance}}")]),
    ]),
    ("Storage", [
        ("Time of a request", "s", [
            ("(%s + %s) / %s" % (READ, WRITE, REQUESTS), "{{instance}} {{device}}")],
         above(0.02, 0.05)),
        ("Disks, bytes a second", "Bps", [
            (rate("brim_disk_read_bytes_total"), "{{device}} read"),
            (rate("brim_disk_write_bytes_total"), "{{device}} write")]),
        ("Disks, share of time busy", "percentunit", [
            (rate("brim_disk_io_seconds_total"), "{{instance}} {{device}}")], above(0.8, 0.95)),
        ("NFS, bytes a second", "Bps", [(rate("brim_nfs_bytes_total"), "{{mount}} {{op}}")]),
        ("NFS, time in the queue and on the wire", "s", [
            (rate("brim_nfs_queue_seconds_total"), "{{mount}} {{op}} queue"),
            (rate("brim_nfs_rpc_seconds_total"), "{{mount}} {{op}} wire")]),
        ("File systems, room left", "percentunit", [(ROOM, "{{instance}} {{mount}}")],
         below(0.05, 0.15)),
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
             "{{instance}} {{gpu}}")], below(0.6, 1)),
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
            (gauge("brim_gpu_temperature_celsius"), "{{instance}} {{gpu}}")], above(80, 85)),
        heat("Accelerators by temperature", "celsius", [
            (gauge("brim_gpu_temperature_celsius"), "{{instance}} {{gpu}}")],
            "Counted in the browser: choose nodes where there are many.", points=100),
        ("Memory in use", "bytes", [
            (gauge("brim_gpu_memory_used_bytes"), "{{instance}} {{gpu}}")]),
        ("Time with the clock held down", "percentunit", [
            (rate("brim_gpu_throttle_seconds_total"), "{{instance}} {{gpu}} {{reason}}")]),
        ("Links to other GPUs, bytes a second", "Bps", [
            (rate("brim_gpu_link_received_bytes_total"), "{{instance}} {{gpu}} in"),
            (rate("brim_gpu_link_sent_bytes_total"), "{{instance}} {{gpu}} out")]),
        table("GPUs", [(gauge("brim_gpu_info"), "")]),
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
OPEN = ("Nodes", "State")
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def targets_of(one):
    """What is of now is asked once, what has a course for each of the panel's points."""
    now = one["kind"] in ("stat", "table")
    form = {"table": "table", "heatmap": "heatmap" if one.get("buckets") else "time_series"}
    return [
        {
            "refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression,
            "legendFormat": legend, "instant": now, "range": not now,
            "format": form.get(one["kind"], "time_series"),
        }
        for i, (expression, legend) in enumerate(one["targets"])
    ]


def options_of(one):
    if one["kind"] == "stat":
        return {"graphMode": "none", "colorMode": "value", "justifyMode": "auto",
                "textMode": "value_and_name" if len(one["targets"]) > 1 else "value",
                "orientation": "auto",
                "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
    if one["kind"] == "heatmap":
        return {"calculate": not one.get("buckets"), "cellGap": 1, "showValue": "never",
                "color": {"mode": "scheme", "scheme": "Oranges", "fill": "dark-orange", "steps": 64,
                          "exponent": 0.5, "reverse": False},
                "yAxis": {"unit": one["unit"], "axisPlacement": "left", "reverse": False},
                "rowsFrame": {"layout": "auto"}, "filterValues": {"le": 1e-9},
                "legend": {"show": True}, "exemplars": {"color": "rgba(255,0,255,0.7)"},
                "tooltip": {"mode": "single", "yHistogram": False}}
    if one["kind"] == "table":
        return {"showHeader": True, "cellHeight": "sm"}
    return {"tooltip": {"mode": "multi", "sort": "desc"},
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True,
                       "calcs": []}}


def defaults_of(one):
    made = {}
    if "unit" in one:
        made["unit"] = one["unit"]
    if one["kind"] in ("timeseries", "stat"):
        made["min"] = 0
    if "steps" in one:
        made["thresholds"] = {"mode": "absolute", "steps": [
            {"value": value, "color": colour} for value, colour in one["steps"]]}
        made["color"] = {"mode": "thresholds" if one["kind"] == "stat" else "palette-classic"}
    custom = {}
    if "steps" in one and one["kind"] == "timeseries":
        custom["thresholdsStyle"] = {"mode": "line"}
    if one.get("stacked"):
        custom.update(fillOpacity=60, lineWidth=0, stacking={"mode": "normal", "group": "A"})
    if custom:
        made["custom"] = custom
    return made


def panel(one, place):
    if isinstance(one, tuple):
        title, unit, targets, *steps = one
        one = dict(kind="timeseries", title=title, unit=unit, targets=targets)
        one.update({"steps": steps[0]} if steps else {})
    made = {
        "type": one["kind"], "title": one["title"], "datasource": SOURCE, "gridPos": place,
        "fieldConfig": {"defaults": defaults_of(one), "overrides": []},
        "options": options_of(one), "targets": targets_of(one),
    }
    if "about" in one:
        made["description"] = one["about"]
    if "points" in one:
        made["maxDataPoints"] = one["points"]
    if one.get("today"):
        made["timeFrom"] = "now/d"
    if one["kind"] == "table":
        hidden = {"Time": True, "Value": "value" not in one, "__name__": True, "id": True,
                  "job": True}
        organize = {"excludeByName": hidden}
        if "value" in one:
            organize["renameByName"] = {"Value": one["value"]}
        made["transformations"] = [{"id": "organize", "options": organize}]
    return made


def placed(content, y):
    """Panels three in a line; the row's stat panels four in a line of half the height before."""
    stats = [one for one in content if isinstance(one, dict) and one["kind"] == "stat"]
    others = [one for one in content if one not in stats]
    panels = [panel(one, {"h": HEIGHT // 2, "w": 6, "x": i % 4 * 6, "y": y + i // 4 * HEIGHT // 2})
              for i, one in enumerate(stats)]
    y += (len(stats) + 3) // 4 * HEIGHT // 2
    panels += [panel(one, {"h": HEIGHT, "w": WIDTH, "x": i % 3 * WIDTH, "y": y + i // 3 * HEIGHT})
               for i, one in enumerate(others)]
    return panels, y + (len(others) + 2) // 3 * HEIGHT


def dashboard():
    panels, y, number = [], 0, 0
    for row, content in ROWS:
        head = {"type": "row", "title": row, "collapsed": row not in OPEN, "panels": [],
                "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}}
        inside, below_row = placed(content, y + 1)
        panels.append(head)
        if head["collapsed"]:
            head["panels"] = inside
            y += 1
        else:
            panels += inside
            y = below_row
        for one in [head] + inside:
            number += 1
            one["id"] = number
    instance = {
        "name": "instance", "label": "node", "type": "query", "datasource": SOURCE,
        "query": {"query": "label_values(brim_host_load1, instance)", "refId": "instance"},
        "refresh": 2, "multi": True, "includeAll": True, "allValue": ".*", "sort": 1,
        "current": {"text": ["All"], "value": ["$__all"]}, "options": [],
    }
    source = {"name": "datasource", "label": "source", "type": "datasource",
              "query": "prometheus", "current": {}, "options": []}
    return {
        "title": "brim: what keeps accelerators waiting", "uid": "brim-node", "tags": ["brim"],
        "schemaVersion": 36, "version": 2, "editable": True, "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "graphTooltip": 1,
        "templating": {"list": [source, instance]}, "annotations": {"list": []},
        "links": [], "panels": panels,
    }


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1))
