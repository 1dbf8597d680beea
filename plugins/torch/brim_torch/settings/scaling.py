"""Gradients of half precision (fp16) are too small for its numbers: the backward pass starts from
a large one, and what arrives at each parameter is divided again, before DDP or the loop sees it. So
loops that clip gradients see them as they are, which torch's GradScaler asks a loop to care for.
A step whose gradients are not finite is left out, and the scale is halved; after GROWTH good ones
it is doubled. The numbers are GradScaler's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from brim_torch.settings import change as changes

if TYPE_CHECKING:
    from brim_torch.marks.loop import Loop

FIRST, MOST, GROWTH = 65536.0, 2.0**24, 2000
MOST_HALF = 32768.0  # where the loss itself is fp16, whose largest number is 65504


class Scaling:
    def __init__(self, loop: Loop, optimizer: Any) -> None:
        self.torch = loop.torch
        self.scale = FIRST
        self.good = 0
        self.inverse = 1.0  # 1: no pass of ours runs
        self.hooks = [
            p.register_hook(self.divide)
            for p in changes.parameters(optimizer)
            if p.requires_grad
        ]

    def divide(self, grad: Any) -> Any:
        return None if self.inverse == 1 else grad * self.inverse

    def begin_backward(self, tensors: Any) -> float:
        half = any(t.dtype == self.torch.float16 for t in changes.several(tensors))
        scale = min(self.scale, MOST_HALF) if half else self.scale
        self.inverse = 1 / scale
        return scale

    def end_backward(self) -> None:
        self.inverse = 1.0

    def holds_back(self, optimizer: Any) -> bool:
        grads = [p.grad for p in changes.parameters(optimizer) if p.grad is not None]
        if self.finite(grads):
            self.good += 1
            if self.good >= GROWTH:
                self.good, self.scale = 0, min(2 * self.scale, MOST)
            return False
        self.good, self.scale = 0, max(self.scale / 2, 1.0)
        return True

    def finite(self, grads: List[Any]) -> bool:
        """One wait for each device."""
        sums = {}
        with self.torch.no_grad():
            for grad in grads:
                total = grad.detach().float().abs().max() if grad.numel() else None
                if total is not None:
                    sums.setdefault(grad.device, []).append(total)
            return all(
                bool(self.torch.isfinite(self.torch.stack(each)).all()) for each in sums.values()
            )

    def undo(self) -> None:
        for hook in self.hooks:
            hook.remove()
