"""DistributedDataParallel: what it is made with, and the hook that sends its gradients."""

import functools
import inspect
import weakref
from typing import Any, Dict, Tuple

from brim_torch.hooks import guarded
from brim_torch.marks.loop import Loop
from brim_torch.patches import Patches
from brim_torch.refused import Refused

HOOK = "ddp.comm_hook"
RANK, FIRST_STEP = 4, 10  # of PowerSGD: columns that are sent; gradients are sent whole before

MIB = 1048576


class Exchange:
    """DDP takes one hook and no other: ours calls the one that counts, the job's where it has
    one."""

    def __init__(self, hook: Any, state: Any) -> None:
        self.hook, self.state = hook, state
        self.own = False  # the job's


def brim_hook(state, bucket):  # type: ignore[no-untyped-def] # torch looks at annotations
    return state.hook(state.state, bucket)


class Parallel:
    def __init__(self, loop: Loop, torch: Any, settings: Dict[str, str]) -> None:
        self.loop, self.torch = loop, torch
        self.settings = {k: v for k, v in settings.items() if k.startswith("ddp.")}
        self.hook = self.settings.pop(HOOK, "none")
        self.hooked: Any = weakref.WeakKeyDictionary()  # DDP: its Exchange; None: the job's own
        self.pending: Any = weakref.WeakSet()
        self.take: Any = None  # DDP's own register_comm_hook()

    def arguments(self, original: Any, ddp: Any, args: Any, kwargs: Any) -> Tuple[Any, Any]:
        """With what was set; it counts more than what the job says."""
        given = inspect.signature(original).bind(ddp, *args, **kwargs)
        for target, value in self.settings.items():
            name = target[len("ddp.") :]
            if name not in given.signature.parameters:
                self.loop.tell("knob.%s.refused=this torch has no %s" % (target, name))
                continue
            number = value.isdigit()
            given.arguments[name] = int(value) if number else value == "yes"
            self.loop.tell("knob.%s=%s" % (target, value))
        return given.args[1:], given.kwargs

    def made(self, ddp: Any) -> None:
        self.loop.ddp = True
        self.loop.ddps.add(ddp)
        if self.hook != "none" and self.take is not None:
            self.pending.add(ddp)
            self.loop.before_backward = self.register

    # ---- hooks

    def register(self) -> None:
        """Before the first backward pass: until then the job may register one of its own."""
        self.loop.before_backward = None
        for ddp in list(self.pending):
            self.pending.discard(ddp)
            if ddp in self.hooked:
                continue
            try:
                exchange = Exchange(*self.choose(ddp))
            except Refused as e:
                self.loop.tell("knob.%s.refused=%s" % (HOOK, e))
                continue
            self.take(ddp, exchange, brim_hook)
            self.hooked[ddp] = exchange
            self.loop.tell("knob.%s=%s" % (HOOK, self.hook))

    def choose(self, ddp: Any) -> Tuple[Any, Any]:
        """A hook and its state. All ranks choose alike: by the group and the libraries."""
        group = ddp.process_group
        backend = self.torch.distributed.get_backend(group)
        if self.hook == "powersgd":
            if backend != "nccl":
                # its later calls start in an order that differs between ranks
                raise Refused("PowerSGD needs NCCL: with %s, torch's own aborts" % (backend,))
            return powersgd(group)
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        if self.hook == "fp16":
            return default_hooks.fp16_compress_hook, group
        if backend != "nccl":
            raise Refused("%s sends no bf16" % (backend,))
        try:
            ddp._check_comm_hook(default_hooks.bf16_compress_hook)
        except Exception as e:
            raise Refused(str(e))
        return default_hooks.bf16_compress_hook, group

    def own_hook(self, ddp: Any, hook: Any, state: Any) -> bool:
        """The job registers a hook. True: ours is there already, and calls it from now on."""
        exchange = self.hooked.setdefault(ddp, None)
        if self.hook != "none":
            self.loop.tell("knob.%s.refused=the job registers a hook of its own" % (HOOK,))
        if exchange is None:
            return False
        exchange.hook, exchange.state, exchange.own = hook, state, True
        return True

    def of_kind(self, ddp: Any, kind: Any) -> Tuple[Any, Any]:
        """The one that is written in C++, in Python."""
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        plain = kind == self.torch.distributed.BuiltinCommHookType.ALLREDUCE
        hook = default_hooks.allreduce_hook if plain else default_hooks.fp16_compress_hook
        return hook, ddp.process_group

    def facts(self) -> str:
        """Of the first one."""
        ddp = next(iter(self.loop.ddps))
        exchange = self.hooked.get(ddp)
        own = ddp in self.hooked and (exchange is None or exchange.own)
        return "bucket %g, view %s, static %s, hook %s" % (
            ddp.bucket_bytes_cap / MIB,
            "yes" if ddp.gradient_as_bucket_view else "no",
            "yes" if getattr(ddp, "static_graph", False) else "no",
            "own" if own else self.hook if exchange else "none",
        )


    def gradients(self) -> str:
        """Bytes that a rank exchanges the sum of in a step: DDP does that below Python, where no
        call is seen."""
        parts = [p for ddp in self.loop.ddps for p in ddp.parameters() if p.requires_grad]
        return str(sum(p.numel() * p.element_size() for p in parts))


def powersgd(group: Any) -> Tuple[Any, Any]:
    try:
        from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as module
    except ImportError as e:
        raise Refused("PowerSGD is not there: %s" % (e,))
    state = module.PowerSGDState(
        process_group=group, matrix_approximation_rank=RANK, start_powerSGD_iter=FIRST_STEP
    )
    return module.powerSGD_hook, state


def install(
    loop: Loop, patches: Patches, torch: Any, settings: Dict[str, str], before: Any = None
) -> Parallel:
    """before: called with the model that DDP is made of."""
    parallel = Parallel(loop, torch, settings)
    ddp = torch.nn.parallel.DistributedDataParallel
    original = ddp.__dict__["__init__"]

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if before is not None and not loop.off:
            guarded(loop, before, args[0] if args else kwargs.get("module"))
        if parallel.settings and not loop.off:
            changed = guarded(loop, parallel.arguments, original, self, args, kwargs)
            args, kwargs = changed or (args, kwargs)
        original(self, *args, **kwargs)
        guarded(loop, parallel.made, self)

    patches.set(ddp, "__init__", __init__)
    register(patches, ddp, parallel)
    return parallel


def register(patches: Patches, ddp: Any, parallel: Parallel) -> None:
    own = ddp.__dict__.get("register_comm_hook")
    builtin = ddp.__dict__.get("_register_builtin_comm_hook")
    if own is None or builtin is None:
        return
    parallel.take = own

    @functools.wraps(own)
    def register_comm_hook(self: Any, state: Any, hook: Any) -> None:
        if not parallel.own_hook(self, hook, state):
            own(self, state, hook)

    @functools.wraps(builtin)
    def _register_builtin_comm_hook(self: Any, comm_hook_type: Any) -> None:
        if not parallel.own_hook(self, *parallel.of_kind(self, comm_hook_type)):
            builtin(self, comm_hook_type)

    patches.set(ddp, "register_comm_hook", register_comm_hook)
    patches.set(ddp, "_register_builtin_comm_hook", _register_builtin_comm_hook)
