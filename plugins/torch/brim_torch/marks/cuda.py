"""The device's side of the stages, by events on the stream that the thread uses: nothing here waits
for the device. Every eighth step is timed; a pair of events is read when the later one is over,
which may be a step or two afterwards. Installed once CUDA is in use: asking before would start
it."""

import collections
import functools
import time
from typing import Any, Deque, Dict, List, Tuple

from brim_torch.marks import codes
from brim_torch.marks.loop import Loop
from brim_torch.patches import Patches

EVERY = 8
PENDING = 256
LOSSES = 8  # that are on their way


class Timer:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.cuda = loop.torch.cuda
        self.free: List[Any] = []
        self.begun: Dict[int, Tuple[Any, int]] = {}
        self.pending: Deque[Tuple[int, int, Any, Any]] = collections.deque()

    def event(self) -> Any:
        event = self.free.pop() if self.free else self.cuda.Event(enable_timing=True)
        event.record()
        return event

    def begin(self, stage: int) -> None:
        try:
            self.begun[stage] = (self.event(), time.monotonic_ns())
        except Exception as e:
            self.loop.give_up("an event on the device: %r" % (e,))

    def end(self, stage: int) -> None:
        begun = self.begun.pop(stage, None)
        if begun is None or len(self.pending) >= PENDING:
            return
        try:
            self.pending.append((stage, begun[1], begun[0], self.event()))
        except Exception as e:
            self.loop.give_up("an event on the device: %r" % (e,))

    def collect(self) -> None:
        while self.pending and self.pending[0][3].query():
            stage, at_ns, first, last = self.pending.popleft()
            took_ns = int(first.elapsed_time(last) * 1e6)
            self.loop.sink.device(stage, at_ns, at_ns + max(took_ns, 0))
            self.free += (first, last)


class Loss:
    """The losses of a device: each copied to the host behind its backward pass, on the job's own
    stream, and told when that is over, which may be a step or two later. Nothing waits for it."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        # a number in pinned memory (the copy would wait for the device else), and an event
        self.free: List[Tuple[Any, Any]] = []
        self.pending: Deque[Tuple[Any, Any]] = collections.deque()
        self.off = False

    def can_fetch(self, loss: Any) -> bool:
        """A plain tensor of the device that the thread uses, while no CUDA graph is captured: what
        is done then belongs to the graph."""
        cuda = self.loop.torch.cuda
        if self.off or len(self.pending) >= LOSSES or type(loss) is not self.loop.tensor:
            return False
        return loss.device.index == cuda.current_device() and not cuda.is_current_stream_capturing()

    def slot(self) -> Tuple[Any, Any]:
        if self.free:
            return self.free.pop()
        torch = self.loop.torch
        return torch.empty((), dtype=torch.float32, pin_memory=True), torch.cuda.Event()

    def fetch(self, loss: Any) -> None:
        try:
            if self.can_fetch(loss):
                host, event = self.slot()
                host.copy_(loss.detach().float().reshape(()), non_blocking=True)
                event.record()
                self.pending.append((host, event))
        except Exception as e:
            self.stop(e)

    def collect(self) -> None:
        try:
            while self.pending and self.pending[0][1].query():
                self.free.append(self.pending.popleft())
                self.loop.sink.loss(float(self.free[-1][0]))
        except Exception as e:
            self.stop(e)

    def stop(self, why: Exception) -> None:
        """Without it the marks go on."""
        self.off = True
        self.pending.clear()
        self.loop.tell("the loss on the device is not told: %r" % (why,))


def goes_to_device(args: Any, kwargs: Any) -> bool:
    target = args[0] if args else kwargs.get("device", kwargs.get("other"))
    kind = getattr(getattr(target, "device", target), "type", target)
    return isinstance(kind, str) and kind.startswith("cuda")


def copying(loop: Loop, original: Any, always: bool) -> Any:
    """Tensor.to or Tensor.cuda of what is in the host's memory."""
    mark, begin, end = loop.sink.mark, codes.begin(codes.COPY), codes.end(codes.COPY)

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not loop.opened or self.is_cuda or not (always or goes_to_device(args, kwargs)):
            return original(self, *args, **kwargs)
        timer = loop.timer
        if timer is not None:
            timer.begin(codes.COPY)
        mark(begin)
        try:
            return original(self, *args, **kwargs)
        finally:
            mark(end)
            if timer is not None:
                timer.end(codes.COPY)

    return wrapper


def watch(loop: Loop, patches: Patches, torch: Any) -> None:
    """Install when CUDA is found to be in use at the end of a step."""
    if not (getattr(torch.version, "cuda", None) or getattr(torch.version, "hip", None)):
        return
    state: Dict[str, Any] = {"timer": None}
    loss = Loss(loop)

    def install() -> None:
        state["timer"] = Timer(loop)
        loop.fetch = loss.fetch
        for name in ("to", "cuda"):
            wrapper = copying(loop, getattr(torch.Tensor, name), name == "cuda")
            patches.set(torch.Tensor, name, wrapper)

    def every_step() -> None:
        timer = state["timer"]
        if timer is None:
            if torch.cuda.is_initialized():
                install()
            return
        timer.collect()
        loss.collect()
        loop.timer = timer if loop.steps % EVERY == 0 else None

    loop.every_step = every_step
