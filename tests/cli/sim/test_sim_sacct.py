"""brim sim --from-sacct with an sacct of the test's own: what is asked, how it went, what changes,
for whom, and each way in which there is nothing to replay. A real one is in tests/e2e/slurm."""

import json
import stat
import time

import pytest

FIELDS = "JobIDRaw User Account Partition Submit Eligible Start End ElapsedRaw TimelimitRaw " \
         "AllocTRES ReqTRES NNodes State NodeList".split()
NODES = ("--nodes", "2x4:H100")
HOUR = 3600


def row(job, user, account, submit, start, end, gpus, **other):
    of = dict(JobIDRaw=job, User=user, Account=account, Partition="batch", Submit=submit,
              Eligible=submit, Start=start, End=end, ElapsedRaw=end - start, TimelimitRaw=60,
              AllocTRES="cpu=1,gres/gpu=%d" % gpus, ReqTRES="cpu=1,gres/gpu=%d" % gpus, NNodes=1,
              State="COMPLETED", NodeList="n0")
    of.update(other)
    return "\x1f".join(str(of[name]) for name in FIELDS)


def week(now):
    """Two nodes of four. 1 and 2 of the lab have them for an hour, 3 of the shop waits for both an
    hour longer; 4 could have run beside, and did not."""
    t = now - 20 * HOUR
    return [
        row(1, "ada", "lab", t, t, t + HOUR, 4),
        row(2, "ada", "lab", t, t, t + HOUR, 2, NodeList="n1"),
        row(3, "bo", "shop", t + 60, t + 2 * HOUR, t + 3 * HOUR, 8, NNodes=2, NodeList="n[0-1]"),
        row(4, "cy", "shop", t + 120, t + 3 * HOUR, t + 3 * HOUR + 600, 2, TimelimitRaw=10),
    ]


@pytest.fixture
def fake(tmp_path):
    """fake(name, script): a command of Slurm's; returns what to run brim with."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def one(name, script):
        path = folder / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IEXEC)
        return dict(PATH="%s:/usr/bin:/bin" % folder, SLURM_CONF="/nowhere/slurm.conf")

    return one


@pytest.fixture
def sacct(fake, tmp_path):
    """An sacct that prints rows."""
    def one(rows):
        (tmp_path / "rows").write_text("\n".join(["\x1f".join(FIELDS), *rows]) + "\n")
        return fake("sacct", 'echo "$*" >%s/asked\necho $SLURM_TIME_FORMAT >>%s/asked\ncat %s\n'
                    % (tmp_path, tmp_path, tmp_path / "rows"))

    return one


def of(brim, env, *words):
    said = brim("sim", "--from-sacct=1", *NODES, *words, "--json", env=env)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


def test_how_it_went(brim, sacct):
    found = of(brim, sacct(week(int(time.time()))))["accounting"]
    assert found["went"]["all"]["jobs"] == 4
    waits = [0, 0, 2 * HOUR - 60, 3 * HOUR - 120]
    assert found["went"]["all"]["wait_s"] == sum(waits) / 4
    assert {g["name"]: g["wait_s"] for g in found["went"]["teams"]} == {
        "lab": 0, "shop": sum(waits) / 2}
    used = 6 + 8 + 2 / 6
    assert abs(found["went"]["idle_device_hours"] - (8 * 20 - used)) < 2
    assert found["changes"] == []
    # b after a, c beside: nothing that goes first is delayed
    assert found["slurm_simulated"]["backfill"] == "conservative"
    simulated = [0, 0, HOUR - 60, 0]
    assert found["slurm_simulated"]["wait_s"] == sum(simulated) / 4


def test_what_it_would_have_changed(brim, sacct):
    env = sacct(week(int(time.time())))
    found = of(brim, env, "--policy", "fifo", "--compare", "fair")["accounting"]
    strict, fair = found["changes"]
    assert (strict["policy"], strict["instead_of"]) == ("fifo", "slurm")
    assert strict["lose"] == [dict(account="shop", jobs=2, wait_s=(HOUR - 60 + 2 * HOUR - 120) / 2,
                                   wait_before_s=(HOUR - 60) / 2)]
    assert strict["gain"] == [] and fair["policy"] == "fair"
    text = brim.out("sim", "--from-sacct=1", *NODES, "--policy", "fifo", env=env)
    lines = text.splitlines()
    assert lines[0].startswith("sacct since 20")
    assert lines[0].endswith(" (sacct): 4 jobs on 2 nodes with 8 devices")
    assert lines[1].startswith("as it went: a job waited 74.2 min in the mean, ")
    assert lines[2].startswith("Slurm, simulated with conservative backfill by limits: "
                               "14.8 min (80 % less) and ")
    assert lines[2].endswith(": that far is the simulation from how it went")
    assert lines[3].startswith("fifo, simulated: a job waits 44.2 min instead of 14.8 min "
                               "(200 % more), ")
    assert lines[4] == ("  lose: account shop (2 jobs wait 88.5 min instead of 29.5 min)")
    assert not lines[3].endswith(" idle")  # by 29.5 min, where the simulation is 59.4 min off
    assert strict["less_than_off"] and fair["less_than_off"]
    users = of(brim, env, "--policy", "fifo", "--by", "user")["accounting"]["changes"][0]
    assert [each["user"] for each in users["lose"]] == ["cy"]
    assert any(line.startswith("as it went              4 ") for line in lines)


def test_what_is_asked(brim, sacct, tmp_path):
    of(brim, sacct(week(int(time.time()))))
    words, form = (tmp_path / "asked").read_text().splitlines()
    assert words.startswith("--allusers --duplicates --allocations --parsable2 --delimiter=\x1f ")
    assert "JobName" not in words and "Comment" not in words
    assert form == "%s"


def test_ends_of_the_window(brim, sacct):
    """What ran when it began and runs at its end counts in part; the rest is left out."""
    now = int(time.time())
    rows = [
        row(1, "ada", "lab", now - 40 * HOUR, now - 30 * HOUR, now - 20 * HOUR, 4),
        row(2, "ada", "lab", now - HOUR, now - HOUR, now, 4, End="Unknown", State="RUNNING"),
        row(3, "ada", "lab", now - HOUR, now, now, 4, Start="Unknown", End="Unknown",
            State="PENDING", AllocTRES=""),
        row(4, "ada", "lab", now - HOUR, now, now, 4, State="CANCELLED by 7", AllocTRES=""),
        row(5, "ada", "lab", now - HOUR, now - HOUR, now, 0),
    ]
    env = sacct(rows)
    found = of(brim, env)
    assert found["trace"]["jobs"] == 2 and found["trace"]["skipped"] == 1
    accounting = found["accounting"]
    assert [accounting[k] for k in ("ran_before", "still_run", "wait", "never_started")] == [1] * 4
    assert abs(accounting["went"]["all"]["device_hours"] - 4 * (4 + 1)) < 1
    said = brim.out("sim", "--from-sacct=1", *NODES, env=env)
    assert ("1 ran when that began: it counts from then on; 1 still runs: it counts as far as it "
            "has run; 1 waits: left out; 1 was cancelled before it started: left out\n") in said


@pytest.mark.parametrize("nearer", ["easy", "conservative"])
def test_the_nearer_backfill_stands_for_slurm(brim, sacct, nearer):
    """b waits for a, c for b. EASY lets d take what is left beside b, for long: c waits for d then.
    Where all are planned for, d waits for c."""
    t = int(time.time()) - 20 * HOUR
    c, d = (10, 0) if nearer == "easy" else (3, 4)
    rows = [
        row(1, "ada", "lab", t, t, t + 2 * HOUR, 4, TimelimitRaw=120),
        row(2, "bo", "lab", t, t + 2 * HOUR, t + 3 * HOUR, 6),
        row(3, "cy", "shop", t, t + c * HOUR, t + (c + 1) * HOUR, 8),
        row(4, "di", "shop", t, t + d * HOUR, t + (d + 10) * HOUR, 2, TimelimitRaw=600),
    ]
    found = of(brim, sacct(rows), "--nodes", "1x8", "--policy", "easy")
    accounting = found["accounting"]
    assert accounting["slurm_simulated"]["backfill"] == nearer
    assert accounting["slurm_simulated"]["wait_s"] == accounting["went"]["all"]["wait_s"]
    [change] = accounting["changes"]
    # Whatever of Slurm's backfill a policy asks for, it is the same.
    assert (change["instead_of"], change["wait_s"]) == ("slurm", change["wait_before_s"])


def test_a_policy_of_brim_control(brim, sacct, policy):
    """What it leaves out is Slurm's."""
    env = sacct(week(int(time.time())))
    file = policy("[idle]\nreclaim = 2h\naction = requeue\n", "idle")
    [change] = of(brim, env, "--policy", file)["accounting"]["changes"]
    assert change["instead_of"] == "slurm-easy"
    assert change["wait_s"] == change["wait_before_s"]


@pytest.mark.parametrize("text, says", [
    ("[policy]\norder = las\nqueues = 1h\npreempt = victims\n", "[policy] order = las: "),
    ("[policy]\npreempt = quota\n", "[policy] preempt = quota: "),
    ("[share]\nbelow = 50%\ntogether = 90%\nafter = 5m\n", "[share]: "),
    ("[elastic]\nevery = 10m\n", "[elastic]: "),
    ("[power]\ncap = 9kW\n", "[power]: "),
])
def test_what_slurm_cannot_do_is_refused_by_name(brim, sacct, policy, text, says):
    file = policy(text, "p")
    said = brim("sim", "--from-sacct=1", *NODES, "--policy", file,
                env=sacct(week(int(time.time()))))
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith("brim sim: --engine slurm: ") and says in said.stderr
    other = brim("sim", "--from-sacct=1", *NODES, "--policy", "las", "--engine", "local",
                 env=sacct(week(int(time.time()))))
    assert other.returncode == 0, other.stderr


def test_a_file_of_sacct_says_the_same(brim, sacct, tmp_path):
    rows = week(int(time.time()))
    found = of(brim, sacct(rows), "--policy", "fifo")["accounting"]
    file = tmp_path / "jobs.txt"
    file.write_text("\n".join(["|".join(FIELDS), *[r.replace("\x1f", "|") for r in rows]]) + "\n")
    said = brim("sim", file, *NODES, "--engine", "slurm", "--policy", "fifo", "--json")
    same = json.loads(said.stdout)["accounting"]
    assert same["went"]["all"] == found["went"]["all"]
    assert same["changes"][0]["lose"] == found["changes"][0]["lose"]
    said = brim("sim", file, *NODES, "--policy", "fifo", "--json")
    assert "accounting" not in json.loads(said.stdout)


FAILURES = {
    "echo 'Slurm accounting storage is disabled' >&2; exit 1":
        "AccountingStorageType is none: Slurm keeps no jobs of the past; set it to "
        "accounting_storage/slurmdbd in slurm.conf, and look again in some weeks",
    "echo 'sacct: error: Problem talking to the database: Connection refused' >&2; exit 1":
        "slurmdbd does not answer: Problem talking to the database: Connection refused: is it "
        "running?",
    "echo 'sacct: error: Access/permission denied' >&2; exit 1":
        "sacct may not read the accounting: Access/permission denied: ask an operator of it",
    "exit 1": "sacct ended with status 1 and did not say why",
    "": "there are no jobs: ask for more days, --from-sacct=30",
    "echo 'JobIDRaw|User'":
        "sacct must print JobIDRaw,Submit,Start,End,ElapsedRaw,AllocTRES at least",
    "echo '%s'" % "\x1f".join(FIELDS): "there are no jobs: ask for more days, --from-sacct=30",
    "printf '%s\n%s\n'" % ("\x1f".join(FIELDS), "\x1f".join(["x"] * len(FIELDS))):
        "none of 1 jobs had GPUs, as far as accounting knows: it counts them when "
        "AccountingStorageTRES in slurm.conf names gres/gpu",
    "sleep 1000 & sleep 1000":
        "sacct has said nothing for 1 s: ask for fewer days (--from-sacct=7) or wait longer "
        "(--patience 1h)",
}


@pytest.mark.parametrize("script", FAILURES)
def test_there_is_nothing(brim, fake, script):
    said = brim("sim", "--from-sacct", *NODES, "--patience", "1s" if "sleep" in script else "5m",
                env=fake("sacct", script))
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr == "brim sim: %s\n" % FAILURES[script]


def test_without_slurm(brim, tmp_path):
    said = brim("sim", "--from-sacct", *NODES, env={"PATH": str(tmp_path)})
    assert said.returncode == 1
    assert said.stderr == "brim sim: there is no sacct: install Slurm's client commands\n"


def test_names_are_shown_harmless(brim, sacct):
    """Nobody can write a user or account like that, and a row that has one does no harm."""
    now = int(time.time())
    text = brim.out("sim", "--from-sacct=1", *NODES, "--by", "user",
                    env=sacct([*week(now), row(9, "e\x1b[2Jvil", "lab", now - HOUR, now - HOUR,
                                               now - 60, 1)]))
    assert "\x1b" not in text and "vil" in text


@pytest.mark.parametrize("words, says", [
    (["--from-sacct=x"], "--from-sacct: 'x' is neither days (30) nor since when (2026-11-01, "
                         "2026-11-01T08:00)"),
    (["--from-sacct=0"], "--from-sacct must be from 1 to 3660 days, not '0'"),
    (["--from-sacct", "7"], "--from-sacct reads no trace, and '7' is one; days stand behind '=', "
                            "--from-sacct=14"),
    (["--from-sacct", "--pack"], "--pack does not run the jobs, and --from-sacct says how they "
                                 "ran"),
    (["--from-sacct=9999-01-01"], "--from-sacct: 9999-01-01 is not in the past"),
])
def test_wrong_usage(brim, words, says):
    said = brim("sim", *NODES, *words)
    assert (said.returncode, said.stderr) == (2, "brim sim: %s\n" % says)


def test_much(brim, fake, tmp_path):
    """However much it prints, only its jobs are kept: rows without GPUs are nothing."""
    now = int(time.time())
    rows = "\n".join(["\x1f".join(FIELDS), *week(now)])
    (tmp_path / "rows").write_text(rows + "\n")
    line = row(5, "u", "a", now - HOUR, now - HOUR, now, 0)
    script = "cat %s\nyes '%s' | head -n 500000\n" % (tmp_path / "rows", line)
    found = of(brim, fake("sacct", script))
    assert found["trace"]["jobs"] == 4 and found["trace"]["skipped"] == 500000
