"""data/devices.csv: it parses, ids are unique, every row has a source, figures are plausible. Rows
of the other tables have a source, too."""

import csv
import re

import pytest
import tree

NUMBERS = {  # column: the least and the most that a device of these years can have
    "bf16_dense_tflops": (1, 20000),
    "fp16_dense_tflops": (1, 20000),
    "fp8_dense_tflops": (1, 50000),
    "int8_dense_tops": (1, 50000),
    "fp4_dense_tflops": (1, 100000),
    "mem_gb": (4, 1024),
    "mem_bw_gbs": (100, 30000),
    "pcie_gen": (3, 7),
    "pcie_width": (1, 16),
    "links": (1, 72),
    "link_gbs": (1, 500),
    "scaleup_gbs_per_dir": (10, 5000),
    "scaleup_domain_gpus": (1, 9216),
    "tdp_w": (10, 3000),
    "port_gbps": (1, 3200),
    "ports": (1, 24),
}
WHOLE = ("pcie_gen", "pcie_width", "links", "scaleup_domain_gpus", "ports")
TEXT = tree.read("data/devices.csv")
ROWS = list(csv.DictReader(line for line in TEXT.splitlines() if not line.startswith("#")))
SOURCES = set(re.findall(r"^#   (\w+)  ", TEXT, re.M))


def number(row, column):
    return float(row[column]) if row[column] else None


def test_rows_are_whole():
    assert len(ROWS) > 50
    for row in ROWS:
        assert None not in row and None not in row.values(), f"{row['name']}: wrong field count"
        assert row["kind"] in ("accelerator", "nic", "switch"), row["name"]
        assert re.fullmatch(r"[A-Za-z0-9-]+", row["name"]), row["name"]
        assert row["vendor"], row["name"]
        for text in row.values():
            assert text == text.strip() and text.isascii(), row["name"]


def test_names_and_ids_are_unique():
    names, ids = set(), {}
    for row in ROWS:
        assert row["name"].lower() not in names, row["name"]
        names.add(row["name"].lower())
        assert re.fullmatch(r"[0-9a-f]{4}", row["pci_vendor"]), row["name"]
        assert row["pci_devices"], row["name"]
        for device in row["pci_devices"].split(" "):
            assert re.fullmatch(r"[0-9a-f]{4}", device), row["name"]
            key = row["pci_vendor"], device
            assert key not in ids, f"{key} is both {ids.get(key)} and {row['name']}"
            ids[key] = row["name"]


def test_every_row_has_a_source():
    used = set()
    for row in ROWS:
        keys = set(row["source"].split())
        assert keys, f"{row['name']} has no source"
        assert keys <= SOURCES, f"{row['name']}: unknown source {sorted(keys - SOURCES)}"
        used |= keys
    assert used == SOURCES, f"no row names {sorted(SOURCES - used)}"


def test_figures_are_plausible():
    for row in ROWS:
        for column, (least, most) in NUMBERS.items():
            value = number(row, column)
            assert value is None or least <= value <= most, f"{row['name']}: {column} {value}"
            assert value is None or column not in WHOLE or value == int(value), row["name"]
        for slow, fast in (("bf16", "fp8"), ("fp16", "fp8"), ("fp8", "fp4")):
            a, b = number(row, f"{slow}_dense_tflops"), number(row, f"{fast}_dense_tflops")
            assert a is None or b is None or a <= b, f"{row['name']}: {slow} above {fast}"
        if row["pcie_width"]:
            assert row["pcie_width"] in ("1", "2", "4", "8", "16"), row["name"]


def test_links_add_up():
    for row in ROWS:
        links, each = number(row, "links"), number(row, "link_gbs")
        total = number(row, "scaleup_gbs_per_dir")
        if links and each and total:
            assert links * each == total, f"{row['name']}: {links} x {each} is not {total}"


@pytest.mark.parametrize("path", tree.files(".csv", under=("data/",)))
def test_every_row_of_every_table_has_a_source(path):
    """Keys of the head of the table; in models.csv also places, which test_plan_data.py checks."""
    text = tree.read(path)
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    fitted = path == "data/plan_constants.csv"  # 'rows' says of which measured runs
    keys = set(re.findall(r"^#   (\w+)  ", text, re.M))
    used = set()
    assert rows and (fitted or keys), path
    for number, row in enumerate(rows, 1):
        source = row["rows" if fitted else "source"]
        assert source and source.strip(), f"{path}: row {number} has no source"
        used |= set(source.split())
    if path != "data/models.csv" and not fitted:
        # prices.csv names the sources of its idle power in a column of its own
        used |= {row["idle_source"] for row in rows if row.get("idle_source")}
        assert used == keys, f"{path}: {sorted(used ^ keys)} only here, or only in the head"


def test_no_file_is_packed():
    """What is too large to be read as it is was made elsewhere: data of others (docs/tests.md)."""
    packed = [path for path in tree.files() if re.search(r"\.(gz|xz|bz2|zst|zip|tar|tgz)$", path)]
    assert not packed, packed
