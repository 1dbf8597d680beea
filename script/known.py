"""What was found good, and is not looked at again while all that it is made of is the same.

An empty file for each, in $XDG_CACHE_HOME/brim (~/.cache); what was of no use for a month goes."""

import contextlib
import hashlib
import os
import pathlib
import time

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "brim"
KEPT_S = 30 * 86400


class Known:
    """What one kind of look found good: a folder of its own. A name says all that a verdict is
    made of: name()."""

    def __init__(self, kind):
        self.folder = CACHE / kind
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            for old in self.folder.iterdir():
                if time.time() - old.stat().st_mtime > KEPT_S:
                    old.unlink(missing_ok=True)

    def __contains__(self, name):
        """From now on it was of use."""
        try:
            os.utime(self.folder / name)
        except OSError:
            return False
        return True

    def add(self, name):
        """Where there is no room, or no home, it is looked at again."""
        with contextlib.suppress(OSError):
            (self.folder / name).touch()


def name(*parts):
    """One for texts and bytes: others have another."""
    h = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        h.update(b"%d:" % len(data) + data)
    return h.hexdigest()
