"""data/xid.csv, sxid.csv and nvlink5.csv: whole, known words, what is grave says what to do."""

import csv
import re

import pytest
import tree

CLASSES = {
    "xid": {"app", "watch", "reset", "drain", "link", "mech", "info"},
    "sxid": {"count", "watch", "maybe-fatal", "fatal"},
}
GRAVE = {"reset", "drain", "fatal", "maybe-fatal"}
SCOPES = {
    "xid": {"process", "gpu", "link", "board", "vm"},
    "sxid": {"link", "switch", "fabric"},
}
SEVERITIES = {"note", "warning", "critical"}
# An event's text and action have 224 bytes; the driver's words and an address come to them.
MEANING, ACTION = 160, 200
# Fatal and other rules of each XID in the sheet "XID 144-150 Decode".
RULES = {
    144: (2, 4),
    145: (9, 24),
    146: (5, 15),
    147: (0, 2),
    148: (0, 1),
    149: (26, 5),
    150: (1, 0),
}


def rows(name):
    text = tree.read(f"data/{name}.csv")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def check_texts(row, what):
    for column, text in row.items():
        assert text and text == text.strip() and text.isascii(), f"{what}: {column}"
        assert not text.endswith("."), f"{what}: {column}"
    assert len(row["meaning"]) <= MEANING and len(row["action"]) <= ACTION, what
    assert row["severity"] in SEVERITIES, what


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_rows(name):
    codes = []
    for row in rows(name):
        assert None not in row and None not in row.values(), row
        check_texts(row, f"{name} {row['code']}")
        assert row["class"] in CLASSES[name] and row["scope"] in SCOPES[name], row
        codes.append(int(row["code"]))
        if row["class"] in GRAVE:
            assert row["severity"] == "critical", row
            assert re.search(r"drain|reset|restart|reboot|replaced", row["action"]), row
    assert codes == sorted(set(codes)), "codes grow, none is there twice"


def test_every_xid_is_there():
    found = rows("xid")
    assert [int(row["code"]) for row in found] == list(range(1, 177))
    names = [row["name"] for row in found]
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[A-Z0-9_]+", name) and not name.startswith("ROBUST_CHANNEL_"), name


def test_every_sxid_is_there():
    found = rows("sxid")
    assert len(found) == 93
    assert all(10001 <= int(row["code"]) <= 24007 for row in found)


def test_links():
    keys, counts = set(), {xid: [0, 0] for xid in RULES}
    for row in rows("nvlink5"):
        check_texts(row, f"nvlink5 {row['unit']} {row['status']}")
        xid, sub = int(row["xid"]), int(row["sub"])
        assert row["fatal"] in ("no", "link", "fatal") and 0 <= sub < 64, row
        assert 0 <= int(row["info1"], 16) < 1 << 10 and 0 <= int(row["info2"], 16) < 1 << 7, row
        key = xid, row["info2"], sub, int(row["status"], 16)
        assert key not in keys, row
        keys.add(key)
        counts[xid][row["fatal"] == "no"] += 1
        if row["fatal"] != "no":
            assert "reset the GPU" in row["action"] and row["severity"] == "critical", row
    assert {xid: tuple(n) for xid, n in counts.items()} == RULES


def test_actions_name_the_gpu_that_is_replaced():
    """"-i GPU" is where the address goes; nothing else stands for a GPU."""
    for name in ("xid", "sxid", "nvlink5"):
        for row in rows(name):
            for word in re.findall(r"-i (\S+)", row["action"]):
                assert word.rstrip(";,)") == "GPU", row
