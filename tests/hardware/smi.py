"""nvidia-smi, asked for what brim says as well."""

import re

from section import Failed

ABSENT = re.compile(r"\[?(N/A|Not Supported|Unknown Error|GPU requires reset|Not Found)\]?", re.I)
NOT_A_FIELD = re.compile(r'Field "([\w.]+)" is not a valid field')


def value(text):
    """What a cell says; None where the driver has nothing to say."""
    text = text.strip()
    return None if not text or ABSENT.fullmatch(text) else text


def query(here, fields):
    """[{field: text or None}] by GPU. Fields that this nvidia-smi does not know are left out."""
    fields = list(fields)
    while fields:
        done = here.run(
            "nvidia-smi",
            "--query-gpu=" + ",".join(fields),
            "--format=csv,noheader,nounits",
            limit=30,
        )
        unknown = NOT_A_FIELD.search(done.out + done.err)
        if not unknown or unknown[1] not in fields:
            break
        fields.remove(unknown[1])
    if not fields or done.status:
        raise Failed("nvidia-smi: %s" % done.last_line())
    lines = [line.split(",") for line in done.out.splitlines() if line.strip()]
    if not lines or any(len(line) != len(fields) for line in lines):
        raise Failed("nvidia-smi answers what was not asked: %s" % done.last_line())
    return [dict(zip(fields, map(value, line))) for line in lines]


def processes(here):
    """{(bus, pid): MiB or None} of what computes on the GPUs."""
    done = here.must(
        "nvidia-smi",
        "--query-compute-apps=gpu_bus_id,pid,used_memory",
        "--format=csv,noheader,nounits",
        limit=30,
    )
    found = {}
    for line in done.out.splitlines():
        cells = [value(cell) for cell in line.split(",")]
        if len(cells) == 3 and cells[1]:
            memory = float(cells[2]) if cells[2] else None
            found[bus(cells[0]), int(cells[1])] = memory
    return found


def bus(text):
    """"00000000:A0:00.0" as brim has it: "0000:a0:00.0"."""
    return text.strip().lower()[-12:]
