"""brim optimize --allow privileged: settings of the machine, here the limit of power of a GPU that
a driver of tests/fake plays, are tried, and are as they were when brim has ended, however."""

import json
import os
import signal
import subprocess

import pytest
from test_optimize import BRIM, JOB, Optimized, read_line, wait_for

GPU = """%s
[gpu 0]
bdf = 1:00.0
name = H100
power_limit_mw = 700000
[live]
power_mw = 900000
enforced_limit_mw = 700000
limit_least_mw = 500000
limit_most_mw = 700000
"""
ENERGY = ("--goal", "energy")
ALLOWED = (*ENERGY, "--allow", "privileged")


class OnGpu(Optimized):
    def __init__(self, folder):
        super().__init__(folder)
        self.script, self.limits = folder / "nvml.ini", folder / "nvml.ini.limits"
        self.note = folder / "machine" / "undo"
        self.script.write_text(GPU % "")
        self.env.update(LD_LIBRARY_PATH=os.environ["FAKE_NVML_DIR"], FAKE_NVML=str(self.script))

    def limit(self):
        """In watts, as the driver has it now."""
        lines = self.limits.read_text().split() if self.limits.exists() else []
        return int(lines[-1]) // 1000 if lines else 700

    def until_kept(self):
        """A job that goes on until a setting was kept, and is interrupted then."""
        job = self.start(JOB, 1000000, 0, 4000, options=ALLOWED)
        said = []
        try:
            for line in job.stderr:
                said.append(line)
                if "% steps/s, kept" in line:
                    job.send_signal(signal.SIGINT)
        finally:
            job.kill()
            job.wait()
        done = subprocess.CompletedProcess(job.args, job.returncode, "", "".join(said))
        done.seen = json.loads(self.json.read_text())
        done.settings = done.seen["optimize"]["settings"]
        return done

    def begin(self):
        """A job whose limit of power is on trial; its numbers of processes: brim, its restorer."""
        job = self.start(JOB, 900, 0, 4000, options=ALLOWED)
        read_line(job.stderr, "trying power.limit=560")
        wait_for(lambda: self.limit() == 560)
        assert self.note.read_text().splitlines()[1:] == ["power.limit 0 700"]
        return job, wait_for(lambda: restorer_of(self.folder))


def restorer_of(folder):
    """The restorer whose state folder it is, by its name and its environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/comm" % pid) as comm, open("/proc/%s/environ" % pid, "rb") as env:
                if comm.read() == "brim-restorer\n" and str(folder).encode() in env.read():
                    return int(pid)
        except OSError:
            pass
    return None


@pytest.fixture
def brim(tmp_path):
    if not BRIM or not JOB or "FAKE_NVML_DIR" not in os.environ:
        pytest.skip("BRIM, TUNED_JOB and FAKE_NVML_DIR do not name the programs")
    yield OnGpu(tmp_path)


def test_a_lower_limit_is_kept_and_put_back(brim):
    done = brim.run(JOB, 9000, 0, 4000, options=ALLOWED)
    one = done.settings[0]
    assert (one["knob"], one["before"], one["value"]) == ("power.limit", "700", "560")
    assert one["outcome"] == "adopted", done.stderr
    assert 0.2 < one["gain"] < 0.3 and abs(one["speed"]) < 0.1, one
    assert "% steps/J (" in done.stderr and "% steps/s" in done.stderr
    before, after = (done.seen["optimize"][k] for k in ("before", "after"))
    assert abs(before["watts"] - 700) < 1 and 555 < after["watts"] < 600
    assert "settings of this machine are again as they were" in done.stderr
    assert brim.limit() == 700 and not brim.note.exists()


def test_a_killed_brim(brim):
    job, restorer = brim.begin()
    job.kill()
    wait_for(lambda: brim.limit() == 700 and not brim.note.exists())
    job.communicate()


def test_a_killed_brim_and_restorer(brim):
    job, restorer = brim.begin()
    os.kill(restorer, signal.SIGKILL)
    job.kill()
    job.communicate()
    assert brim.limit() == 560 and brim.note.exists()
    done = brim.run("true", options=("-q",))
    assert brim.limit() == 700 and not brim.note.exists() and done.returncode == 0


def test_undo(brim):
    brim.note.parent.mkdir()
    with open("/proc/sys/kernel/random/boot_id") as boot:
        brim.note.write_text("boot %spower.limit 0 650\n" % boot.read())
    undo = [BRIM, "optimize", "--undo"]
    done = brim.call(undo)
    assert (done.returncode, done.stdout) == (0, "power.limit of 0 is 650 again\n")
    assert brim.limit() == 650 and not brim.note.exists()
    done = brim.call(undo)
    assert (done.returncode, done.stdout) == (0, "nothing of this machine is left changed\n")
    done = brim.call([*undo, "true"])
    assert done.returncode == 2 and "--undo takes no command" in done.stderr


def test_who_may_not(brim):
    brim.script.write_text(GPU % "[fake]\nnvmlDeviceSetPowerManagementLimit = no_permission\n")
    done = brim.run(JOB, 700, 0, 4000, options=ALLOWED)
    assert done.returncode == 0
    assert done.settings[0]["outcome"] == "failed"
    assert done.settings[0]["note"] == "the limit of power of GPU 0 can be set by root alone"
    assert brim.limit() == 700


def test_without_the_word(brim):
    done = brim.run(JOB, 700, 0, 4000, options=ENERGY)
    (one,) = done.settings
    assert (one["knob"], one["outcome"]) == ("power.limit", "not tried")
    assert one["note"] == "it needs an operator: --allow privileged"
    assert not brim.limits.exists() and not brim.note.exists()


# ---- the clock, where the limit of power is far ----

SLOW_GPU = GPU.replace("power_mw = 900000", "power_mw = 300000").replace(
    "power_limit_mw", "sm_clock_mhz = 1980\nsm_clock_max_mhz = 1980\npower_limit_mw", 1)


LOCKED = ("GPU 0 runs at 1410 of 1980 MHz: its clock may be locked already, which no driver "
          "tells, and could not be put back")


class OnSlowGpu(OnGpu):
    def __init__(self, folder):
        super().__init__(folder)
        self.clocks = folder / "nvml.ini.clocks"
        self.script.write_text(SLOW_GPU % "")

    def clock(self):
        """The locked clock in MHz; 0: there is no lock."""
        lines = self.clocks.read_text().split() if self.clocks.exists() else []
        return int(lines[-1]) if lines else 0

    def begin_clock(self):
        job = self.start(JOB, 900, 0, 4000, options=ALLOWED)
        read_line(job.stderr, "trying clock.limit=1584 instead of 1980: devices draw 43 % of")
        wait_for(lambda: self.clock() == 1584)
        assert self.note.read_text().splitlines()[1:] == ["clock.limit 0 1980"]
        return job, wait_for(lambda: restorer_of(self.folder))


@pytest.fixture
def slow(tmp_path):
    if not BRIM or not JOB or "FAKE_NVML_DIR" not in os.environ:
        pytest.skip("BRIM, TUNED_JOB and FAKE_NVML_DIR do not name the programs")
    yield OnSlowGpu(tmp_path)


def test_a_lower_clock_is_kept_and_lifted(slow):
    done = slow.until_kept()
    one = done.settings[0]
    assert (one["knob"], one["before"], one["value"]) == ("clock.limit", "1980", "1584")
    assert one["outcome"] == "adopted", done.stderr
    assert 0.2 < one["gain"] < 0.3, one
    assert "settings of this machine are again as they were" in done.stderr
    assert slow.clock() == 0 and not slow.note.exists()


def test_a_killed_brim_leaves_no_lock(slow):
    job, restorer = slow.begin_clock()
    job.kill()
    wait_for(lambda: slow.clock() == 0 and not slow.note.exists())
    job.communicate()


def test_a_lock_of_a_killed_restorer_is_lifted(slow):
    job, restorer = slow.begin_clock()
    os.kill(restorer, signal.SIGKILL)
    job.kill()
    job.communicate()
    assert slow.clock() == 1584 and slow.note.exists()
    done = slow.run("true", options=("-q",))
    assert slow.clock() == 0 and not slow.note.exists() and done.returncode == 0


def test_who_may_not_lock_the_clock(slow):
    slow.script.write_text(SLOW_GPU % "[fake]\nnvmlDeviceSetGpuLockedClocks = no_permission\n")
    done = slow.run(JOB, 700, 0, 4000, options=ALLOWED)
    assert done.returncode == 0
    assert done.settings[0]["outcome"] == "failed"
    assert done.settings[0]["note"] == "the locked clock of GPU 0 can be set by root alone"
    assert slow.clock() == 0


def test_the_lock_of_an_operator_stays(slow):
    """No driver tells of it: a clock below the highest is all that can be seen."""
    slow.clocks.write_text("0 1410\n")
    done = slow.run(JOB, 700, 0, 4000, options=ALLOWED)
    assert done.returncode == 0
    assert done.settings[0]["outcome"] == "failed"
    assert done.settings[0]["note"] == LOCKED
    assert done.stderr.count(LOCKED) >= 1
    assert slow.clocks.read_text() == "0 1410\n" and not slow.note.exists()
