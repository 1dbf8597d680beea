"""brim bench compute against PyTorch on the same GPU and against published peaks; copies over PCIe
against what the link carries."""

import glob
import json
import os

import smi
from measured import Reading

TITLE = "Products and copies"
LIMIT_S = 110
WITHIN = 0.1  # of what PyTorch reaches: half of the difference is in the shapes that are tried
KINDS = (
    ("bfloat16_tflops", "product in bfloat16", "TFLOP/s", "bfloat16_peak_tflops"),
    ("float32_tflops", "product in float32", "TFLOP/s", None),
    ("float64_tflops", "product in float64", "TFLOP/s", None),
    ("copy_gbs", "copy on the device", "GB/s", "memory_peak_gbs"),
)
# Of what the PCIe link carries: what is pinned comes near to it (packets and their heads take 10 to
# 20 %), what is pageable is copied by a CPU first.
PINNED = (0.6, 1.0)


def cublas(here):
    """The library that PyTorch uses; None: where the loader looks."""
    code = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    done = here.run(here.python, "-c", code, limit=30)
    if done.status:
        return None
    packages = os.path.dirname(done.out.strip())
    for pattern in ("nvidia/*/lib/libcublas.so.*", "torch/lib/libcublas.so.*"):
        found = sorted(glob.glob(os.path.join(packages, pattern)))
        if found:
            return found[-1]
    return None


def peak_text(gpu, key, value):
    peak = gpu.get(key) if key else None
    return ", %.0f %% of %.4g" % (100 * value / peak, peak) if peak else ""


def compare(found, gpu, torch, label=""):
    """One GPU of brim's JSON beside what PyTorch reached: within a tenth, and below the peak."""
    for key, what, unit, peak_key in KINDS:
        mine, theirs = gpu.get(key), torch.get(key)
        if mine is None:
            found.judge(label + what, "not measured", theirs or "not measured", theirs is None)
            continue
        told = "%.4g %s%s" % (mine, unit, peak_text(gpu, peak_key, mine))
        peak = gpu.get(peak_key) if peak_key else None
        possible = not peak or mine <= 1.02 * peak
        if theirs is None:
            found.judge(label + what, told, "the peak", possible) if peak else found.note(
                label + what, told
            )
            continue
        close = abs(mine / theirs - 1) <= WITHIN
        found.judge(label + what, told, "PyTorch %.4g" % theirs, close and possible)
    wrong = gpu.get("wrong")
    found.judge(label + "numbers of the products", wrong or "exact", "whole numbers", not wrong)


def copies(found, torch, link):
    """What PyTorch reached over PCIe, beside the link that brim knows."""
    of = "brim: the link carries %.1f" % link if link else "the link is not known"
    for key, what in (("to_device_pinned_gbs", "pinned, to the device"),
                      ("to_host_pinned_gbs", "pinned, to the host")):
        rate = torch.get(key)
        if rate and link:
            low, high = (share * link for share in PINNED)
            found.judge(what, of, "PyTorch %.1f GB/s" % rate, low <= rate <= high)
        elif rate:
            found.note(what, of, "PyTorch %.1f GB/s" % rate)
    pageable, pinned = torch.get("to_device_pageable_gbs"), torch.get("to_device_pinned_gbs")
    if pageable and pinned:
        found.judge("pageable, to the device", "slower than pinned",
                    "PyTorch %.1f GB/s" % pageable, pageable < pinned)


def rates(here):
    """What PyTorch reaches on the first GPU."""
    done = here.must(here.python, here.tools / "rates.py", limit=70)
    return json.loads(done.out.splitlines()[-1])


def run(here, found):
    window = "20ms" if here.dry else "1s"
    words = ["bench", "compute", "--only", "gpus", "--seconds", window, "--json"]
    library = here.fake_cublas if here.dry else cublas(here)
    if library:
        words += ["--cublas", library]
    done = here.run(here.brim, *words, limit=60)
    here.keep("bench.json", done.out)
    gpus = json.loads(done.out)["gpus"] if done.out.startswith("{") else []
    if not gpus:
        found.judge("brim bench compute", done.last_line(), "a GPU", False)
    torch = rates(here)
    for i, gpu in enumerate(gpus):
        label = "GPU%d: " % i if len(gpus) > 1 else ""
        compare(found, gpu, torch, label)
        for kind, clock in gpu["clocks"].items():
            if clock["held_down_ratio"]:
                text = "%.0f %% of the time, by %s" % (
                    100 * clock["held_down_ratio"], clock["held_down_by"])
                found.note("%sclock held down in %s" % (label, kind), text)
    reading = Reading(here)
    buses = [smi.bus(gpu["bus"]) for gpu in gpus] or list(reading.gpus)
    copies(found, torch, reading.link_gbs(buses[0]) if buses else None)
