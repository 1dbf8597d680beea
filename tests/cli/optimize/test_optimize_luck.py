"""What bad luck does to brim optimize: a full disk, jobs that fork and leave, descriptors that are
closed, processes that are stopped, rings of another version. One sentence, the job's own end, and
nothing that is left."""

import glob
import os
import signal
import subprocess
import time

import pytest
from test_optimize import BRIM, JOB, TRY, Optimized, last, read_line, rings_of, wait_for

OTHER_RING = "printf 'no ring' > $BRIM_RING/rank-7-77.ring; exec \"$0\" \"$@\""


@pytest.fixture
def brim(tmp_path):
    if not BRIM or not JOB:
        pytest.skip("BRIM and TUNED_JOB do not name the programs")
    return Optimized(tmp_path)


def left_in_shm():
    """What brims have left that are gone: other tests have some that live."""
    owned = {path: path.rsplit("-", 2)[1] for path in glob.glob("/dev/shm/brim-*-*")}
    return {path for path, pid in owned.items() if not os.path.exists("/proc/" + pid)}


@pytest.fixture
def clean():
    """Nothing of ours stays in /dev/shm."""
    before = left_in_shm()
    yield
    wait_for(lambda: not left_in_shm() - before)


def count(text, words):
    return sum(words in line for line in text.splitlines())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
@pytest.mark.parametrize("room", ["4k", "40k"])
def test_a_full_disk(brim, clean, room):
    """No room for the run, and, of 4k, for the profile: the job is optimized all the same. A block
    that does for one of them is the profile's, since a run that is not stored leaves nothing."""
    disk = brim.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + room, "none", str(disk)], check=True)
    try:
        with open(str(disk / "filler"), "wb") as f:
            f.write(b"x" * (4096 if room == "4k" else 36 * 1024))
        done = brim.run(JOB, 2000, 4000, 1000, options=TRY, STATE_DIRECTORY=str(disk))
        assert done.returncode == 0
        one = done.settings[0]
        assert one["outcome"] == "adopted" and last(done)[3] == int(one["value"])
        assert count(done.stderr, "not stored") == 1, done.stderr
        lines = [line for line in done.stderr.splitlines() if "cannot write" in line
                 or "/profiles: No space" in line]
        assert len(lines) == (1 if room == "4k" else 0), done.stderr
        assert all("No space left on device" in line for line in lines)
        assert "kept      loader.workers" in done.stderr
        assert len(list(disk.glob("profiles/*"))) == (0 if room == "4k" else 1)
        assert not list(disk.rglob("*.new")) and not list(disk.glob("runs/*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_a_full_disk_keeps_the_old_profile(brim):
    disk = brim.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)], check=True)
    try:
        brim.run(JOB, 2000, 4000, 1000, options=TRY, STATE_DIRECTORY=str(disk))
        (path,) = disk.glob("profiles/*.ini")
        text = path.read_text()
        with open(str(disk / "filler"), "wb") as f:
            with pytest.raises(OSError):
                while True:
                    f.write(b"x" * 65536)
                    f.flush()
        done = brim.run(JOB, 2000, 4000, 1000, options=TRY, STATE_DIRECTORY=str(disk))
        assert done.returncode == 0 and "No space left" in done.stderr
        assert path.read_text() == text
        assert not list(disk.rglob("*.new"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_job_that_ends_in_mid_trial(brim, clean):
    """In order: what was on trial stays undecided, and is in no profile."""
    for steps in (60, 120, 200):
        done = brim.run(JOB, steps, 4000, 1000, options=TRY)
        assert done.returncode == 0 and last(done)[0] == steps
        for one in done.settings:
            assert one["outcome"] in ("undecided", "adopted", "not tried"), one
            if one["outcome"] == "undecided":
                assert one["note"] == "the job ended"


def test_a_job_that_forks_and_exits(brim, clean):
    """The command has ended: so has brim, and what goes on goes on alone."""
    out = brim.folder / "out"
    shell = "\"$0\" \"$@\" > %s & exit 5" % out
    done = brim.run("sh", "-c", shell, JOB, 700, 4000, 1000)
    assert done.returncode == 5
    wait_for(lambda: out.exists() and out.read_text().split())
    assert out.read_text().split()[0] == "700"
    assert brim.run("true").returncode == 0


FEWER = [pytest.param(fds, marks=pytest.mark.once) for fds in ((0,), (0, 1), (1, 2))]


@pytest.mark.parametrize("closed", [*FEWER, (0, 1, 2)])
def test_closed_descriptors(brim, clean, closed):
    """Files that are opened in their place are not taken for what they were."""
    def close():
        for fd in closed:
            os.close(fd)

    out = brim.folder / "out"
    shell = "exec \"$0\" \"$@\" > %s" % out
    job = subprocess.Popen(
        brim.command(["sh", "-c", shell, JOB, 1500, 4000, 1000], ()), env=brim.env,
        preexec_fn=close, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert job.wait(300) == 0
    assert out.read_text().split()[0] == "1500"
    assert brim.json.exists() and brim.json.read_text().startswith("{")


ONE = [pytest.param(who, marks=pytest.mark.once) for who in ("job", "brim")]


@pytest.mark.parametrize("who", [*ONE, "both"])
def test_stopped_and_continued(brim, clean, who):
    """Whoever is stopped in mid-trial goes on where it was; nothing is decided by that."""
    pids = brim.folder / "pid"  # 8,000 steps of 1 ms and more: the job outlives the stop
    shell = "echo $$ > %s; exec \"$0\" \"$@\"" % pids
    job = brim.start("sh", "-c", shell, JOB, 8000, 4000, 1000, options=TRY)
    read_line(job.stderr, "trying")
    targets = [int(pids.read_text())] if who != "brim" else []
    targets += [job.pid] if who != "job" else []
    time.sleep(0.1)
    for pid in targets:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(3)
    for pid in targets:
        os.kill(pid, signal.SIGCONT)
    out, err = job.communicate(timeout=300)
    assert job.returncode == 0 and out.split()[0] == "8000", err
    assert "loader.workers" in err and "failed" not in err, err
    assert int(out.split()[2]) in (0, 5) or ", kept" in err
    assert not rings_of(job.pid)


def test_a_ring_that_is_none(brim, clean):
    done = brim.run("sh", "-c", OTHER_RING, JOB, 2000, 4000, 1000, options=TRY)
    assert done.returncode == 0
    assert count(done.stderr, ": no ring: ") == 1, done.stderr
    assert done.settings[0]["outcome"] == "adopted"


def test_a_ring_of_another_version(brim, clean):
    """A job that is linked with a newer libbrim-step."""
    code = (
        "import os,sys,struct; d=os.environ['BRIM_RING']; f=open(d+'/new','wb'); "
        "f.write(struct.pack('<8sHHIIIIi','BRIMSTEP'.encode(),99,0,4096,65536,32,64,9)"
        ".ljust(1<<16,b'\\0')); f.close(); os.rename(d+'/new',d+'/rank-0-9.ring'); "
        "os.execvp(sys.argv[1],sys.argv[1:])"
    )
    done = brim.run("/usr/bin/python3", "-c", code, JOB, 2000, 4000, 1000, options=TRY)
    assert done.returncode == 0
    assert count(done.stderr, ": ring of version 99.0") == 1, done.stderr
    assert done.settings[0]["outcome"] == "adopted"
