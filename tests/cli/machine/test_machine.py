"""brim machine on this machine, on recordings of it, and with fake drivers."""

import json
import os
import re
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import MACHINES, one_line


def nvml_env(tmp_path, script):
    """Make a script the NVIDIA driver of this machine."""
    path = tmp_path / "nvml.ini"
    path.write_text(script)
    return {"LD_LIBRARY_PATH": os.environ["FAKE_NVML_DIR"], "FAKE_NVML": str(path)}


def gpu(index, bdf, **values):
    lines = ["[gpu %d]" % index, "bdf = " + bdf]
    return "\n".join(lines + ["%s = %s" % item for item in values.items()]) + "\n"


TWO = "[nvml]\ndriver = 550.54\ncount = 2\n" + "".join(
    gpu(i, "0000:0%d:00.0" % (7 + i), name="NVIDIA H100 80GB HBM3", persistence=i, mig=0)
    for i in range(2)
)


def test_this_machine_is_shown(brim):
    text = brim.out("machine")
    with open("/proc/sys/kernel/hostname") as f:
        assert f.read().strip() in text
    assert max(map(len, text.splitlines())) <= 100


def test_json_is_versioned_and_has_no_sentinels(brim):
    text = brim.out("machine", "--json")
    assert json.loads(text)["schema"] == "brim.machine.v1"
    assert not re.search(r": -1\b", text)


def shown(brim, *words, **more):
    """What brim machine shows, but for host memory: a virtual machine gets more as it runs."""
    machine = json.loads(brim.out("machine", "--json", *words, **more))
    for node in machine["nodes"]:
        cpus = [d for d in node["devices"] if "cpu_cores" in d]
        for part in [node, *node["numa_domains"], *cpus]:
            del part["memory_b"]
    return machine


def test_a_recording_shows_what_the_machine_showed(brim, tmp_path):
    live = shown(brim)
    done = brim("machine", "--record", tmp_path / "rec")
    assert done.returncode == 0 and "recorded" in done.stderr
    assert [f.name for f in (tmp_path / "rec").iterdir()] == ["machine.pack"]
    assert shown(brim, "--from", tmp_path / "rec") == live
    file = tmp_path / "rec" / "machine.pack"
    assert shown(brim, "--from", file) == live


def test_a_driver_is_shown_and_recorded(brim, tmp_path):
    env = nvml_env(tmp_path, TWO)
    live = shown(brim, env=env)
    names = [d["name"] for d in live["nodes"][0]["devices"]]
    assert {"GPU0", "GPU1"} <= set(names)
    brim("machine", "--record", tmp_path / "rec", env=env)
    assert shown(brim, "--from", tmp_path / "rec") == live
    assert "persistence" in brim.out("machine", "--audit", "--from", tmp_path / "rec")


def test_a_lost_gpu_is_critical(brim, tmp_path):
    env = nvml_env(tmp_path, TWO + "[fake]\nnvmlDeviceGetName.1 = lost\n")
    done = brim("machine", "--audit", "--fail-on", "critical", env=env)
    assert done.returncode == 1
    assert "GPU1" in done.stdout and "does not answer" in done.stdout


def test_a_driver_that_hangs_is_named_and_left(brim, tmp_path):
    env = nvml_env(tmp_path, TWO + "[fake]\nnvmlDeviceGetPersistenceMode.1 = hang\n")
    done = brim("machine", "--timeout", "300ms", env=env, timeout=20)
    assert done.returncode == 1
    assert "CPU" in done.stdout, "the rest is shown all the same"
    assert done.stderr.count("\n") == 1
    for word in ("nvmlDeviceGetPersistenceMode", "GPU 1"):
        assert word in done.stderr


def test_a_slow_driver_is_waited_for(brim, tmp_path):
    env = nvml_env(tmp_path, TWO + "[fake]\nnvmlDeviceGetName = 200ms\n")
    assert "GPU1" in brim.out("machine", "--timeout", "5s", env=env)


def test_audit_exit_status_follows_fail_on(brim):
    bad = MACHINES / "l40s-bad"
    assert brim("machine", "--audit", "--from", bad).returncode == 0
    for level in ("note", "warning", "critical"):
        assert brim("machine", "--audit", "--fail-on", level, "--from", bad).returncode == 1
    good = MACHINES / "dgx-h100"
    assert brim("machine", "--audit", "--fail-on", "warning", "--from", good).returncode == 0


def test_audit_as_json(brim):
    found = json.loads(brim.out("machine", "--audit", "--json", "--from", MACHINES / "l40s-bad"))
    assert found["schema"] == "brim.audit.v1"
    for finding in found["findings"]:
        assert finding["check"] and finding["severity"] and finding["sentence"]
        if finding["severity"] != "not checked":
            assert finding["evidence"] and finding["effect"] and finding["action"], finding


@pytest.mark.parametrize("name", ["dgx-h100", "mi300x-8", "l40s-bad", "grace-hopper"])
def test_drawings_and_topologies_are_well_formed(brim, tmp_path, name):
    file = tmp_path / "machine.svg"
    brim.out("machine", "--from", MACHINES / name, "--svg", file)
    assert ElementTree.parse(str(file)).getroot().tag.endswith("svg")
    root = ElementTree.fromstring(brim.out("machine", "--from", MACHINES / name, "--nccl-xml"))
    assert root.tag == "system" and root.get("version") == "1"


def matrix(text):
    """{(row, column): class} of a printed matrix."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    head = lines[0][: lines[0].index("CPU", 1)]
    cells = {}
    for line in lines[1:]:
        if line[0] not in head:
            break
        for column, word in zip(head, line[1:]):
            cells[line[0], column] = word
    return cells


@pytest.mark.parametrize("name", ["dgx-a100", "dgx-h100", "mi300x-8", "two-socket", "cloud-vm"])
def test_nccl_xml_comes_back_with_the_same_ways(brim, tmp_path, name):
    """NCCL's format has no host bridges: PHB and NODE cannot be told apart in it."""
    file = tmp_path / "topo.xml"
    file.write_text(brim.out("machine", "--from", MACHINES / name, "--nccl-xml"))
    before = matrix(brim.out("machine", "--from", MACHINES / name, "--matrix"))
    after = matrix(brim.out("machine", "--from", file, "--matrix"))
    assert before.keys() == after.keys() and len(before) >= 9
    alike = {"NODE": "PHB"}
    for pair, way in before.items():
        assert alike.get(way, way) == alike.get(after[pair], after[pair]), pair


def test_fake_accelerators(brim):
    text = brim.out("machine", "--fake", "8xH100-SXM5-80GB", "--matrix")
    assert "GPU7" in text and "NV18" in text
    wrong = brim("machine", "--fake", "8xH100-SXM5-80G")
    one_line(wrong, 2, "did you mean 'H100-SXM5-80GB'?")
    one_line(brim("machine", "--fake", "99xMI300X"), 2, "between 1 and 64")
    one_line(brim("machine", "--fake"), 2, "--fake needs a value")


def fleet(tmp_path, names):
    """A directory of recordings of one machine under several names of equal length."""
    pack = (MACHINES / "dgx-h100" / "machine.pack").read_text()
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "machine.pack").write_text(pack.replace("\ndgx-h100\n", "\n%s\n" % name))
    return tmp_path


def test_a_fleet_is_shown_audited_and_compared(brim, tmp_path):
    names = ["node-%03d" % i for i in range(1, 13)]
    fleet(tmp_path, names)
    odd = tmp_path / "node-007" / "machine.pack"
    odd.write_text(odd.read_text().replace("driver = 550.90.07", "driver = 550.54.14"))
    assert "node-[001-012]" in brim.out("machine", "--from", tmp_path)
    text = brim.out("machine", "--audit", "--from", tmp_path)
    assert "driver differs" in text and "node-007" in text and "550.54.14" in text
    one = brim.out("machine", "--audit", "--from", tmp_path / "node-007", "--against", tmp_path)
    assert "driver differs" in one
    same = brim.out("machine", "--audit", "--from", tmp_path / "node-001", "--against", tmp_path)
    assert "differs" not in same


def test_one_damaged_recording_does_not_hide_the_others(brim, tmp_path):
    fleet(tmp_path, ["node-001", "node-002", "node-003"])
    bad = tmp_path / "node-002" / "machine.pack"
    bad.write_bytes(bad.read_bytes()[:-100])
    done = brim("machine", "--from", tmp_path)
    assert done.returncode == 1
    assert "node-[001,003]" in done.stdout
    assert done.stderr.count("\n") == 1 and str(bad) in done.stderr
