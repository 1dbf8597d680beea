"""What the PyTorch shim measures of whole jobs, and what it costs: for a quiet machine."""

import re
import time

import pytest

from test_shim import STAGES, each, job, seconds, train_ddp  # noqa: F401
from test_shim import pytestmark as needs

pytestmark = [*needs, pytest.mark.timed]


def test_marks_add_up_to_the_wall_time(job):
    out = job.example("train_images.py", "--images", "640", "--decode-ms", "1")
    count, rate = re.search(r"steps (\d+), ([\d.]+) steps/s", out).groups()
    steps = job.ring().steps
    assert sum(map(seconds, steps)) == pytest.approx(int(count) / float(rate), rel=0.02)


@pytest.mark.parametrize("sleep_ms", [1, 4])
def test_a_slow_loader_is_found(job, sleep_ms):
    """The time outside the loader is what the same job takes without sleeping."""
    out = job.example("train_images.py", "--images", "480", "--sleep-ms", str(sleep_ms))
    ring = job.ring()
    total = float(re.search(r"([\d.]+) steps/s", out).group(1)) ** -1
    rest = sum(
        sum(s[stage] for s in ring.steps[1:]) for stage in STAGES if stage != "wait"
    ) / len(ring.steps[1:])
    assert 16 * sleep_ms * 1e-3 / total - 0.01 <= ring.share("wait")
    assert ring.share("wait") == pytest.approx(1 - rest / total, abs=0.05)


def test_validation_is_no_wait_of_a_step(each):
    """Neither below no_grad(), nor where nothing tells but that no backward pass follows."""
    each.example("train_images.py", "--images", "128", "--validate", "--sleep-ms", "1")
    each.example("train_loop_class.py", "--wait-ms", "2", "--samples", "128", RANK="1")
    images, trainer = each.rings()
    assert images.steps[0]["wait"] < 0.05
    first = trainer.steps[8]  # after the first epoch's validation: 4 batches of 2 ms
    assert first["other"] > 0.008 > first["wait"]


def test_ddp_waits_for_a_slow_rank(each):
    train_ddp(each, 3, "--slow-rank", "1", "--slow-ms", "30")
    rings = each.rings()
    shares = [r.share("communication") for r in rings]
    assert shares[0] > 0.6 and shares[2] > 0.6 and shares[1] < 0.35, shares
    assert rings[1].share("other") > 0.6


def test_the_cost_of_starting_python(job):
    """The least of several starts, for the machine is shared."""

    def least(**more):
        took = []
        for _ in range(15):
            begin = time.monotonic()
            job.run("-c", "pass", **more)
            took.append(time.monotonic() - begin)
        return min(took)

    cached = {"PYTHONDONTWRITEBYTECODE": None, "PYTHONPYCACHEPREFIX": job.folder + "/cache"}
    assert least(**cached) - least(shim=False) < 0.006
