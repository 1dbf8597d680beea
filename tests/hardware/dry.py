"""A machine without a GPU that looks like one with an H200: fake drivers and a fake nvidia-smi,
which read one script. Each can be made to say something else, so that a test can see it."""

import os
import pathlib

from program import BUILT

# What NVML says (tests/fake/nvml) and nvidia-smi as well (tests/hardware/fake).
SCRIPT = """[nvml]
driver = 580.159.03
cuda = 13000
count = 1
[gpu 0]
bdf = 0000:a0:00.0
name = NVIDIA H200
uuid = GPU-00000000-0000-0000-0000-000000000000
vbios = 96.00.A5.00.01
memory_b = 150754820096
minor = 0
capability = 9.0
pcie_gen = 5
pcie_width = 16
pcie_gen_max = 5
pcie_width_max = 16
persistence = 1
ecc = 1
ecc_pending = 1
mig = 0
power_limit_mw = 700000
power_default_mw = 700000
sm_clock_mhz = 1980
sm_clock_max_mhz = 1980
[live]
utilization = 93
memory_utilization = 41
temperature = 61
margin = 26
memory_clock_mhz = 3201
power_mw = 612340
enforced_limit_mw = 700000
reasons = 4
memory_total_b = 150754820096
memory_used_b = 60000000000
memory_reserved_b = 500000000
field 82 = 58
process 4711 = 59000000000 0.9
"""


def prepare(here):
    """The environment and the jobs of a dry run. BRIM names the program of a build folder."""
    build = pathlib.Path(os.environ.get("BRIM") or BUILT).resolve().parents[2]
    script = here.work / "driver.ini"
    script.write_text(SCRIPT, encoding="utf-8")
    # A test may give a driver, or a nvidia-smi, that says something else.
    for name in ("FAKE_CUBLAS", "FAKE_CUDA", "FAKE_SMI"):
        if name in os.environ:
            here.env[name] = os.environ[name]
    fakes = [str(build / "tests" / "fake" / each) for each in ("nvml", "cuda")]
    here.env["LD_LIBRARY_PATH"] = ":".join(fakes)
    here.env["FAKE_NVML"] = os.environ.get("FAKE_NVML", str(script))
    here.env["FAKE_SMI_SCRIPT"] = str(script)
    here.tools = pathlib.Path(__file__).resolve().parent / "fake"
    here.env["PATH"] = "%s:%s" % (here.tools, here.env.get("PATH", "/usr/bin:/bin"))
    here.fake_cublas = os.path.join(fakes[1], "libcublas.so.12")
    jobs = build / "tests" / "cli"
    here.step_job, here.tuned_job = jobs / "step_job", jobs / "tuned_job"
    here.dry_causes = ("unknown",)
