"""optimizer.accumulation: k calls of step() in a row make one step of the optimizer, with the mean
of their gradients, as a loop that divides its loss by k and steps once in k batches.

Each backward pass starts from 1/k. The gradients that a call would have used are kept aside, so
that it does not matter how the loop clears its own (zero_grad(), or grad = None), and are added to
those of the k-th call, which are then all that it uses. Between a backward pass and step(), where
loops clip gradients, those of the first k - 1 calls are a k-th of what they were, and those of the
k-th are the mean. What DDP would exchange in the first k - 1 backward passes it exchanges once, as
with its no_sync(): so all ranks have to count the same calls."""

import weakref
from typing import Any, Dict

from brim_torch.marks.loop import Loop
from brim_torch.refused import Refused
from brim_torch.settings import change as changes


class Accumulation:
    def __init__(self, loop: Loop, optimizer: Any, length: int) -> None:
        self.loop = loop
        self.torch = loop.torch
        self.optimizer = weakref.ref(optimizer)
        self.length = self.wanted = length  # of this round, of the next ones
        self.calls = 0  # held back in this round
        self.kept: Dict[Any, Any] = {}  # gradients by parameter
        ddps = list(loop.ddps)
        # static_graph forbids what no_sync() does
        self.local = bool(ddps) and not any(getattr(d, "static_graph", False) for d in ddps)
        self.tell_ddp()

    def tell_ddp(self) -> None:
        if self.local:
            for ddp in self.loop.ddps:
                ddp.require_backward_grad_sync = self.calls + 1 >= self.length

    def begin_backward(self) -> None:
        """The last call's first pass: the sum is there before, for DDP exchanges it and loops clip
        it."""
        if self.calls + 1 >= self.length:
            self.merge()

    def holds_back(self, optimizer: Any, args: Any, kwargs: Any) -> bool:
        if optimizer is not self.optimizer() or has_closure(args, kwargs):
            return False
        self.calls += 1
        last = self.calls >= self.length
        if last:
            self.merge()
            self.calls, self.length = 0, self.wanted
            if self.wanted == 1:
                leave(self.loop)
        else:
            self.keep(optimizer)
        self.tell_ddp()
        return not last

    def keep(self, optimizer: Any) -> None:
        with self.torch.no_grad():
            for p in changes.parameters(optimizer):
                if p.grad is None:
                    continue
                if p in self.kept:
                    self.kept[p] = self.kept[p].add_(p.grad)
                else:
                    self.kept[p] = p.grad.detach().clone()

    def merge(self) -> None:
        kept, self.kept = self.kept, {}
        with self.torch.no_grad():
            for p, grad in kept.items():
                if p.grad is None:
                    p.grad = grad
                else:
                    p.grad.add_(grad)

    def change(self, length: int) -> None:
        """A round that runs ends with the first call that is enough: what is kept of it has the
        weight of its old length."""
        self.wanted = length
        length = max(length, self.calls + 1)
        with self.torch.no_grad():
            for grad in self.kept.values():
                grad.mul_(self.length / length)
        self.length = length
        if length == 1:
            leave(self.loop)
        self.tell_ddp()

    def undo(self) -> None:
        self.merge()
        self.calls, self.length = 0, 1
        self.tell_ddp()


def has_closure(args: Any, kwargs: Any) -> bool:
    return bool(args and args[0] is not None) or kwargs.get("closure") is not None


def check(loop: Loop) -> Any:
    """The optimizer, if it can be done with it."""
    torch, optimizer = loop.torch, changes.main_optimizer(loop)
    if optimizer is None:
        raise Refused("no optimizer has stepped yet")
    if isinstance(optimizer, torch.optim.LBFGS) or loop.closures:
        raise Refused("the optimizer computes gradients itself (step() is given a closure)")
    if loop.scalers:
        raise Refused("the job scales its gradients (GradScaler)")
    own = {id(p) for p in changes.parameters(optimizer)}
    for other in list(loop.made):
        if any(id(p) not in own for p in changes.parameters(other)):
            raise Refused("the job has several optimizers")
    if any(type(p) is not torch.nn.Parameter for p in changes.parameters(optimizer)):
        raise Refused("the parameters are no plain ones of torch's (FSDP's, or a tensor's class)")
    grads = [p.grad for p in changes.parameters(optimizer) if p.grad is not None]
    if any(grad.layout != torch.strided for grad in grads):
        raise Refused("there are sparse gradients")
    return optimizer


def set_accumulation(loop: Loop, value: str) -> None:
    length, now = int(value), loop.change.accumulation if loop.change else None
    if length == (now.wanted if now else 1):
        return
    optimizer = check(loop)
    if changes.world(loop) > 1 and not loop.starting:
        raise Refused("all ranks have to count alike: it is for the job's start (BRIM_KNOBS)")
    if now is None:
        changes.of(loop).accumulation = Accumulation(loop, optimizer, length)
    else:
        now.change(length)


def leave(loop: Loop) -> None:
    loop.change.accumulation = None
    changes.settle(loop)


def now(loop: Loop) -> str:
    accumulation = loop.change.accumulation if loop.change else None
    return str(accumulation.wanted if accumulation else 1)
