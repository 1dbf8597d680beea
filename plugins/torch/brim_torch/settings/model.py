"""Settings of the job's start that are made to the model itself, when its first training pass
begins: torch.compile, and convolutions whose weights have their channels last in memory."""

import random
import sys
from typing import Any, Dict, List, Tuple

from brim_torch.marks.loop import Loop
from brim_torch.settings import change as changes

COMPILE, CHANNELS = "compile", "channels_last"


class Model:
    def __init__(self, loop: Loop, settings: Dict[str, str]) -> None:
        self.loop, self.torch = loop, loop.torch
        self.compiles = settings.get(COMPILE) == "yes"
        self.channels = settings.get(CHANNELS) == "yes"
        self.weights: List[Tuple[Any, Any]] = []  # changed ones, with their memory of before

    def install(self) -> None:
        changes.of(self.loop).first = self.first

    def say(self, target: str, why: str) -> None:
        if why:
            self.loop.tell("knob.%s.refused=%s" % (target, why))
        else:
            self.loop.in_force[target] = "yes"
            self.loop.tell("knob.%s=yes" % (target,))

    def first(self, call: Any, module: Any, args: Any, kwargs: Any) -> Any:
        """The first call of a module with parameters, and others before."""
        if next(module.parameters(), None) is None:
            return call(module, *args, **kwargs)
        self.loop.change.first = None
        changes.settle(self.loop)
        try:
            if self.channels:
                self.say(CHANNELS, self.try_channels(module, args, kwargs))
            if self.compiles:
                self.say(COMPILE, self.compile(module))
        except Exception as e:
            self.loop.give_up("the model's settings: %r" % (e,))
        return call(module, *args, **kwargs)

    # ---- channels last

    def convolutions(self, module: Any) -> List[Any]:
        nn = self.torch.nn
        kinds = (nn.Conv2d, nn.ConvTranspose2d)
        found = [m._parameters.get("weight") for m in module.modules() if isinstance(m, kinds)]
        return [w for w in found if type(w) is nn.Parameter]

    def turn(self, module: Any) -> None:
        """Weights are enough: an operator whose weights have this order gives its result the
        same. DDP lays its buckets out as the weights lie when it is made."""
        for weight in self.convolutions(module):
            if not any(weight is done for done, _ in self.weights):
                self.weights.append((weight, weight.data))
                weight.data = weight.data.contiguous(memory_format=self.torch.channels_last)

    def turn_back(self) -> None:
        for weight, _ in self.weights:
            weight.data = weight.data.contiguous()
        self.weights = []

    def before_ddp(self, module: Any) -> None:
        if self.channels:
            self.turn(module)

    def try_channels(self, module: Any, args: Any, kwargs: Any) -> str:
        """A pass ahead tells whether the model's own code can do with it: view() cannot."""
        tensor = self.torch.Tensor
        inner = getattr(module, "module", module)
        if not self.convolutions(inner):
            return "the model has no convolutions over 2 dimensions"
        inputs = [*args, *kwargs.values()]
        if not any(isinstance(x, tensor) and x.dim() == 4 for x in inputs):
            self.turn_back()
            return "the model's input has not 4 dimensions"
        self.turn(inner)
        try:
            self.pass_ahead(inner, args, kwargs)
        except Exception as e:
            self.turn_back()
            return "the forward pass fails with it: %s" % (" ".join(str(e).split())[:100],)
        self.weights = []
        return ""

    def pass_ahead(self, module: Any, args: Any, kwargs: Any) -> None:
        """Leaves no trace in buffers and random numbers."""
        torch, numpy = self.torch, sys.modules.get("numpy.random")
        buffers = [(b, b.clone()) for b in module.buffers()]
        python = random.getstate()
        numbers: Any = numpy.get_state() if numpy else None
        devices = {p.device.index for p in module.parameters() if p.device.type == "cuda"}
        try:
            with torch.random.fork_rng(devices=sorted(devices)), torch.no_grad():
                module(*args, **kwargs)
        finally:
            random.setstate(python)
            if numpy:
                numpy.set_state(numbers)
            with torch.no_grad():
                for buffer, old in buffers:
                    buffer.copy_(old)

    # ---- torch.compile

    def compile(self, module: Any) -> str:
        if not hasattr(module, "compile") or not hasattr(self.torch, "compile"):
            return "torch %s cannot compile a model in its place" % (self.torch.__version__,)
        if getattr(module, "_compiled_call_impl", None) is not None or is_compiled(module):
            return "the job compiles the model itself"
        import torch._dynamo

        # what the compiler cannot do runs as before
        torch._dynamo.config.suppress_errors = True
        module.compile()
        return ""


def is_compiled(module: Any) -> bool:
    return type(module).__name__ == "OptimizedModule"
