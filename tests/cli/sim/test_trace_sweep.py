"""Traces and accounting of each form, with one field after the other that says something else
(../sweeps.py): what brim sim and brim cost make of it, on both sides of what a field may be."""

import json

import pytest
from sweeps import Sweep

YEARS = 30 * 365 * 86400
TIMES = ["", "0", "0.0004", "0.0006", "-1", "x", "1.5", str(YEARS), str(YEARS + 1), "86400000"]
COUNTS = ["", "0", "1", "2", "3", "-1", "1.5", "x", "1048576", "1048577"]
DATES = ["", "x", "1969-12-31T23:59:59", "1970-01-01 00:00:00", "1970-01-01T00:00:00",
         "2024-02-29T12:30:59", "2023-02-29T00:00:00", "2100-02-29T00:00:00",
         "2000-02-29T00:00:00", "2024-12-31T23:59:60", "2024-12-31T23:59:61",
         "2024-13-01T00:00:00", "2024-00-01T00:00:00", "2024-01-00T00:00:00",
         "2024-01-31T24:00:00", "2024-01-31T23:60:00", "2024-04-31T00:00:00",
         "2024-04-30T01:02:03", "2024-03-01T10:00:00.5", "2024/03/01T10:00:00"]
NAMES = ["", "ann", "a b", "x" * 70]

# form: (header, rows, {column: values}); each value takes the place of the first row's.
OWN = ("job_id,submit_s,gpus,gpus_min,gpus_max,scaling,duration_s,limit_s,deadline_s,checkpoint_s,"
       "per_node,gpu_milli,mig,cpu_milli,memory_mib,kinds,user,team,class,priority,activity,data,"
       "data_s",
       ["a,5,4,2,8,0.5,100,200,900,10,,1000,,1000,1024,A100,ann,x,big,1,50:80 20:0 40,n0,5",
        "b,0,1,,,,50,60,,,,500,,,,,bob,y,small,0,,,",
        "c,0,8,,,,70,90,,30,4,,,,,,cy,y,big,2,,n1+n2,",
        "d,40,1,,,,30,90,,,,,3g,,,,cy,y,big,2,,,"],
       {"job_id": NAMES, "submit_s": TIMES, "gpus": COUNTS, "gpus_min": COUNTS + ["4", "5"],
        "gpus_max": COUNTS + ["4"], "scaling": ["", "0", "1", "1.1", "-0.1", "x", "0.9"],
        "duration_s": TIMES + ["315360000", "315360001"], "limit_s": TIMES,
        "deadline_s": TIMES + ["5", "5.001", "6"], "checkpoint_s": TIMES,
        "per_node": COUNTS + ["4"], "gpu_milli": COUNTS + ["999", "1000", "1001"],
        "mig": ["", "1g", "2g", "3g", "4g", "5g", "7g", "x"],
        "cpu_milli": COUNTS + ["536870911", "536870912", "8000"],
        "memory_mib": COUNTS + ["2147483647", "2147483648"],
        "kinds": ["", "A100", "T4", "H100", "A100|T4", "A100:2|T4:0.5", "T4:0.001", "T4:0.0009",
                  "A100:1000", "A100:1001", "A100:x", "H100|T4:2", "A100,T4", "T4:", "|T4"],
        "user": NAMES, "team": NAMES, "class": NAMES,
        "priority": COUNTS + ["32767", "32768", "-32767"],
        "activity": ["", "0", "100", "100.1", "-1", "50", "x", "100:50", "101:50", "50:50",
                     "50:50 50:20", "50:50 51:20", "10:5 10:6 7", "0:50 5", ":5", "5:",
                     " 20:10  3 ",
                     "1" * 40 + ":5"],
        "data": ["", "n0", "n9", "n0+n1", "n0+n9", "leaf:0", "x" * 80],
        "data_s": TIMES})
PHILLY = ("timestamp,duration,num_gpus,gpu_time,cluster",
          ["2017-10-09 07:02:55,66.0,1,66.0,aaa", "2017-10-09 07:01:55,30.0,2,60.0,bbb"],
          {"timestamp": DATES, "duration": TIMES, "num_gpus": COUNTS, "cluster": NAMES})
MURI = ("job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
        "iteration_time,resource_time_0,resource_time_1,resource_time_2",
        ["a,4,1000,1000,bert,1,1,1,9.5,2,5,2.5", "b,8,1500,100,gpt2,64,9,1,900,,,",
         "c,1,1500,200,vgg16,64,9,1,90,1,80,9"],
        {"job_id": NAMES, "num_gpu": COUNTS + ["4", "5", "8", "9", "16", "17", "32", "33"],
         "submit_time": COUNTS + ["1000000000000", "1000000000001"],
         "iterations": ["", "0", "1", "1.5", "-1", "x", "1e14", "1.1e14"],
         "iteration_time": ["", "0", "1", "-1", "x", "1e11", "1.1e12"],
         "model_name": ["", "vgg16", "vgg19", "resnet18", "shufflenet_v2_x1_0", "bert", "gpt2",
                        "a2c", "dqn", "none"],
         "resource_time_0": ["", "0", "1e9", "1.1e9", "-1", "x"], "resource_time_1": ["", "x", "0"],
         "resource_time_2": ["", "x", "0", "100"]})
OPENB = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
         "deletion_time,scheduled_time",
         ["p0,4000,10,1,500,T4|A100,LS,Running,0,100,0", "p1,400,10,0,0,,BE,Running,3,100,0",
          "p2,400,10,2,1000,,BE,Running,,,0"],
         {"name": NAMES, "cpu_milli": COUNTS, "memory_mib": COUNTS, "num_gpu": COUNTS,
          "gpu_milli": COUNTS + ["1000"], "gpu_spec": ["", "T4", "H100", "A100"], "qos": NAMES,
          "creation_time": TIMES + ["100", "101"], "deletion_time": TIMES})
SWF_ROW = "7 5 -1 100 4 -1 -1 8 200 -1 1 7 2 -1 1 -1 -1 -1"
DURATIONS = ["", "0", "10", "01:30", "1:2:3", "2-03:04:05", "-1", "1-", "x", "1:", "5.5", "1x",
             "0000010:00", "12345", "1000000-00:00:00", "12-12345"]
SACCT = ("JobIDRaw|User|Account|WCKey|Partition|State|Submit|Start|Elapsed|ElapsedRaw|Timelimit|"
         "TimelimitRaw|AllocTRES|ReqTRES|NNodes|ConsumedEnergyRaw|TRESUsageInAve",
         ["101|ann|vision|seg|gpu|COMPLETED|2026-11-02T09:00:00|2026-11-02T10:00:00|10:00:00|36000|"
          "12:00:00|720|billing=8,gres/gpu:h100=8,gres/gpu=8,node=2|gres/gpu=4|2|90000000|",
          "101.batch||vision||gpu|COMPLETED|2026-11-02T10:00:00|2026-11-02T10:00:00||18000|||"
          "cpu=64,gres/gpu=8||1||cpu=00:10:00,gres/gpuutil=62.5,gres/gpumem=40G",
          "102|bob|text||cpu|FAILED|2026-11-02T10:30:00|2026-11-02T11:00:00|00:10|600|||"
          "gres/gpu=1||1||"],
         {"JobIDRaw": ["101", "101.0", "", "10", "101_2"], "User": NAMES[:3], "Account": NAMES[:3],
          "WCKey": NAMES[:3], "Partition": NAMES[:3],
          "State": ["COMPLETED", "COMPLETING", "RUNNING", "SUSPENDED", "CANCELLED by 7", "REVOKED",
                    "FAILED", "TIMEOUT", "DEADLINE", "OUT_OF_ME+", "NODE_FAIL", "BOOT_FAIL",
                    "PREEMPTED", "REQUEUED", "PENDING", "PEND", "OTHER", ""],
          "Submit": DATES, "Start": DATES,
          "ElapsedRaw": ["", "0", "1", "-1", "x", "4294967295", "4294967296"],
          "TimelimitRaw": ["", "0", "5", "4294967294", "4294967295", "x"],
          "Timelimit": ["", "x"],
          "AllocTRES": ["", "gres/gpu=0", "gres/gpu=1", "gres/gpu=x", "gres/gpu:a100=2,gres/gpu=2",
                        "cpu=8", "gres/gpu:a100=2", "gres/gpu=12345678", "xgres/gpu=3"],
          "ReqTRES": ["", "gres/gpu=2"], "NNodes": ["", "0", "1", "2", "3", "4", "8", "16", "x"],
          "ConsumedEnergyRaw": ["", "0", "-1", "1", "x", "999999999999999", "1000000000000000"]})
LEDGER = ("job_id,user,team,project,class,kinds,state,idle_cause,start_s,gpus,gpu_milli,duration_s,"
          "gpu_busy,energy_kwh",
          ["a,ann,x,p,c,A100,done,,1000,4,1000,3600,0.5,2", "b,bob,y,p,c,H100,failed,,5,1,500,60,,",
           "c,bob,y,q,c,H100,running,input,5,2,,7200,0.25,"],
          {"job_id": NAMES, "user": NAMES, "team": NAMES, "project": NAMES, "class": NAMES,
           "kinds": ["", "A100", "H100", "none"],
           "state": ["", "done", "Running", "not known", "failed", "cancelled", "time limit",
                     "out of memory", "a node failed", "preempted", "TIMEOUT", "x"],
           "idle_cause": ["", "input", "a b"], "start_s": TIMES + ["1e11", "1.1e11"],
           "gpus": COUNTS + ["0.5"], "gpu_milli": COUNTS + ["1000", "1001"],
           "duration_s": TIMES + [str(YEARS) + ".5"],
           "gpu_busy": ["", "0", "1", "1.01", "-0.1", "x"],
           "energy_kwh": ["", "0", "1e12", "1.1e12", "-1", "x"]})
FORMS = {"own": OWN, "philly": PHILLY, "muri": MURI, "openb": OPENB, "sacct": SACCT,
         "ledger": LEDGER}
# Other names of a column, and what is taken for the one that is not there.
RENAMED = [("JobIDRaw", "JobID"), ("NNodes", "AllocNodes"), ("ElapsedRaw", "x"), ("Elapsed", "x"),
           ("AllocTRES", "x"), ("ReqTRES", "x"), ("Submit", "x"), ("Start", "x"), ("WCKey", "x"),
           ("TimelimitRaw", "x"), ("Timelimit", "x"), ("State", "x"), ("User", "x")]
NODES = "3x4:A100,2x4:T4"


def money(text):
    all_of = json.loads(text)["total"]
    return " ".join("%s" % all_of[key] for key in sorted(all_of)[:3])


def ask(sweep, name, text, form):
    files = {"jobs": text}
    if form != "ledger":
        sweep.say(name, ["sim", "jobs", "--nodes", NODES, "--policy", "easy-limit", "--json",
                         "--by", "user"], files)
    if form in ("own", "sacct", "ledger", "swf"):
        sweep.say(name + " costs", ["cost", "jobs", "--since", "36500d", "--gpu", "A100", "--by",
                                    "project", "--json"], files)


@pytest.mark.parametrize("form", FORMS)
def test_fields(brim, tmp_path, form):
    sweep = Sweep(brim, tmp_path, "trace-" + form)
    header, rows, fields = FORMS[form]
    mark = "|" if "|" in header else ","
    columns = header.split(mark)
    text = "\n".join([header, *rows]) + "\n"
    ask(sweep, "as it is", text, form)
    if form != "ledger":
        sweep.say("actions", ["sim", "jobs", "--nodes", NODES, "--policy", "fifo", "--actions"],
                  {"jobs": text})
    for column, values in fields.items():
        for value in values:
            row = rows[0].split(mark)
            row[columns.index(column)] = value
            ask(sweep, "%s=%s" % (column, value[:30]),
                "\n".join([header, mark.join(row), *rows[1:]]) + "\n", form)
    sweep.end()


def test_starts(brim, tmp_path):
    """What a start costs a model of Muri's on so many devices, where each pass starts all anew."""
    sweep = Sweep(brim, tmp_path, "trace-starts")
    for model in MURI[2]["model_name"]:
        rows = [MURI[0]]
        for i, gpus in enumerate([1, 2, 3, 4, 8, 16, 32, 5]):
            rows.append("%s%d,%d,%d,100,%s,1,1,1,%d,,," % (model, gpus, gpus, i * 2000, model,
                                                           900 - 100 * i))
        sweep.say("starts of " + model, ["sim", "jobs", "--nodes", "4x8", "--policy",
                                         "rebuild-srtf", "--actions"],
                  {"jobs": "\n".join(rows) + "\n"})
    sweep.end()


def test_lines(brim, tmp_path):
    """Accounting whose columns are others, durations, SWF, and rows that are none."""
    sweep = Sweep(brim, tmp_path, "trace-lines")
    header, rows, _ = SACCT
    for old, new in RENAMED:
        ask(sweep, "%s is %s" % (old, new),
            "\n".join(["|".join(new if x == old else x for x in header.split("|")), *rows]) + "\n",
            "sacct")
    plain = header.replace("ElapsedRaw|", "").replace("TimelimitRaw|", "")
    for text in DURATIONS:
        row = "5|ann|v||gpu|COMPLETED|2026-11-02T09:00:00|2026-11-02T10:00:00|%s|%s|gres/gpu=2||1||"
        ask(sweep, "takes " + text, "%s\n%s\n" % (plain, row % (text, "1-00:00:00")), "sacct")
        ask(sweep, "may take " + text, "%s\n%s\n" % (plain, row % ("10:00", text)), "sacct")
    ask(sweep, "long line", "%s\n%s\n%s\n" % (header, rows[0], "9|" + "x" * 9000), "sacct")
    ask(sweep, "many fields", "%s\n%s\n%s\n" % (header, rows[0], "9|" * 100), "sacct")
    for part in ("gres/gpuutil=0", "gres/gpuutil=100", "gres/gpuutil=100.5", "gres/gpuutil=x",
                 "cpu=1"):
        for number in ("101.0", "10.0", "1011.0"):
            step = "%s|||||||||9000|||||||%s" % (number, part)
            ask(sweep, "step %s %s" % (number, part), "\n".join([header, *rows[:2], step]) + "\n",
                "sacct")
    words = SWF_ROW.split()
    for at, values in {1: ["-5", "0.5", "1e12", "1e11"], 3: ["-1", "0", "x", "1.5"],
                       4: ["-1", "0", "3"], 7: ["-1", "0", "1", "1048576", "1048577"],
                       8: ["-1", "0", "50"], 11: ["-1", "0"], 12: ["-1", "3"], 14: ["-1", "4"],
                       17: ["5 6", "-1e12", "x", ""]}.items():
        for value in values:
            text = " ".join(words[:at] + [value] + words[at + 1:])
            ask(sweep, "swf %d=%s" % (at, value), "; V\n%s\n  %s\r\n" % (text, SWF_ROW), "swf")
    ask(sweep, "swf long", ";%s\n%s\n%s\n" % ("x" * 600, SWF_ROW, "1" * 511), "swf")
    ask(sweep, "swf longer", "%s\n%s" % ("1 " * 300, SWF_ROW), "swf")
    for name, start in {"mark": "\ufeff", "blank lines": "\n \n", "no header": "x\n"}.items():
        ask(sweep, name, start + "\n".join([OWN[0], *OWN[1]]), "own")
        ask(sweep, "swf " + name, start + SWF_ROW + "\n", "swf")
    ask(sweep, "a quote", "\n".join([OWN[0], *OWN[1], '"x']) + "\n", "own")
    ask(sweep, "no gpus", OWN[0].replace("gpus,", "g,", 1) + "\n" + OWN[1][0] + "\n", "own")
    sweep.end()


TABLE = "sn,cpu_milli,memory_mib,gpu,model,domain,rack,leaf,spine\n"
NODE = ["n0", "32000", "65536", "4", "A100", "0", "1", "2", "3"]


def test_nodes(brim, tmp_path):
    sweep = Sweep(brim, tmp_path, "trace-nodes")
    jobs = "job_id,submit_s,gpus,duration_s,cpu_milli,memory_mib\na,0,4,10,8000,1024\n" \
        "b,0,8,20,0,0\nc,1,2,5,500,70000\nd,2,12,5,,\n"
    values = {0: ["", "x"], 1: ["", "0", "8000", "1073741823", "1073741824", "x"],
              2: ["", "0", "2147483647", "2147483648"], 3: ["", "0", "1", "64", "65", "255", "x"],
              4: ["", "T4", "x" * 70]}
    for at in (5, 6, 7, 8):
        values[at] = ["", "0", "7", "2147483647", "2147483648", "x"]
    rest = "n1,32000,65536,4,A100,0,1,2,3\nn2,32000,65536,4,A100,1,1,2,3\n" \
        "n3,32000,65536,4,A100,2,2,1,3\nn4,8000,1024,4,A100,2,2,1,3\n"
    for at, some in values.items():
        for value in some:
            row = ",".join(NODE[:at] + [value] + NODE[at + 1:])
            for policy in ("topology", "best-fit"):
                sweep.say("%d=%s %s" % (at, value, policy),
                          ["sim", "jobs", "--nodes", "nodes", "--policy", policy, "--actions"],
                          {"jobs": jobs, "nodes": TABLE + row + "\n" + rest})
    for name, text in {"head": "x,y\n", "short": "sn,cpu_milli,memory_mib,gpu\n", "none": TABLE,
                       "quote": TABLE + '"n\n', "few": TABLE + "n0,1,2,3\n",
                       "five": "sn,cpu_milli,memory_mib,gpu,model\nn0,9000,9000,4,\n",
                       "moved": "sn,cpu_milli,memory_mib,gpu,model,spine,x,rack\n"
                                "n0,9000,9000,4,,1,2,3\nn1,9000,9000,4,,1,2,3\n"}.items():
        sweep.say(name, ["sim", "jobs", "--nodes", "nodes", "--policy", "topology", "--actions"],
                  {"jobs": jobs, "nodes": text})
    sweep.end()
