"""--json[=FILE], of every command that prints data: one spelling, and a schema that comes first."""

import json
import pathlib
import re

import pytest
from conftest import MACHINES, TRACES as MADE, one_line
from test_usage import PLAN, commands, options

TRACES = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus" / "trace"
JOBS = "job_id,submit_s,gpus,duration_s,user\na,0,8,3600,ann\nb,60,4,60,bob\n"
MEASURED = ("model,params,layers,hidden,heads,kv_heads,ffn,seq,vocab,gpu,n_gpus,tp,pp,cp,ep,vpp,dp,"
            "micro_batch,global_batch,recompute,seq_parallel,zero_stage,precision,"
            "measured_tflops_per_gpu,mfu,iter_time_s,tokens_per_s_per_gpu,mem_gb,source,notes\n"
            "Llama2-7b,,32,4096,32,32,11008,4096,,A100-SXM-80GB,128,1,1,,,,128,2,256,none,,3,"
            "bf16,,60,2,"
            ",,made up,none\n")
PROFILE = '[profile]\nname = "net"\n[loader.workers]\nvalue = 13\n'
# A command line for each thing that a command prints: FOLDER is one of the test's own.
LINES = [
    ("machine", "brim.machine.v1", ["--from", MACHINES / "dgx-a100"]),
    ("machine", "brim.audit.v1", ["--audit", "--from", MACHINES / "dgx-a100"]),
    ("alerts", "brim.rules.v1", []),
    ("xid", "brim.faults.v1", ["79"]),
    ("health", "brim.health.v1", ["--port=1"]),
    ("agent", "brim.sample.v1", ["--once"]),
    ("top", "brim.live.v1", ["--interval=200ms"]),
    ("bench", "brim.bench.v1", ["compute", "--seconds=10ms"]),
    ("run", "brim.run.v1", ["-q", "--", "true"]),
    ("optimize", "brim.optimize.v1", ["-q", "--", "true"]),
    ("runs", "brim.runs.v1", []),
    ("runs", "brim.runs.diff.v1", ["diff", "last", "last"]),
    ("why", "brim.verdict.v1", ["last"]),
    ("why", "brim.straggler.v1", ["--trace", TRACES / "two-stages.tsv"]),
    ("profile", "brim.profiles.v1", ["list"]),
    ("profile", "brim.profile.v1", ["show", "net"]),
    ("plan", "brim.plan.train.v1", ["train", *PLAN]),
    ("plan", "brim.plan.memory.v1", ["memory", PLAN[0]]),
    ("plan", "brim.plan.checkpoint.v1",
     ["checkpoint", "--state=2TB", "--gpus=64", "--storage=9GB/s"]),
    ("plan", "brim.plan.emit.v1", ["emit", "megatron", *PLAN, "--pin=dp=8"]),
    ("plan", "brim.plan.models.v1", ["models"]),
    ("plan", "brim.plan.gpus.v1", ["gpus"]),
    ("plan", "brim.plan.eval.v1", ["eval", "FOLDER/rows.csv"]),
    ("sim", "brim.sim.v1", ["FOLDER/jobs.csv"]),
    ("sim", "brim.sim.v1", [MADE / "sacct.csv", "--engine=slurm", "--policy=fair"]),
    ("cost", "brim.cost.v1", ["FOLDER/jobs.csv"]),
    ("control", "brim.control.actions.v1", ["list"]),
    ("jobs", "brim.jobs.v1", []),
    ("submit", "brim.submit.v1", ["true"]),
]


@pytest.fixture
def folder(tmp_path, brim):
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "rows.csv").write_text(MEASURED)
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "net-1.ini").write_text(PROFILE)
    return tmp_path


def keys(value):
    """All keys of objects in a value, each with those beside it."""
    if isinstance(value, list):
        for item in value:
            yield from keys(item)
    elif isinstance(value, dict):
        yield from ((key, value) for key in value)
        for item in value.values():
            yield from keys(item)


def check(text, schema):
    said = json.loads(text)
    assert list(said)[0] == "schema" and said["schema"] == schema
    if schema == "brim.sample.v1":
        return  # its keys are the names of metrics
    for key, beside in keys(said):
        assert not re.search(r"_(sec|secs|minutes?|hrs)$", key), key
        if re.search(r"_seconds?$", key):  # what some were called at first
            assert beside[re.sub(r"_seconds?$", "_s", key)] == beside[key], key
        one = not isinstance(beside[key], (list, dict, type(None)))
        if key.endswith("_s") and one:
            assert isinstance(beside[key], (int, float)), key


def test_every_json_is_tried(brim):
    """A new command with --json needs a line above, and all take it in the same way."""
    have = {command for command in commands(brim)
            if re.search(r"^  -j, --json\[=FILE\] ", brim.out(command, "--help"), re.MULTILINE)}
    assert have == {command for command, _, _ in LINES}
    for command in commands(brim):
        spelled = [option for option in options(brim, command) if option[1] == "json"]
        assert spelled == ([("j", "json", "")] if command in have else [])


@pytest.mark.parametrize("command, schema, words", LINES,
                         ids=["%s-%s" % (command, schema) for command, schema, _ in LINES])
def test_json(brim, queue, folder, command, schema, words):
    env = {"STATE_DIRECTORY": str(folder)}
    words = [str(word).replace("FOLDER", str(folder)) for word in words]
    if schema in ("brim.runs.v1", "brim.runs.diff.v1", "brim.verdict.v1"):
        assert brim("run", "-q", "--", "true", env=env).returncode == 0
    if command == "control":  # there is no cluster, and a book that says nothing
        assert brim("control", "--slurm-conf=/none", env=env).returncode == 1
    if command == "jobs":
        queue.submit("true")
    run = queue if command in ("jobs", "submit") else lambda *args: brim(*args, env=env, cwd=folder)
    done = run(command, "--json", *words)
    assert done.returncode == 0, done.stderr
    check(done.stdout, schema)
    done = run(command, f"--json={folder / 'said.json'}", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    check((folder / "said.json").read_text(), schema)


def test_a_file_that_cannot_be_written(brim, folder):
    one_line(brim("xid", "79", "--json=/nowhere/x.json"), 1, "/nowhere/x.json")
    one_line(brim("xid", "79", "--json="), 2, "--json")


def test_brim_conf_takes_yes_no_and_a_file(brim, folder):
    conf = folder / "brim.conf"
    for value, begins in [("yes", "{"), ("no", "XID 79")]:
        conf.write_text(f"[xid]\njson = {value}\n")
        assert brim.out("xid", "79", env={"BRIM_CONF": str(conf)}).startswith(begins)
    conf.write_text(f"[xid]\njson = {folder / 'said.json'}\n")
    assert brim.out("xid", "79", env={"BRIM_CONF": str(conf)}) == ""
    check((folder / "said.json").read_text(), "brim.faults.v1")
