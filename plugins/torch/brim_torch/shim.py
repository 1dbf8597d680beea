"""Puts the hooks on when torch was imported, and takes them off."""

import os
import sys
from typing import Any, Callable, Dict, List

from brim_torch import control, facts, hooks
from brim_torch.marks import collectives, cuda, forward, loop, ring
from brim_torch.marks.loop import say
from brim_torch.patches import Patches
from brim_torch.settings import change as changes
from brim_torch.settings import parallel


class Shim:
    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.patches = Patches()
        self.sink = ring.choose(os.environ.get("BRIM_SINK"))
        self.loop = loop.make(torch, self.sink, self.give_up)
        self.parallel: Any = None

    def install(self) -> None:
        torch, loop, patches = self.torch, self.loop, self.patches
        hooks.loaders(loop, patches, torch.utils.data.dataloader)
        hooks.backward(loop, patches, torch.autograd)
        hooks.optimizers(loop, patches, sys.modules["torch.optim.optimizer"])  # torch hides it
        hooks.scalers(loop, patches)
        hooks.saving(loop, patches, torch)
        hooks.collector(loop, patches)
        forward.install(loop, patches, torch)
        collectives.install(loop, patches, torch)
        cuda.watch(loop, patches, torch)
        control.install(loop)
        loop.after_step.append(self.tell)
        self.start()
        loop.after_step.append(self.tell_settings)
        os.register_at_fork(after_in_child=loop.forked)

    def start(self) -> None:
        """Settings for the job's start, and what they need of DDP."""
        settings: Dict[str, str] = {}
        loop, before_ddp = self.loop, None
        if os.environ.get("BRIM_KNOBS"):
            from brim_torch.start import Start

            start = Start(loop)
            start.install(self.torch)
            settings, before_ddp = start.settings, start.before_ddp
        if self.torch.distributed.is_available():
            collectives.buffers(loop, self.patches, self.torch)
            self.parallel = parallel.install(
                loop, self.patches, self.torch, settings, before_ddp
            )

    def tell(self) -> None:
        """After the first step, when the job has set what it sets."""
        self.loop.set_rank()
        self.sink.note(facts.process(self.torch))
        self.sink.note(facts.group(self.torch))

    def tell_settings(self) -> None:
        """When the forward passes are known, and what is set at the start is in force."""
        if self.loop.steps < forward.LEARN_STEPS:
            self.loop.after_step.append(self.tell_settings)
            return
        for text in facts.settings(self.loop):
            self.sink.note(text)
        if self.loop.ddps:
            self.sink.note("ddp: " + facts.word(parallel.Parallel.facts, self.parallel))
            gradients = facts.word(parallel.Parallel.gradients, self.parallel)
            self.sink.note("gradients: bytes " + gradients)
        elif changes.world(self.loop) > 1:
            self.sink.note("ddp: used no")

    def uninstall(self) -> None:
        self.loop.off = True
        self.loop.opened = False
        self.loop.timer = self.loop.every_step = None
        self.loop.after_step = []
        self.loop.closed()
        if self.loop.loaders is not None:
            self.loop.loaders.undo()
        change, self.loop.change = self.loop.change, None
        if change is not None:
            change.undo()
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
