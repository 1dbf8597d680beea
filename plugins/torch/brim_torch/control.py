"""What brim asks of the job while it runs: the file "control" in the ring's folder, whose layout
and rules are in include/brim/control.h. Where there is none when the ring is opened, nothing is
looked at, ever.

The file is read with pread(), not mapped: one that is cut off under a mapping would kill the job.
A look takes 1 us. It is made at the end of a step, LOOK_NS after the last one or later: at most
MOST steps lie between two, and where steps are longer than that, none."""

import os
import stat
import struct
import time
from typing import Optional, Tuple

from brim_torch.marks import codes
from brim_torch.marks.loop import NEVER, Loop

NAME = "control"
MAGIC, MAJOR, SIZE = b"BRIMCTRL", 1, 4096
HEAD = struct.Struct("=8sHHI")
REQUEST = struct.Struct("=QQ1024s")  # number, step, text
SEQ = struct.Struct("=Q")
SEQ_AT, REQUEST_AT = 24, 32

LOOK_NS = 10_000_000
MOST = 64


def problem(page: bytes) -> str:
    """What is wrong with the file; "": nothing."""
    if len(page) < SIZE:
        return "it is %d bytes long" % (len(page),)
    magic, major, _, size = HEAD.unpack_from(page)
    if magic != MAGIC:
        return "it is no control file"
    if major != MAJOR:
        return "it has version %d" % (major,)
    return "" if size == SIZE else "it says that it is %d bytes long" % (size,)


class Control:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.fd = -1
        self.pid = 0
        self.seen = b""  # seq, when it was read the last time
        self.number = 0  # of the request that was taken last
        self.asked: Optional[Tuple[int, int, str]] = None  # taken and not yet answered
        self.every, self.step, self.at_ns = 1, 0, 0

    def open(self) -> None:
        """When the ring is opened."""
        self.close()
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
        try:
            self.fd = os.open(os.path.join(os.environ["BRIM_RING"], NAME), flags)
            if not stat.S_ISREG(os.fstat(self.fd).st_mode):
                self.leave("it is no file")
                return
            wrong = problem(os.pread(self.fd, SIZE, 0))
        except (FileNotFoundError, KeyError):
            return
        except OSError as e:
            self.leave(e.strerror)
            return
        if wrong:
            self.leave(wrong)
            return
        self.pid, self.seen, self.number, self.asked = os.getpid(), b"", 0, None
        self.every, self.step, self.at_ns = 1, self.loop.steps, time.monotonic_ns()
        self.loop.look_at = self.loop.steps

    def close(self) -> None:
        """In a forked child, too: what is asked is asked of its parent."""
        fd, self.fd = self.fd, -1
        self.loop.look_at = NEVER
        if fd >= 0:
            os.close(fd)

    def leave(self, why: str) -> None:
        self.close()
        self.asked = None
        self.loop.tell("control: nothing can be asked of this process, for %s" % (why,))

    def look(self) -> None:
        """At the end of a step."""
        try:
            word = os.pread(self.fd, 8, SEQ_AT)
            if word != self.seen:
                self.take(word)
            if self.asked is not None:
                self.carry_out()
        except Exception as e:
            self.leave("%r" % (e,))
        if self.fd >= 0:
            self.loop.look_at = self.next_look()

    def next_look(self) -> int:
        steps, now = self.loop.steps, time.monotonic_ns()
        fit = (steps - self.step) * LOOK_NS // max(now - self.at_ns, 1)
        self.every = max(1, min(fit, 2 * self.every, MOST))
        self.step, self.at_ns = steps, now
        if self.asked is not None:
            return min(steps + self.every, self.asked[1] + 1)
        return steps + self.every

    def take(self, word: bytes) -> None:
        page = os.pread(self.fd, SIZE, 0)
        wrong = problem(page)
        if wrong:
            self.leave(wrong)
            return
        again = os.pread(self.fd, 8, SEQ_AT)
        if word != again or page[SEQ_AT:REQUEST_AT] != word or SEQ.unpack(word)[0] & 1:
            return  # it is being written
        self.seen = word
        number, at_step, text = REQUEST.unpack_from(page, REQUEST_AT)
        if number in (0, self.number):
            return
        self.number = number
        self.asked = (number, at_step, text.split(b"\0")[0].decode("ascii", "replace"))

    def carry_out(self) -> None:
        assert self.asked is not None
        number, at_step, text = self.asked
        ended = self.loop.steps - 1
        if at_step and ended < at_step:
            return
        self.asked = None
        if os.getpid() != self.pid:
            return  # a child that fork()'s callbacks do not know of
        if at_step and ended > at_step:
            why = "step %d was over when this was seen, after step %d" % (at_step, ended)
            self.answer(number, codes.REFUSED, why)
            return
        from brim_torch.settings import knobs

        self.answer(number, *knobs.carry_out(self.loop, text))

    def answer(self, number: int, outcome: int, why: str) -> None:
        sink = self.loop.sink
        if why:
            sink.note("switch.%d=%s" % (number, " ".join(why.split())[:200]))
        sink.switch(number, outcome)


def install(loop: Loop) -> None:
    control = Control(loop)
    loop.look = control.look
    loop.on_open.append(control.open)
    loop.on_close.append(control.close)
