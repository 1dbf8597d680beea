"""What brim makes of files that are almost right: each line of one left out, cut, with another
number, with a word too much. What it says, or the first line of its output that is another one, is
compared with tests/fixtures/golden/broken; script/regenerate writes it.
"""

import os
import re

import pytest
from conftest import GOLDEN

SIM = ("sim", "input/tiers.csv", "--nodes", "4x4:A100-PCIe-80GB", "--policy")
PLAN = ("plan", "memory", "Llama-3.2-1B", "--pin", "tp=2,pp=2", "--cluster")
CORPUS = GOLDEN.parents[1] / "fuzz" / "corpus"
TRACE = "job_id,submit_s,gpus,duration_s,limit_s,deadline_s,class,user,priority,gpus_min," \
    "gpus_max,scaling,activity,data,data_s,kinds,gpu_milli,mig,per_node,checkpoint_s\n" \
    "a,0,4,100,200,150,x,ann,1,2,8,0.9,,n1,5,A100:1|T4:0.5,,,,10\n" \
    "b,10,1,50,60,90,y,bob,2,,,,,n2+n3,,,500,,,\n" \
    "c,20,1,50,,,y,bob,,,,,,,,,,3g,,\n" \
    "d,30,8,50,70,,z,,5,,,,,,,A100,,,4,\n"
USE = "job_id,submit_s,gpus,duration_s,class,activity\na,0,8,100,x,60:90 20:0 70\n" \
    "b,10,1,50,y,50:80\nc,20,2,50,y,\nd,30,8,90,x,30\n"
NODES = "sn,cpu_milli,memory_mib,gpu,model,domain,rack,leaf,spine\n" \
    "n0,96000,786432,8,A100,0,0,0,0\nn1,96000,786432,8,A100,0,0,0,0\n" \
    "n2,64000,262144,4,T4,1,1,1,0\n"
LOST = "time_s,node,duration_s\n100,n1,300\n5.5,n0,1e3\n"
WINDOWS = "time_s,node,duration_s,drain_s\n100,n1,300,50\n5000,n0,600,0\n"
CLUSTER = "[cluster]\ngpu = H100-SXM\nnodes = 4\ngpus = 8\nnic = 8x400G\nleaf = 2\nprice = 2.5\n" \
    "domain = 8\nlink = 450\noversubscribed = 2\nnic_latency = 4\nlink_latency = 1.9\n" \
    "memory = 80\nmtbf = 50000\n"
RULES = "[a]\nset = disk\nby = device\nseverity = note\nsay = {thing} {value:bytes} " \
    "{value:percent}\naction = look\nwhen = now > peers(now) and past(rate(reads_total)) > " \
    "increase(reads_total, 1m) + disk:now{device=\"a\"} * -(1.5e3 / now)\n" \
    "for = 1m\n[b]\nevent = xid\nkeep = 10m\n" \
    "why = it fell\n"
KNOBS = "[mine.size]\nwhat = how much\nvalues = 1 2 4 8\napply = env MINE_SIZE\nundo = restart\n" \
    "risk = safe\n"
OPS = "\n".join((CORPUS / "trace" / "one.tsv").read_text().splitlines()[:12]) + "\n"
CONFIG = (GOLDEN.parent / "configs" / "deepseek-v2-lite.json").read_text()

# name: (the command, {FILE} for the path; the end of its name; what is in it)
FILES = {
    "policy-share": ((*SIM, "{FILE}"), ".ini", (GOLDEN / "input/share-quota.ini").read_text()),
    "policy-tiers": ((*SIM, "{FILE}"), ".ini", (GOLDEN / "input/tiers.ini").read_text()),
    "policy-power": ((*SIM, "{FILE}"), ".ini", (GOLDEN / "input/tiers-power.ini").read_text()),
    "policy-ageing": ((*SIM, "{FILE}"), ".ini", (GOLDEN / "input/ageing.ini").read_text()),
    "policy-elastic": (("sim", "input/elastic.csv", "--nodes", "4x4", "--policy", "{FILE}"), ".ini",
                       (GOLDEN / "input/elastic-easy.ini").read_text()),
    "trace": (("sim", "{FILE}", "--nodes", "4x8:A100", "--policy", "greedy"), ".csv", TRACE),
    "use": (("sim", "{FILE}", "--nodes", "1x8", "--policy", "greedy"), ".csv", USE),
    "accounts": (("cost", "{FILE}", "--since", "20000d"), ".txt",
                 (GOLDEN.parent / "accounting/november.txt").read_text()),
    "ledger": (("cost", "{FILE}", "--since", "20000d", "--gpu", "H100"), ".csv", TRACE),
    "nodes": (("sim", "input/plain.csv", "--policy", "topology", "--nodes", "{FILE}"), ".csv",
              NODES),
    "lost": (("sim", "input/plain.csv", "--nodes", "4x4", "--failures", "{FILE}"), ".csv", LOST),
    "windows": (("sim", "input/plain.csv", "--nodes", "4x4", "--windows", "{FILE}"), ".csv",
                WINDOWS),
    "cluster": ((*PLAN, "{FILE}"), ".ini", CLUSTER),
    "config": (("plan", "memory", "{FILE}"), ".json", CONFIG),
    "rows": (("plan", "eval", "--rows", "{FILE}"), ".csv",
             (CORPUS / "plan_rows/experts").read_text()),
    "rules": (("alerts", "--file", "{FILE}"), ".ini", RULES),
    "profile": (("profile", "show", "{FILE}"), ".ini",
                (GOLDEN / "profiles/all-00aa.ini").read_text()),
    "knobs": (("profile", "show", "train", "--knobs", "{FILE}"), ".ini", KNOBS),
    "operations": (("why", "--trace", "{FILE}"), ".tsv", OPS),
    "topology": (("machine", "--matrix", "--from", "{FILE}"), ".xml",
                 (CORPUS / "nccl_xml/c2c.xml").read_text()),
}
# Commands that start nothing: each of their options gets values that are almost right.
COMMANDS = {
    "sim": ("sim", "input/plain.csv", "--nodes", "4x4:A100-40GB", "--policy", "greedy"),
    "cost": ("cost", "input/plain.csv", "--gpu", "A100"),
    "plan-memory": ("plan", "memory", "Llama-3.2-1B", "--cluster=1x8xH100"),
    "plan-checkpoint": ("plan", "checkpoint", "--storage=1GB/s", "--state=1TB", "--gpus=64"),
    "alerts": ("alerts",),
    "why": ("why", "--trace", str(CORPUS / "trace/one.tsv")),
    "profile": ("profile", "show", "train"),
}
VALUES = ["", "x", "-1", "0", "1.5", "7", "5k", "3GB/s", "2h", "99999999999999999999", "H100=1",
          "4x4", "1e999"]
LINES, NUMBERS = 18, 5  # of a file, of a line


def broken(text):
    """(what was done, the text) for each line that has something in it."""
    lines = text.splitlines()
    for i, line in enumerate(lines[:LINES]):
        if not line.strip() or line.startswith("#"):
            continue
        changes = [("gone", None), ("cut", line[: len(line) * 2 // 3]), ("more", line + " x")]
        for k, found in enumerate(re.finditer(r"(?<![\w.])\d[\d.]*(?:e\d+)?(?![\w.])", line)):
            if k < NUMBERS:
                for new in ("-1", "0", "99999999999999999999", "1.5x"):
                    changes.append(("number %d is %s" % (k + 1, new),
                                    line[: found.start()] + new + line[found.end():]))
        for what, new in changes:
            if new != line:
                made = lines[:i] + ([] if new is None else [new]) + lines[i + 1:]
                yield "%d %s" % (i + 1, what), "\n".join(made) + "\n"


def compare(name, out):
    file = GOLDEN / "broken" / (name + ".txt")
    if os.environ.get("BRIM_REGENERATE"):
        file.write_text("".join(line + "\n" for line in out), encoding="utf-8")
    assert out == file.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", sorted(FILES))
def test_broken(brim, tmp_path, made_state, name):
    command, end, text = FILES[name]
    path = tmp_path / (("model" if name == "config" else name) + end)  # it names the model
    words = [word.format(FILE=path) for word in command]

    def said(content):
        path.write_text(content)
        done = brim(*words, env=made_state, cwd=str(GOLDEN))
        both = done.stdout + "".join("! %s\n" % line for line in done.stderr.splitlines())
        both = both.replace(str(path), "FILE").replace(made_state["STATE_DIRECTORY"], "STATE")
        return done.returncode, both.splitlines()

    status, whole = said(text)
    assert status == 0, whole
    known = set(whole)
    out = []
    for what, content in broken(text):
        status, lines = said(content)
        new = [line for line in lines if line not in known]
        # What tells of a line or an error first.
        new.sort(key=lambda line: not re.match(r"! |  line \d", line))
        new = new[0] if new else "the same" if lines == whole else "%d lines" % len(lines)
        out.append(("%s: %d %s" % (what, status, new)).rstrip())
    compare(name, out)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_options(brim, made_state, name):
    command = COMMANDS[name]
    asked = brim.out(command[0], "--help")
    options = re.findall(r"^  (?:-\w, |    )--([\w-]+)=", asked, re.M)
    whole = brim.out(*command, env=made_state, cwd=str(GOLDEN)).splitlines()
    out = []
    for option in options:
        for value in VALUES if option not in ("html", "svg", "live", "for") else ():
            done = brim(*command, "--%s=%s" % (option, value), env=made_state, cwd=str(GOLDEN))
            lines = done.stdout.splitlines() + ["! " + x for x in done.stderr.splitlines()]
            new = [line for line in lines if line not in whole][:1] or ["the same"]
            new = new[0].replace(str(CORPUS), "CORPUS")
            out.append(("--%s=%s: %d %s" % (option, value, done.returncode, new)).rstrip())
    compare("options-" + name, out)
