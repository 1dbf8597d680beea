"""What can be changed of a job: data/knobs.ini names these as targets of what the shim applies."""

from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from brim_torch.marks import codes
from brim_torch.marks.loop import Loop
from brim_torch.refused import Refused
from brim_torch.settings import accumulation, precision, threads


class Knob(NamedTuple):
    check: Callable[[str], bool]
    values: str  # in words, for who gives another
    set: Optional[Callable[[Loop, str], None]] = None  # None: at the job's start alone
    now: Optional[Callable[[Loop], str]] = None


def numbers(low: int, high: int, **how: Callable[..., object]) -> Knob:
    def check(text: str) -> bool:
        return text.isdigit() and text.isascii() and len(text) < 8 and low <= int(text) <= high

    return Knob(check, "%d to %d" % (low, high), **how)  # type: ignore[arg-type]


def words(*known: str, **how: Callable[..., object]) -> Knob:
    return Knob(known.__contains__, ", ".join(known), **how)  # type: ignore[arg-type]


YES = ("no", "yes")

# Those of the loader are workers.py's.
TABLE: Dict[str, Knob] = {
    "threads.intra": numbers(1, 256, set=threads.set_intra, now=threads.intra),
    "threads.inter": numbers(1, 64),
    "autocast": words("none", "bf16", "fp16", set=precision.set_autocast, now=precision.now),
    "cuda.tf32": words(*YES, set=precision.set_tf32, now=precision.tf32),
    "cudnn.benchmark": words(*YES, set=precision.set_benchmark, now=precision.benchmark),
    "optimizer.accumulation": numbers(
        1, 1024, set=accumulation.set_accumulation, now=accumulation.now
    ),
    "ddp.bucket_cap_mb": numbers(1, 1 << 16),
    "ddp.gradient_as_bucket_view": words(*YES),
    "ddp.static_graph": words(*YES),
    "ddp.comm_hook": words("none", "fp16", "bf16", "powersgd"),
    "compile": words(*YES),
    "channels_last": words(*YES),
}


def of_loader(target: str) -> Optional[Knob]:
    """What workers.py has a function for; it looks at the values itself."""
    try:
        from brim_torch.loader import workers
    except ImportError:
        return None
    change = getattr(workers, "set_" + target[len("loader.") :], None)
    return Knob(bool, "a value", set=change) if change else None


def find(target: str) -> Knob:
    knob = of_loader(target) if target.startswith("loader.") else TABLE.get(target)
    if knob is None:
        raise Refused("this shim has no knob %s" % (target[:60],))
    return knob


def parse(text: str) -> Tuple[str, Knob, str]:
    """Of "target=value"."""
    target, equals, value = text.strip().partition("=")
    if not equals:
        raise Refused("'%s' is not of the form target=value" % (text[:60],))
    if "," in value and "=" in value:
        raise Refused("settings stand with ; between, not with a comma as in '%s'" % (text[:60],))
    knob = find(target)
    if not knob.check(value):
        raise Refused("%s takes %s, not '%s'" % (target, knob.values, value[:40]))
    return target, knob, value


def change(loop: Loop, target: str, knob: Knob, value: str) -> None:
    if knob.set is None:
        raise Refused("%s takes effect when the job starts" % (target,))
    knob.set(loop, value)
    loop.in_force[target] = value


def what_is_in_force(loop: Loop, target: str, knob: Knob) -> str:
    try:
        value = knob.now(loop) if knob.now else loop.in_force.get(target)
    except Exception:
        value = None
    return "%s=%s is in force" % (target, value) if value else "what is in force is not known"


def take_back(loop: Loop, done: List[Tuple[str, Knob, Optional[str]]]) -> None:
    """What was set before another one was refused. Of what brim had not set it is known for those
    that are yes or no."""
    for target, knob, before in reversed(done):
        change(loop, target, knob, "no" if before is None else before)


def carry_out(loop: Loop, text: str) -> Tuple[int, str]:
    """A request, of settings that are all made or none: how it went, and why not."""
    done: List[Tuple[str, Knob, Optional[str]]] = []
    try:
        asked = [parse(each) for each in text.split(";")]
    except Refused as e:
        return codes.REFUSED, str(e)
    target, knob, value = asked[0]
    try:
        for target, knob, value in asked:
            before = loop.in_force.get(target)
            change(loop, target, knob, value)
            done.append((target, knob, before))
    except Refused as e:
        take_back(loop, done)
        return codes.REFUSED, str(e)
    except Exception as e:
        why = "%s: %s" % (type(e).__name__, str(e)[:100])
        return codes.FAILED, "%s; %s" % (why, what_is_in_force(loop, target, knob))
    return codes.DONE, ""
