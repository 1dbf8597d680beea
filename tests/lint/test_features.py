"""What a feature of schedulers, or of simulations, keeps is looked at by the feature's own files
alone, so that a new one is a file and a row of src/sched/feature_list.c, or of src/sim's."""

import os
import re

import tree

# Pointers of struct sched, and whose they are: the files that begin so.
OWNERS = {
    "data": ("data",),
    "deadlines": ("deadline",),
    "elastic": ("elastic",),
    "idle": ("idle",),
    "power": ("power",),
    "quota": ("quota",),
    "reclaim": ("reclaim",),
    "service": ("service",),
    "sharing": ("device_sharing",),
    "tiers": ("tiers", "spot"),
}
# What a simulation keeps for a feature, and the files of that.
OWNERS_SIM = {
    "data_until_ms": ("data.c",),
    "devices": ("elastic.c", "resize.c"),
    "outages": ("lost.c",),
    "partner": ("count_use.c",),
    "seen": ("known.c",),
    "span": ("spans.c",),
    "speed": ("speeds.c",),
    "use.jobs": ("count_use.c", "sim.c"),  # sim.c chooses by it how jobs are counted
}
ACCESS = re.compile(r"\bs->(\w+)\b")


def scheduler():
    text = tree.read("src/sched/core/scheduler.h")
    return text[text.index("struct sched {") :]


def test_every_pointer_to_a_feature_has_an_owner():
    """Those between the hooks and the policy, which come first and last of them."""
    text = scheduler()
    part = text[text.index("struct feature_hooks") : text.index("struct policy policy")]
    assert set(re.findall(r"struct \w+ \*(\w+);", part)) == set(OWNERS)


def test_features_are_looked_at_by_their_own_files():
    bad = []
    for path in tree.files(".c", ".h", under=("src/sched/",)):
        folder, name = os.path.split(path)
        for number, line in enumerate(tree.read(path).splitlines(), 1):
            for part in ACCESS.findall(line):
                own = folder.endswith("/feature") and name.startswith(OWNERS.get(part, ""))
                if part in OWNERS and not own:
                    bad.append(f"{path}:{number}: s->{part} is for {OWNERS[part][0]}*.c alone")
    assert not bad, "\n" + "\n".join(bad)


def test_every_feature_is_listed_once():
    rows = re.findall(r"&(feature_\w+)", tree.read("src/sched/feature_list.c"))
    there = set()
    for path in tree.files(".c", under=("src/sched/feature/",)):
        there |= set(re.findall(r"^const struct feature (\w+) =", tree.read(path), re.M))
    assert sorted(rows) == sorted(there)


def test_features_of_simulations_are_looked_at_by_their_own_files():
    text = tree.read("src/sim/sim_private.h")
    bad = [f"sim_private.h has no {part}" for part in OWNERS_SIM if part.split(".")[0] not in text]
    apart = "src/sim/shared.c"  # a simulation of its own
    for path in sorted(set(tree.files(".c", under=("src/sim/",))) - {apart}):
        for number, line in enumerate(tree.read(path).splitlines(), 1):
            for part, files in OWNERS_SIM.items():
                used = re.search(rf"\bm(->|\.){re.escape(part)}\b", line)
                if used and os.path.basename(path) not in files:
                    bad.append(f"{path}:{number}: {part} is for {' and '.join(files)} alone")
    assert not bad, "\n" + "\n".join(bad)


def test_every_feature_of_simulations_is_listed_once():
    rows = re.findall(r"&(sim_\w+)", tree.read("src/sim/feature_list.c"))
    there = []
    for path in tree.files(".c", under=("src/sim/",)):
        there += re.findall(r"^const struct sim_feature (\w+) =", tree.read(path), re.M)
    assert sorted(rows) == sorted(there)
