"""What torch.compile makes, marked from outside.

The compiler looks into what it compiles, and knows torch's own functions alone: a hook in there
would part its graph, and one that came or went would have it compile again. So nothing that it can
see is hooked from then on. What it returns is called by the job, and so are the modules that have
it inside: these are the forward pass."""

import functools
import sys
from typing import TYPE_CHECKING, Any, Callable, Optional, Set

from brim_torch.hooks import guarded
from brim_torch.marks import codes

if TYPE_CHECKING:
    from brim_torch.marks.forward import Forward

FRAMES = 200  # looked at, of those that called what is compiled
LOOKS = 4  # at who calls it

BEGIN, END = codes.begin(codes.FORWARD), codes.end(codes.FORWARD)


class Compiled:
    def __init__(self, forward: "Forward", torch: Any) -> None:
        self.forward, self.loop, self.torch = forward, forward.loop, torch
        self.inside: Set[Any] = set()  # classes of modules that the compiler looks into
        self.outside: Set[Any] = set()  # those that are hooked
        self.looks = LOOKS
        self.call = getattr(torch.nn.Module, "_call_impl", torch.nn.Module.__call__).__code__

    def keep_out(self) -> None:
        """Take away what the compiler could see of ours."""
        if self.loop.compiles:
            return
        dist = self.torch.distributed
        seen = [self.torch.Tensor, dist]
        if dist.is_available():
            seen.append(dist.distributed_c10d)
        self.forward.remove()
        self.forward.patches.undo_some(lambda owner, name: owner in seen)
        self.loop.compiles = True
        self.loop.tell("torch: compile yes")

    def before(self, model: Any) -> None:
        """The compiler is about to be given model. Of a function it keeps nothing but itself, and
        libraries have some compiled that nobody calls: these wait for their first call."""
        module, itself = model, True
        if not isinstance(module, self.torch.nn.Module):
            # Module.compile(), or forward() alone: its __call__ is not looked into
            module, itself = getattr(model, "__self__", None), False
        if isinstance(module, self.torch.nn.Module):
            self.keep_out()
            self.inside.update(type(m) for m in module.modules() if itself or m is not module)
            self.unhook(self.outside & self.inside)

    def made(self, model: Any, made: Any) -> Any:
        """What the job gets for what the compiler made of model."""
        module = self.torch.nn.Module
        if isinstance(made, module):
            if made is not model:
                self.hook(type(made))
        elif isinstance(getattr(model, "__self__", None), module):
            self.hook(type(model.__self__))
        elif type(made).__name__ == "function":
            return self.function(made)
        return made

    def hook(self, cls: Any) -> None:
        if cls in self.outside:
            return
        first = self.look if self.looks > 0 else None
        if cls not in self.inside and self.forward.wrap(cls, first):
            self.outside.add(cls)

    def unhook(self, classes: Set[Any]) -> None:
        self.forward.patches.undo_some(lambda owner, name: name == "__call__" and owner in classes)
        self.outside -= classes

    def look(self) -> None:
        """What is compiled was called from where nothing is hooked: which module is the outermost
        there? After some looks a hook need not ask any more."""
        self.looks -= 1
        caller = self.caller()
        if caller is not None:
            self.hook(type(caller))
        if self.looks == 0:
            hooked = set(self.outside)
            self.unhook(hooked)
            for cls in hooked:
                self.hook(cls)

    def caller(self) -> Optional[Any]:
        frame: Any = sys._getframe()
        found = None
        for _ in range(FRAMES):
            if frame is None:
                break
            if frame.f_code is self.call:
                found = frame.f_locals.get("self", found)
            frame = frame.f_back
        return found

    def function(self, made: Callable[..., Any]) -> Callable[..., Any]:
        """A function that is compiled, for whoever calls it. It may be the whole forward pass, or
        the loss alone. What else is compiled and calls it finds in its attributes, as ever, what
        was made."""
        loop, mark, grad = self.loop, self.loop.sink.mark, self.loop.grad

        @functools.wraps(made)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not (loop.compiles or loop.off):
                guarded(loop, self.keep_out)
            if loop.inside or not loop.opened or not grad():
                return made(*args, **kwargs)
            if self.looks > 0:
                guarded(loop, self.look)
            loop.inside = True
            mark(BEGIN)
            try:
                return made(*args, **kwargs)
            finally:
                mark(END)
                loop.inside = False

        return call


def install(forward: "Forward", torch: Any) -> None:
    loop, original = forward.loop, torch.compile
    compiled = Compiled(forward, torch)

    @functools.wraps(original)
    def compile(*args: Any, **kwargs: Any) -> Any:
        model = args[0] if args else kwargs.get("model")
        if loop.off or model is None:  # a decorator comes back here with its function
            return original(*args, **kwargs)
        guarded(loop, compiled.before, model)
        guarded(loop, loop.before_compile)
        try:
            made = original(*args, **kwargs)
        finally:
            if not loop.off:
                guarded(loop, loop.after_compile)
        if loop.off:
            return made
        ours = guarded(loop, compiled.made, model, made)
        return made if loop.off else ours

    forward.patches.set(torch, "compile", compile)
