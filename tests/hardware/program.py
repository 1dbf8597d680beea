"""brim itself: the one that was named, the one that was packed, or one that gcc makes here."""

import os
import pathlib
import platform
import time

import pack
from section import ROOT, Failed

TITLE = "The program"
LIMIT_S = 150
PACKED = ROOT / "build" / "hardware"
BUILT = ROOT / "build" / "gcc" / "src" / "cmd" / "brim"
SHIM = ROOT / "plugins" / "torch"
MARKS = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from brim_torch.marks import ring; print(type(ring.choose()).__name__)"
)
CUDA = "import torch; torch.zeros(1, device='cuda'); print('CUDA', torch.version.cuda)"
# How marks are made, by the type that the shim chooses.
WAYS = {"module": "the extension in C", "LibraryRing": "libbrim-step", "PythonRing": "Python alone"}


def starts(here, program):
    """What it says of itself; None where it does not start."""
    if not program.exists():
        return None
    try:
        done = here.run(program, "--version", limit=20)
    except Failed:
        return None
    return done.out.strip() if done.status == 0 else None


def find(here, found):
    """The program, by the first way that leads to one."""
    named = os.environ.get("BRIM")
    packed = PACKED / "src" / "cmd" / "brim"
    ways = [(packed, "as it was packed"), (BUILT, "built")]
    for program, way in [(named, "BRIM names it"), *(ways[::-1] if here.dry else ways)]:
        told = starts(here, pathlib.Path(program).resolve()) if program else None
        if told:
            found.note("the program", told, way)
            return pathlib.Path(program).resolve()
    seconds = pack.compile_here(PACKED, here.left())
    told = starts(here, packed)
    if not told:
        raise Failed("what gcc made of the packed sources does not start")
    found.note("the program", told, "gcc made it here in %.0f s" % seconds)
    return packed


def marks(here, found):
    """By which way the shim marks: a pack has the extension."""
    folders = (here.brim.parents[2] / "plugins" / "torch", here.brim.parents[2] / "src" / "step")
    env = {"BRIM_LIB": ":".join(map(str, folders))}
    way = here.must(here.python, "-c", MARKS, SHIM, limit=30, **env).out.strip()
    found.judge("marks by", WAYS.get(way, way), "C", way in ("module", "LibraryRing"))


def torch(here, found):
    """That it reaches the GPU. Its files are in memory then: no later section waits for them."""
    begin = time.monotonic()
    done = here.run(here.python, "-c", CUDA, limit=min(100, here.left()))
    told = done.out.strip() if done.status == 0 else done.last_line()
    took = "its first start took %.0f s" % (time.monotonic() - begin)
    found.judge("PyTorch", told, took, done.status == 0)


def run(here, found):
    here.brim = find(here, found)
    found.note("libc", " ".join(platform.libc_ver()) or "not known")
    libraries = pack.needed(here.brim)
    found.note("libraries that it needs", ", ".join(libraries) or "not known")
    marks(here, found)
    if not here.dry:
        torch(here, found)
