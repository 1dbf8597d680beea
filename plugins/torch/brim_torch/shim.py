"""Puts the hooks on when torch was imported, and takes them off."""

import os
import sys
from typing import Any, Callable, List

from brim_torch import collectives, control, cuda, facts, forward, hooks, loop, ring
from brim_torch.loop import say
from brim_torch.patches import Patches


class Shim:
    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.patches = Patches()
        self.sink = ring.choose(os.environ.get("BRIM_SINK"))
        self.loop = loop.make(torch, self.sink, self.give_up)

    def install(self) -> None:
        torch, loop, patches = self.torch, self.loop, self.patches
        hooks.loaders(loop, patches, torch.utils.data.dataloader)
        hooks.backward(loop, patches, torch.autograd)
        hooks.optimizers(loop, patches, sys.modules["torch.optim.optimizer"])  # torch hides it
        hooks.saving(loop, patches, torch)
        hooks.collector(loop, patches)
        forward.install(loop, patches, torch)
        collectives.install(loop, patches, torch)
        if torch.distributed.is_available():
            collectives.parallel(loop, patches, torch)
        cuda.watch(loop, patches, torch)
        control.install(loop)
        loop.after_step.append(self.tell)
        os.register_at_fork(after_in_child=loop.forked)

    def tell(self) -> None:
        """After the first step, when the job has set what it sets."""
        self.loop.set_rank()
        self.sink.note(facts.process(self.torch))
        self.sink.note(facts.group(self.torch))

    def uninstall(self) -> None:
        self.loop.off = True
        self.loop.opened = False
        self.loop.timer = self.loop.every_step = None
        self.loop.after_step = []
        self.loop.closed()
        if self.loop.loaders is not None:
            self.loop.loaders.undo()
        self.patches.undo()
        self.sink.close()

    def give_up(self, why: str) -> None:
        """Once, whatever happens: say so, and leave the job alone."""
        if self.loop.off:
            return
        self.loop.off = True
        say("the shim stops (%s)" % (why,))
        self.uninstall()


installed: List[Shim] = []


def install(torch: Any) -> None:
    shim = Shim(torch)
    try:
        shim.install()
    except Exception as e:
        shim.give_up("torch %s: %r" % (getattr(torch, "__version__", "?"), e))
        return
    installed.append(shim)
    at_exit(shim.sink.close)


def at_exit(close: Callable[[], None]) -> None:
    import atexit

    atexit.register(close)


def uninstall() -> None:
    while installed:
        installed.pop().uninstall()
