"""A batch as 20 bytes: equal for two batches when types, shapes and every bit of theirs are."""

import ctypes
import hashlib
import sys
from typing import Any, Callable, List

DEPTH = 16
PLAIN = (int, float, complex, str, bytes, bool, type(None))


class Unknown(Exception):
    """Something that cannot be compared; its text is the type."""


class Digest:
    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.size_b = 0  # of the tensors that were looked at
        self.tensors = 0
        self.places: List[int] = []  # where their bytes are

    def of(self, batch: Any) -> str:
        self.size_b = self.tensors = 0
        self.places = []
        hasher = hashlib.blake2b(digest_size=20)
        self.add(hasher.update, batch, 0)
        return hasher.hexdigest()

    def add(self, put: Callable[[Any], None], value: Any, depth: int) -> None:
        if depth > DEPTH:
            raise Unknown("something deeper than %d levels" % DEPTH)
        kind = type(value)
        put(("%s.%s(" % (kind.__module__, kind.__qualname__)).encode())
        if isinstance(value, self.torch.Tensor):
            self.tensor(put, value)
        elif isinstance(value, PLAIN):
            put(repr(value).encode("utf-8", "surrogatepass"))
        elif isinstance(value, dict):
            for key, each in value.items():
                self.add(put, key, depth + 1)
                self.add(put, each, depth + 1)
        elif isinstance(value, (list, tuple)):
            for each in value:
                self.add(put, each, depth + 1)
        elif isinstance(value, (set, frozenset)):
            put(repr(sorted(map(repr, value))).encode())
        else:
            self.other(put, value, depth)
        put(b")")

    def tensor(self, put: Callable[[Any], None], value: Any) -> None:
        if value.layout != self.torch.strided or value.is_quantized:
            raise Unknown("a tensor that is not dense")
        if value.device.type != "cpu":
            raise Unknown("a tensor on %s" % (value.device,))
        put(repr((value.dtype, tuple(value.shape), value.stride(), value.requires_grad)).encode())
        plain = value.detach().contiguous()
        size = plain.numel() * plain.element_size()
        self.size_b += size
        self.tensors += 1
        self.places += [value.data_ptr()] if size else []
        if size:
            put((ctypes.c_char * size).from_address(plain.data_ptr()))

    def other(self, put: Callable[[Any], None], value: Any, depth: int) -> None:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            put(repr((value.dtype.str, value.shape)).encode())
            if value.dtype.hasobject:
                self.add(put, value.tolist(), depth + 1)
            else:
                put(value.tobytes())
            return
        held: List[Any] = []
        if type(getattr(value, "__dict__", None)) is dict:
            held.append(value.__dict__)
        slots = getattr(type(value), "__slots__", ())
        if slots:
            names = [slots] if isinstance(slots, str) else list(slots)
            held.append([getattr(value, name, None) for name in names])
        if not held or callable(value) or isinstance(value, type):
            raise Unknown("an object of %s" % (type(value).__name__,))
        for each in held:
            self.add(put, each, depth + 1)
