"""The steps that brim run has stored of a rank (src/run/archive/archive_format.h), for what no
command prints: the device's seconds in each stage."""

import statistics
import struct

STAGES = "other wait copy forward backward communication optimizer checkpoint".split()
HEAD = struct.Struct("=8s7I4iI")  # up to notes_used
STEP = struct.Struct("=Qqq8f8f4fdII")
MAGIC, ORDER, VERSION = b"BRIMSTP1", 0x01020304, 1


class Step:
    def __init__(self, fields):
        self.number = fields[0] - 1
        self.host_s = dict(zip(STAGES, fields[3:11]))
        self.device_s = dict(zip(STAGES, fields[11:19]))
        self.seconds, self.samples = (fields[2] - fields[1]) * 1e-9, fields[19]

    def adds_up(self):
        """The host's stages make the step."""
        return abs(sum(self.host_s.values()) - self.seconds) <= 1e-3 * self.seconds + 1e-6


def read(path):
    """The steps that are there, in no order. ValueError for what is none of this version."""
    data = path.read_bytes()
    magic, order, version, header, notes, record, *_ = HEAD.unpack_from(data)
    if (magic, order, version) != (MAGIC, ORDER, VERSION) or record < STEP.size:
        raise ValueError("%s: not steps of version %d" % (path.name, VERSION))
    found = []
    for at in range(header + notes, len(data) - STEP.size + 1, record):
        fields = STEP.unpack_from(data, at)
        if fields[0]:
            found.append(Step(fields))
    return found


def medians(steps, of="device_s"):
    """{stage: seconds} over the steps that tell it."""
    found = {}
    for stage in STAGES:
        told = [getattr(step, of)[stage] for step in steps]
        told = [value for value in told if value == value and value > 0]
        if told:
            found[stage] = statistics.median(told)
    return found
