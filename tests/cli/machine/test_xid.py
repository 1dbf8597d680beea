"""brim xid: the fault catalogue; and the kernel log from a line in it to a metric."""

import json
import os
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


def test_from_the_kernel_log_to_a_metric(brim):
    """A line that root writes to the log is counted; the address is one that no machine has."""
    line = "<3>NVRM: Xid (PCI:fefe:05:00): 79, pid=1, name=x, GPU has fallen off the bus.\n"
    try:
        fd = os.open("/dev/kmsg", os.O_WRONLY)
    except OSError as e:
        pytest.skip("the kernel log cannot be written: %s" % e.strerror)
    os.write(fd, line.encode())
    os.close(fd)
    page = brim.out("agent", "--once")
    if re.search(r"^brim_kernel_event_records_total 1024$", page, re.M):
        pytest.skip("one sample does not reach the end of the kernel log")
    assert re.search(r'^brim_xid_events_total\{id="fefe:05:00.0/79"\} [1-9]', page, re.M)
    info = 'brim_xid_info{id="fefe:05:00.0/79",pci="fefe:05:00.0",code="79",'
    assert info + 'name="GPU_HAS_FALLEN_OFF_THE_BUS"} 1' in page
