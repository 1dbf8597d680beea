"""NCCL, MPS and MIG: what is there. Nothing is started and nothing is set."""

import shutil

import smi
from measured import Reading

TITLE = "NCCL, MPS, MIG"
LIMIT_S = 40
NCCL = "import torch; print('.'.join(map(str, torch.cuda.nccl.version())))"


def nccl(here):
    """The version that PyTorch brings."""
    if here.dry:
        return None
    done = here.run(here.python, "-c", NCCL, limit=30)
    return done.out.strip() if done.status == 0 else None


def run(here, found):
    version = nccl(here)
    found.note("NCCL", version or "not known")
    if version:
        here.meta["NCCL"] = version
    control = shutil.which("nvidia-cuda-mps-control", path=here.env.get("PATH"))
    found.note("MPS", "its control program is here" if control else "its program is not here")
    fields = ("pci.bus_id", "mig.mode.current", "compute_mode")
    reading = Reading(here)
    rows = smi.query(here, fields)
    for i, row in enumerate(rows):
        label = "GPU%d: " % i if len(rows) > 1 else ""
        mig = reading.fact(smi.bus(row["pci.bus_id"]), "mig")
        mine = "not known" if mig is None else "Enabled" if mig else "Disabled"
        theirs = row.get("mig.mode.current") or "not known"
        found.judge(label + "MIG", mine, theirs, mine == theirs)
        found.note(label + "compute mode", "not asked for", row.get("compute_mode") or "not known")
