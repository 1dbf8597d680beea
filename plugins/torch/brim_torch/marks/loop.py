"""The training loop as the hooks see it: what is a step, which loader feeds it.

A step ends where an optimizer's step() ends. Of several optimizers the first one counts, until it
has not been used for OTHERS steps of another, or is gone. A job that never steps an optimizer has
steps from one batch to the next. A loader feeds the steps when its batch is followed by a backward
pass and it is not read in a row without one, as a validation's is."""

import os
import sys
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Optional, Set

from brim_torch.marks import codes

OTHERS = 16
BATCHES_ALONE = 8  # without an optimizer in the process
BATCHES_UNUSED = 256  # with one that is never stepped
LOSS_NS = 50_000_000  # between two looks at the loss: one takes 2 us
NEVER = 1 << 62  # a step
UNTOLD = 64  # notes that are kept until there is a ring

SEQUENCES = (list, tuple)

Hook = Callable[[], None]


def nothing() -> None:
    pass


class Loop:
    """Where the sink is the extension, many of the attributes lie in its State, in which its hooks
    see them too: see hook.h for their types."""

    def __init__(self, torch: Any, sink: Any, give_up: Callable[[str], None]) -> None:
        self.torch = torch
        self.tensor = getattr(torch, "Tensor", None)
        self.grad = getattr(torch, "is_grad_enabled", None)
        self.sink = sink
        self.count = sink.samples
        self.end = sink.mark
        self.give_up = give_up
        self.opened = False
        self.off = False  # for good
        self.optimizers = False  # one was made
        self.made: Any = weakref.WeakSet()  # all of them
        self.closures = False  # step() was given one
        self.scalers = False  # torch's GradScaler is used
        self.inside = False  # a forward pass
        self.stepping = False  # inside step()
        self.stepped = False  # step() was called
        self.main: Any = None  # a weak reference to the optimizer that ends steps
        self.others = 0
        self.patience = OTHERS
        self.steps = 0
        self.batches = 0  # without an optimizer's step
        self.alone = False  # batches end steps
        self.fresh: Dict[int, int] = {}  # sources read since the last backward pass, how often
        self.unfed = False  # there are some
        self.last = 0
        self.feeding: Set[int] = set()
        self.keys: Dict[int, Any] = {}
        self.sources = 0
        self.iterators: Dict[int, Any] = {}  # of a source, the latest: weakly, and its thread
        self.begun: Dict[int, Any] = {}  # the steps in which the last two began
        self.began: Optional[Callable[[int, Any], None]] = None
        self.loaders: Any = None  # workers.Loaders, once one was asked to change
        self.loss_at = 0  # the step in which the loss is read next
        self.loss_every = 1
        self.loss_ns = 0
        self.fetch: Optional[Callable[[Any], None]] = None  # of a device (cuda.Loss)
        self.ddp = False
        self.ddps: Any = weakref.WeakSet()
        self.before_backward: Optional[Hook] = None  # where there is a DDP
        self.own_autocast = False  # the job's
        self.models = False  # forward passes of what has parameters are hooked
        self.compiles = False  # torch.compile was called
        self.before_compile: Hook = nothing  # and what is done after it
        self.after_compile: Hook = nothing
        self.communicating = False
        self.timer: Any = None  # cuda.Timer, while this step is timed on the device
        self.after_step: List[Hook] = []  # called once
        self.every_step: Optional[Hook] = None
        self.change: Any = None  # a change.Change, while a knob alters passes or steps
        self.look_at = NEVER  # the step after which look() is called
        self.look: Optional[Hook] = None
        self.on_open: List[Hook] = []  # the ring
        self.on_close: List[Hook] = []
        self.untold: List[str] = []
        self.starting = False  # settings of the job's start are made, on all ranks alike
        self.in_force: Dict[str, str] = {}  # what brim has set, by target

    def first(self) -> bool:
        """Open the ring where the loop begins to run; says whether marks are worth making."""
        if self.opened:
            return True
        if self.off:
            return False
        try:
            if self.torch.utils.data.get_worker_info() is not None:
                return False
            if not self.sink.open("torch %s" % (self.torch.__version__,)):
                self.give_up("no ring can be made in %s" % (os.environ.get("BRIM_RING"),))
                return False
            self.opened = True
            self.set_rank()
            untold, self.untold = self.untold, []
            for text in untold:
                self.sink.note(text)
            for hook in self.on_open:
                hook()
            self.sink.mark(codes.STEP_BEGIN)
            return True
        except Exception as e:
            self.give_up("%r" % (e,))
            return False

    def tell(self, text: str) -> None:
        """A note, as soon as there is a ring for it."""
        if self.opened:
            self.sink.note(text)
        elif len(self.untold) < UNTOLD:
            self.untold.append(text)

    def set_rank(self) -> None:
        """Ranks that were not in the environment."""
        from brim_torch.marks import ring

        dist = self.torch.distributed
        if dist.is_available() and dist.is_initialized():
            local = ring.from_environment(ring.LOCAL_RANKS)
            self.sink.set_rank(dist.get_rank(), local, dist.get_world_size())

    def forked(self) -> None:
        """In a child: the parent's ring is not its own; it opens one when it runs a loop."""
        self.sink.forked()
        self.closed()
        self.opened = self.stepping = self.stepped = self.alone = self.communicating = False
        self.main, self.steps, self.batches = None, 0, 0
        self.fresh.clear()
        self.unfed = False
        self.feeding.clear()

    def closed(self) -> None:
        for hook in self.on_close:
            hook()

    def source_of(self, iterator: Any) -> int:
        """A number for the loader behind an iterator: the same in every epoch. 0: none."""
        if not self.first():
            return 0
        sampler = iterator._index_sampler
        known = self.keys.get(id(sampler))
        if known is not None and (known[0] is None or known[0]() is sampler):
            return int(known[1])
        self.sources += 1
        try:
            reference: Any = weakref.ref(sampler)
        except TypeError:
            reference = None
        self.keys[id(sampler)] = (reference, min(self.sources, 0xFFFF))
        from brim_torch import facts

        self.sink.note(facts.loader(iterator, self.sources))
        return min(self.sources, 0xFFFF)

    def begin(self, source: int, iterator: Any) -> None:
        """The first batch of an iterator is about to be read."""
        self.iterators[source] = (weakref.ref(iterator), threading.get_ident())
        self.begun[source] = (self.begun.get(source, (None, None))[1], self.steps)
        if self.began is not None:
            self.began(source, iterator)

    def batch(self, source: int, data: Any) -> None:
        first = data[0] if type(data) in SEQUENCES and data else data
        if isinstance(first, self.tensor):
            count = first.shape[0] if first.dim() else 0
        else:
            count = count_samples(first, self.tensor)
        if count:
            self.count(count << 16 | source)
        self.last = source
        if source not in self.feeding and self.torch.is_grad_enabled():
            self.fresh[source] = self.fresh.get(source, 0) + 1
            self.unfed = True
        if not self.stepped:
            self.batches += 1
            limit = BATCHES_UNUSED if self.optimizers else BATCHES_ALONE
            if self.batches == limit:
                self.alone = True
                self.sink.note("no optimizer steps: a step is a batch")

    def exhausted(self, source: int) -> None:
        self.fresh.pop(source, None)

    def next_alone(self, source: int) -> None:
        """A batch is about to be read in a job without an optimizer."""
        self.sink.mark(codes.STEP_END)
        self.steps += 1
        self.run_hooks()
        if source not in self.feeding:
            self.feeding.add(source)
            self.sink.mark(codes.FEEDS | source << 16)

    def feed(self) -> None:
        """A backward pass or an optimizer's step uses what was read."""
        for source, count in self.fresh.items():
            if (count == 1 or source == self.last) and source not in self.feeding:
                self.feeding.add(source)
                self.sink.mark(codes.FEEDS | source << 16)
        self.fresh.clear()
        self.unfed = False

    def optimizer_done(self, optimizer: Any) -> None:
        self.stepped, self.alone = True, False
        main = self.main() if self.main is not None else None
        if main is not optimizer:
            self.others += 1
            if main is not None and self.others <= self.patience:
                return
            self.main = weakref.ref(optimizer)
        self.others = 0
        self.end(codes.STEP_END)
        self.steps += 1
        if self.after_step or self.every_step is not None or self.steps >= self.look_at:
            self.run_hooks()

    def run_hooks(self) -> None:
        hooks, self.after_step = self.after_step, []
        for hook in hooks:
            hook()
        if self.every_step is not None:
            self.every_step()
        if self.steps >= self.look_at and self.look is not None:
            self.look()

    def read_loss(self, loss: Any) -> None:
        """Now and then. Of a device it is told later: reading it would wait for the device."""
        now = time.monotonic_ns()
        if now - self.loss_ns < LOSS_NS:
            self.loss_every = min(2 * self.loss_every, 256)
        elif self.loss_every > 1 and now - self.loss_ns > 4 * LOSS_NS:
            self.loss_every //= 2
        self.loss_ns = now
        self.loss_at = self.steps + self.loss_every
        if not isinstance(loss, self.tensor) or loss.numel() != 1:
            return
        if loss.device.type == "cpu":
            self.sink.loss(float(loss.detach()))
        elif self.fetch is not None:
            self.fetch(loss)


def make(torch: Any, sink: Any, give_up: Callable[[str], None]) -> Loop:
    state = getattr(sink, "State", None)
    kind = Loop if state is None else type("Loop", (Loop, state), {})
    return kind(torch, sink, give_up)


def count_samples(data: Any, tensor: Any) -> int:
    """The first dimension of the first tensor in what a loader yields; 0 where there is none."""
    for _ in range(4):
        if isinstance(data, tensor):
            return int(data.shape[0]) if data.dim() else 0
        if isinstance(data, (list, tuple)):
            for each in data[:4]:
                if isinstance(each, tensor):
                    break
            else:
                each = data[0] if data else None
            data = each
        elif hasattr(data, "values"):
            data = list(data.values())
        else:
            return 0
    return 0


def say(text: str) -> None:
    try:
        sys.stderr.write("brim: %s; the job goes on without it\n" % (text,))
    except Exception:
        pass
