"""Wrappers around what a loop calls. Each calls the original with what it was given, and lets its
result or exception through; after uninstalling it does only that."""

import functools
import sys
from typing import Any, Callable, List

from brim_torch.marks import codes
from brim_torch.marks.loop import Loop
from brim_torch.patches import Patches

Function = Callable[..., Any]

WAIT_END = codes.end(codes.WAIT)
WARM_STEPS = 2


def guarded(loop: Loop, function: Function, *arguments: Any) -> Any:
    """Our own work inside the job: what it raises ends the shim, not the job."""
    try:
        return function(*arguments)
    except Exception as e:
        loop.give_up("%s: %r" % (getattr(function, "__name__", "?"), e))
        return None


def fast(loop: Loop, kind: str, inner: Any, slow: Function, more: Any = None) -> Any:
    """What stands for slow, a wrapper: the extension's hook, which calls inner itself where slow
    would decide nothing, or slow."""
    make = getattr(loop.sink, "Hook", None)
    if make is None:
        return slow
    hook = functools.update_wrapper(make(kind, loop, inner, slow, more), slow)
    hook.__wrapped__ = slow.__wrapped__  # type: ignore[attr-defined]
    for name in ("__code__", "__defaults__", "__kwdefaults__", "__globals__"):
        setattr(hook, name, getattr(slow, name))
    return hook


def around(loop: Loop, original: Function, stage: int) -> Function:
    """The original as a stage, where the loop runs."""
    mark, begin, end = loop.sink.mark, codes.begin(stage), codes.end(stage)

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not loop.opened:
            return original(*args, **kwargs)
        mark(begin)
        try:
            return original(*args, **kwargs)
        finally:
            mark(end)

    return wrapper


def loaders(loop: Loop, patches: Patches, module: Any) -> None:
    """Waiting for data: __next__ of every iterator that a DataLoader makes, also those made
    before."""
    base = module._BaseDataLoaderIter
    original = base.__dict__["__next__"]
    wait, mark = loop.sink.wait, loop.sink.mark

    def batch(source: int, data: Any) -> None:
        try:
            loop.batch(source, data)
        except Exception as e:
            loop.give_up("a batch: %r" % (e,))

    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        source = self._brim_source
        if source is None and not loop.off:
            source = self._brim_source = guarded(loop, loop.source_of, self)
            if source:
                guarded(loop, loop.begin, source, self)
        if not source or loop.off:
            return original(self)
        if loop.alone:
            guarded(loop, loop.next_alone, source)
        wait(source)
        try:
            data = original(self)
        except BaseException as e:
            mark(WAIT_END)
            if isinstance(e, StopIteration):
                loop.exhausted(source)
            raise
        mark(WAIT_END)
        batch(source, data)
        return data

    patches.set(base, "_brim_source", None)
    patches.set(base, "__next__", fast(loop, "next", original, __next__, batch))


def backward(loop: Loop, patches: Patches, module: Any) -> None:
    """torch.autograd.backward, which Tensor.backward calls."""
    original = module.__dict__["backward"]
    mark = loop.sink.mark
    begin, end = codes.begin(codes.BACKWARD), codes.end(codes.BACKWARD)

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not loop.opened and not loop.first():
            return original(*args, **kwargs)
        if loop.unfed:
            guarded(loop, loop.feed)
        loss = args[0] if args else kwargs.get("tensors")
        if loop.before_backward is not None:
            guarded(loop, loop.before_backward)
        change = loop.change
        given = guarded(loop, change.begin_backward, args, kwargs) if change is not None else None
        if given is not None:
            args, kwargs = given
        done = guarded(loop, watch_reducer, loop, loss) if loop.ddp else None
        timer = loop.timer
        if timer is not None:
            timer.begin(codes.BACKWARD)
        mark(begin)
        try:
            return original(*args, **kwargs)
        finally:
            mark(end)
            if timer is not None:
                timer.end(codes.BACKWARD)
            if done is not None:
                done()
            if given is not None:
                change.end_backward()
            if loop.steps >= loop.loss_at:
                guarded(loop, loop.read_loss, loss)

    patches.set(module, "backward", fast(loop, "backward", original, wrapper))


def watch_reducer(loop: Loop, loss: Any) -> Any:
    """Exposed communication of DDP. Its reducer waits for the buckets in a callback that the
    autograd engine runs after the last gradient. The engine runs callbacks in the order they were
    queued; one queued at the first gradient of the pass, before any bucket is full, runs right
    before the reducer's. From there to the end of backward() is what the pass waits for the other
    ranks, with copying buckets into gradients. Exact where waiting blocks the thread (gloo); with
    NCCL the thread goes on, and the device's events tell (cuda.py). The gradient is not touched."""
    tensor = loop.torch.Tensor
    if not isinstance(loss, tensor) or not loss.requires_grad or loss.grad_fn is None:
        return None
    engine = loop.torch.autograd.Variable._execution_engine
    mark, timer = loop.sink.mark, loop.timer
    begun = []

    def computed() -> None:
        begun.append(True)
        if timer is not None:
            timer.begin(codes.COMMUNICATION)
        mark(codes.begin(codes.COMMUNICATION))

    def started(gradient: Any) -> None:
        engine.queue_callback(computed)

    handle = loss.register_hook(started)

    def done() -> None:
        handle.remove()
        if begun and timer is not None:
            timer.end(codes.COMMUNICATION)

    return done


def optimizers(loop: Loop, patches: Patches, module: Any) -> None:
    """step() of each optimizer's class, from when the first of the class is made. What the class
    has is wrapped, under the marks that torch itself puts on a wrapped step(). By these torch 2.0
    and 2.1 know the wrapper that they take away when they first compile: while they compile, their
    own is the outermost again."""
    base = module.Optimizer
    original_init = base.__dict__["__init__"]
    classes: List[Any] = []

    def wrap_class(cls: Any) -> None:
        inner = cls.step
        if getattr(inner, "_brim", False) or cls is base:
            return
        wrapped = optimizer_step(loop, inner)
        wrapped._brim = True
        patches.set(cls, "step", wrapped)
        if cls not in classes:
            classes.append(cls)

    def unwrap() -> None:
        patches.undo_some(lambda owner, name: name == "step" and owner in classes)

    def wrap() -> None:
        for cls in classes:
            wrap_class(cls)

    @functools.wraps(original_init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original_init(self, *args, **kwargs)
        if not loop.off:
            loop.optimizers = True
            guarded(loop, loop.made.add, self)
            guarded(loop, wrap_class, type(self))

    patches.set(base, "__init__", __init__)
    loop.before_compile, loop.after_compile = unwrap, wrap


def scalers(loop: Loop, patches: Patches) -> None:
    """torch's GradScaler: loops that use it are known by that one was made."""
    for name in ("torch.amp.grad_scaler", "torch.cuda.amp.grad_scaler"):
        cls = getattr(sys.modules.get(name), "GradScaler", None)
        if cls is not None:
            break
    else:
        return
    original = cls.__dict__["__init__"]

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        loop.scalers |= bool(getattr(self, "_enabled", True))

    patches.set(cls, "__init__", __init__)


def optimizer_step(loop: Loop, inner: Function) -> Any:
    mark, done = loop.sink.mark, loop.optimizer_done
    begin, end = codes.begin(codes.OPTIMIZER), codes.end(codes.OPTIMIZER)

    @functools.wraps(inner)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if loop.stepping or not (loop.opened or loop.first()):
            return inner(self, *args, **kwargs)
        if loop.unfed:
            guarded(loop, loop.feed)
        if args or kwargs:
            loop.closures |= (args[0] if args else kwargs.get("closure")) is not None
        loop.stepping = True
        change, timer = loop.change, loop.timer
        if timer is not None:
            timer.begin(codes.OPTIMIZER)
        mark(begin)
        try:
            if change is not None and guarded(loop, change.holds_back, self, args, kwargs):
                return None
            return inner(self, *args, **kwargs)
        finally:
            mark(end)
            loop.stepping = False
            if timer is not None:
                timer.end(codes.OPTIMIZER)
            try:
                done(self)
            except Exception as e:
                loop.give_up("the end of a step: %r" % (e,))

    def after() -> None:
        guarded(loop, loop.run_hooks)

    return fast(loop, "optimizer", inner, step, after)


def saving(loop: Loop, patches: Patches, torch: Any) -> None:
    wrapper = around(loop, torch.save, codes.CHECKPOINT)
    patches.set(torch, "save", wrapper)
    patches.set(torch.serialization, "save", wrapper)


def collector(loop: Loop, patches: Patches) -> None:
    """Pauses of the full collections of garbage, as gauges. Those of the first steps, in which much
    is made for once (a compiled model above all), are no part of the training."""
    import gc
    import time

    clock = time.monotonic_ns
    at, total = [0], [0]

    def callback(phase: str, info: Any) -> None:
        if info["generation"] != 2 or not loop.opened or loop.steps < WARM_STEPS:
            return
        if phase == "start":
            at[0] = clock()
        elif at[0]:
            pause = clock() - at[0]
            at[0] = 0
            total[0] += pause
            loop.sink.value("gc_pause_s", pause * 1e-9)
            loop.sink.value("gc.seconds", total[0] * 1e-9)

    gc.callbacks.append(callback)
    patches.on_undo(lambda: gc.callbacks.remove(callback) if callback in gc.callbacks else None)
