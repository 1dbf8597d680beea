"""Attributes that are replaced, and put back exactly."""

from typing import Any, Callable, List, Tuple

_ABSENT = object()


class Patches:
    def __init__(self) -> None:
        self.done: List[Tuple[Any, str, Any, Any]] = []
        self.others: List[Callable[[], None]] = []

    def set(self, owner: Any, name: str, new: Any) -> None:
        """owner is a class or a module. What it inherits is found again when new is taken away."""
        old = owner.__dict__.get(name, _ABSENT)
        setattr(owner, name, new)
        self.done.append((owner, name, old, owner.__dict__[name]))

    def on_undo(self, undo: Callable[[], None]) -> None:
        self.others.append(undo)

    def _put_back(self, owner: Any, name: str, old: Any, new: Any) -> None:
        if owner.__dict__.get(name, _ABSENT) is not new:
            return  # somebody else wrapped ours since: it stays, and does nothing more
        if old is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, old)

    def undo_some(self, which: Callable[[Any, str], bool]) -> None:
        """Those of which(owner, name), the latest first."""
        for entry in reversed([e for e in self.done if which(e[0], e[1])]):
            self.done.remove(entry)
            self._put_back(*entry)

    def undo(self) -> None:
        while self.others:
            self.others.pop()()
        while self.done:
            self._put_back(*self.done.pop())
