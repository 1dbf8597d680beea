"""brim xid: the fault catalogue. From the kernel's log to a metric: tests/unit/probe/sample/kmsg.c,
for a line that a test wrote would stay in the log of this machine."""

import json
import re

import pytest
from conftest import one_line


def test_one_code(brim):
    text = brim.out("xid", "79")
    assert text.startswith("XID 79  GPU_HAS_FALLEN_OFF_THE_BUS\n")
    assert "drain (critical)" in text and "reboot" in text
    assert brim.out("xid", "20034").startswith("SXID 20034  LTSSM fault up\n")


def test_nvlink5(brim):
    every = brim.out("xid", "145", "0x4")
    assert every.count("RLW_REMAP, sub-code 0") == 11
    one = brim.out("xid", "145", "0x4", "0x41")
    assert one.count("RLW_REMAP, sub-code 0") == 1 and "0x00000040: critical, fatal" in one
    text = brim.out("xid", "149", "0x004505c6")
    assert "NETIR_LINK_DOWN, sub-code 4" in text and "--gpu-reset" in text
    assert brim.out("xid", "149", "4505c6", "0") == text


def test_list(brim):
    lines = brim.out("xid").splitlines()
    assert len(lines) == 176 + 93
    assert re.fullmatch(r"XID     79  drain       critical  GPU_HAS_FALLEN_OFF_THE_BUS", lines[78])


def test_json(brim):
    every = json.loads(brim.out("xid", "--json"))
    assert every["schema"] == "brim.faults.v1"
    assert [len(every[k]) for k in ("xids", "sxids", "nvlink5")] == [176, 93, 94]
    one = json.loads(brim.out("xid", "--json", "79"))
    assert one["xids"] == [every["xids"][78]] and one["sxids"] == [] and one["nvlink5"] == []
    assert one["xids"][0]["class"] == "drain"
    link = json.loads(brim.out("xid", "-j", "150", "0", "0"))
    assert [r["unit"] for r in link["nvlink5"]] == ["MSE_WATCHDOG"]
    assert link["nvlink5"][0]["fatal"] is True


@pytest.mark.parametrize(
    "words, said",
    [
        (("x",), "'x' is no code"),
        (("0",), "'0' is no code"),
        (("-1",), "-1"),
        (("79", "0x1"), "144 to 150"),
        (("149", "zz"), "'zz' is no word"),
        (("149", "0x100000000"), "is no word"),
        (("149", "0x1", "zz"), "'zz' is no word"),
        (("149", "0x1", "0x1", "0x1"), "0x1"),
    ],
)
def test_wrong_usage(brim, words, said):
    one_line(brim("xid", *words), 2, said)


def test_unknown_codes(brim):
    one_line(brim("xid", "999"), 1, "999", "'brim xid' lists them")
    one_line(brim("xid", "149", "0x3f"), 1, "149")
    one_line(brim("xid", "149", "0x14", "0x9"), 1, "149")
