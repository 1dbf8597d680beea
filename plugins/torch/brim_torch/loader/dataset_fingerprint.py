"""What a dataset looks like from outside, so that a change by the job is seen while workers have
copies of it; and what it holds that decides whether copies will do: generators of random numbers,
connections."""

import collections
import random
import sys
from typing import Any, Callable, Dict, List, Tuple

DEPTH = 4
NODES = 2000
ELEMENTS = 32  # of a container that are looked at
SMALL_B = 4096  # of an array whose content is looked at

PLAIN = (int, float, complex, str, bytes, bool, type(None))
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
CONNECTIONS = (
    *("socket", "_socket", "ssl", "sqlite3", "psycopg2", "psycopg", "pymysql", "MySQLdb"),
    *("redis", "requests", "http", "urllib3", "paramiko", "grpc", "pymongo"),
)


def children(value: Any) -> Any:
    """What a container or an object holds."""
    if isinstance(value, dict):
        return list(value.values()) if len(value) <= ELEMENTS else ()
    if isinstance(value, CONTAINERS):
        return list(value) if len(value) <= ELEMENTS else ()
    held = getattr(value, "__dict__", None)
    if type(held) is not dict or isinstance(value, (type, type(sys))):
        return ()
    return list(held.values())


def walk(roots: Any, visit: Callable[[Any], Any]) -> None:
    """Calls visit for what can be reached and has parts, breadth first; each once."""
    seen = set()
    level = list(roots)
    for _ in range(DEPTH):
        below: List[Any] = []
        for value in level:
            if id(value) in seen or len(seen) >= NODES:
                continue
            seen.add(id(value))
            try:
                visit(value)
                below.extend(each for each in children(value) if not isinstance(each, PLAIN))
            except Exception:
                pass  # what cannot be looked into is left alone
        level = below


class Fingerprint:
    """of(x) is equal as long as nothing was set in x, added, taken away, or written in place: down
    to DEPTH, in containers that are not large; of larger ones only the number of elements."""

    def __init__(self, torch: Any) -> None:
        self.tensor = torch.Tensor

    def one(self, value: Any) -> Any:
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, self.tensor):
            return (id(value), value._version)
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, getattr(numpy, "ndarray", ())):
            small = value.nbytes <= SMALL_B and value.dtype.kind != "O"
            return (id(value), value.shape, value.tobytes() if small else b"")
        if isinstance(value, CONTAINERS):
            return (id(value), len(value))
        return id(value)

    def of(self, *roots: Any) -> Tuple[Any, ...]:
        """Equal to itself alone where it was taken of the same objects, which are still there."""
        found: List[Any] = []

        def visit(value: Any) -> None:
            found.append(self.one(value))
            held = getattr(value, "__dict__", None)
            if isinstance(value, dict) and len(value) <= ELEMENTS:
                held = value
            if type(held) is dict and not isinstance(value, (type, type(sys))):
                for name, each in held.items():
                    found.append((name, self.one(each)))
            elif isinstance(value, CONTAINERS) and len(value) <= ELEMENTS:
                found.extend(self.one(each) for each in value)

        walk(roots, visit)
        return tuple(found)


def connection(root: Any) -> str:
    """The name of a connection's type that is held; ""."""
    found: List[str] = []

    def visit(value: Any) -> None:
        kind = type(value)
        if str(kind.__module__).split(".")[0] in CONNECTIONS:
            found.append("%s.%s" % (kind.__module__, kind.__name__))

    walk([root], visit)
    return found[0] if found else ""


class Streams:
    """The generators of random numbers that a dataset may draw from: state() changes when one of
    them was used."""

    def __init__(self, torch: Any, *roots: Any) -> None:
        import ctypes

        self.torch = torch
        self.bytes_at = ctypes.string_at
        self.held: Dict[int, Callable[[], Any]] = {}
        self.generator = torch.Generator
        walk(roots, self.visit)

    def of_torch(self, state: Any) -> bytes:
        return self.bytes_at(state.data_ptr(), state.numel())

    @staticmethod
    def of_numpy(state: Any) -> Any:
        return state[1].tobytes(), state[2:]

    def visit(self, value: Any) -> None:
        numpy = sys.modules.get("numpy.random")
        if isinstance(value, self.generator):
            self.held[id(value)] = lambda: self.of_torch(value.get_state())
        elif isinstance(value, random.Random):
            self.held[id(value)] = value.getstate
        elif numpy is not None and isinstance(value, numpy.RandomState):
            self.held[id(value)] = lambda: self.of_numpy(value.get_state())
        elif numpy is not None and hasattr(numpy, "Generator"):
            if isinstance(value, numpy.Generator):
                self.held[id(value)] = lambda: repr(value.bit_generator.state)

    def differ(self, before: Tuple[Any, ...], after: Tuple[Any, ...]) -> bool:
        """Numpy that was imported in between has drawn nothing."""
        new = before[2] is None
        return before != (after[:2] + (None,) + after[3:] if new else after)

    def state(self) -> Tuple[Any, ...]:
        numpy = sys.modules.get("numpy.random")
        return (
            random.getstate(),
            self.of_torch(self.torch.random.get_rng_state()),
            None if numpy is None else self.of_numpy(numpy.get_state()),
            [state() for state in self.held.values()],
        )
