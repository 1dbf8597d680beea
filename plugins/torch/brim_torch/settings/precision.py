"""Precision of operators: autocast around the model's forward passes, TF32, cuDNN's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim_torch.refused import Refused
from brim_torch.settings import change as changes
from brim_torch.settings.scaling import Scaling

if TYPE_CHECKING:
    from brim_torch.marks.loop import Loop


class Autocast:
    """Around calls of modules that have parameters and that no other module calls, in training.
    What they return is in single precision again: so is the loss, which stays comparable."""

    def __init__(self, loop: Loop, kind: str, device: str) -> None:
        self.loop, self.torch = loop, loop.torch
        self.kind, self.device = kind, device
        self.dtype = self.torch.bfloat16 if kind == "bf16" else self.torch.float16
        self.foreign = False
        with self.torch.autocast(device, dtype=self.dtype):  # raises what it has to say, now
            pass

    def forward(self, call: Any, module: Any, args: Any, kwargs: Any) -> Any:
        if next(module.parameters(), None) is None:
            return call(module, *args, **kwargs)
        if is_on(self.torch, self.device):
            if not self.foreign:
                self.foreign = True
                self.loop.tell("knob.autocast.refused=the job uses autocast itself")
            return call(module, *args, **kwargs)
        with self.torch.autocast(self.device, dtype=self.dtype):
            result = call(module, *args, **kwargs)
        return self.single(result)

    def single(self, value: Any) -> Any:
        """The same with its tensors of half precision in single; its types stay."""
        if isinstance(value, self.torch.Tensor):
            return value.float() if value.dtype == self.dtype else value
        kind = type(value)
        if kind in (list, tuple):
            return kind(map(self.single, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*map(self.single, value))
        if isinstance(value, dict):
            return kind({key: self.single(each) for key, each in value.items()})
        return value


def is_on(torch: Any, device: str) -> bool:
    if device == "cuda":
        return bool(torch.is_autocast_enabled())
    try:
        return bool(torch.is_autocast_enabled(device))  # torch 2.4
    except Exception:
        return bool(torch.is_autocast_cpu_enabled())


def anywhere(torch: Any) -> bool:
    return any(is_on(torch, device) for device in ("cuda", "cpu"))


def check(loop: Loop, kind: str) -> str:
    """The device, if autocast can be used on it."""
    torch, optimizer = loop.torch, changes.main_optimizer(loop)
    if optimizer is None:
        raise Refused("no optimizer has stepped yet")
    if loop.own_autocast:
        raise Refused("the job uses autocast itself")
    if not loop.models:
        raise Refused("the model's forward passes are not hooked")
    found = changes.parameters(optimizer)
    devices = {p.device.type for p in found}
    if len(devices) != 1 or not devices <= {"cpu", "cuda"}:
        raise Refused("the parameters are on %s" % (" and ".join(sorted(devices)),))
    if any(p.dtype in (torch.float16, torch.bfloat16) for p in found):
        raise Refused("the model is in half precision already")
    device = devices.pop()
    if kind == "fp16":
        check_fp16(loop, device, found)
    elif device == "cuda" and not torch.cuda.is_bf16_supported():
        raise Refused("this device does not compute in bf16")
    return str(device)


def check_fp16(loop: Loop, device: str, found: Any) -> None:
    if device != "cuda":
        raise Refused("fp16 is for GPUs, on a CPU it is bf16")
    if loop.scalers:
        raise Refused("the job scales its gradients (GradScaler)")
    if any(type(p) is not loop.torch.nn.Parameter for p in found):
        raise Refused("the parameters are no plain ones of torch's (FSDP's, or a tensor's class)")
    if len(list(loop.made)) > 1:
        raise Refused("the job has several optimizers, whose steps would have to be left out alike")
    if changes.world(loop) > 1 and not loop.starting:
        raise Refused("all ranks have to leave out the same steps: it is for the job's start")


def set_autocast(loop: Loop, value: str) -> None:
    if value == now(loop):
        return
    if value == "none":
        leave(loop)
        return
    new = Autocast(loop, value, check(loop, value))
    leave(loop)
    change = changes.of(loop)
    if value == "fp16":
        change.scaling = Scaling(loop, changes.main_optimizer(loop))
    change.forward = new.forward


def leave(loop: Loop) -> None:
    change = loop.change
    if change is None:
        return
    change.forward = None
    if change.scaling is not None:
        change.scaling.undo()
        change.scaling = None
    changes.settle(loop)


def now(loop: Loop) -> str:
    if loop.own_autocast:
        return "own"
    owner = getattr(getattr(loop.change, "forward", None), "__self__", None)
    return owner.kind if isinstance(owner, Autocast) else "none"


def need_cuda(loop: Loop) -> None:
    if not loop.torch.cuda.is_initialized():
        raise Refused("no CUDA device is in use")


def set_tf32(loop: Loop, value: str) -> None:
    need_cuda(loop)
    matmul = loop.torch.backends.cuda.matmul
    try:
        matmul.allow_tf32 = value == "yes"
    except RuntimeError:  # torch 2.9, where the job uses the newer name
        matmul.fp32_precision = "tf32" if value == "yes" else "ieee"


def tf32(loop: Loop) -> str:
    matmul = loop.torch.backends.cuda.matmul
    try:
        on = matmul.fp32_precision == "tf32"  # torch 2.9, which warns of the other name
    except Exception:
        on = matmul.allow_tf32
    return "yes" if on else "no"


def set_benchmark(loop: Loop, value: str) -> None:
    need_cuda(loop)
    torch = loop.torch
    strict = torch.backends.cudnn.deterministic or torch.are_deterministic_algorithms_enabled()
    if value == "yes" and strict:
        raise Refused("the job asks for deterministic algorithms")
    torch.backends.cudnn.benchmark = value == "yes"


def benchmark(loop: Loop) -> str:
    return "yes" if loop.torch.backends.cudnn.benchmark else "no"
