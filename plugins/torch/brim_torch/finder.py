"""Waits for torch to be imported. Loaded by every Python below "brim run": imports nothing (typing
alone takes 8 ms, so the types are for checkers and stand in quotes)."""

import sys

MYPY = False
if MYPY:
    from typing import Any, Callable, Optional


class Loader:
    """Stands in for a module's loader until the module is executed."""

    def __init__(self, inner: "Any", finder: "Finder") -> None:
        self.inner = inner
        self.finder = finder

    def create_module(self, spec: "Any") -> "Any":
        return self.inner.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        module.__loader__ = module.__spec__.loader = self.inner
        self.inner.exec_module(module)
        self.finder.remove()
        self.finder.then(module)


class Finder:
    """Finds one module as the other finders do, and calls then(module) when it was executed."""

    def __init__(self, name: str, then: "Callable[[Any], None]") -> None:
        self.name = name
        self.then = then

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Optional[Any]":
        if name != self.name:
            return None
        for other in list(sys.meta_path):
            find = getattr(other, "find_spec", None)
            spec = find(name, path, target) if find and other is not self else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module") and hasattr(spec.loader, "create_module"):
                    spec.loader = Loader(spec.loader, self)
                return spec
        return None

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def hook(torch: "Any") -> None:
    try:
        from brim_torch import shim

        shim.install(torch)
    except Exception as e:
        sys.stderr.write("brim: the shim did not start (%r); the job goes on without it\n" % (e,))


def install() -> None:
    sys.meta_path.insert(0, Finder("torch", hook))  # type: ignore[arg-type]
