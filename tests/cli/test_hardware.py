"""script/hardware without a GPU: each section runs against the fake drivers, and says where what it
is compared with differs."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import types

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "hardware"))
import compute  # noqa: E402
import hardware  # noqa: E402
import marks  # noqa: E402
import measured  # noqa: E402
import pack  # noqa: E402
import page  # noqa: E402
import probe  # noqa: E402
import section  # noqa: E402
import verdicts  # noqa: E402
from section import NOTED, RIGHT, WRONG, Failed, Found  # noqa: E402

SCRIPT = ROOT / "script" / "hardware"
has_torch = importlib.util.find_spec("torch") is not None
needs_program = pytest.mark.skipif("BRIM" not in os.environ, reason="BRIM is not set")


def rows_of(text):
    """{what: (brim, beside, judged)} of the tables of a page."""
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: tuple((row[1:] + ["", ""])[:3]) for row in cells}


def call(*words, **env):
    base = {k: v for k, v in os.environ.items() if not k.startswith("LD_")}
    return subprocess.run(
        [str(SCRIPT), *map(str, words)],
        env={**base, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )


@pytest.fixture
def dry(tmp_path):
    """dry(words, environment): (what it prints and ends with, its page)"""

    def run(*words, **env):
        path = tmp_path / "page.md"
        done = call("--dry", path, *words, **env)
        return done, path.read_text(encoding="utf-8")

    return run


# ---- the dry form


@needs_program
@pytest.mark.once
def test_each_section_runs(dry):
    before = page.PAGE.read_text(encoding="utf-8")
    done, text = dry()
    assert done.returncode == 0, done.stdout
    for name, one in hardware.SECTIONS.items():
        part = re.search(r"^### %s\n\n(.*?)\n\n(.*?)(?=^### |\Z)" % re.escape(one.TITLE), text,
                         re.M | re.S)
        assert part, (name, text)
        if name == "marks" and not has_torch:
            assert part[1] == "Skipped: torch is not installed."
            continue
        assert re.fullmatch(r"\d+ s\.", part[1]), (name, part[1])
        assert "| right |" in part[2], (name, text)
    assert "**%s** |" % WRONG not in text and "failed" not in text
    assert page.PAGE.read_text(encoding="utf-8") == before


@needs_program
@pytest.mark.once
def test_a_difference_is_told(dry):
    """Of a power, a switch and a memory that nvidia-smi has otherwise; it does not know a field."""
    other = "power.draw.instant=900.00,mig.mode.current=Enabled,memory.total=141000,clocks.mem=?"
    done, text = dry("--only", "probe", "--only", "sharing", FAKE_SMI=other)
    assert done.returncode == 1
    rows = rows_of(text)
    assert rows["power"] == ("612.3 W", "900.00 W", "**WRONG**")
    assert rows["computing: power"] == ("612.3 W", "900.00 W", "**WRONG**")
    assert rows["memory in all"] == ("143771 MiB", "141000 MiB", "**WRONG**")
    assert rows["MIG"] == ("Disabled", "Enabled", "**WRONG**")
    assert rows["temperature"] == ("61 C", "61 C", RIGHT)
    assert "memory clock" not in rows and "clock" in rows
    assert "WRONG  power: 612.3 W, beside 900.00 W" in done.stdout


@needs_program
@pytest.mark.once
def test_a_gpu_that_computes_wrong_numbers(dry):
    done, text = dry("--only", "compute", FAKE_CUBLAS="bfloat16 nan")
    assert done.returncode == 1
    rows = rows_of(text)
    assert rows["GPU0: numbers of the products"] == ("exact", "whole numbers", RIGHT)
    assert "nan" in rows["GPU1: numbers of the products"][0]
    assert rows["GPU1: numbers of the products"][2] == "**WRONG**"


@needs_program
@pytest.mark.once
def test_a_section_that_fails_costs_no_other(dry, tmp_path):
    """The driver is broken for brim, and nvidia-smi answers."""
    broken = tmp_path / "broken.ini"
    broken.write_text("[fake]\nnvmlInit_v2 = 18\n")
    done, text = dry("--only", "probe", "--only", "sharing", FAKE_NVML=str(broken))
    assert done.returncode == 1
    assert rows_of(text)["GPUs"] == ("0", "1", "**WRONG**")
    assert "### %s" % hardware.SECTIONS["sharing"].TITLE in text


def test_what_is_over_is_not_begun(dry):
    done, text = dry("--seconds", "0")
    assert done.returncode == 1
    assert text.count("Not run: 0 s were left") == len(hardware.SECTIONS)


def test_a_dry_run_is_never_on_the_page():
    before = page.PAGE.read_text(encoding="utf-8")
    done = call("--dry", page.PAGE)
    assert done.returncode == 2 and "no run on a GPU" in done.stdout
    assert page.PAGE.read_text(encoding="utf-8") == before


# ---- what judges


def test_the_page_has_each_gpu_once():
    first, again, other = Found("One"), Found("One"), Found("One")
    first.judge("power", "1 W", "2 W", False)
    again.judge("power", "2 W", "2 W", True)
    other.note("a | b", "3")
    text = page.whole("", page.part({"device": "H200"}, [first]))
    assert "| power | 1 W | 2 W | **WRONG** |" in text and text.startswith("# ")
    text = page.whole(text, page.part({"device": "H100"}, [other]))
    text = page.whole(text, page.part({"device": "H200"}, [again]))
    assert re.findall(r"^## (.*)$", text, re.M) == ["H200", "H100"]
    assert "1 W" not in text and "a \\| b" in text
    assert page.whole(text, page.part({"device": "H200"}, [again])) == text


def test_sections_end_in_many_ways():
    def made(run):
        return types.SimpleNamespace(TITLE="It", LIMIT_S=10, run=run)

    def fails(here, found):
        found.judge("first", "1", "1", True)
        raise Failed("it broke")

    def crashes(here, found):
        raise KeyError("gone")

    here = types.SimpleNamespace(ends_at=hardware.time.monotonic() + 100, keep=lambda *a: None)
    rows = {}
    for name, run in {"fails": fails, "crashes": crashes}.items():
        hardware.SECTIONS[name] = made(run)
        try:
            rows[name] = hardware.go(name, here)
        finally:
            del hardware.SECTIONS[name]
        assert hardware.is_bad(rows[name])
    assert rows["fails"].end == "failed: it broke" and rows["fails"].count(RIGHT) == 1
    assert rows["crashes"].end == "failed: KeyError: 'gone'"
    assert not hardware.is_bad(Found("nothing"))


def test_what_a_section_found_is_written_as_it_ends(tmp_path, monkeypatch):
    """So that a run that is cut off keeps what it had."""
    path = tmp_path / "page.md"

    def first(here, found):
        found.judge("one", 1, 1, True)

    def second(here, found):
        there = "| one | 1 | 1 | right |" in path.read_text(encoding="utf-8")
        found.judge("the first is there", there, True, there)

    sections = {"program": first, "next": second}
    sections = {
        name: types.SimpleNamespace(TITLE=name, LIMIT_S=10, run=run)
        for name, run in sections.items()
    }
    monkeypatch.setattr(hardware, "SECTIONS", sections)
    assert not hardware.main(["--dry", str(path)])
    assert "| the first is there | True | True | right |" in path.read_text(encoding="utf-8")


def test_what_takes_too_long_is_ended(tmp_path, monkeypatch):
    """With all that it has started."""
    ended, end = [], section.end_session
    monkeypatch.setattr(section, "end_session", lambda one: (end(one), ended.append(one.pid)))
    here = section.Here(sys.executable, True, tmp_path, None, 100)
    with pytest.raises(Failed, match="sh -c took longer than 0 s"):
        here.run("sh", "-c", "sleep 600 & sleep 600", limit=0.2)
    assert len(ended) == 1 and section.members(ended[0]) == []


def test_fields_are_compared():
    found = Found("x")
    near = probe.near(10, 0.1)
    probe.compare(found, "between", 150.0, ("100", "200"), "W", near)
    probe.compare(found, "far", 231.0, ("100", "200"), "W", near)
    probe.compare(found, "lost", None, ("100", "100"), "W", near)
    probe.compare(found, "more", 1.0, (None, None), "W", near)
    assert [row.judged for row in found.rows] == [RIGHT, WRONG, WRONG, NOTED]
    assert probe.held("0x0000000000000004") == ["power"]
    assert probe.held("0x68") == ["thermal"] and probe.held("0x8") == ["other"]
    assert probe.held("0x1") == []


def test_metrics_are_read():
    text = (
        'brim_gpu_info{gpu="0",uuid="U",pci="0000:a0:00.0"} 1\n'
        'brim_gpu_throttle_active{gpu="0",reason="power"} 1\n'
        'brim_gpu_process_memory_used_bytes{process="0:4711"} 5\n'
        "brim_host_load 3\n"
    )
    found = measured.samples(text)
    assert found["gpu_info", "pci", "0"] == "0000:a0:00.0"
    assert found["gpu_throttle_active", "reason=power", "0"] == 1
    assert found["gpu_process_memory_used_bytes", "process=0:4711", "0"] == 5
    assert len(found) == 4


def test_products_are_compared():
    found = Found("x")
    gpu = {"bfloat16_tflops": 640, "bfloat16_peak_tflops": 989, "float32_tflops": 50,
           "float64_tflops": 1, "copy_gbs": 4300, "memory_peak_gbs": 4000, "wrong": None}
    torch = {"bfloat16_tflops": 790, "float32_tflops": 52, "copy_gbs": 4310}
    compute.compare(found, gpu, torch)
    judged = {row.what: row.judged for row in found.rows}
    assert judged == {
        "product in bfloat16": WRONG,  # a fifth below
        "product in float32": RIGHT,
        "product in float64": NOTED,
        "copy on the device": WRONG,  # above the peak
        "numbers of the products": RIGHT,
    }
    found = Found("x")
    compute.copies(found, {"to_device_pinned_gbs": 55, "to_host_pinned_gbs": 20,
                           "to_device_pageable_gbs": 60}, 63)
    assert [row.judged for row in found.rows] == [RIGHT, WRONG, WRONG]


def test_stages_of_the_device_are_compared():
    found = Found("x")
    job = {"copy": 1e-3, "forward": 2e-3, "backward": 4e-3, "optimizer": 1e-5}
    marks.compare_stages(found, {"copy": 1.1e-3, "forward": 2.6e-3, "optimizer": 3e-5}, job)
    assert [row.judged for row in found.rows] == [RIGHT, WRONG, WRONG, RIGHT]


def test_verdicts_are_compared():
    found = Found("x")
    told = {"items": [{"cause": "loader-waits", "share": 0.5}]}
    verdicts.judge(found, "a loader", ("loader-waits",), told)
    verdicts.judge(found, "nothing", ("none",), told)
    verdicts.judge(found, "no steps", ("none",), {"items": []})
    assert [row.judged for row in found.rows] == [RIGHT, WRONG, WRONG]
    assert found.rows[1].brim == "loader-waits (50 % of the step)"


# ---- what is carried to a machine without Debian's packages


@needs_program
@pytest.mark.once
def test_a_pack_needs_libc_alone(tmp_path):
    build = pathlib.Path(os.environ["BRIM"]).resolve().parents[2]
    done = call("--pack", tmp_path / "pack", BUILD=str(build))
    assert done.returncode == 0, done.stdout
    said = json.loads((tmp_path / "pack" / pack.COMMANDS).read_text(encoding="utf-8"))
    assert len(said) > 300 and str(ROOT) not in " ".join(said)
    assert said[-1].count("archives/") == 3
    made = {path.name for path in (tmp_path / "pack").rglob("*")}
    assert {"brim", "uv.h", "sqlite3.h", "zlib.h", "site.c", "commit"} <= made


def test_a_build_that_is_not_there_is_told(tmp_path):
    done = call("--pack", tmp_path / "pack", BUILD=str(tmp_path))
    assert done.returncode == 1 and "has no src/cmd/brim" in done.stdout
    assert not (tmp_path / "pack").exists()
