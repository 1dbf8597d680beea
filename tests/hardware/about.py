"""The machine that a run was made on: its versions, nothing that names it."""

import importlib.metadata
import os
import platform
import shutil
import subprocess

import smi
from section import ROOT, Failed


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def first_line(*words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def commit():
    """Of the tree, or of what was packed from it: a copy of it may have no git."""
    packed = ROOT / "build" / "hardware" / "commit"
    told = first_line("git", "-C", str(ROOT), "describe", "--always", "--dirty")
    if told is None and packed.exists():
        told = packed.read_text(encoding="utf-8").strip()
    return told or "commit not known"


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        names = [line.partition(":")[2].strip() for line in f if line.startswith("model name")]
    return "%s, %d CPUs" % (names[0] if names else "CPU", len(os.sched_getaffinity(0)))


def gpus(here):
    """The line of the page that names the device."""
    rows = smi.query(here, ["name", "memory.total", "driver_version"])
    names = sorted({row["name"] for row in rows})
    here.meta["device"] = "%s%s" % ("%d x " % len(rows) if len(rows) > 1 else "", ", ".join(names))
    here.meta["memory"] = rows[0]["memory.total"] + " MiB"
    here.meta["driver"] = rows[0]["driver_version"]


def machine(here):
    if here.dry:
        here.meta["device"] = "no GPU: a dry run with fake drivers"
    elif shutil.which("nvidia-smi", path=here.env.get("PATH")):
        try:
            gpus(here)
        except Failed as e:
            here.meta["driver"] = str(e)
    torch = version_of("torch")
    here.meta["torch"] = torch or "not installed"
    here.meta["Python"] = platform.python_version()
    here.meta["system"] = "Linux %s, %s" % (platform.release(), " ".join(platform.libc_ver()))
    here.meta["CPUs"] = cpu()
    here.meta["compiler"] = first_line("gcc", "--version") or "no gcc"
    here.meta["tree"] = commit()
