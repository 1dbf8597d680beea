"""Threads of torch's operators."""

import functools
from typing import Any

from brim_torch.marks.loop import Loop
from brim_torch.refused import Refused


def set_intra(loop: Loop, value: str) -> None:
    """Of the thread that ends steps, which is the one that runs the loop's operators."""
    before = loop.torch.get_num_threads()
    loop.torch.set_num_threads(int(value))
    got = loop.torch.get_num_threads()
    if got != int(value):
        loop.torch.set_num_threads(before)
        raise Refused("of %s threads torch would take %d" % (value, got))


def intra(loop: Loop) -> str:
    return str(loop.torch.get_num_threads())


def inter(loop: Loop, torch: Any, value: str) -> None:
    """Torch takes this number once, before operators run at the same time. Ours is set where the
    job sets its own, else when the loop begins; what the job says later is left out."""
    original = torch.set_num_interop_threads
    done = []

    def take() -> None:
        if not done:
            done.append(True)
            original(int(value))
            loop.tell("knob.threads.inter=%s" % (value,))

    def at_open() -> None:
        try:
            take()
        except RuntimeError:
            loop.tell("knob.threads.inter.refused=operators run at the same time already")

    @functools.wraps(original)
    def set_num_interop_threads(number: int) -> None:
        if done or not loop.off:
            take()
        else:
            original(number)

    # Not put back by whoever takes the hooks off: torch would not take the job's number either.
    torch.set_num_interop_threads = set_num_interop_threads
    loop.on_open.append(at_open)
