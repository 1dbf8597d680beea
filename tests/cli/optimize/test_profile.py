"""Profiles as users meet them: applied by brim run, listed, shown, handed over, removed."""

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import one_line

BRIM = os.environ.get("BRIM", "")

SETTINGS = """
[loader.workers]
value = 13
before = 0
gain = 11.6
low = 9.1
high = 14.2
steps = 104
date = 2026-11-21
[threads.openmp]
value = 4
gain = 0.5
[batch.accumulation]
value = 8
"""

ALL = SETTINGS + """
[blas.library]
value = openblas
[malloc.library]
value = jemalloc
[cpu.binding]
value = numa
[nccl.algorithm]
value = Tree
[power.limit]
value = 400
"""


class State:
    """A folder of profiles and runs of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "profiles").mkdir()
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("BRIM_", "SLURM_", "OMP_", "NCCL_", "LD_"))}
        self.env.update(STATE_DIRECTORY=str(folder), BRIM_CONF="/nonexistent/brim.conf")

    def add(self, name, settings=SETTINGS, file=None, **head):
        head = {"name": name, **head}
        path = self.folder / "profiles" / (file or "%s-%s.ini" % (name, head.get("key", "00ff")))
        lines = "".join('%s = "%s"\n' % item for item in head.items())
        path.write_text("[profile]\n" + lines + settings)
        return path

    def brim(self, *args, env=None, cwd=None):
        return subprocess.run(
            [BRIM, *[str(a) for a in args]], env=dict(self.env, **(env or {})), cwd=cwd,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=60
        )

    def out(self, *args, **how):
        done = self.brim(*args, **how)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, *words, env=None):
        """What a job sees of the environment, and what brim says."""
        done = self.brim("run", *words, "env", env=env)
        assert done.returncode == 0, done.stderr
        seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        return seen, [line for line in done.stderr.splitlines() if line.startswith("brim run: ")]


@pytest.fixture
def state(tmp_path):
    if not BRIM:
        pytest.skip("BRIM does not name the program")
    return State(tmp_path)


# ---- brim run --profile ----


def test_settings_reach_the_job(state):
    state.add("net")
    seen, said = state.run("--profile", "net")
    assert seen["BRIM_KNOBS"] == "loader.workers=13;optimizer.accumulation=8"
    assert seen["OMP_NUM_THREADS"] == "4"
    applied = "loader.workers=13, threads.openmp=4, batch.accumulation=8"
    assert said == ["brim run: profile net: " + applied]


def test_what_the_user_set_stays(state):
    state.add("net")
    env = dict(OMP_NUM_THREADS="1", BRIM_KNOBS="loader.workers=2")
    seen, said = state.run("-p", "net", env=env)
    assert seen["OMP_NUM_THREADS"] == "1"
    assert seen["BRIM_KNOBS"] == "loader.workers=2;optimizer.accumulation=8"
    assert any("OMP_NUM_THREADS is '1' in the environment" in line for line in said)
    assert any("BRIM_KNOBS has loader.workers=2" in line for line in said)


def test_a_path(state, tmp_path):
    path = state.add("net", file="x.ini")
    moved = tmp_path / "somewhere.ini"
    path.rename(moved)
    seen, _ = state.run("-p", moved)
    assert seen["OMP_NUM_THREADS"] == "4"


def test_the_machine_is_compared(state):
    state.add("net", machine="8 x H100-SXM5-80GB")
    seen, said = state.run("-p", "net")
    assert "BRIM_KNOBS" not in seen and "OMP_NUM_THREADS" not in seen
    (line,) = said
    assert "found on another machine (8 x H100-SXM5-80GB; here " in line
    assert "nothing of it is applied" in line
    seen, said = state.run("-p", "net", "--profile-anyway")
    assert seen["OMP_NUM_THREADS"] == "4" and "applied anyway" in said[0]


def test_the_job_is_compared(state):
    state.add("net", key="0123456789abcdef")
    seen, said = state.run("-p", "net")
    assert seen["BRIM_KNOBS"] == "loader.workers=13"  # the batch's size changes what is learnt
    assert "found for another command, or its script has changed" in said[0]
    assert any("batch.accumulation=8 is left: it may change" in line for line in said)
    seen, _ = state.run("-p", "net", "--profile-anyway")
    assert seen["BRIM_KNOBS"] == "loader.workers=13;optimizer.accumulation=8"


def test_the_versions_are_compared(state):
    state.add("net", versions="python 2.7, torch 0.1")
    done = state.brim("run", "-p", "net", "--", sys.executable, "-c", "")
    assert "found with other versions (python 2.7, torch 0.1; now python 3" in done.stderr
    assert "threads.openmp=4" in done.stderr


def test_of_several_the_jobs_own(state, tmp_path):
    """The key that brim gives a job is found by looking for the profile that fits."""
    script = tmp_path / "job.py"
    script.write_text("import os; print(os.environ.get('OMP_NUM_THREADS'))\n")
    job = [sys.executable, str(script)]
    threads = SETTINGS.replace("value = 4", "value = %d")
    state.add("net", threads % 2, key="0123456789abcdef")
    state.add("net", threads % 3, key="fedcba9876543210")
    done = state.brim("run", "-p", "net-0123456789abcdef", "--", *job)
    assert done.stdout == "2\n"
    done = state.brim("run", "-p", "net", "--", *job)
    assert done.stdout == "3\n"  # the youngest


def test_flags_go_behind_the_command(state, tmp_path):
    knobs = tmp_path / "job.ini"
    knobs.write_text("[knob.readers]\nflag = --readers\nvalues = 0, 2, 4\n")
    state.add("net", "[readers]\nvalue = 2\n")
    done = state.brim("run", "-q", "-p", "net", "--knobs", knobs, "--", "echo", "x")
    assert done.stdout == "x --readers 2\n"
    done = state.brim("run", "-p", "net", "--", "echo", "x")
    assert done.stdout == "x\n" and "readers=2 is left: there is no such knob" in done.stderr


def test_cores_are_bound(state):
    state.add("net", "[cpu.binding]\nvalue = cores\n")
    ask = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
    done = state.brim("run", "-p", "net", "--", *ask)
    before = sorted(os.sched_getaffinity(0))
    assert set(json.loads(done.stdout)) <= set(before)
    if json.loads(done.stdout) == before:
        assert "cpu.binding=cores is left" in done.stderr
    (state.folder / "torchrun").symlink_to("/bin/true")  # the real one leaves folders in /tmp
    done = state.brim("run", "-p", "net", "--", state.folder / "torchrun", "x")
    assert "starts the ranks" in done.stderr


def test_runs_differ_by_profile(state):
    state.add("net")
    assert state.brim("run", "-q", "--name", "plain", "true").returncode == 0
    assert state.brim("run", "-q", "--name", "tuned", "-p", "net", "true").returncode == 0
    text = state.out("runs", "diff", "plain", "tuned")
    assert re.search(r"^profile +\(not set\) -> net \(net-00ff.ini\)$", text, re.M), text
    assert re.search(r"^profile.applied +\(not set\) -> loader.workers=13, threads", text, re.M)


def test_nested_and_unobserved(state):
    state.add("net")
    done = state.brim("run", "-q", BRIM, "run", "-q", "-p", "net", "env")
    assert "OMP_NUM_THREADS=4" in done.stdout


# ---- brim optimize --once ----

SHOW = ("python3", "-c", "import os; print(os.environ.get('BRIM_KNOBS'))")


def key_of(*words):
    """As brim makes it of a command whose words name no file."""
    value = 0xcbf29ce484222325
    for byte in b"".join(w.encode() + b"\0" for w in words):
        value = (value ^ byte) * 0x100000001b3 % 2 ** 64
    return "%016x" % value


def test_what_was_found_once_is_enough(state):
    """The job's own profile by itself, with the run as brim run makes it."""
    state.add("other", key="0123456789abcdef")
    state.add("net", key=key_of(*SHOW))
    done = state.brim("optimize", "--once", "--name", "mine", "--", *SHOW)
    assert done.stdout == "loader.workers=13;optimizer.accumulation=8\n", done.stderr
    assert "brim run: profile net: loader.workers=13, threads.openmp=4" in done.stderr
    (run,) = json.loads(state.out("runs", "--json"))["runs"]
    assert run["name"] == "mine" and run["profile"] == "net (net-%s.ini)" % key_of(*SHOW)
    assert run["profile_applied"] == "loader.workers=13, threads.openmp=4, batch.accumulation=8"
    assert state.out("runs").endswith("  profile net\n")
    done = state.brim("optimize", "--once", "-q", "--", *SHOW)
    assert (done.stdout.count("loader.workers=13"), done.stderr) == (1, "")


@pytest.mark.parametrize("head, settings", [
    (dict(machine="8 x H100-SXM5-80GB"), SETTINGS), (dict(versions="python 2.7"), SETTINGS),
    (dict(key="0123456789abcdef"), SETTINGS), ({}, ""), ({}, "[loader.workers]\nvalue = 1"),
], ids=["machine", "versions", "job", "empty", "damaged"])
def test_what_was_found_elsewhere_is_not_enough(state, head, settings):
    """The job is optimized, beginning with its own settings."""
    path = state.add("net", settings, **dict(dict(key=key_of(*SHOW)), **head))
    path.chmod(0o666 if "value = 1" in settings[-9:] else 0o600)
    done = state.brim("optimize", "--once", "--", *SHOW)
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr
    assert "brim run: " not in done.stderr and "nothing could be tried" in done.stderr


def test_a_profile_that_is_named_once(state):
    state.add("net", key="0123456789abcdef")
    done = state.brim("optimize", "--once", "-p", "net", "--", *SHOW)
    assert done.stdout == "None\n", done.stderr  # it is of another job
    done = state.brim("optimize", "--once", "-p", "nte", "--", *SHOW)
    one_line(done, 1, "there is no profile 'nte' (did you mean net?)")


NODES = dict(SLURM_JOB_ID="7", SLURM_STEP_ID="0", SLURM_NTASKS="2", SLURM_PROCID="0",
             SLURM_STEP_NUM_NODES="2", SLURM_STEP_NODELIST="n[0-1]")
ONE = dict(NODES, SLURM_STEP_NUM_NODES="1", SLURM_STEP_NODELIST="n0")


def test_on_several_nodes_ranks_have_what_is_their_own(state):
    """What all must have could be missing on another node: a job would hang."""
    state.add("net")
    seen, said = state.run("-p", "net", env=NODES)
    assert seen["BRIM_KNOBS"] == "loader.workers=13" and seen["OMP_NUM_THREADS"] == "4"
    assert said[1].startswith("brim run: batch.accumulation=8 is left: all ranks must have it")
    seen, _ = state.run("-p", "net", "--profile-anyway", env=NODES)
    assert seen["BRIM_KNOBS"] == "loader.workers=13;optimizer.accumulation=8"
    assert state.run("-p", "net", env=ONE)[0]["BRIM_KNOBS"] == seen["BRIM_KNOBS"]


def test_once_on_several_nodes(state):
    """Else all ranks are asked, as brim optimize does."""
    path = state.add("net", key=key_of(*SHOW))
    once = ("optimize", "--once", "--", *SHOW)
    assert state.brim(*once, env=NODES).stdout == "None\n"
    assert "accumulation=8" in state.brim(*once, env=ONE).stdout
    path.unlink()
    own = "[loader.workers]\nvalue = 13\n[mine]\nvalue = 1\n"
    state.add("net", own, key=key_of(*SHOW))
    assert state.brim(*once, env=NODES).stdout == "loader.workers=13\n"


@pytest.mark.parametrize("text, words", [
    ("[profile]\nnmae = x\n", ":2: unknown key 'nmae' (did you mean name?)"),
    ("nothing\n", ":1:"),
    ("\x00" * 100, ":1:"),
])
def test_a_damaged_profile(state, text, words):
    (state.folder / "profiles" / "net-1.ini").write_text(text)
    for args in (["run", "-p", "net", "echo", "x"], ["profile", "show", "net"]):
        done = state.brim(*args)
        one_line(done, 1, "net-1.ini", words)


def test_names_that_are_not_there(state):
    state.add("resnet")
    one_line(state.brim("run", "-p", "resnt", "true"), 1, "did you mean resnet?")
    one_line(state.brim("run", "-p", "", "true"), 2, "--profile needs a value")
    one_line(state.brim("run", "-p", "/nowhere/x.ini", "true"), 1, "/nowhere/x.ini", "No such file")
    one_line(state.brim("profile", "show", "resnt"), 1, "did you mean resnet?")
    one_line(state.brim("profile", "shw", "resnet"), 2, "did you mean 'show'?")


# ---- brim profile ----


def test_list(state):
    assert state.out("profile") == "no profile is kept yet\n"
    state.add("net", machine="2 x H100")
    state.add("other")
    text = state.out("profile", "list")
    assert re.search(r"^net-00ff +3 +18.90x  2 x H100$", text, re.M), text
    listed = json.loads(state.out("profile", "list", "--json"))["profiles"]
    assert [p["name"] for p in listed] == ["net", "other"]
    assert listed[0]["settings"] == 3 and abs(listed[0]["gain"] - 17.9) < 0.01
    (state.folder / "profiles" / "bad-1.ini").write_text("x\n")
    done = state.brim("profile")
    assert done.returncode == 0 and "bad-1.ini:1" in done.stderr and "other" in done.stdout


def test_show(state):
    state.add("net", machine="2 x H100", key="ab12", versions="torch 2.4.0")
    text = state.out("profile", "show", "net")
    for word in ("2 x H100", "torch 2.4.0", "ab12", "12.60x", "10.10 to 15.20", "104 steps",
                 "was 0", "shim, live, safe", "numeric"):
        assert word in text, (word, text)
    shown = json.loads(state.out("profile", "show", "net", "--json"))
    assert [s["knob"] for s in shown["settings"]] == ["loader.workers", "threads.openmp",
                                                      "batch.accumulation"]
    assert shown["settings"][1]["low"] is None and shown["settings"][2]["risk"] == "numeric"
    state.add("odd", "[loader.worker]\nvalue = 1\n[loader.prefetch]\nvalue = 99\n")
    text = state.out("profile", "show", "odd")
    assert "no such knob (did you mean loader.workers?)" in text
    assert "loader.prefetch takes 1 to 32" in text


def test_remove(state):
    path = state.add("net")
    assert state.brim("profile", "remove", "../net").returncode == 2
    assert state.brim("profile", "remove").returncode == 2
    assert state.brim("profile", "remove", "net").returncode == 0
    assert not path.exists()
    one_line(state.brim("profile", "remove", "net"), 1, "no profile is kept yet")


def test_a_file_here_is_not_removed(state):
    """A name that is a file's, too, is a path for show; remove has names of profiles alone."""
    state.add("net")
    here = state.folder / "net.ini"
    here.write_text("[profile]\nname = mine\n")
    assert "profile mine" in state.brim("profile", "show", "net.ini", cwd=str(state.folder)).stdout
    done = state.brim("profile", "remove", "net.ini", cwd=str(state.folder))
    one_line(done, 2, "'net.ini' is a file here: rm removes it")
    assert here.exists() and len(list((state.folder / "profiles").iterdir())) == 1


def shell(text, *words, env=None):
    """Parse it, then run it with words; what the environment is afterwards."""
    subprocess.run(["sh", "-n"], input=text, universal_newlines=True, check=True, timeout=20)
    return subprocess.run(["sh", "-c", text, *words], env=dict(os.environ, **(env or {})),
                          stdout=subprocess.PIPE, universal_newlines=True, timeout=20, check=True)


HOSTILE = "net'; touch /tmp/owned; $(touch owned) `x` #"


def test_export_env(state):
    state.add("net", ALL, machine=HOSTILE, versions=HOSTILE)
    text = state.out("profile", "export", "net", "--env")
    env = dict(LD_LIBRARY_PATH="/mine", PATH=os.environ["PATH"])
    seen = shell(text + "env\n", env=env).stdout
    assert "OMP_NUM_THREADS=4\n" in seen and "NCCL_ALGO=Tree\n" in seen
    assert "BRIM_KNOBS=loader.workers=13;optimizer.accumulation=8\n" in seen
    assert re.search(r"^LD_LIBRARY_PATH=(/usr/lib/.*/openblas-\w+:)?/mine$", seen, re.M), seen
    assert "# device power.limit 400" in text and "brim run -- COMMAND" in text


def test_export_slurm(state):
    state.add("net", ALL)
    text = state.out("profile", "export", "net", "--slurm")
    lines = text.splitlines()
    directives = [i for i, line in enumerate(lines) if line.startswith("#SBATCH")]
    commands = [i for i, line in enumerate(lines) if line and not line.startswith("#")]
    assert [lines[i] for i in directives] == ["#SBATCH --cpus-per-task=17"]
    assert directives[0] < commands[0]  # sbatch stops looking at the first command
    seen = shell(text + "env\n", env=dict(SLURM_CPUS_PER_TASK="20")).stdout
    assert "SLURM_CPU_BIND=ldoms\n" in seen and "SRUN_CPUS_PER_TASK=20\n" in seen


@pytest.mark.parametrize("versions, binds", [("torch 2.4.0", False), ("torch 2.10.1+cu128", True),
                                             ("", False)])
def test_export_torchrun(state, tmp_path, versions, binds):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, body in (("brim", 'shift 2; exec "$@"'), ("torchrun", 'echo "$OMP_NUM_THREADS|$*"')):
        (tools / name).write_text("#!/bin/sh\n" + body + "\n")
        (tools / name).chmod(0o755)
    knobs = tmp_path / "job.ini"
    knobs.write_text("[knob.readers]\nflag = --readers\nvalues = 0, it's\n"
                     "[knob.nodes]\napply = launcher\ntarget = --nnodes\nvalues = 1, 2\n")
    state.add("net", ALL + "[readers]\nvalue = it's\n[nodes]\nvalue = 2\n", versions=versions)
    out = tmp_path / "net.sh"
    assert state.out("profile", "export", "net", "--torchrun", "--knobs", knobs, "-o", out) == ""
    env = dict(PATH="%s:%s" % (tools, os.environ["PATH"]))
    said = shell(out.read_text(), "sh", "--nproc-per-node=2", "a b.py", env=env).stdout
    want = "4|%s--nnodes 2 --nproc-per-node=2 a b.py --readers it's\n"
    assert said == want % ("--numa-binding=node " if binds else "")
    assert ("# from torch 2.9 on" in out.read_text()) != binds


@pytest.mark.parametrize("args, words", [
    (["export", "net"], "one of --env, --slurm and --torchrun"),
    (["export", "net", "--env", "--slurm"], "one of"),
    (["list", "--env"], "--env is no option of profile list"),
    (["show"], "takes one profile"),
    (["export", "net", "--env", "-o", ""], "--output needs a value"),
    (["remove", "net", "--json"], "--json is no option of profile remove"),
    (["list", "net"], "list takes no name"),
])
def test_usage(state, args, words):
    state.add("net")
    one_line(state.brim("profile", *args), 2, words)


def test_export_of_what_does_not_fit(state):
    state.add("net", "[loader.worker]\nvalue = 1\n")
    one_line(state.brim("profile", "export", "net", "--env"), 1, "net-00ff.ini:3", "unknown knob")
