"""What brim's agent and brim machine say of the GPUs."""

import json
import re

import smi
from section import Failed

SAMPLE = re.compile(r"^brim_(gpu\w*)(?:\{(.*)\})? (\S+)$", re.M)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
GTS = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}  # GB/s of a lane, by generation


def samples(text):
    """{(metric, label, GPU): value} of what the agent prints; the label without that of the GPU."""
    found = {}
    for name, labels, value in SAMPLE.findall(text):
        labels = dict(LABEL.findall(labels))
        gpu = labels.pop("gpu", labels.get("process", "").partition(":")[0])
        rest = ",".join("%s=%s" % item for item in sorted(labels.items()))
        if name.endswith("_info"):
            found.update({(name, key, gpu): text for key, text in labels.items()})
        else:
            found[name, rest, gpu] = float(value)
    return found


class Reading:
    """One sample of the agent, and what brim machine knows."""

    def __init__(self, here):
        self.text = here.must(here.brim, "agent", "--once", "--store", "none", limit=30).out
        self.samples = samples(self.text)
        done = here.run(here.brim, "machine", "--json", limit=30)
        if not done.out.startswith("{"):
            raise Failed("brim machine: %s" % done.last_line())
        self.said = done.err.strip()  # of what it cannot see; the rest is shown
        self.node = json.loads(done.out)["nodes"][0]
        devices = [d for d in self.node["devices"] if d["kind"] == "accelerator"]
        # by what both have: a virtual machine may show no PCI bus
        self.devices = {d["uuid"]: d for d in devices if "uuid" in d}
        # brim's number of a GPU by its address
        self.gpus = {
            smi.bus(text): gpu
            for (name, label, gpu), text in self.samples.items()
            if name == "gpu_info" and label == "pci"
        }

    def value(self, bus, name, label=""):
        return self.samples.get((name, label, self.gpus.get(bus)))

    def fact(self, bus, name):
        """Of brim machine."""
        return self.devices.get(self.value(bus, "gpu_info", "uuid"), {}).get(name)

    def processes(self):
        """{(bus, pid): bytes}"""
        buses = {gpu: bus for bus, gpu in self.gpus.items()}
        found = {}
        for (name, label, gpu), value in self.samples.items():
            if name == "gpu_process_memory_used_bytes" and gpu in buses:
                found[buses[gpu], int(label.rpartition(":")[2])] = value
        return found

    def held(self, bus):
        """What holds the clock down."""
        return sorted(
            label.partition("=")[2]
            for (name, label, gpu), value in self.samples.items()
            if name == "gpu_throttle_active" and gpu == self.gpus.get(bus) and value
        )

    def link_gbs(self, bus):
        """What the PCIe link of a GPU carries each way at best, by what NVML says of it; None."""
        generation = self.value(bus, "gpu_pcie_generation_max")
        lanes = self.value(bus, "gpu_pcie_width_max")
        rate = GTS.get(int(generation or 0))
        return rate * lanes if rate and lanes else None
