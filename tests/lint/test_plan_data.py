"""data/gpus.csv and data/models.csv: rows are whole, have sources, and agree with devices.csv."""

import csv
import json
import re

import tree

SAME = {  # column of gpus.csv: of devices.csv
    "vendor": "vendor",
    "bf16_tflops": "bf16_dense_tflops",
    "fp16_tflops": "fp16_dense_tflops",
    "fp8_tflops": "fp8_dense_tflops",
    "memory_gb": "mem_gb",
    "memory_gbs": "mem_bw_gbs",
    "tdp_w": "tdp_w",
}
LIMITS = {  # the least and the most that a device of these years can have
    "bf16_tflops": (50, 20000),
    "fp16_tflops": (50, 20000),
    "fp8_tflops": (50, 50000),
    "mxfp8_tflops": (50, 50000),
    "nvfp4_tflops": (50, 100000),
    "memory_gb": (8, 1024),
    "memory_gbs": (100, 30000),
    "link_gbs": (10, 5000),
    "link_gpus": (2, 10000),
    "pcie_gbs": (10, 500),
    "tdp_w": (10, 3000),
    "sms": (10, 1000),
    "node_gpus": (1, 16),
    "node_nics": (1, 24),
    "node_nic_gbps": (25, 3200),
}


def table(name):
    text = tree.read(f"data/{name}.csv")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return list(rows), set(re.findall(r"^#   (\w+)  ", text, re.M))


GPUS, GPU_SOURCES = table("gpus")
MODELS, MODEL_SOURCES = table("models")
DEVICES = {row["name"]: row for row in table("devices")[0]}


def test_rows_are_whole():
    for row in GPUS + MODELS:
        assert None not in row and None not in row.values(), f"{row['name']}: wrong field count"
        assert re.fullmatch(r"[A-Za-z0-9.-]+", row["name"]), row["name"]
        for text in row.values():
            assert text == text.strip() and text.isascii(), row["name"]


def test_gpus_have_sources():
    used = {key for row in GPUS for key in row["source"].split()}
    assert all(row["source"] for row in GPUS)
    assert used == GPU_SOURCES


def test_gpus_are_plausible():
    for row in GPUS:
        for column, (least, most) in LIMITS.items():
            value = float(row[column]) if row[column] else least
            assert least <= value <= most, f"{row['name']}: {column} {value}"
        assert row["bf16_tflops"] or row["fp16_tflops"], row["name"]
        assert row["memory_gb"] and row["memory_gbs"], row["name"]
        assert bool(row["link_gbs"]) == bool(row["link_gpus"]), row["name"]


def test_gpus_agree_with_devices():
    compared = 0
    for row in GPUS:
        device = DEVICES.get(row["name"], {})
        for here, there in SAME.items():
            if row[here] and device.get(there):
                compared += 1
                assert row[here] == device[there], f"{row['name']}: {here}"
        if row["link_gbs"] and device.get("scaleup_gbs_per_dir"):
            assert float(row["link_gbs"]) == float(device["scaleup_gbs_per_dir"]), row["name"]
    assert compared > 100


def test_models_have_sources():
    places = re.compile(r"huggingface\.co/[\w.-]+/[\w.-]+|.*arXiv [\d.]{9,10}.*|github\.com/.*")
    for row in MODELS:
        for source in row["source"].split("; "):
            assert source in MODEL_SOURCES or places.fullmatch(source), f"{row['name']}: {source}"


def test_failures_have_sources():
    rows, sources = table("failures")
    assert {row["source"] for row in rows} == sources
    for row in rows:
        assert row["gpu"] in {gpu["name"] for gpu in GPUS}, row["name"]
        assert row["notes"] and int(row["node_gpus"]), row["name"]
        assert bool(row["failures"]) != bool(row["per_1000_node_days"]), row["name"]


def test_kernels():
    """Published products: of known GPUs, fast but not above what the vendor states by much; and
    what brim plan takes of those that it has no runs of is below the fastest of them."""
    rows, keys = table("plan_kernels")
    peaks, fitted = {row["name"]: row for row in GPUS}, table("plan_constants")[0]
    assert {row["source"] for row in rows} == keys
    assert len({(r["name"], r["precision"], r["source"]) for r in rows}) == len(rows)
    for row in rows:
        peak = float(peaks[row["name"]][row["precision"] + "_tflops"])
        assert 0.4 <= float(row["tflops"]) / peak <= 1.1, row
    kernels = [row for row in fitted if row["rates"] == "kernels"]
    assert {row["rates"] for row in fitted} == {"runs", "operations", "kernels"} and kernels
    for row in kernels:
        fastest = [r for r in rows if (r["name"], r["precision"]) == (row["name"], "bf16")][0]
        step = float(row["gemm_sustained_bf16"]) * float(peaks[row["name"]]["bf16_tflops"])
        assert 0.7 <= step / float(fastest["tflops"]) <= 0.95, row["name"]


def test_power_limits():
    """Each has a source; limits fall, and with them speed, which is between its least and most."""
    rows, keys = table("power_limits")
    assert {row["source"] for row in rows} == keys
    for before, row in zip(rows, rows[1:]):
        assert None not in row and None not in row.values(), row["name"]
        assert 0 < float(row["slowest"]) <= float(row["speed"]) <= float(row["fastest"]) <= 1
        if row["name"] == before["name"]:
            assert float(row["limit_w"]) < float(before["limit_w"]), row["name"]
            assert float(row["speed"]) <= float(before["speed"]), row["name"]
        else:
            assert float(row["speed"]) == 1, row["name"]


def test_prices():
    """Each is of a GPU that gpus.csv has, with a source and a date, and plausible."""
    rows, keys = table("prices")
    names = {row["name"] for row in GPUS}
    assert len({row["name"] for row in rows}) == len(rows) > 5
    for row in rows:
        assert None not in row and None not in row.values(), row["name"]
        assert row["name"] in names, row["name"]
        assert 0.1 < float(row["usd_per_hour"]) < 50, row["name"]
        assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", row["date"]), row["name"]
        assert row["source"] in keys, row["name"]
        if row["idle_w"]:
            assert 10 < float(row["idle_w"]) < 200 and row["idle_source"] in keys, row["name"]


def test_configs_have_only_what_is_read():
    """They were typed: a whole config.json has words that src/plan/shape never looks for."""
    code = "".join(tree.read(path) for path in tree.files(".c", under=("src/plan/shape/",)))
    read = set(re.findall(r'"([a-z_]+)"', code))
    configs = tree.files(".json", under=("tests/fixtures/configs/",))
    assert len(configs) > 30
    for path in configs:
        config = json.loads(tree.read(path))
        config.pop("vision_config", None)  # a part that is there to be passed over
        for part in (config, config.get("text_config", {})):
            assert set(part) <= read, f"{path}: {sorted(set(part) - read)} is never read"
