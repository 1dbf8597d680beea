"""brim run and brim optimize where the machine lacks what they need: the job is as it would be
without, one sentence tells what is missing, and nothing stays behind."""

import glob
import json
import os
import pwd
import subprocess

import pytest
from served import readable_copy, wait_until

BRIM = os.environ.get("BRIM", "")
JOB = os.environ.get("STEP_JOB", "")
TUNED = os.environ.get("TUNED_JOB", "")
STEPS = (JOB, "20", "1000", "1000")
NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


class Short:
    """Commands of brim under a shell that takes something away first."""

    def __init__(self, folder):
        self.folder = folder
        self.state = folder / "state"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
        self.env.update(STATE_DIRECTORY=str(self.state), BRIM_CONF="/nonexistent/brim.conf")

    def __call__(self, before, *command, room=()):
        line = [*room, "bash", "-c", before + ' && exec "$@"', "bash"]
        process = subprocess.Popen(
            [*line, *map(str, command)], env=self.env, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
        )
        out, err = process.communicate(timeout=120)
        if "unshare:" in err or "mount:" in err:
            pytest.skip("cannot mount here: " + err)
        left = glob.glob("/dev/shm/brim-run-%d-*" % process.pid)
        left += glob.glob("/tmp/brim-run-%d-*" % process.pid)
        assert not left
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def mounted(self, before, *command):
        """The same in a namespace of mounts of its own."""
        return self(before, *command, room=("unshare", "--mount"))

    def runs(self):
        done = self("true", BRIM, "runs", "--json")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return json.loads(done.stdout)["runs"]


@pytest.fixture
def short(tmp_path):
    if not BRIM or not JOB or not TUNED:
        pytest.skip("BRIM, STEP_JOB and TUNED_JOB do not name the programs")
    return Short(tmp_path)


def said(done, *words):
    """How often brim has a sentence with these words."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("brim")]
    return sum(all(word in line for word in words) for line in lines)


# ---- limits ----


@pytest.mark.parametrize("kib, stored", [(0, False), (1, False), (100, True), (1000, True)])
def test_small_files(short, kib, stored):
    """A ring is larger: the job must not be ended by SIGXFSZ for it, and neither must brim."""
    done = short(f"ulimit -f {kib}", BRIM, "run", "--", *STEPS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0.040000 0.020000\n"
    assert said(done, "ulimit -f", "marks") == 1, done.stderr
    assert said(done, "not stored", "File too large") == (0 if stored else 1), done.stderr
    assert [one["end"] for one in short.runs()] == (["exited"] if stored else [])


def test_the_jobs_own_file_that_grows_too_large_ends_it(short):
    write = 'head -c 100000 /dev/zero >"$0"'
    done = short("ulimit -f 10", BRIM, "run", "-q", "--", "sh", "-c", write, short.folder / "big")
    assert done.returncode == 128 + 25, done.stderr


@pytest.mark.parametrize("number", [4, 6, 8, 10, 12, 16, 20])
def test_few_descriptors(short, number):
    done = short(f"ulimit -n {number}", BRIM, "run", "--", "sh", "-c", "echo job; exit 3")
    assert (done.returncode, done.stdout) == (3, "job\n"), done.stderr
    if "took" not in done.stderr:
        assert said(done, "Too many open files") == 1, done.stderr
        assert said(done, "the job is started without being observed") == 1, done.stderr


def test_more_processes_than_descriptors(short):
    """All ranks are there at once: they end when brim has said that it cannot follow all."""
    ranks = 'for i in $(seq 24); do RANK=$i WORLD_SIZE=24 "$@" & done; wait'
    hold, words = short.folder / "hold", short.folder / "words"
    line = ["bash", "-c", 'ulimit -n 32 && exec "$@"', "bash", BRIM, "run", "--", "sh", "-c", ranks]
    with open(words, "w") as err:
        job = subprocess.Popen([*line, "sh", *STEPS], env=dict(short.env, STEP_HOLD=str(hold)),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err)
    wait_until(lambda: "Too many open files" in words.read_text())
    hold.touch()
    out, _ = job.communicate(timeout=120)
    told = words.read_text()
    assert job.returncode == 0 and out.count(b"\n") == 24, told
    assert told.count("Too many open files: steps of this process are missing") == 1, told
    assert "not stored" not in told and len(short.runs()) == 1, told


@pytest.mark.once
@pytest.mark.parametrize("kib", [32, 64, 128])
def test_a_tiny_stack(short, kib):
    done = short(f"ulimit -s {kib}", BRIM, "run", "--", *STEPS)
    assert done.returncode == 0 and "20, 500/s" in done.stderr, done.stderr
    options = ("--interval", "100ms", "--try", "loader.workers=5")
    done = short(f"ulimit -s {kib}", BRIM, "optimize", *options, "--", TUNED, "300", "1000", "1000")
    assert done.returncode == 0 and "300 steps" in done.stderr, done.stderr
    limit = short(f"ulimit -s {kib}", BRIM, "run", "-q", "--", "bash", "-c", "ulimit -s")
    assert limit.stdout == f"{kib}\n"


# ---- disks ----


@as_root
def test_shared_memory_that_is_full(short):
    """The next place that has room is taken."""
    full = "mount -t tmpfs -o size=1m none /dev/shm && unset XDG_RUNTIME_DIR"
    job = 'echo "$BRIM_RING"; exec "$@"'
    done = short.mounted(full, BRIM, "run", "--", "sh", "-c", job, "sh", *STEPS)
    assert done.returncode == 0 and done.stdout.startswith("/tmp/brim-run-"), done
    assert "20, 500/s" in done.stderr, done.stderr


@as_root
def test_no_place_for_marks(short):
    full = "for at in /dev/shm /tmp; do mount -t tmpfs -o size=1m none $at || exit 9; done"
    done = short.mounted(full + "; unset XDG_RUNTIME_DIR", BRIM, "run", "--", *STEPS)
    assert done.returncode == 0 and done.stdout == "0.040000 0.020000\n", done.stderr
    assert said(done, "bytes free, marks of a process need 2 MiB") == 1, done.stderr


@as_root
def test_a_disk_that_is_full_at_the_end(short):
    """What ended is not told as lost."""
    script = """
        mkdir -p "$STATE_DIRECTORY"
        mount -t tmpfs -o size=512k none "$STATE_DIRECTORY"
        "$1" run --interval 100ms -- sh -c \
            'sleep 0.5; cat /dev/zero >"$STATE_DIRECTORY/fill" 2>/dev/null; exit 7'
        echo $?
        "$1" runs --json
        ls "$STATE_DIRECTORY"/runs/*
    """
    done = short.mounted("true", "bash", "-c", script, "bash", BRIM)
    status, _, rest = done.stdout.partition("\n")
    told, end = json.JSONDecoder().raw_decode(rest)
    assert status == "7"
    assert [(one["end"], one["status"]) for one in told["runs"]] == [("exited", 7)], done.stderr
    assert ".new" not in rest[end:], rest[end:]


@as_root
def test_a_disk_that_is_full_at_the_start(short):
    """No empty folder stays, which would be told each time."""
    script = """
        mkdir -p "$STATE_DIRECTORY/runs"
        mount -t tmpfs -o size=64k none "$STATE_DIRECTORY"
        mkdir -p "$STATE_DIRECTORY/runs"
        cat /dev/zero >"$STATE_DIRECTORY/fill" 2>/dev/null
        "$1" run -- sh -c 'exit 7'
        echo $?
        ls "$STATE_DIRECTORY/runs" | wc -l
        mkdir "$STATE_DIRECTORY/runs/29990101-000000-dead"  # by an earlier brim
        "$1" runs
        "$1" why
        rm "$STATE_DIRECTORY/fill"
        "$1" run -q -- true
        "$1" runs | wc -l
        "$1" report -o /dev/null last >/dev/null && echo found
        "$1" why 29990101-000000-dead
    """
    done = short.mounted("true", "bash", "-c", script, "bash", BRIM)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["7", "0"], done
    assert said(done, "not stored", "No space left") == 1, done.stderr
    assert done.stderr.count("holds no run") == 1, done.stderr
    assert lines[3:4] == ["2"] and "found" in lines, lines


# ---- names, owners ----


@as_root
@pytest.mark.parametrize("length", [32, 64, 255])
def test_a_long_account_name(short, length):
    name = "u" * length
    root = pwd.getpwuid(0).pw_name
    accounts = short.folder / "passwd"
    with open("/etc/passwd", encoding="utf-8") as f:
        lines = [name + line[len(root):] if line.startswith(root + ":") else line for line in f]
    accounts.write_text("".join(lines))
    script = """
        "$1" run -q -- true
        "$1" queue --on-demand --directory "$2" >/dev/null 2>&1 &
        until "$1" jobs --directory "$2" >/dev/null 2>&1; do sleep 0.05; done
        "$1" submit --directory "$2" -- true >/dev/null
        "$1" jobs --directory "$2" --json
        kill %1; wait
    """
    folder = short.folder / "queue"
    rename = f"mount --bind {accounts} /etc/passwd"
    done = short.mounted(rename, "bash", "-c", script, "bash", BRIM, folder)
    (job,) = json.loads(done.stdout)["jobs"]
    assert job["user"] == (name if length < 48 else "u" * 36 + "~0"), done.stderr
    (ini,) = short.state.glob("runs/*/*.ini")
    assert f'user = "{name}"' in ini.read_text()


@as_root
def test_a_profile_of_somebody_else(short):
    """One of root's is used, and what was found is kept beside it; others' are not used."""
    options = ("--interval", "100ms", "--try", "loader.workers=5", "--", TUNED, "3000", "4000")
    with readable_copy(BRIM) as program:
        short.state.mkdir()
        home = os.path.join(os.path.dirname(program), "state")
        job = os.path.join(os.path.dirname(program), "job")
        with open(TUNED, "rb") as source, open(job, "wb") as copy:
            copy.write(source.read())
        os.chmod(job, 0o755)
        short.env["STATE_DIRECTORY"] = home
        options = (*options[:-3], job, *options[-2:], "1000")
        done = short("true", program, "optimize", *options)
        (path,) = glob.glob(home + "/profiles/*.ini")
        os.chmod(home, 0o777)
        os.chmod(home + "/profiles", 0o1777)
        them = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        done = short("true", *them, program, "optimize", *options)
        assert done.returncode == 0 and "its setting is tried again" in done.stderr, done.stderr
        (theirs,) = set(glob.glob(home + "/profiles/*.ini")) - {path}
        assert os.stat(theirs).st_uid == NOBODY and theirs in done.stderr, done.stderr
        assert os.stat(path).st_uid == 0
        os.chown(path, 1, 1)
        done = short("true", *them, program, "run", "--profile", path, "--", "true")
        assert done.returncode == 1 and said(done, "belongs to", "a copy of it is yours") == 1
        os.unlink(theirs)
        os.chmod(home + "/profiles", 0o755)
        done = short("true", *them, program, "optimize", *options)
        assert said(done, "belongs to", "the job is optimized without its profile") == 1
        assert said(done, "may not be written", "--save-profile") == 1, done.stderr
