"""brim against witnesses that share no code with it: hwloc's lstopo, and what nvidia-smi printed on
real machines."""

import json
import shutil
import sys

import pytest
from conftest import MACHINES, ROOT

sys.path.insert(0, str(ROOT / "tests" / "lint"))
NAMES = sorted(p.parent.name for p in MACHINES.glob("*/machine.pack"))


@pytest.mark.parametrize("name", NAMES)
def test_lstopo_sees_the_same_machine(brim, name):
    import oracle_lstopo as oracle

    if not shutil.which(oracle.LSTOPO):
        pytest.skip("no %s (Debian: hwloc-nox)" % oracle.LSTOPO)
    seen = oracle.read_machine(MACHINES / name / "machine.pack")
    node = json.loads(brim.out("machine", "--json", "--from", MACHINES / name))["nodes"][0]
    assert len(node["sockets"]) == seen.sockets
    assert sum(s["threads"] for s in node["sockets"]) == seen.threads
    ours = {d["id"]: d.get("cpus", "") for d in node["numa_domains"]}
    assert ours.keys() == seen.numa.keys()
    for number, cpus in ours.items():
        # hwloc gives memory without CPUs the CPUs nearest to it
        assert not cpus or cpus == seen.numa[number]
    functions = node["pci_functions"]
    for function in functions:
        if function["kind"] == "host-bridge":
            continue
        above = functions[function["parent"]]
        bridge = None if above["kind"] == "host-bridge" else above["address"]
        assert seen.pci[function["address"]] == bridge, function["address"]


# What `nvidia-smi topo -m` printed on real machines, as facts: which devices are one group, what
# joins a pair in a group and a pair of two groups, and pairs that are nearer than that.
class Printed:
    def __init__(self, groups, within, across, nearer, links):
        self.groups, self.within, self.across = groups, within, across
        self.nearer, self.links = nearer, links

    def classes(self, nvlink=True):
        """{(row, column): class} of all pairs but those that nobody printed (None)."""
        where = {name: group for group in self.groups for name in group}
        found = {}
        for a in where:
            for b in where:
                word = self.within if where[a] is where[b] else self.across
                for near, pairs in self.nearer.items():
                    word = near if (a, b) in pairs or (b, a) in pairs else word
                if nvlink and a != b and a.startswith("GPU") and b.startswith("GPU"):
                    word = self.links
                if word:
                    found[a, b] = "X" if a == b else word
        return found


def names(kind, *numbers):
    return [f"{kind}{n}" for n in numbers]


PRINTED = {
    # github.com/vllm-project/vllm, issues 13855 and 6746: a network card beside each GPU, and a
    # card with two functions in each socket
    "dgx-h100": Printed(
        groups=[names("GPU", 0, 1, 2, 3) + names("mlx5_", 0, 1, 2, 3, 4, 5),
                names("GPU", 4, 5, 6, 7) + names("mlx5_", 6, 7, 8, 9, 10, 11)],
        within="NODE", across="SYS", links="NV18",
        nearer={
            "PXB": list(zip(names("GPU", *range(8)), names("mlx5_", 0, 3, 4, 5, 6, 9, 10, 11))),
            "PIX": [("mlx5_1", "mlx5_2"), ("mlx5_7", "mlx5_8")],
        },
    ),
    # github.com/NVIDIA/nccl, issue 1505; github.com/rapidsai/ucx-py, issue 749: two GPUs and two
    # cards below one pair of switches; what joins the two ports of a card for storage is cut off
    "dgx-a100": Printed(
        groups=[names("GPU", 0, 1) + names("mlx5_", 0, 1),
                names("GPU", 2, 3) + names("mlx5_", 2, 3),
                names("GPU", 4, 5) + names("mlx5_", 6, 7),
                names("GPU", 6, 7) + names("mlx5_", 8, 9),
                names("mlx5_", 4, 5), names("mlx5_", 10, 11)],
        within="PXB", across="SYS", links="NV12",
        nearer={None: [("mlx5_4", "mlx5_5"), ("mlx5_10", "mlx5_11")]},
    ),
}


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_matrix_is_that_of_nvidia_smi(brim, name):
    from test_machine import matrix

    ours = matrix(brim.out("machine", "--matrix", "--from", MACHINES / name))
    for pair, word in PRINTED[name].classes().items():
        assert ours[pair] == word, pair


def test_ways_without_nvlink_are_those_of_nvidia_smi(brim, tmp_path):
    """The same machine when the driver says nothing: only PCIe is left."""
    from test_machine import matrix

    text = (MACHINES / "dgx-a100" / "machine.pack").read_text()
    (tmp_path / "machine.pack").write_text(text.replace(" brim/nvml.ini\n", " brim/none.ini\n"))
    ours = matrix(brim.out("machine", "--matrix", "--from", tmp_path))
    for pair, word in PRINTED["dgx-a100"].classes(nvlink=False).items():
        assert ours[pair] == word, pair
