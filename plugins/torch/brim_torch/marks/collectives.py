"""torch.distributed: what the thread waits for is a stage, what blocks until it is over is told
with its bytes as well. Functions called with async_op=True only start it: their wait() is the
stage."""

import functools
import time
from typing import Any

from brim_torch.hooks import Function
from brim_torch.marks import codes
from brim_torch.marks.loop import Loop
from brim_torch.patches import Patches

KINDS = {
    "all_reduce": codes.ALL_REDUCE,
    "all_reduce_coalesced": codes.ALL_REDUCE,
    "all_gather": codes.ALL_GATHER,
    "all_gather_coalesced": codes.ALL_GATHER,
    "all_gather_into_tensor": codes.ALL_GATHER,
    "all_gather_object": codes.ALL_GATHER,
    "_all_gather_base": codes.ALL_GATHER,
    "reduce_scatter": codes.REDUCE_SCATTER,
    "reduce_scatter_tensor": codes.REDUCE_SCATTER,
    "_reduce_scatter_base": codes.REDUCE_SCATTER,
    "broadcast": codes.BROADCAST,
    "broadcast_object_list": codes.BROADCAST,
    "reduce": codes.REDUCE,
    "all_to_all": codes.ALL_TO_ALL,
    "all_to_all_single": codes.ALL_TO_ALL,
    "gather": codes.GATHER,
    "gather_object": codes.GATHER,
    "scatter": codes.SCATTER,
    "scatter_object_list": codes.SCATTER,
    "send": codes.SEND_RECEIVE,
    "recv": codes.SEND_RECEIVE,
    "barrier": codes.BARRIER,
    "monitored_barrier": codes.BARRIER,
}

BEGIN, END = codes.begin(codes.COMMUNICATION), codes.end(codes.COMMUNICATION)


def size_of(value: Any, tensor: Any) -> int:
    """Bytes of a tensor, or of a list of them."""
    if isinstance(value, tensor):
        return int(value.numel() * value.element_size())
    if isinstance(value, (list, tuple)):
        return sum(size_of(each, tensor) for each in value)
    return 0


def function(loop: Loop, original: Function, kind: int) -> Function:
    sink, clock = loop.sink, time.monotonic_ns

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not loop.opened or loop.communicating or kwargs.get("async_op"):
            return original(*args, **kwargs)
        loop.communicating = True
        begun = clock()
        sink.mark(BEGIN)
        try:
            result = original(*args, **kwargs)
        finally:
            sink.mark(END)
            loop.communicating = False
        if result is None or not hasattr(result, "wait"):
            size = size_of(args[0], loop.torch.Tensor) if args else 0
            sink.collective(kind, size, begun, clock())
        return result

    return wrapper


def blocking(loop: Loop, original: Function) -> Function:
    """A method that waits: Work.wait, DDP's sending of buffers."""
    mark = loop.sink.mark

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not loop.opened or loop.communicating:
            return original(*args, **kwargs)
        mark(BEGIN)
        try:
            return original(*args, **kwargs)
        finally:
            mark(END)

    return wrapper


def install(loop: Loop, patches: Patches, torch: Any) -> None:
    dist = torch.distributed
    if not dist.is_available():
        return
    inner = dist.distributed_c10d
    for name, kind in KINDS.items():
        original = inner.__dict__.get(name)
        if original is None:
            continue
        wrapper = function(loop, original, kind)
        patches.set(inner, name, wrapper)
        if dist.__dict__.get(name) is original:
            patches.set(dist, name, wrapper)
    work = getattr(inner, "Work", None) or torch._C._distributed_c10d.Work
    patches.set(work, "wait", blocking(loop, work.wait))


def buffers(loop: Loop, patches: Patches, torch: Any) -> None:
    """DDP's, which it sends before a forward pass."""
    ddp = torch.nn.parallel.DistributedDataParallel
    if "_sync_buffers" in ddp.__dict__:
        patches.set(ddp, "_sync_buffers", blocking(loop, ddp.__dict__["_sync_buffers"]))
