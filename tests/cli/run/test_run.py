"""brim run and brim runs: jobs end as they would alone, and what was seen of them is kept."""

import fcntl
import glob
import json
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from served import readable_copy
from terminal import Terminal

BRIM = os.environ.get("BRIM", "")
JOB = os.environ.get("STEP_JOB", "")
SHIM = "observed from outside"


class Runs:
    """brim run with a folder of runs of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.pids = []  # of all observers
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
        self.env.update(STATE_DIRECTORY=str(folder), BRIM_CONF="/nonexistent/brim.conf")

    def run(self, *command, given=None, timeout=60, **how):
        how.setdefault("stdin", subprocess.DEVNULL if given is None else subprocess.PIPE)
        with self.start(*command, **how) as process:
            try:
                out, err = process.communicate(given, timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def start(self, *command, options=("--quiet",), env=None, **how):
        process = subprocess.Popen(
            [BRIM, "run", *options, "--", *[str(c) for c in command]],
            env=dict(self.env, **(env or {})), stdout=subprocess.PIPE,
            stderr=how.pop("stderr", subprocess.PIPE), **how
        )
        self.pids.append(process.pid)
        return process

    def command(self, *args):
        return subprocess.run(
            [BRIM, "runs", *args], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=60
        )

    def why(self, which):
        return subprocess.run(
            [BRIM, "why", which], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=60
        )

    def all(self):
        done = self.command("--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["runs"]

    def card(self, *command, interval="200ms", **how):
        path = str(self.folder / "card.json")
        options = ("--quiet", "--interval", interval, f"--json={path}")
        done = self.run(*command, options=options, **how)
        assert done.returncode == 0, done.stderr
        with open(path) as f:
            return json.load(f), done


@pytest.fixture
def runs(tmp_path):
    if not BRIM:
        pytest.skip("BRIM does not name the program")
    one = Runs(tmp_path)
    yield one
    left = [p for pid in one.pids for p in glob.glob("/dev/shm/brim-run-%d-*" % pid) if gone(p)]
    assert not left


def gone(path):
    """Whether the observer that made a folder of rings is no more."""
    return not os.path.exists("/proc/" + path.rsplit("/", 1)[1].split("-")[2])


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("did not happen in %s s" % seconds)


def lines(path):
    return path.read_text().split() if path.exists() else []


# ---- how it ends ----


@pytest.mark.parametrize("status", [0, 1, 7, 126, 255])
def test_exit_status_is_the_jobs(runs, status):
    assert runs.run("sh", "-c", "exit %d" % status).returncode == status
    (one,) = runs.all()
    assert (one["end"], one["status"]) == ("exited", status)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_killed_job_is_recorded(runs, number):
    assert runs.run("sh", "-c", "kill -%d $$" % number).returncode == 128 + number
    (one,) = runs.all()
    assert (one["end"], one["status"]) == ("killed", number)
    told = subprocess.run([BRIM, "why"], env=runs.env, stdout=-1, encoding="utf-8").stdout
    assert "  end       killed by signal %d\n" % number in told, told


@pytest.mark.parametrize(
    "command, status, words",
    [
        ("no-such-command", 127, "command not found"),
        ("/no/such/file", 127, "No such file"),
        ("/etc/passwd", 126, "Permission denied"),
        ("/tmp", 126, "Permission denied"),
    ],
)
def test_what_cannot_be_executed(runs, command, status, words):
    done = runs.run(command)
    assert done.returncode == status
    assert command.encode() in done.stderr and words.encode() in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert runs.all() == []


def test_usage(runs):
    assert runs.run().returncode == 2
    assert runs.run("true", options=("--interval", "1ms")).returncode == 2
    assert runs.run("true", options=("--nmae", "x")).returncode == 2


def test_options_behind_the_command_are_its_own(runs):
    command = [BRIM, "run", "-q", "echo", "--json", "-h", "--help", "--", "x"]
    done = subprocess.run(command, env=runs.env, stdout=subprocess.PIPE, timeout=60)
    assert done.stdout == b"--json -h --help -- x\n"


def test_streams_pass_through(runs):
    data = os.urandom(1 << 20)
    done = runs.run("sh", "-c", "cat; echo problem >&2", given=data)
    assert done.stdout == data and done.stderr == b"problem\n"


def test_stdin_of_no_one(runs):
    done = runs.run("sh", "-c", "read x; echo $?", stdin=subprocess.DEVNULL)
    assert done.stdout == b"1\n"


# ---- signals ----

# Counts signals until there is a file with its log's name and ".end". Not by a file of Python's: a
# signal that comes before a write has returned would write inside of that, which Python refuses.
COUNTER = """
import os, signal, sys, time
got = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for s in map(int, sys.argv[2:] or [signal.SIGTERM, signal.SIGINT]):
    signal.signal(s, lambda n, f: os.write(got, b"%d\\n" % n))
os.write(got, b"ready\\n")
end = time.time() + 60
while time.time() < end and not os.path.exists(sys.argv[1] + ".end"):
    time.sleep(0.05)
"""


def end_counter(log):
    log.with_name(log.name + ".end").touch()


PASSED = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
          signal.SIGUSR2, signal.SIGWINCH, signal.SIGTSTP, signal.SIGALRM, signal.SIGURG]


@pytest.mark.parametrize("number", PASSED)
def test_signals_reach_the_job_once_each(runs, tmp_path, number):
    log = tmp_path / "got"
    numbers = [str(int(each)) for each in PASSED]
    job = runs.start(sys.executable, "-c", COUNTER, log, *numbers, start_new_session=True)
    wait_for(lambda: lines(log))
    job.send_signal(number)
    wait_for(lambda: len(lines(log)) == 2)
    job.send_signal(number)
    wait_for(lambda: len(lines(log)) == 3)
    end_counter(log)
    assert job.wait(60) == 0
    assert lines(log) == ["ready", str(int(number)), str(int(number))]


def test_a_signal_that_ends_the_job(runs):
    job = runs.start("sleep", "60")
    wait_for(lambda: children(job.pid))
    job.send_signal(signal.SIGTERM)
    assert job.wait(60) == 128 + signal.SIGTERM


def test_ignored_signals_stay_ignored(runs):
    script = "trap '' HUP; exec \"$@\""
    command = ["sh", "-c", script, "sh", BRIM, "run", "-q", "--", "sh", "-c"]
    command.append("kill -HUP $$; echo on")
    done = subprocess.run(command, env=runs.env, stdout=subprocess.PIPE, timeout=60)
    assert done.stdout == b"on\n"


def test_the_jobs_signal_mask_is_ours_before(runs):
    done = runs.run("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")
    plain = subprocess.run(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], stdout=-1)
    assert done.stdout == plain.stdout


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


# ---- terminals ----


def test_the_job_sees_the_terminal(runs):
    script = "test -t 0 && test -t 1 && test -t 2 && stty size && read x && echo got $x"
    t = Terminal(runs, "%s run -q -- sh -c '%s'" % (BRIM, script))
    fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    time.sleep(0.5)
    os.write(t.fd, b"word\n")
    t.until(b"got word")


def test_ctrl_c_reaches_the_job_once(runs, tmp_path):
    log, py = tmp_path / "got", tmp_path / "job.py"
    py.write_text(COUNTER)
    t = Terminal(runs, "%s run -q -- %s %s %s; echo rc=$?" % (BRIM, sys.executable, py, log))
    wait_for(lambda: lines(log))
    os.write(t.fd, b"\x03")
    wait_for(lambda: len(lines(log)) > 1)
    time.sleep(0.3)  # for one more, which must not come
    end_counter(log)
    t.until(b"rc=0")
    assert lines(log) == ["ready", str(int(signal.SIGINT))]


# It says that it has begun once nothing is being forked: a shell whose vfork()ed child is stopped
# before it executes cannot stop itself, with or without brim.
@pytest.mark.parametrize("tail", ["", " | cat"])
def test_ctrl_z_and_fg(runs, tmp_path, tail):
    gate = str(tmp_path / "gate")
    os.mkfifo(gate)
    job = "%s run -q -- sh -c 'echo begun; read word < %s; echo over $word'%s" % (BRIM, gate, tail)
    t = Terminal(runs, "set -m; %s; echo stopped; fg; echo done" % job)
    t.until(b"begun")
    os.write(t.fd, b"\x1a")
    t.until(b"stopped\r")
    opened = os.open(gate, os.O_RDWR)
    os.write(opened, b"now\n")
    t.until(b"over now")
    t.until(b"done\r")
    os.close(opened)


def test_interrupt_of_a_pipeline(runs, tmp_path):
    log, py = tmp_path / "got", tmp_path / "job.py"
    py.write_text(COUNTER)
    t = Terminal(runs, "%s run -q -- %s %s %s | cat" % (BRIM, sys.executable, py, log))
    wait_for(lambda: lines(log))
    os.write(t.fd, b"\x03")
    wait_for(lambda: len(lines(log)) > 1)
    time.sleep(0.5)
    end_counter(log)
    assert lines(log) == ["ready", str(int(signal.SIGINT))]


# ---- what is kept ----


def test_marked_steps(runs):
    """By the job's own clock (own_clock.h)."""
    card, done = runs.card(JOB, 150, 6000, 14000, 32)
    assert done.stdout.split() == [b"3.000000", b"0.900000"]
    assert card["steps"] == 150 and card["ranks"] == 1 and card["inferred"] is None
    assert card["steps_per_s"] == pytest.approx(50, rel=0.01), card
    assert card["samples_per_s"] == pytest.approx(1600, rel=0.01)
    assert card["share"]["wait"] == pytest.approx(0.3, abs=0.001)
    assert card["share"]["forward"] == pytest.approx(0.7, abs=0.001)
    assert card["step_s"] == pytest.approx(0.02, abs=1e-5)
    (one,) = runs.all()
    assert one["steps"] == 150


def beat(process):
    """Seconds between two looks of brim run; NaN before the first."""
    for number in os.listdir("/proc/%d/fdinfo" % process.pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (process.pid, number)) as f:
                found = re.search(r"it_interval: \((\d+), (\d+)\)", f.read())
        except FileNotFoundError:  # it was closed just now
            continue
        if found:
            return int(found[1]) + int(found[2]) / 1e9
    return float("nan")


@pytest.mark.once
def test_a_job_that_computes_is_looked_at_with_each_sample(runs):
    """And one that waits for data, or marks nothing, ten times a second."""
    options = ("--quiet", "--interval", "1s")
    computes = runs.start(JOB, 100000, 0, 10000, options=options)
    others = [runs.start(JOB, 100000, 5000, 5000, options=options),
              runs.start("sleep", 1000, options=options)]
    wait_for(lambda: beat(computes) == 1)  # after ten seconds, on an idle machine
    assert [beat(p) for p in others] == [0.1, 0.1]
    for p in (computes, *others):
        p.terminate()
        p.communicate(timeout=60)


def test_many_steps_are_summed(runs):
    card, done = runs.card(JOB, 30000, 50, 50, 1)
    assert card["steps"] == 30000
    assert abs(card["samples_per_s"] / card["steps_per_s"] - 1) < 0.02


def test_the_card(runs):
    done = runs.run(JOB, 40, 5000, 5000, options=("--interval", "100ms", "--name", "my job"))
    text = done.stderr.decode()
    assert "(my job) took" in text and "exit 0" in text
    assert "40," in text and "wwww" in text and "ffff" in text
    # What the verdict is depends on what else this machine does.
    assert "wait 50 %" in text
    assert re.search(r"(?m)^  verdict +\S.*\n  next +\S", text)


def cpu_of_shell(times):
    """The CPU seconds of a shell and of its children, as its 'times' prints them: 0m0.012s ..."""
    return sum(60 * int(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", times))


def test_cpu_time_of_the_tree(runs):
    """What brim adds up is what the kernel told the job."""
    spin = "import time\nwhile time.process_time() < 0.8: pass"
    tree = '"$0" -c "$1" & "$0" -c "$1"; wait; times'
    card, done = runs.card("bash", "-c", tree, sys.executable, spin)
    used = cpu_of_shell(done.stdout.decode())
    assert used > 1.6 and abs(card["job_cpu"] * card["seconds"] / used - 1) < 0.05, (card, used)


def test_short_processes_count(runs):
    script = "i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done; times"
    card, done = runs.card("bash", "-c", script, interval="1s")
    used = cpu_of_shell(done.stdout.decode())
    assert 0.8 < card["job_cpu"] * card["seconds"] / used < 1.2, (card, used)


@pytest.mark.timed
@pytest.mark.once
def test_short_processes_cost_little(runs):
    script = "i=0; while [ $i -lt 10000 ]; do /bin/true; i=$((i+1)); done"
    own = os.times()
    card, _ = runs.card("sh", "-c", script, interval="1s", timeout=110)
    used = os.times().children_user + os.times().children_system
    used -= own.children_user + own.children_system
    # what the kernel says that all of it used, ours included, against what we say the job used
    assert card["job_cpu"] * card["seconds"] > 0.8 * used, (card, used)


UNTIL = "until test -e %s; do sleep 0.05; done"


def test_daemons_are_not_waited_for(runs, tmp_path):
    go = tmp_path / "go"
    script = "setsid sh -c '%s; echo late > %s' > /dev/null 2>&1 < /dev/null &"
    assert runs.run("sh", "-c", script % (UNTIL % go, tmp_path / "x")).returncode == 0
    assert not lines(tmp_path / "x")
    go.touch()
    wait_for(lambda: lines(tmp_path / "x") == ["late"])


def test_orphans_are_seen_and_reaped(runs, tmp_path):
    go, end = tmp_path / "go", tmp_path / "end"
    script = "(({0}) &); (({0}) &); {1}".format(UNTIL % go, UNTIL % end)
    job = runs.start("sh", "-c", script)
    wait_for(lambda: len(children(job.pid)) == 3)
    go.touch()
    wait_for(lambda: len(children(job.pid)) == 1)  # the others are no zombies either
    end.touch()
    assert job.wait(60) == 0


def test_a_killed_observer_leaves_the_job_and_the_data(runs, tmp_path):
    out, go = tmp_path / "over", tmp_path / "go"
    script = '"$0" 150 10000 10000 && ' + UNTIL % go + ' && echo whole > "$1"'
    job = runs.start("sh", "-c", script, JOB, out, options=("-q", "--interval", "200ms"))
    wait_for(lambda: any((r["steps"] or 0) >= 30 for r in runs.all()))
    job.kill()
    job.wait()
    (draft,) = tmp_path.rglob("part-*.ini.new")  # room that it kept for the end of the run
    go.touch()
    wait_for(lambda: lines(out) == ["whole"])
    (one,) = runs.all()
    assert not draft.exists(), "a run that is lost keeps no room for its end"
    assert one["end"] == "lost" and 30 <= one["steps"] <= 150, one
    told = subprocess.run([BRIM, "why"], env=runs.env, stdout=-1, encoding="utf-8").stdout
    assert "  end       lost: its observer was killed" in told, told
    assert runs.run("true").returncode == 0  # which removes what the killed one left in memory
    assert runs.command().stdout.count("lost") == 1


def test_nested_observers_step_aside(runs):
    assert runs.run(BRIM, "run", "-q", "--", "sh", "-c", "exit 3").returncode == 3
    assert len(runs.all()) == 1


@pytest.mark.parametrize("launcher", ["slurm", "torch"])
def test_observers_of_one_job_share_a_run(runs, launcher):
    if launcher == "slurm":
        env = dict(SLURM_JOB_ID="7", SLURM_STEP_ID="0", SLURM_NTASKS="2")
        ranks = [dict(env, SLURM_PROCID=str(i), SLURM_LOCALID=str(i)) for i in range(2)]
    else:
        env = dict(TORCHELASTIC_RUN_ID="none", MASTER_PORT="29500", WORLD_SIZE="2")
        ranks = [dict(env, RANK=str(i), LOCAL_RANK=str(i)) for i in range(2)]
    jobs = [runs.start(JOB, 60, 5000, 15000, env=e) for e in ranks]
    assert [j.wait(60) for j in jobs] == [0, 0]
    (one,) = runs.all()
    assert one["ranks"] == 2 and one["steps"] == 60 and one["end"] == "exited"


def test_runs_of_a_job_of_slurm(runs):
    """One requeue keeps number and step, and is another run; each is found by what squeue shows."""
    two = dict(SLURM_JOB_ID="17", SLURM_STEP_ID="0", SLURM_NTASKS="2", SLURM_PROCID="0",
               SLURM_JOB_NAME="res\033[31mnet")
    task = dict(SLURM_JOB_ID="19", SLURM_ARRAY_JOB_ID="18", SLURM_ARRAY_TASK_ID="3")
    for env in (two, dict(two, SLURM_RESTART_COUNT="1"), task):
        assert runs.run("true", env=env).returncode == 0
    listed = [line.split("  job ")[1] for line in runs.command().stdout.splitlines()[1:]]
    assert sorted(listed) == ["17.0", "17.0, requeue 1", "18_3"]
    told = json.loads(runs.command("list", "job:17", "--json").stdout)["runs"]
    first, second = sorted(told, key=lambda r: r["slurm"]["requeued"])
    shown = {"job": 17, "step": 0, "requeued": 0, "name": "res?[31mnet", "cluster": None}
    assert first["slurm"] == shown and second["slurm"] == dict(shown, requeued=1)
    assert first["id"] != second["id"]
    assert runs.command("list", "job:18").stdout.count("  job 18_3") == 1
    assert runs.command("list", "job:res?[31mnet").stdout.count("  job 17.0") == 2
    assert runs.command("list", "job:4").stdout == "no run of Slurm's job 4 is kept here\n"
    assert "  slurm     job 17.0, requeue 1 (res?[31mnet)\n" in runs.why(second["id"]).stdout
    assert "  slurm     job 18_3\n" in runs.why("job:18_3").stdout
    assert "no run of Slurm's job 4 is kept here" in runs.why("job:4").stderr


def test_a_job_that_cuts_off_its_ring(runs):
    """It would end with SIGBUS who has the file mapped; here it is a shell that has not."""
    go, on = runs.folder / "go", runs.folder / "on"
    script = """
    "$0" 3000 1000 4000 > "$1"/out & %s
    kill -STOP $!; for f in "$BRIM_RING"/rank-*.ring; do cp "$f" "$1"/ring; : > "$f"; done
    touch "$1"/cut; %s; cat "$1"/ring > "$f"; kill -CONT $!; sleep 0.5; kill $!; wait; exit 5
    """ % (UNTIL % go, UNTIL % on)
    with open(str(runs.folder / "said"), "wb") as said:
        job = runs.start("sh", "-c", script, JOB, runs.folder, options=("--interval", "100ms"),
                         stderr=said)
        wait_for(lambda: any((r["steps"] or 0) >= 50 for r in runs.all()))
        go.touch()
        wait_for((runs.folder / "cut").exists)
        wait_for(lambda: b"was cut off" in (runs.folder / "said").read_bytes())
        on.touch()
        assert job.wait(60) == 5
    told = (runs.folder / "said").read_bytes()
    assert told.count(b"was cut off: its further steps are missing") == 1, told
    (one,) = runs.all()
    assert one["end"] == "exited" and 50 <= one["steps"] < 3000, one


def test_two_jobs_are_two_runs(runs):
    jobs = [runs.start("sleep", "0.3") for _ in range(2)]
    assert [j.wait(60) for j in jobs] == [0, 0]
    assert len(runs.all()) == 2


def test_no_secret_is_kept(runs):
    env = dict(WANDB_API_KEY="hunter1", NCCL_TOKEN="hunter2", OMP_NUM_THREADS="3")
    env.update(SLURM_JWT="hunter7", TORCH_PROXY="http://me:hunter8@host/", MASTER_AUTH="hunter9")
    command = ["true", "--api-key", "hunter3", "--token=hunter4", "PASSWORD=hunter5"]
    command += ["http://me:hunter6@host/", "--tokenizer", "bpe", "--jwt", "hunter10"]
    command += ["Authorization: Bearer hunter11", '{"token": "hunter12"}', "COOKIE=hunter13"]
    assert runs.run(*command, env=env).returncode == 0
    text = b"".join(p.read_bytes() for p in runs.folder.rglob("part-*"))
    assert b"hunter" not in text
    assert b"OMP_NUM_THREADS=3" in text and b"--tokenizer bpe" in text


HOSTILE = ["x\ny", "\x1b[31m", "'; rm -rf /", "\xff\xfe", "a" * 5000, '"', "\\"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_command_lines_and_names(runs, name):
    done = runs.run("echo", name, options=("--name", name))
    assert done.returncode == 0
    assert len(runs.all()) == 1
    assert runs.command().stdout.count("\n") == 2


def test_a_long_command_line(runs):
    assert runs.run("true", *["word%d" % i for i in range(20000)]).returncode == 0
    (one,) = runs.all()
    assert one["command"].endswith("word19999")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_a_full_disk_does_not_disturb(runs, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "none", str(disk)], check=True)
    try:
        env = dict(STATE_DIRECTORY=str(disk))
        done = runs.run(JOB, 200, 5000, 5000, options=("--interval", "100ms"), env=env)
        assert done.returncode == 0
        assert done.stderr.count(b"not stored") == 1 and b"No space" in done.stderr, done.stderr
        assert b"200, " in done.stderr  # the card tells what was seen
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_an_unwritable_folder_does_not_disturb(runs):
    done = runs.run("echo", "x", options=(), env=dict(STATE_DIRECTORY="/proc/nowhere"))
    assert done.returncode == 0 and done.stdout == b"x\n" and b"not stored" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_processes_of_another_user(runs):
    with readable_copy(BRIM) as program:
        state = os.path.join(os.path.dirname(program), "theirs")
        os.mkdir(state)
        os.chmod(state, 0o777)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "run",
                   "--interval", "100ms", "--", "sleep", "0.5"]
        env = dict(runs.env, STATE_DIRECTORY=state)
        done = subprocess.run(command, env=env, cwd="/", stdout=-1, stderr=-1, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"exit 0" in done.stderr


@pytest.mark.timed
@pytest.mark.once
def test_throughput_of_the_output(runs, tmp_path):
    big = tmp_path / "big"
    big.write_bytes(bytes(1 << 20) * 256)

    def seconds(*command):
        best = 1e9
        for _ in range(3):
            begin = time.monotonic()
            with open("/dev/null", "wb") as sink:
                read, write = os.pipe()
                drain = subprocess.Popen(["cat"], stdin=read, stdout=sink)
                os.close(read)
                subprocess.run(command, stdout=write, env=runs.env, check=True)
                os.close(write)
                drain.wait()
            best = min(best, time.monotonic() - begin)
        return best

    alone = seconds("cat", str(big))
    watched = seconds(BRIM, "run", "-q", "--", "cat", str(big))
    assert watched < alone * 1.5 + 0.5, (alone, watched)


# ---- brim runs ----


def test_diff_and_rm(runs):
    for threads in ("1", "2"):
        assert runs.run(JOB, 30, 5000, 5000, env=dict(OMP_NUM_THREADS=threads)).returncode == 0
        time.sleep(1.1)
    first, second = [r["id"] for r in runs.all()]
    text = runs.command("diff", first, second).stdout
    assert "steps_per_s" in text and "env.OMP_NUM_THREADS" in text and "1 -> 2" in text
    diff = json.loads(runs.command("diff", first, second, "--json").stdout)
    changed = {r["name"]: (r["a"], r["b"]) for r in diff["environment"]}
    assert changed["env.OMP_NUM_THREADS"] == ("1", "2")
    assert runs.command("rm", first).returncode == 0
    assert [r["id"] for r in runs.all()] == [second]
    assert runs.command("rm", "--older", "1h").returncode == 0
    assert len(runs.all()) == 1
    assert runs.command("rm", first).returncode == 1
    assert runs.command("rm", "../x").returncode == 2
    assert runs.command("rm").returncode == 2
    assert runs.command("what").returncode == 2


def test_old_runs_are_removed(runs):
    """Those that began before, and folders without a run that are as old; not what is of a version
    of brim that this one does not know, nor what is young."""
    folder = runs.folder / "runs"
    old, part = "20200101-000000-0ld0", "part-x-1.ini"
    for name in (old, "20200101-000000-dead", "20200101-000000-none"):
        (folder / name).mkdir(parents=True)
    about = '[run]\nversion = 1\nid = "%s"\nhost = "x"\nend = exited\n' % old
    about += "begin_ns = 1577836800000000000\n"
    (folder / old / part).write_text(about)
    (folder / "20200101-000000-dead" / part).write_text("[run]\nversion = 99\n")
    os.utime(folder / "20200101-000000-none", (1577836800, 1577836800))
    (folder / "20200102-000000-none").mkdir()
    assert runs.run("true").returncode == 0
    (young,) = [r["id"] for r in runs.all() if r["id"] != old]
    done = runs.command("rm", "--older", "1d")
    assert done.returncode == 0 and "20200101-000000-dead is left: " in done.stderr
    left = sorted(p.name for p in folder.iterdir())
    assert left == ["20200101-000000-dead", "20200102-000000-none", young]


def test_broken_runs_are_left_out(runs):
    assert runs.run("true").returncode == 0
    bad = runs.folder / "runs" / "20200101-000000-dead"
    bad.mkdir()
    (bad / "part-x-1.ini").write_text("[run]\nversion = 99\n")
    done = runs.command()
    assert done.returncode == 0 and done.stdout.count("\n") == 2 and "version" in done.stderr


SHARES = """
import os, time
held = bytearray(b"x") * (64 << 20)
pids = [os.fork() for _ in range(2)]
time.sleep(5)
if all(pids):
    for pid in pids:
        os.waitpid(pid, 0)
"""


def test_shared_memory_counts_once(runs):
    """Four processes that have 64 MiB in common."""
    card, _ = runs.card(sys.executable, "-c", SHARES)
    assert card["job_resident"] > 4 * (64 << 20)
    assert 64 << 20 < card["job_pss"] < 2 * (64 << 20)
