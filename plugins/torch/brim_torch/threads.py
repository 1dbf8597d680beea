"""Threads of torch's operators."""

from brim_torch.loop import Loop
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
