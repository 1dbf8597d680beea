"""Writes the control file (include/brim/control.h) as brim does: for tests."""

import mmap
import os
import struct

SIZE = 4096


class ControlFile:
    def __init__(self, folder, magic=b"BRIMCTRL", version=(1, 0), size=SIZE):
        self.path = os.path.join(folder, "control")
        page = struct.pack("=8sHHIi", magic, *version, SIZE, os.getpid()).ljust(size, b"\0")
        with open(self.path, "wb") as f:
            f.write(page)
        self.number = 0
        with open(self.path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 0)

    def sequence(self, step):
        (seq,) = struct.unpack_from("=Q", self.map, 24)
        struct.pack_into("=Q", self.map, 24, seq + step)

    def begin(self, text, at_step=0):
        self.number += 1
        self.sequence(1)
        data = text if isinstance(text, bytes) else text.encode() + b"\0"
        struct.pack_into("=QQ", self.map, 32, self.number, at_step)
        self.map[48 : 48 + len(data)] = data

    def ask(self, text, at_step=0):
        self.begin(text, at_step)
        self.sequence(1)
        return self.number
