"""Each key of a policy with each other, on made-up jobs of all kinds: what brim sim does and what
it says of it (../sweeps.py). Times and sizes are few, so that much happens at once and much is
equal; what a policy may not be is told, too."""

import json

import pytest
from sweeps import Dice, Sweep

LENGTHS = [10, 20, 20, 50, 100, 100, 200, 400]
KINDS = ["", "A100", "T4", "A100|T4", "A100:1|T4:0.5", "T4:1|A100:0.25"]
PLACES = ["consolidate", "first", "scatter", "topology", "best-fit", "fgd", "balance"]
TABLE = "sn,cpu_milli,memory_mib,gpu,model,domain,rack,leaf,spine\n" \
    "n0,32000,65536,4,A100,0,0,0,0\nn1,32000,65536,4,A100,0,0,0,0\n" \
    "n2,16000,65536,4,A100,1,1,1,0\nn3,8000,16384,2,T4,1,1,1,0\nn4,8000,16384,2,T4,2,2,2,1\n"
FAILURES = "time_s,node,duration_s\n60,n1,100\n200,n0,30.5\n200,n2,50\n450,n1,1\n"
WINDOWS = "time_s,node,duration_s,drain_s\n100,n1,60,50\n300,n0,100,0\n"


def activity(dice, length):
    way = dice.below(4)
    if way == 0:
        return ""
    if way == 1:
        return str(dice.pick([0, 20, 30, 40, 60, 80]))
    part = length // 4
    return "%d:%d %d:%d %d" % (part, dice.pick([90, 50, 0]), part * 2, dice.pick([0, 0, 30]),
                               dice.pick([60, 20]))


def jobs(dice, what):
    """A trace whose columns are those of what is asked for."""
    columns = ["job_id", "submit_s", "gpus", "duration_s", "limit_s", "user", "team", "class",
               "priority", "checkpoint_s"]
    more = {"elastic": ["gpus_min", "gpus_max", "scaling"], "due": ["deadline_s"],
            "idle": ["activity"], "data": ["data", "data_s"], "kinds": ["kinds"],
            "parts": ["gpu_milli", "cpu_milli", "memory_mib"], "mig": ["mig"],
            "spread": ["per_node"]}
    for name in what:
        columns += more[name]
    rows, now = [",".join(columns)], 0
    for i in range(24 + dice.below(16)):
        now += dice.pick([0, 0, 5, 10, 30])
        length = dice.pick(LENGTHS)
        size = dice.pick([1, 1, 2, 2, 3, 4, 6, 8])
        part = "parts" in what and dice.one_in(2)
        mig = "mig" in what and dice.one_in(2)
        row = {"job_id": "j%d" % i, "submit_s": now, "gpus": 1 if part or mig else size,
               "duration_s": length, "limit_s": length * dice.pick([1, 2, 3]),
               "user": dice.pick(["ann", "bob", "cy"]), "team": dice.pick(["x", "y", ""]),
               "class": dice.pick(["a", "b", "chat", "spot"]), "priority": dice.below(3),
               "checkpoint_s": dice.pick(["", 10, 30]),
               "gpus_min": dice.pick(["", max(1, size // 2), 1, size]),
               "gpus_max": dice.pick(["", size, 2 * size]),
               "scaling": dice.pick(["", 0.5, 0.9]),
               "deadline_s": dice.pick(["", now + length, now + 2 * length, now + 500]),
               "activity": activity(dice, length),
               "data": dice.pick(["", "n0", "n1+n2", "leaf:1", "n3"]),
               "data_s": dice.pick(["", 5, 20]), "kinds": dice.pick(KINDS),
               "gpu_milli": dice.pick([250, 500, 300]) if part else 1000,
               "cpu_milli": dice.pick([0, 1000, 4000]), "memory_mib": dice.pick([0, 1024, 8192]),
               "mig": dice.pick(["1g", "2g", "3g", "4g", "7g"]) if mig else "",
               "per_node": dice.pick(["", 1, 2, 4]) if size % 4 == 0 else ""}
        rows.append(",".join(str(row[name]) for name in columns))
    return "\n".join(rows) + "\n"


def policy(dice, what):
    """A policy's file; two of three are sound."""
    order = dice.pick(["fifo", "fifo", "fifo", "sjf", "srtf", "srsf", "smallest", "las", "fair",
                       "deadline"])
    lines = ["[policy]", "order = " + order]
    preempts = order in ("srtf", "srsf", "las", "deadline") or dice.one_in(3)
    simple = bool(what & {"elastic", "idle", "quota", "tiers", "power", "share"})
    length = dice.pick(["none", "limit", "oracle", "oracle", "history", "steps"])
    if order in ("sjf", "srtf", "srsf") and length == "none":
        length = "oracle"
    if "share" in what:
        length = "none"
    if preempts and order != "fair":
        how = "victims" if simple else dice.pick(["victims", "quota", "rebuild"])
        lines += ["preempt = " + how]
        if how == "rebuild" and length == "history":
            length = "limit"
        if how == "rebuild" and order in ("srsf", "las") and dice.one_in(2):
            lines += ["interleave = %d" % dice.pick([2, 3, 4])]
    else:
        lines += ["backfill = " + dice.pick(["none", "greedy", "greedy", "easy"] if simple else
                                            ["none", "greedy", "easy", "conservative"])]
    lines += ["length = " + length, "place = " + dice.pick(PLACES)]
    if order == "las":
        lines += ["queues = " + dice.pick(["1m", "100s 400s", "30s 2m 10m"])]
    for key, values in {"ties": ["submitted", "waiting", "running", "list"],
                        "kinds": ["fastest", "placed"], "priorities": ["yes", "no"],
                        "every": ["10s", "25s"], "notice": ["0s", "5s"],
                        "restart": ["5s", "20s"], "restart-multi": ["30s"],
                        "least-run": ["20s"], "half-life": ["1m"], "ageing": ["30s", "100s"],
                        "restart-each-pass": ["no", "no", "yes"]}.items():
        if dice.one_in(3):
            lines.append("%s = %s" % (key, dice.pick(values)))
    if "elastic" in what:
        lines += ["[elastic]", "every = " + dice.pick(["10s", "40s"])]
        lines += ["%s = %s" % (key, dice.pick(["yes", "yes", "no"]))
                  for key in ("start", "give", "grow")]
    if "idle" in what or "share" in what:
        lines += ["[idle]", "reclaim = " + dice.pick(["30s", "60s"]),
                  "action = " + dice.pick(["warn", "shrink", "requeue"])]
        for key, value in {"warn": "20s", "again": "15s", "burst": "5s", "grace": "10s",
                           "exempt": "b"}.items():
            if dice.one_in(2):
                lines.append("%s = %s" % (key, value))
    if "share" in what:
        lines += ["[share]", "below = " + dice.pick(["50%", "90%"]),
                  "together = " + dice.pick(["90%", "120%"]), "after = " + dice.pick(["5s", "20s"]),
                  "cost = " + dice.pick(["0%", "10%"])]
    if "quota" in what:
        lines += ["[quota]", "borrow = " + dice.pick(["yes", "yes", "no"])]
        lines += dice.pick([["by = team", "share = x 6", "share = y 25%"],
                            ["share = a 4", "share = b 6"], ["by = class", "share = a 50%"]])
    if "tiers" in what:
        lines += ["[service]", "class = chat"]
        lines += dice.pick([["reserve = 4"], ["reserve = chat 2"], ["reserve = 25%"], []])
        lines += dice.pick([["preempt = yes"], ["preempt = no", "within = 5s"], ["within = 30s"]])
        lines += ["[spot]", "class = spot"]
        lines += dice.pick([["notice = 10s", "save = 5s"], ["save = 3s"], ["ceiling = 4"],
                            ["ceiling = 50%"], []])
    if "power" in what:
        lines += ["[power]", "cap = " + dice.pick(["3kW", "4500W", "6 kW"]), "node = 300W"]
        lines += dice.pick([["action = wait"], ["action = limit", "curve = A100-PCIe-80GB"],
                            ["action = limit", "curve = A40", "least = 70%"]])
    return "\n".join(lines) + "\n"


def figures(text):
    run = json.loads(text)["policies"][0]
    return "%s jobs wait %s s" % (run["all"]["jobs"], run["all"]["wait_s"])


SETS = [set(), {"due"}, {"kinds"}, {"parts"}, {"kinds", "parts"}, {"data"}, {"mig"}, {"spread"},
        {"elastic"}, {"idle"}, {"share", "idle"}, {"quota"}, {"tiers"}, {"power"},
        {"elastic", "quota"}, {"elastic", "idle"}, {"quota", "idle"}, {"quota", "tiers"},
        {"tiers", "power"}, {"tiers", "idle"}, {"power", "quota"}, {"elastic", "kinds"},
        {"quota", "data"}, {"tiers", "kinds"}]
COLUMNS = {"elastic", "due", "idle", "data", "kinds", "parts", "mig", "spread"}


@pytest.mark.parametrize("part", range(4))
def test_sweep(brim, tmp_path, part):
    sweep = Sweep(brim, tmp_path, "sim-%d" % part)
    for number in range(part, len(SETS) * 6, 4):
        dice = Dice(number + 1)
        what = SETS[number // 6]
        files = {"jobs.csv": jobs(dice, sorted(what & COLUMNS)), "p.ini": policy(dice, what)}
        nodes = dice.pick(["4x4:A100-PCIe-80GB", "3x4/2:A100-PCIe-80GB"])
        if what & {"kinds", "parts", "data"}:
            nodes = dice.pick(["3x4:A100,2x2:T4", "nodes.csv"])
        if nodes == "nodes.csv":
            files[nodes] = TABLE
        words = ["sim", "jobs.csv", "--nodes", nodes, "--policy", "./p.ini"]
        extra = dice.below(6)
        if extra == 0:
            files["lost.csv"] = FAILURES
            words += ["--failures", "lost.csv", "--checkpoint", "20s", "--checkpoint-cost", "1s"]
        elif extra == 1:
            files["windows.csv"] = WINDOWS
            words += ["--windows", "windows.csv"]
        elif extra == 2:
            words += ["--failures", "200/device", "--repair", "40s", "--spares", "1",
                      "--seed", "3"]
        name = "%d %s" % (number, "+".join(sorted(what)) or "plain")
        sweep.say(name, [*words, "--json"], files, figures)
        sweep.say(name + " actions", [*words, "--actions"], files)
    sweep.end()


# ---- each key by itself ----

FLAGS = ["yes", "no", "maybe", ""]
ALL_SPANS = ["0s", "1ms", "0.4ms", "5s", "30s", "2m", "-1s", "x", "", "365d", "366d"]
SPANS = ["0s", "20s", "x"]
PERCENTS = ["0%", "1%", "50%", "100%", "100.1%", "200%", "201%", "-1%", "50", "%", "x%", "",
            "50.000000000000001%"]
AMOUNTS = ["0", "1", "4", "1.5", "-1", "x", "", "1048576", "1048577", "25%", "100%", "100.5%",
           "0%", "%", "1" * 24]
WATTS = ["3kW", "3 kW", "4500W", "0.005MW", "5", "0W", "-1W", "xW", "W", "", "1e12W", "1.1e12W",
         "1000000MW", "1000001MW", "1" * 32 + "W", "3KW"]
LONG, LONGEST = "c" * 48, "c" * 47
MANY = [" ".join("%ds" % (n + 5) for n in range(most)) for most in (16, 17)]
BASES = {
    "policy": "order = fifo\nbackfill = greedy\nrestart = 5s\n",
    "victims": "order = fifo\npriorities = yes\npreempt = victims\nrestart = 5s\n",
    "las": "order = las\npreempt = victims\nqueues = 30s 2m\nrestart = 5s\n",
    "srtf": "order = srtf\nlength = oracle\npreempt = rebuild\nrestart = 5s\n",
    "quota": "order = fifo\nbackfill = greedy\n[quota]\nshare = b 4\nborrow = yes\n",
    "idle": "order = fifo\nbackfill = greedy\n[idle]\nreclaim = 60s\naction = requeue\n",
    "share": "order = fifo\nbackfill = greedy\n[share]\nbelow = 80%\ntogether = 120%\nafter = 5s\n",
    "elastic": "order = fifo\nbackfill = greedy\n[elastic]\nevery = 20s\n",
    "service": "order = fifo\nbackfill = greedy\n[service]\nclass = chat\n",
    "spot": "order = fifo\nbackfill = greedy\n[spot]\nclass = spot\n",
    "power": "order = fifo\nbackfill = greedy\n[power]\ncap = 4kW\nnode = 300W\n",
    "limit": "order = fifo\nbackfill = easy\nlength = limit\n[power]\ncap = 4kW\nnode = 300W\n"
             "action = limit\n",
}
KEYS = {
    "policy": {"order": ["fifo", "sjf", "smallest", "fair", "las", "deadline", "x"],
               "place": PLACES + ["x"], "backfill": ["none", "greedy", "easy", "conservative", "x"],
               "length": ["none", "limit", "oracle", "history", "steps", "x"],
               "kinds": ["fastest", "placed", "x"], "name": ["mine", LONG, LONGEST], "every": SPANS,
               "notice": SPANS, "restart": ALL_SPANS, "restart-multi": SPANS, "half-life": SPANS,
               "ageing": SPANS, "priorities": FLAGS, "restart-each-pass": FLAGS, "unknown": ["1"],
               "preempt": ["none", "quota", "rebuild", "victims", "x"], "interleave": ["1", "2"]},
    "victims": {"least-run": SPANS, "ties": ["submitted", "waiting", "running", "list", "x"],
                "place": PLACES, "every": SPANS, "order": ["fair", "sjf"],
                "backfill": ["none", "greedy"], "restart-each-pass": FLAGS},
    "las": {"queues": ["1h", "1h 10h", "1h  10h", "10h 1h", "1h 1h", "0s", "1ms", "x", "",
                       *MANY,
                       "1s" + " " * 509, "1s" + " " * 510 + "2s"],
            "ties": ["submitted", "list"], "preempt": ["none", "quota", "rebuild"]},
    "srtf": {"interleave": ["0", "1", "2", "4", "5", "x"], "length": ["none", "history", "limit"],
             "order": ["srsf", "las", "fifo"], "place": PLACES, "ageing": ["10s"]},
    "quota": {"share": ["a 4", "a 25%", "a  6", "b 2", "a", "a ", " 4", "a x", "a 1.5", "a -1",
                        "a 100%", "a 100.5%", "a 1048576", "a 1048577", "a 0", LONG + " 4",
                        LONGEST + " 4",
                        "a " + "1" * 30], "borrow": FLAGS, "by": ["team", "class", "x"],
              "unknown": ["1"]},
    "idle": {"warn": SPANS + ["60s", "61s"], "reclaim": SPANS, "again": SPANS + ["60s", "61s"],
             "burst": SPANS + ["59s", "60s"], "grace": SPANS, "exempt": ["a", LONG, LONGEST],
             "action": ["warn", "shrink", "requeue", "x"], "unknown": ["1"]},
    "share": {"below": PERCENTS, "together": PERCENTS, "cost": PERCENTS, "after": SPANS,
              "unknown": ["1"]},
    "elastic": {"every": SPANS, "start": FLAGS, "give": FLAGS, "grow": FLAGS, "unknown": ["1"]},
    "service": {"class": ["a", "chat", "", LONG, LONGEST], "within": SPANS, "preempt": FLAGS,
                "reserve": AMOUNTS + ["chat 4", "chat  4", "b 4", "chat x", "chat 25%"],
                "unknown": ["1"]},
    "spot": {"class": ["a", "spot", "", LONG, LONGEST], "notice": SPANS, "save": SPANS,
             "ceiling": AMOUNTS,
             "unknown": ["1"]},
    "power": {"cap": WATTS, "node": WATTS, "action": ["wait", "limit", "x"], "least": ["50%"],
              "curve": ["A40"], "unknown": ["1"]},
    "limit": {"least": PERCENTS, "curve": ["A40", "A100-PCIe-80GB", "x", "", LONG, LONGEST],
              "cap": WATTS},
}
# What does not go with each other, and what is asked for twice or not at all.
TOGETHER = [
    "[policy]\norder = fifo\n[idle]\nwarn = 5s\n", "[policy]\norder = fifo\n[idle]\nburst = 5s\n",
    "[policy]\norder = fifo\n[idle]\ngrace = 5s\n", "[policy]\norder = fifo\n[idle]\nagain = 5s\n",
    "[policy]\norder = fifo\n[idle]\nexempt = a\n", "[idle]\naction = warn\n", "[idle]\n",
    "[idle]\nreclaim = 60s\n", "[idle]\nreclaim = 60s\naction = warn\nwarn = 20s\nburst = 20s\n",
    "[idle]\nreclaim = 60s\naction = warn\nagain = 20s\nburst = 20s\n", "[share]\n",
    "[share]\nbelow = 50%\n", "[share]\nbelow = 50%\ntogether = 90%\n", "[share]\ncost = 5%\n",
    "[share]\nbelow = 50%\nafter = 5s\n", "[share]\nafter = 5s\n", "[share]\ntogether = 90%\n",
    "[elastic]\nstart = no\ngive = no\ngrow = no\n", "[elastic]\n[spot]\nclass = a\n",
    "[elastic]\n[service]\nclass = a\n", "[elastic]\n[power]\ncap = 5kW\n", "[service]\n",
    "[spot]\n", "[power]\n", "[power]\naction = wait\n", "[quota]\nborrow = yes\n", "[quota]\n",
    "[elastic]\n[share]\nbelow = 50%\ntogether = 90%\nafter = 5s\n", "[x]\n",
    "[service]\nclass = a\n[spot]\nclass = a\n", "[service]\nclass = a\n[quota]\nshare = a 4\n",
    "[spot]\nclass = a\n[quota]\nshare = a 4\n", "[spot]\nclass = a\n[quota]\nby = team\n"
    "share = a 4\n", "[spot]\nclass = a\nnotice = 5s\n[power]\ncap = 5kW\n",
    "[spot]\nclass = a\n[share]\nbelow = 50%\ntogether = 90%\nafter = 5s\n",
    "[service]\nclass = a\nclass = b\nreserve = a 2\nreserve = b 2\nreserve = 4\n",
    "[service]\nclass = a\nreserve = 4\nreserve = a 2\n",
    "[service]\nclass = a\nreserve = a 4\nreserve = a 2\n",
    "[quota]\nshare = a 60%\nshare = b 40%\n", "[quota]\nshare = a 60%\nshare = b 40.1%\n",
    *["[quota]\n" + "".join("share = s%d 1\n" % n for n in range(most)) for most in (64, 65)],
    *["[idle]\nreclaim = 60s\naction = warn\n" + "".join("exempt = s%d\n" % n for n in range(most))
      for most in (16, 17)],
    *["[spot]\n" + "".join("class = s%d\n" % n for n in range(most)) for most in (16, 17)],
    "[power]\ncap = 4kW\ncurve = A40\n", "[power]\ncap = 4kW\naction = limit\nleast = 50%\n",
] + ["[policy]\n%s\n%s" % (way, section) for section in (
    "[share]\nbelow = 50%\ntogether = 90%\nafter = 5s\n", "[elastic]\n", "[quota]\nshare = a 4\n",
    "[idle]\nreclaim = 60s\naction = warn\n", "[service]\nclass = a\n", "[spot]\nclass = a\n",
    "[power]\ncap = 6kW\n") for way in (
    "backfill = easy\nlength = limit", "backfill = conservative\nlength = oracle",
    "order = srtf\nlength = oracle\npreempt = quota", "order = srsf\nlength = oracle\n"
    "preempt = rebuild", "order = srtf\nlength = oracle\npreempt = victims", "length = oracle",
    "restart-each-pass = yes")]


def ran(text):
    """How many things were done, of a list of actions."""
    return "%d actions" % len(text.splitlines())


def test_keys(brim, tmp_path):
    sweep = Sweep(brim, tmp_path, "sim-keys")
    trace = {name: jobs(Dice(77), columns) for name, columns in {
        "idle": ["idle"], "share": ["idle"], "elastic": ["elastic"]}.items()}
    usual = jobs(Dice(78), [])
    for base, keys in KEYS.items():
        text = "[policy]\n" + BASES[base]
        for key, values in keys.items():
            kept = "".join(line + "\n" for line in text.splitlines()
                           if not line.startswith(key + " =") or key in ("share", "class"))
            for value in values:
                files = {"jobs.csv": trace.get(base, usual), "p.ini": "%s%s = %s\n" % (kept, key,
                                                                                       value)}
                sweep.say("%s %s=%s" % (base, key, value[:40]),
                          ["sim", "jobs.csv", "--nodes", "4x4:A100-PCIe-80GB", "--policy",
                           "./p.ini",
                           "--actions"], files, ran)
    for number, text in enumerate(TOGETHER):
        sweep.say("together %d" % number,
                  ["sim", "jobs.csv", "--nodes", "4x4:A100-PCIe-80GB", "--policy", "./p.ini",
                   "--actions"], {"jobs.csv": usual, "p.ini": text}, ran)
    sweep.end()


def test_known(brim, tmp_path):
    """Each policy that has a name, on jobs of all kinds."""
    sweep = Sweep(brim, tmp_path, "sim-known")
    names = [line.split()[0] for line in brim.out("sim", "--policies").splitlines() if line]
    for seed, what in enumerate([[], ["due"], ["kinds", "parts"], ["data"], ["spread"]]):
        for name in names:
            files = {"jobs.csv": jobs(Dice(200 + seed), what), "nodes.csv": TABLE}
            nodes = "nodes.csv" if what and what[0] in ("kinds", "data") else "4x4"
            sweep.say("%s %s" % (name, "+".join(what)),
                      ["sim", "jobs.csv", "--nodes", nodes, "--policy", name, "--actions"], files,
                      ran)
    sweep.end()


OPTIONS = [
    ["--by", "user"], ["--by", "team"], ["--by", "class"],
    ["--what-if", "nodes=+1"], ["--what-if", "nodes=-1"], ["--what-if", "nodes=+2x2:A100-40GB"],
    ["--what-if", "nodes=-9"], ["--what-if", "nodes=-2:A100-40GB"], ["--what-if", "nodes=+0"],
    ["--target", "p90-wait=10s"], ["--target", "mean-wait=1s"], ["--target", "max-wait=30s"],
    ["--target", "p50-wait=0s"], ["--target", "completion=2m"], ["--target", "p90-completion=5m"],
    ["--target", "p99-completion=1s"], ["--target", "p99-wait=1h"], ["--target", "x=1h"],
    ["--target", "p90-wait=20s", "--with", "2:T4,8:H100"], ["--target", "p99-wait=1m", "--with",
                                                            "0:T4"],
    ["--gpu", "H100"], ["--price", "2.5"], ["--price", "A100-40GB=2,H100=3"], ["--price", "T4=1"],
    ["--price", "0"], ["--price", "-1"], ["--price", "A100-40GB=2,A100-40GB=3"],
    ["--power", "700:75"], ["--power", "400"], ["--power", "A100-40GB=300:30"], ["--power",
                                                                                 "30:300"],
    ["--power", "x"], ["--power", "0"], ["--spot-price", "40"], ["--spot-price", "0"],
    ["--spot-price", "101"], ["--checkpoint", "10s"], ["--checkpoint", "10s", "--checkpoint-cost",
                                                       "2s"],
    ["--checkpoint-cost", "2s"], ["--failures", "RSC-1"], ["--failures", "5000"],
    ["--failures", "900/device", "--repair", "1m"], ["--failures", "900/device", "--spares", "1"],
    ["--failures", "900/device", "--spares", "4"], ["--failures", "2000", "--seed", "5"],
    ["--repair", "1m"], ["--spares", "1"], ["--failures", "lost.csv"], ["--windows", "windows.csv"],
    ["--failures", "lost.csv", "--windows", "windows.csv", "--spares", "1"],
    ["--activity", "philly"], ["--activity", "seren", "--seed", "4"],
    ["--activity", "kalos", "--idle-stretch", "2m"], ["--activity", "x"], ["--idle-stretch", "2m"],
    ["--activity", "philly", "--idle-stretch", "30s"], ["--from", "60s"], ["--from", "100h"],
    ["--pack"], ["--pack", "--rounds", "3"], ["--pack", "--load", "50"], ["--pack", "--load",
                                                                          "300"],
    ["--pack", "--seed", "9", "--rounds", "2", "--load", "120"], ["--rounds", "3"], ["--load",
                                                                                     "50"],
]
LISTS = ["time_s,node,duration_s\n", "x,y\n", "time_s,node,duration_s\n5,n9,1\n",
         "time_s,node,duration_s\n-1,n0,1\n", "time_s,node,duration_s\n5,n0,-1\n",
         "time_s,node,duration_s\n5,n0,x\n", "time_s,node,duration_s\n5,n0,0\n",
         "time_s,node,duration_s\n50,n0,20\n5,n0,100\n60,n0,5\n", "time_s,node,duration_s\n5,n0\n",
         "time_s,node,duration_s,drain_s\n100,n0,20,50\n105,n0,40,10\n",
         "time_s,node,duration_s,drain_s\n10,n0,20,50\n", "node,time_s,duration_s\nn1,100,60\n",
         "time_s,node,duration_s,drain_s\n100,n0,20,-1\n", "time_s,node\n5,n0\n",
         "time_s,node,duration_s\n100,n0,100\n100,n1,100\n100,n2,100\n100,n3,100\n",
         "time_s,node,duration_s\n100,n0,1e9\n100,n1,1e9\n100,n2,1e9\n100,n3,1e9\n"]


def test_options(brim, tmp_path):
    """Each option beside two policies, and lists of nodes that are lost or away."""
    sweep = Sweep(brim, tmp_path, "sim-options")
    files = {"jobs.csv": jobs(Dice(301), ["spread"]), "lost.csv": FAILURES,
             "windows.csv": WINDOWS.replace("drain_s\n", "drain_s\n90,n3,300,20\n")}
    usual = ["sim", "jobs.csv", "--nodes", "4x4:A100-40GB"]
    for options in OPTIONS:
        name = " ".join(options)
        sweep.say(name, [*usual, "--policy", "greedy", "--compare", "las,easy", *options], files)
        sweep.say("JSON " + name,
                  [*usual, "--policy", "greedy", "--compare", "srtf", *options, "--json"], files)
    for number, text in enumerate(LISTS):
        for option in ("--failures", "--windows"):
            for more in (["--spares", "1"], ["--actions"]):
                sweep.say("list %d %s %s" % (number, option, " ".join(more)),
                          [*usual, "--policy", "greedy", option, "list.csv", *more],
                          {"jobs.csv": files["jobs.csv"], "list.csv": text})
    for nodes in ["4x4", "0x4", "4x0", "4x64", "4x65", "1000001x1", "4x4:", "2x4:A100,2x8:H100",
                  "4x4/2", "4x4/0", "8x2/4/2", "4x4/3", "4x4:A100/2", "x", "4", "4x4,", "4x4:x y",
                  "2x4:A100,3x2", "64x8/4/2/2"]:
        for policy in ("topology", "greedy"):
            sweep.say("nodes %s %s" % (nodes, policy),
                      ["sim", "jobs.csv", "--nodes", nodes, "--policy", policy, "--actions"], files)
    sweep.end()
