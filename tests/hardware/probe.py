"""What brim reads from the driver, against nvidia-smi: before and behind brim's sample, since much
of it changes. Nothing is set."""

import os
import select
import shutil

import smi
from measured import Reading
from section import Failed, end_session

TITLE = "The driver, against nvidia-smi"
LIMIT_S = 90
MIB = 1 << 20


def equal(mine, theirs):
    return mine == theirs[0] or mine == theirs[1]


def near(slack, share=0.0):
    """Whether a figure lies between two of nvidia-smi's, or so near to them."""

    def holds(mine, theirs):
        low, high = sorted(float(each) for each in theirs)
        room = slack + share * abs(high)
        return low - room <= float(mine) <= high + room

    return holds


def of_agent(name, unit=1.0):
    def get(reading, bus):
        value = reading.value(bus, "gpu_" + name)
        return None if value is None else value / unit

    return get


def of_fact(name, unit=1.0):
    def get(reading, bus):
        value = reading.fact(bus, name)
        return value / unit if isinstance(value, (int, float)) else value

    return get


def of_switch(name):
    def get(reading, bus):
        value = reading.fact(bus, name)
        return None if value is None else "Enabled" if value else "Disabled"

    return get


def info(label):
    return lambda reading, bus: reading.value(bus, "gpu_info", label)


def driver(reading, bus):
    return reading.node.get("settings", {}).get("gpu_driver")


# What is compared: name, nvidia-smi's field, brim's, unit, how, and whether it changes with work.
FIELDS = (
    ("name", "name", info("model"), "", equal, False),
    ("driver", "driver_version", driver, "", equal, False),
    ("VBIOS", "vbios_version", of_fact("vbios"), "", equal, False),
    ("memory in all", "memory.total", of_agent("memory_total_bytes", MIB), "MiB", near(1), False),
    ("memory in use", "memory.used", of_agent("memory_used_bytes", MIB), "MiB", near(64), True),
    ("power", "power.draw.instant", of_agent("power_watts"), "W", near(10, 0.1), True),
    ("power limit in force", "enforced.power.limit", of_agent("power_limit_watts"), "W", near(0.01),
     False),
    ("power limit", "power.limit", of_fact("power_limit_mw", 1e3), "W", near(0.01), False),
    ("power limit as shipped", "power.default_limit", of_fact("power_default_mw", 1e3), "W",
     near(0.01), False),
    ("clock", "clocks.sm", of_agent("sm_clock_hertz", 1e6), "MHz", near(30, 0.05), True),
    ("highest clock", "clocks.max.sm", of_agent("sm_clock_max_hertz", 1e6), "MHz", near(0), False),
    ("memory clock", "clocks.mem", of_agent("memory_clock_hertz", 1e6), "MHz", near(1, 0.01), True),
    ("temperature", "temperature.gpu", of_agent("temperature_celsius"), "C", near(2), True),
    ("temperature of the memory", "temperature.memory", of_agent("memory_temperature_celsius"), "C",
     near(2), True),
    ("busy", "utilization.gpu", of_agent("busy_ratio", 0.01), "%", near(10), True),
    ("memory busy", "utilization.memory", of_agent("memory_busy_ratio", 0.01), "%", near(10), True),
    ("PCIe generation now", "pcie.link.gen.current", of_agent("pcie_generation"), "", near(0),
     False),
    ("PCIe generation at most", "pcie.link.gen.max", of_agent("pcie_generation_max"), "", near(0),
     False),
    ("PCIe lanes now", "pcie.link.width.current", of_agent("pcie_width"), "", near(0), False),
    ("PCIe lanes at most", "pcie.link.width.max", of_agent("pcie_width_max"), "", near(0), False),
    ("persistence", "persistence_mode", of_switch("persistence"), "", equal, False),
    ("ECC", "ecc.mode.current", of_switch("ecc"), "", equal, False),
    ("MIG", "mig.mode.current", of_switch("mig"), "", equal, False),
)

REASONS = {0x4: "power", 0x20: "thermal", 0x40: "thermal", 0x80: "brake", 0x10: "sync"}
HARDWARE, KNOWN_HARDWARE = 0x8, 0x80 | 0x40


def held(text):
    """What nvidia-smi's bits say of the clock, in brim's words."""
    bits = int(text, 16)
    found = {word for bit, word in REASONS.items() if bits & bit}
    if bits & HARDWARE and not bits & KNOWN_HARDWARE:
        found.add("other")
    return sorted(found)


def figure(value, unit):
    if value is None:
        return "not known"
    text = "%.4g" % value if isinstance(value, float) and abs(value) < 1e4 else str(value)
    if isinstance(value, float) and abs(value) >= 1e4:
        text = "%.0f" % value
    return "%s %s" % (text, unit) if unit else text


def compare(found, name, mine, theirs, unit, how):
    """One field: before and behind. What only brim knows is noted, what only nvidia-smi knows is
    wrong."""
    said = [t for t in dict.fromkeys(theirs) if t is not None]
    beside = " to ".join(said) + (" " + unit if unit and said else "")
    if mine is None and not said:
        found.note(name, "not known", "not known")
    elif not said:
        found.note(name, figure(mine, unit), "not known")
    elif mine is None:
        found.judge(name, "not known", beside, False)
    else:
        found.judge(name, figure(mine, unit), beside, how(mine, (said[0], said[-1])))


def compare_all(found, before, reading, behind, only_moving, begin=""):
    """All fields of each GPU."""
    for i, (first, last) in enumerate(zip(before, behind)):
        bus = smi.bus(first["pci.bus_id"])
        label = begin + ("GPU%d: " % i if len(before) > 1 else "")
        if bus not in reading.gpus:
            found.judge(label + "the GPU", "not known", bus, False)
            continue
        for name, field, mine, unit, how, moves in FIELDS:
            if field in first and (moves or not only_moving):
                theirs = (first[field], last.get(field))
                compare(found, label + name, mine(reading, bus), theirs, unit, how)
        bits = [each.get(WHY) for each in (first, last)]
        if all(bits):
            words = [", ".join(held(b)) or "nothing" for b in bits]
            mine = ", ".join(reading.held(bus)) or "nothing"
            found.judge(label + "clock held down by", mine, " to ".join(dict.fromkeys(words)),
                        mine in words)


WHY = "clocks_event_reasons.active"


def ask(here):
    return smi.query(here, ["pci.bus_id", "uuid", WHY, *[field for _, field, *_ in FIELDS]])


def compare_processes(found, here, reading, name):
    theirs, mine = smi.processes(here), reading.processes()
    buses = {bus for bus, _ in theirs}
    count = "%d, %.0f MiB" % (len(mine), sum(v or 0 for v in mine.values()) / MIB)
    beside = "%d, %.0f MiB" % (len(theirs), sum(v or 0 for v in theirs.values()))
    same = {pid for _, pid in mine} == {pid for _, pid in theirs}
    near_each = all(
        theirs[key] is None or abs(mine[key] / MIB - theirs[key]) <= 64
        for key in theirs.keys() & mine.keys()
    )
    found.judge(name, count, beside, same and near_each and buses == {bus for bus, _ in mine})


def wait_for_line(process, word, seconds):
    """A job has begun when it says so."""
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    if not ready or word not in process.stdout.readline():
        raise Failed("the load did not begin within %.0f s" % seconds)


def beside_load(here, found):
    """The same while a job computes: what moves."""
    job = here.start(here.python, here.tools / "load.py", "--seconds", "60")
    try:
        wait_for_line(job, "computes", min(45, here.left()))
        before = ask(here)
        reading = Reading(here)
        compare_all(found, before, reading, ask(here), True, "computing: ")
        compare_processes(found, here, reading, "computing: processes")
    finally:
        end_session(job)


def run(here, found):
    here.keep("nvidia-smi.txt", here.run("nvidia-smi", "-q", limit=30).out)
    before = ask(here)
    reading = Reading(here)
    behind = ask(here)
    here.keep("agent.txt", reading.text)
    if reading.said:
        found.note("what brim cannot see", reading.said)
    uuids = [row["uuid"] for row in before]
    mine = [reading.value(smi.bus(row["pci.bus_id"]), "gpu_info", "uuid") for row in before]
    found.judge("GPUs", len(reading.gpus), len(before), len(reading.gpus) == len(before))
    found.judge("UUIDs", "as nvidia-smi" if mine == uuids else "others", "", mine == uuids)
    compare_all(found, before, reading, behind, False)
    compare_processes(found, here, reading, "processes")
    record(here, found, reading)
    beside_load(here, found)


def record(here, found, reading):
    """A recording of the machine, which says again what the machine says; what brim has to find
    fault with; the kernel's log."""
    folder = here.work / "machine"
    here.must(here.brim, "machine", "--record", folder, limit=60)
    if here.keep_at:
        shutil.copytree(folder, here.keep_at / "machine", dirs_exist_ok=True)
    again = here.json(here.brim, "machine", "--json", "--from", folder, limit=30)["nodes"][0]
    shown = [[d for d in node["devices"] if d["kind"] == "accelerator"]
             for node in (again, reading.node)]
    same = shown[0] == shown[1]
    found.judge("a recording of it", "says the same" if same else "differs", "the machine", same)
    audit = here.json(here.brim, "machine", "--audit", "--json", limit=60)
    serious = [f["sentence"] for f in audit["findings"] if f["severity"] in ("critical", "warning")]
    found.note("brim machine --audit", "; ".join(serious[:4]) or "finds nothing serious")
    metrics = {name for name, _, _ in reading.samples}
    found.note("what is read of a GPU", "%d kinds of values" % len(metrics))
    readable = os.access("/dev/kmsg", os.R_OK)
    found.note("the kernel's log (XIDs)", "can be read" if readable else "cannot be read here")
