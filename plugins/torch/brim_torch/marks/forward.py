"""The forward pass: calls of modules that no other module calls.

In the first steps Module.__call__ is wrapped, which costs each call of each module, to learn the
classes whose objects are called from outside (the model, the loss function). From then on __call__
of these classes alone is wrapped: hooks of torch on the objects would be saved with the model, and
a wrapped forward() would be seen by torch.compile and torch.jit. A class that is called inside
others several times as often as from outside is left alone."""

import functools
from typing import Any, Callable, Dict, Optional, Set

from brim_torch.hooks import fast, guarded
from brim_torch.marks import codes, compiled
from brim_torch.marks.loop import Loop
from brim_torch.patches import Patches
from brim_torch.settings import precision

LEARN_STEPS = 2
CLASSES = 8
INSIDE = 4  # calls inside others, for each one from outside


class Forward:
    def __init__(self, loop: Loop, patches: Patches, module_class: Any) -> None:
        self.loop, self.patches, self.module_class = loop, patches, module_class
        self.outer: Dict[Any, int] = {}
        self.all: Dict[Any, int] = {}
        self.models: Set[Any] = set()  # classes of those that have parameters
        self.original = module_class.__dict__["__call__"]

    def install(self) -> None:
        original, loop, seen = self.original, self.loop, self.all

        @functools.wraps(original)
        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            if not loop.opened:
                return original(module, *args, **kwargs)
            cls = type(module)
            seen[cls] = seen.get(cls, 0) + 1
            if loop.inside or not loop.grad():
                return original(module, *args, **kwargs)
            self.outer[cls] = self.outer.get(cls, 0) + 1
            if next(module.parameters(), None) is not None:
                self.models.add(cls)
                loop.own_autocast |= precision.anywhere(loop.torch)
            return self.run(original, module, args, kwargs)

        self.patches.set(self.module_class, "__call__", __call__)
        loop.models = True
        loop.after_step.append(self.one_more)

    def run(self, call: Any, module: Any, args: Any, kwargs: Any) -> Any:
        loop = self.loop
        mark, timer, change = loop.sink.mark, loop.timer, loop.change
        around = change and (change.first or change.forward)
        loop.inside = True
        if timer is not None:
            timer.begin(codes.FORWARD)
        mark(BEGIN)
        try:
            if around:
                return around(call, module, args, kwargs)
            return call(module, *args, **kwargs)
        finally:
            mark(END)
            if timer is not None:
                timer.end(codes.FORWARD)
            loop.inside = False

    def one_more(self) -> None:
        if self.loop.steps < LEARN_STEPS:
            self.loop.after_step.append(self.one_more)
            return
        self.patches.undo_some(lambda owner, name: owner is self.module_class)
        self.loop.models = False
        for cls, count in sorted(self.outer.items(), key=lambda c: -c[1])[:CLASSES]:
            if self.all.get(cls, 0) <= count * (1 + INSIDE) and self.wrap(cls):
                self.loop.models |= cls in self.models

    def wrap(self, cls: Any, first: Optional[Callable[[], None]] = None) -> bool:
        """Hook a class; first is called before each forward pass. False: it is left alone."""
        own = cls.__dict__.get("__call__")
        base = self.module_class
        loop = self.loop
        mark, grad = loop.sink.mark, loop.grad

        @functools.wraps(base.__call__ if own is None else own)
        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            call = base.__call__ if own is None else own
            if loop.inside or not loop.opened or not grad():
                return call(module, *args, **kwargs)
            if first is not None:
                guarded(loop, first)
            if loop.timer is not None or loop.change is not None:
                return self.run(call, module, args, kwargs)
            loop.inside = True
            mark(BEGIN)
            try:
                return call(module, *args, **kwargs)
            finally:
                mark(END)
                loop.inside = False

        if own is None and any("__call__" in c.__dict__ for c in cls.__mro__[1:] if c is not base):
            between = [c for c in cls.__mro__[1:] if "__call__" in c.__dict__]
            if between[0] is not base:
                return False  # a class between has its own: left alone
        hook = __call__ if first else fast(loop, "forward", own, __call__, base)
        self.patches.set(cls, "__call__", hook)
        return True

    def remove(self) -> None:
        self.patches.undo_some(lambda owner, name: name == "__call__")
        self.loop.models = False
        self.loop.after_step = [h for h in self.loop.after_step if h != self.one_more]


BEGIN, END = codes.begin(codes.FORWARD), codes.end(codes.FORWARD)


def install(loop: Loop, patches: Patches, torch: Any) -> None:
    forward = Forward(loop, patches, torch.nn.Module)
    forward.install()
    if "compile" in torch.__dict__:
        compiled.install(forward, torch)
