"""A session on a pseudo terminal of the test's own."""

import contextlib
import os
import pty
import select
import time


class Terminal:
    """A shell-less session on a pty: what runs in it is its leader."""

    def __init__(self, runs, script):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "-ic", script], dict(runs.env, PS1=""))
        self.said = b""

    def until(self, word, seconds=60):
        end = time.monotonic() + seconds
        while word not in self.said:
            left = end - time.monotonic()
            assert left > 0, self.said
            if select.select([self.fd], [], [], left)[0]:
                try:
                    self.said += os.read(self.fd, 65536)
                except OSError:
                    break
        assert word in self.said, self.said

    def end(self):
        """The status of what has ended by itself."""
        with contextlib.suppress(OSError):  # all of it has closed the terminal
            while os.read(self.fd, 65536):
                pass
        return self.close()

    def close(self):
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
