"""What knobs do to passes and steps while they are in force. Loop.change is None where none does,
and then the extension's hooks call no Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from brim_torch.marks.loop import Loop

Forward = Callable[[Any, Any, Any, Any], Any]


class Change:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.first: Optional[Forward] = None  # runs the first call(module, *args, **kwargs)
        self.forward: Optional[Forward] = None  # runs the others
        self.scaling: Any = None  # a scaling.Scaling
        self.accumulation: Any = None  # an accumulation.Accumulation
        self.inside = False  # a backward pass

    def begin_backward(self, args: Any, kwargs: Any) -> Optional[Tuple[Any, Any]]:
        """Arguments that are to be used instead; None: the given ones, of a pass inside another
        (torch's checkpoints), which gets its gradients from there. end_backward() is called in
        any case but that."""
        if self.inside:
            return None
        self.inside = True
        factor = 1.0
        if self.accumulation is not None:
            self.accumulation.begin_backward()
            factor /= self.accumulation.length
        tensors = args[0] if args else kwargs.get("tensors")
        if self.scaling is not None:
            factor *= self.scaling.begin_backward(tensors)
        return (args, kwargs) if factor == 1 else scaled(self.loop.torch, args, kwargs, factor)

    def end_backward(self) -> None:
        self.inside = False
        if self.scaling is not None:
            self.scaling.end_backward()

    def holds_back(self, optimizer: Any, args: Any, kwargs: Any) -> bool:
        """Whether this step() is not to change the weights."""
        if self.accumulation is not None and self.accumulation.holds_back(optimizer, args, kwargs):
            return True
        return self.scaling is not None and self.scaling.holds_back(optimizer)

    def undo(self) -> None:
        for part in (self.scaling, self.accumulation):
            if part is not None:
                part.undo()


def of(loop: Loop) -> Change:
    if loop.change is None:
        loop.change = Change(loop)
    return loop.change  # type: ignore[no-any-return]


def settle(loop: Loop) -> None:
    """Put it away where it does nothing."""
    c = loop.change
    if c is not None and not (c.first or c.forward or c.scaling or c.accumulation):
        loop.change = None


def several(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def scaled(torch: Any, args: Any, kwargs: Any, factor: float) -> Tuple[Any, Any]:
    """The arguments of torch.autograd.backward() for a pass whose gradients are factor times as
    large: what it starts from is multiplied, the loss is not touched."""
    tensors = several(args[0] if args else kwargs.get("tensors"))
    named: Dict[str, Any] = dict(kwargs)
    given = args[1] if len(args) > 1 else named.pop("grad_tensors", None)
    if given is None:
        given = named.pop("grad_variables", None)
    grads = several(given) if given is not None else [None] * len(tensors)
    new = []
    for tensor, grad in zip(tensors, grads):
        if grad is not None:
            new.append(grad * factor)
        elif tensor.requires_grad and tensor.numel() == 1:
            new.append(torch.full_like(tensor, factor, requires_grad=False))
        else:
            new.append(None)
    if len(args) > 1:
        return (args[0], new, *args[2:]), named
    named["grad_tensors"] = new
    return args, named


def main_optimizer(loop: Loop) -> Any:
    return loop.main() if loop.main is not None else None


def parameters(optimizer: Any) -> List[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def world(loop: Loop) -> int:
    dist = loop.torch.distributed
    return int(dist.get_world_size()) if dist.is_available() and dist.is_initialized() else 1
