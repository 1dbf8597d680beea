"""What brim decides in Slurm's hooks for submission, without a Slurm: in the Lua that it loads."""

import pathlib
import random

import lua
import pytest

HOOKS = pathlib.Path(__file__).resolve().parents[3] / "plugins" / "slurm"
NO_VAL, NO_VAL16 = 0xFFFFFFFE, 0xFFFE
NOW = 1_800_000_000
START = """
slurm = { SUCCESS = 0, NO_VAL = %d, NO_VAL16 = %d, NO_VAL64 = 2 ^ 64 - 2, INFINITE = 4294967295 }
errors, said = {}, {}
function slurm.log_error(...) errors[#errors + 1] = string.format(...) end
function slurm.log_user(...) said[#said + 1] = string.format(...) end
function show(...)
    local t = {}
    for i = 1, select("#", ...) do t[i] = tostring((select(i, ...))) end
    return table.concat(t, " ")
end
brim = dofile(%s)
""" % (NO_VAL, NO_VAL16, lua.literal(str(HOOKS / "brim_hooks.lua")))
# As Slurm has a job of which nothing was said.
BARE = {
    "name": "train", "user_name": "alice", "priority": NO_VAL, "num_tasks": NO_VAL,
    "min_nodes": NO_VAL, "max_nodes": NO_VAL, "het_job_offset": NO_VAL, "begin_time": 0,
    "immediate": 0,
}
PARTS = {"batch": {"flag_default": 1, "total_nodes": 2}, "cpu": {"total_nodes": 1}}
WANTS = dict(BARE, tres_per_node="gres:gpu:2", comment="brim:place")


@pytest.fixture
def hooks(tmp_path):
    """hooks.run(code), with brim's hooks in 'brim' and a folder of brim control in .folder."""
    if not lua.library():
        pytest.skip("no liblua (Debian: liblua5.1-0)")
    one = lua.Lua()
    one.run(START)
    one.folder = tmp_path
    yield one
    one.close()


def settings(hooks, **more):
    base = {"control": str(hooks.folder), "alive_s": 180, "gpus": {"batch": 8, "cpu": 0}}
    return dict(base, **more)


def call(hooks, name, *args):
    return hooks.run("return show(brim.%s(%s))" % (name, ", ".join(map(lua.literal, args))))


def submit(hooks, job, **more):
    """Slurm's call: what it says to the user, what it logs, and what becomes of fields."""
    words = tuple(map(lua.literal, (settings(hooks, **more), job, PARTS)))
    hooks.run("job = %s; errors, said = {}, {}; brim.submit(%s, job, %s)"
              % (words[1], words[0], words[2]))
    fields = hooks.run("return show(job.priority, job.admin_comment, job.account)")
    return (hooks.run("return table.concat(said, '\\n')"),
            hooks.run("return table.concat(errors, '\\n')"), fields)


@pytest.mark.parametrize("text, count", [
    (None, "0"), ("", "0"), ("gres:gpu", "1"), ("gres:gpu:8", "8"), ("gres/gpu:h100:8", "8"),
    ("gpu:h100", "1"), ("gres/gpu=4", "4"), ("gres:gpu:2,gres:shard:9,gres:gpu:a100:3", "5"),
    ("gres:gpus:4", "0"), ("gres:shard:2", "0"), ("gres:gpu:2k", "nil"), ("gres:gpu:1g.5gb:2", "2"),
    ("gres:gpu:1000000", "1000000"), ("gres:gpu:1000001", "nil"), ("gres:gpu:" + "9" * 400, "nil"),
    ("," * 5000, "0"),
])
def test_counts_gpus(hooks, text, count):
    assert call(hooks, "gpus", text) == count


@pytest.mark.parametrize("fields, asked", [
    ({}, "0 0"),
    ({"tres_per_node": "gres:gpu:8"}, "8 8"),
    ({"tres_per_node": "gres:gpu:8", "min_nodes": 4}, "8 32"),
    ({"tres_per_job": "gres:gpu:16"}, "0 16"),
    ({"tres_per_job": "gres:gpu:16", "max_nodes": 3}, "6 16"),
    ({"tres_per_task": "gres:gpu:4", "num_tasks": 3}, "4 12"),
    ({"tres_per_task": "gres:gpu:4", "num_tasks": 3, "max_nodes": 1}, "12 12"),
    ({"tres_per_socket": "gres:gpu:4"}, "4 4"),
    ({"tres_per_node": "gres:gpu:x9:2k"}, "nil"),
])
def test_knows_what_a_job_asks_for(hooks, fields, asked):
    assert call(hooks, "asked", dict(BARE, **fields)) == asked


@pytest.mark.parametrize("fields, why", [
    ({"tres_per_node": "gres:gpu:8"}, "nil"),
    ({"tres_per_node": "gres:gpu:9"},
     "the nodes of partition batch have at most 8 GPUs, and this job asks for 9 on one"),
    ({"tres_per_job": "gres:gpu:16"}, "nil"),
    ({"tres_per_job": "gres:gpu:17"},
     "partition batch has at most 16 GPUs, and this job asks for 17"),
    ({"tres_per_job": "gres:gpu:1", "partition": "cpu"},
     "partition cpu has no GPUs, and this job asks for 1"),
    ({"tres_per_node": "gres:gpu:8", "partition": "cpu,batch"}, "nil"),
    ({"tres_per_node": "gres:gpu:99", "partition": "batch,other"}, "nil"),
    ({"tres_per_node": "gres:gpu:99", "partition": "unseen"}, "nil"),
    ({"partition": "cpu"}, "nil"),
])
def test_knows_what_can_never_run(hooks, fields, why):
    assert call(hooks, "impossible", settings(hooks), dict(BARE, **fields), PARTS) == why


def test_says_nothing_of_partitions_that_the_site_does_not_list(hooks):
    job = dict(BARE, tres_per_node="gres:gpu:99")
    assert call(hooks, "impossible", settings(hooks, gpus={}), job, PARTS) == "nil"
    assert call(hooks, "impossible", settings(hooks, gpus={"batch": "8"}), job, PARTS) == "nil"
    job["partition"] = "gone"  # the site lists it, and Slurm has it no longer, or not for this user
    assert call(hooks, "impossible", settings(hooks, gpus={"gone": 8}), job, PARTS) == "nil"


@pytest.mark.parametrize("text, alive", [
    ("%d\n" % NOW, "true"), ("%d\n" % (NOW - 180), "true"), ("%d\n" % (NOW - 181), "false"),
    ("%d\n" % (NOW + 60), "true"), ("%d\n" % (NOW + 61), "false"), ("%d" % NOW, "false"),
    ("", "false"), ("0\n", "false"), ("\0\n", "false"), (" %d\n" % NOW, "false"),
    ("0x7fffffff\n", "false"), ("nan\n", "false"), ("9" * 500 + "\n", "false"), (None, "false"),
])
def test_knows_whether_control_runs(hooks, text, alive):
    if text is not None:
        (hooks.folder / "alive").write_text(text)
    assert call(hooks, "alive", settings(hooks), NOW) == alive


@pytest.mark.parametrize("text, used", [
    ("alice\ttrain\t8\t1\n", "8 1"),
    ("bob\ttrain\t8\t1\nalice\tother\t8\t1\n", "nil nil"),
    ("alice\ttrain\t8\t1\nalice\ttrain\t4\t2\nbob\ttrain\t9\t9\n", "4 2"),
    ("alice\ttrain\t8\t1\nalice\ttrain\t4\t", "8 1"),  # the last line is being written
    ("alice\ttrain\t8\t1", "nil nil"),
    ("alice\ttrain\tx\t1\nalice\ttrain\t-8\t1\nalice\ttrain\t8\t1\tmore\n", "nil nil"),
    ("alice\ttrain\t12345678\t1\n", "nil nil"),
    ("xalice\ttrain\t8\t1\n", "nil nil"),
    ("\0\xff\n\t\t\t\nalice\ttrain\t8\t1\n", "8 1"),
    ("", "nil nil"), (None, "nil"),
])
def test_reads_what_was_used(hooks, text, used):
    if text is not None:
        (hooks.folder / "used.tsv").write_bytes(text.encode("latin-1"))
    said = call(hooks, "used", settings(hooks), "alice", "train")
    assert said.split()[0] == used.split()[0] and said.split()[-1] == used.split()[-1]


def test_reads_the_end_of_a_long_file(hooks):
    line = "alice\ttrain\t8\t1\n"
    rest = "bob\tx\t1\t1\n" * 10000
    (hooks.folder / "used.tsv").write_text(line + rest)
    assert call(hooks, "used", settings(hooks), "alice", "train").split()[0] == "nil"
    (hooks.folder / "used.tsv").write_text(rest + line)
    assert call(hooks, "used", settings(hooks), "alice", "train") == "8 1"


def test_a_name_is_no_way_into_another_line(hooks):
    (hooks.folder / "used.tsv").write_text("bob\tx\t8\t1\nalice\ta?b?bob?x\t8\t2\n")
    assert call(hooks, "used", settings(hooks), "alice", "a\tb\nbob\tx") == "8 2"
    (hooks.folder / "used.tsv").write_text("alice\nbob\tx\t8\t1\n")
    assert call(hooks, "used", settings(hooks), "alice\nbob", "x").split()[0] == "nil"
    assert call(hooks, "plain", "\x1b[31m" + "n" * 100) == "?[31m" + "n" * 59


@pytest.mark.parametrize("line, fields, said", [
    ("8\t1", {}, "brim: your last job 'train' had 8 GPUs and kept 1 busy; this one asks for 8"),
    ("8\t1", {"tres_per_node": "gres:gpu:1"}, ""),
    ("8\t8", {}, ""),
    ("2\t2", {}, ""),
    ("2\t1", {}, "brim: your last job 'train' had 2 GPUs and kept 1 busy; this one asks for 8"),
    ("8\t1", {"user_name": "bob"}, ""),
    ("8\t1", {"name": "other"}, ""),
    ("8\t1", {"user_name": None, "name": None}, ""),
])
def test_reminds_of_the_last_time(hooks, line, fields, said):
    (hooks.folder / "used.tsv").write_text("alice\ttrain\t%s\n" % line)
    job = dict(BARE, tres_per_node="gres:gpu:8")
    assert submit(hooks, dict(job, **fields))[:2] == (said, "")


def test_does_not_compare_jobs_without_a_name(hooks):
    (hooks.folder / "used.tsv").write_text("alice\twrap\t8\t1\n")
    job = dict(BARE, name="wrap", tres_per_node="gres:gpu:8")
    assert submit(hooks, job)[0] == ""


HELD = "0 brim: waits for its place nil"
FREE = "%d nil nil" % NO_VAL


def alive(hooks):
    """Control's file is of now: submit() has the real time."""
    (hooks.folder / "alive").write_text("%s\n" % hooks.run("return os.time()"))


def test_holds_a_job_that_opts_in(hooks):
    alive(hooks)
    said, errors, fields = submit(hooks, WANTS)
    assert (errors, fields) == ("", HELD)
    assert said == "brim: this job waits for brim control; scontrol release lets it go without it"
    assert submit(hooks, dict(WANTS, comment="x brim:elastic=2-4 brim:place"))[2] == HELD


@pytest.mark.parametrize("place, fields", [
    ({"partitions": ["batch"]}, {}), ({"partitions": ["batch"]}, {"partition": "batch"}),
    ({"accounts": ["team"]}, {"default_account": "team"}),
])
def test_holds_jobs_that_the_site_lists(hooks, place, fields):
    alive(hooks)
    job = dict(WANTS, comment=None, **fields)
    assert submit(hooks, job, place=place)[2] == HELD
    assert submit(hooks, job, place={"partitions": ["other"], "accounts": ["x"]})[2] == FREE


@pytest.mark.parametrize("comment", [
    None, "", "place", "brim:places", "x-brim:place", "brim: place", "c " * 600 + "brim:place",
])
def test_lets_others_go(hooks, comment):
    alive(hooks)
    assert submit(hooks, dict(WANTS, comment=comment)) == ("", "", FREE)


@pytest.mark.parametrize("fields, why", [
    ({"tres_per_node": None}, "it asks for no GPUs"),
    ({"array_inx": "0-3"}, "it is of several parts"),
    ({"het_job_offset": 0}, "it is of several parts"),
    ({"dependency": "afterok:1"}, "it waits for another job, or a date"),
    ({"begin_time": 2 ** 33}, "it waits for another job, or a date"),
    ({"req_nodes": "n1"}, "it names its nodes, or a reservation"),
    ({"reservation": "r"}, "it names its nodes, or a reservation"),
    ({"partition": "batch,cpu"}, "it names several partitions"),
    ({"immediate": 1}, "it does not wait"),
    ({"priority": 7}, "its priority is set"),
])
def test_leaves_to_slurm_what_cannot_be_placed(hooks, fields, why):
    alive(hooks)
    said, errors, after = submit(hooks, dict(WANTS, **fields))
    assert (said, errors) == ("brim: Slurm places this job: " + why, "")
    assert after.endswith(" nil nil") and not after.startswith("0 ")
    listed = dict(WANTS, comment=None, **fields)
    assert submit(hooks, listed, place={"partitions": ["batch"]})[0] == ""


def test_holds_nothing_while_control_is_away(hooks):
    said, errors, fields = submit(hooks, WANTS)
    assert (said, errors) == ("brim: Slurm places this job: brim control does not run", "")
    assert fields == FREE
    (hooks.folder / "alive").write_text("1\n")
    assert submit(hooks, WANTS)[2] == FREE


def test_does_not_take_over_a_job_that_its_owner_holds(hooks):
    """Control would let it go."""
    alive(hooks)
    assert submit(hooks, dict(WANTS, priority=0)) == ("", "", "0 nil nil")


def test_does_not_hold_what_slurm_would_refuse(hooks):
    """Slurm takes any job that is held."""
    alive(hooks)
    said, errors, fields = submit(hooks, dict(WANTS, tres_per_node="gres:gpu:9"))
    assert said.startswith("brim: the nodes of partition batch have at most 8 GPUs")
    assert (errors, fields) == ("", FREE)


@pytest.mark.parametrize("account, fields, after", [
    ("default", {}, "default"), (None, {}, "nil"), ("default", {"account": "own"}, "own"),
    ("default", {"default_account": "of Slurm"}, "nil"), ("", {}, "nil"), (7, {}, "nil"),
    ({"alice": "vision", "*": "rest"}, {}, "vision"),
    ({"alice": "vision", "*": "rest"}, {"user_name": "bob"}, "rest"),
    ({"alice": "vision"}, {"user_name": None}, "nil"),
])
def test_gives_an_account(hooks, account, fields, after):
    said, errors, shown = submit(hooks, dict(BARE, **fields), account=account)
    assert (said, errors, shown) == ("", "", "%d nil %s" % (NO_VAL, after))


def test_a_part_that_fails_is_a_line_of_the_log(hooks):
    """The others go on, and the job goes on."""
    alive(hooks)
    job = dict(WANTS, tres_per_node="gres:gpu:9")
    said, errors, fields = submit(hooks, job, gpus=8, account="team")
    lines = errors.splitlines()
    assert lines and all(line.startswith(("brim: gpus: ", "brim: place: ")) for line in lines)
    assert fields == "%d nil team" % NO_VAL
    hooks.run("slurm.log_user, slurm.log_error = nil, nil")
    hooks.run("brim.submit(nil, nil, nil); brim.filter(nil)")


def test_no_job_is_an_error(hooks):
    """Whatever users write."""
    alive(hooks)
    rng = random.Random(7)
    names = ["name", "user_name", "account", "comment", "partition", "tres_per_node",
             "tres_per_job", "tres_per_task", "tres_per_socket", "array_inx", "req_nodes"]
    numbers = [0, 1, 65535, NO_VAL16, NO_VAL, 2 ** 32 - 1, 2 ** 53, -1]
    pieces = [b"gres:gpu", b"gpu:", b"=", b":", b",", b"99", b"%d", b"%", b"\0", b"\n", b"\t",
              b"brim:place", b" ", b"[", b"\xff\xfe", b"(", b"a" * 3000]
    (hooks.folder / "used.tsv").write_bytes(bytes(rng.randrange(256) for _ in range(5000)))
    for _ in range(1000):
        job = {n: b"".join(rng.choices(pieces, k=rng.randrange(6))) for n in names}
        job.update({n: rng.choice(numbers) for n in ("num_tasks", "min_nodes", "max_nodes")})
        job = dict(BARE, **{k: v for k, v in job.items() if rng.random() < 0.7})
        assert submit(hooks, job)[1] == "", job


GOOD = ["1-1", "1-1000000", "2-4"], ["SIGTERM", "64@604800", "USR2@1", "USR1", "1"]
BAD = (["", None, "4-2", "0-2", "2", "2-", "2-4x", "1-1000001", "9" * 400 + "-2", "1 -2"],
       ["", None, "USR3", "USR1@0", "USR1@604801", "65", "0", "USR1@", "USR1@60 x", "@60",
        "SIG", "SIGSIGTERM", "USR1 brim:place", "%s"])


def test_takes_the_values_of_the_plugin(hooks):
    for name, good, bad in zip(("is_elastic", "is_signal"), GOOD, BAD):
        for value in good:
            assert call(hooks, name, value) == "true", value
        for value in bad:
            assert call(hooks, name, value) == "false", value


@pytest.mark.parametrize("own, elastic, signal, text", [
    (None, "2-4", "USR1@60", "brim:elastic=2-4 signal=USR1@60"),
    ("", "2-4", None, "brim:elastic=2-4"),
    ("mine", None, "USR1", "mine brim:signal=USR1"),
    ("mine brim:place", "2-4", None, "mine brim:place brim:elastic=2-4"),
    ("brim:elastic=1-2", "2-4", "USR1", "brim:elastic=1-2 brim:signal=USR1"),
    ("brim:elastic=1-2 signal=TERM", "2-4", "USR1", "nil"),
    ("mine", None, None, "nil"),
    ("mine", "4-2", "USR1 x", "nil"),
    ("c" * 1006, "2-4", None, "c" * 1006 + " brim:elastic=2-4"),
    ("c" * 1007, "2-4", None, "nil"),  # Slurm would refuse the job
])
def test_writes_the_comment(hooks, own, elastic, signal, text):
    assert call(hooks, "comment", own, elastic, signal) == text


def test_the_filter_asks_the_plugins_options(hooks):
    options = {"type": "sbatch", "comment": "mine",
               "spank": {"brim_spank": {"brim-elastic": "2-4"}, "other": 3}}
    for kind, after in (("sbatch", "mine brim:elastic=2-4"), ("srun", "mine brim:elastic=2-4")):
        hooks.run("o = %s; brim.filter(o)" % lua.literal(dict(options, type=kind)))
        assert hooks.run("return o.comment") == after
    assert hooks.run("return #errors") == "0"


@pytest.mark.parametrize("name", ["job_submit.lua", "cli_filter.lua"])
def test_without_the_package_jobs_go_as_before(hooks, name):
    text = (HOOKS / name).read_text()
    assert text.count('"/usr/share/brim/slurm/brim_hooks.lua"') == 1
    hooks.run(text.replace("/usr/share/brim/slurm/brim_hooks.lua", "/nonexistent/x.lua"))
    assert hooks.run("return #errors") == "1"
    if name == "job_submit.lua":
        call = "slurm_job_submit({}, {}, 0), slurm_job_modify({}, {}, {}, 0)"
    else:
        call = "slurm_cli_setup_defaults({}, true), slurm_cli_pre_submit({}, 0), " \
            "slurm_cli_post_submit(0, 1, 2)"
    assert set(hooks.run("return show(%s)" % call).split()) == {"0"}
