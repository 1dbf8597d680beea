"""Found by every Python below "brim run" through PYTHONPATH: prepares brim_torch where BRIM_RING is
set, then runs the sitecustomize that this one hides (a distribution's, conda's, the user's)."""

import os
import sys


def _start() -> None:
    if not os.environ.get("BRIM_RING") or os.environ.get("BRIM_SHIM") == "0":
        return
    try:
        from brim_torch import finder

        finder.install()
    except Exception as e:
        try:
            sys.stderr.write("brim: the shim did not start (%r)" % (e,))
            sys.stderr.write("; the job goes on without it\n")
        except Exception:
            pass


def _chain() -> None:
    """Run the next sitecustomize under its name. What it raises goes to site, as without brim."""
    here = os.path.realpath(os.path.dirname(__file__))
    rest = [p for p in sys.path if os.path.realpath(p or ".") != here]
    finders = [f for f in sys.meta_path if getattr(f, "__name__", "") == "PathFinder"]
    spec = finders[0].find_spec("sitecustomize", rest) if finders else None
    if spec is None or spec.loader is None:
        return
    module = type(sys)("sitecustomize")
    module.__spec__ = spec
    module.__loader__ = spec.loader
    module.__file__ = spec.origin
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_chain()
