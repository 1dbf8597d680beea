"""How answers of a worker come to the job: pickled, and the shared memory of their tensors as
descriptors, through the same pipe. Multiprocessing's own way is a server in each worker, with a
folder in TMPDIR that stays when the worker is killed, or ended with the job as daemons are."""

import errno
import io
import os
import pickle
import socket
import time
from multiprocessing import context
from multiprocessing.reduction import ForkingPickler, recvfds, sendfds
from typing import Any, List, Tuple

MOST = 200  # descriptors at a time: the kernel takes 253
COUNT_B = 4  # of a message: how many descriptors follow it
RETRY_S = 0.005  # while the kernel holds more of them than the user may have open


class Place:
    """A descriptor among those of a message."""

    def __init__(self, place: int) -> None:
        self.place = place


class Gathered:
    """Stands where multiprocessing has the process that it starts: who pickles a descriptor asks
    that for a stand-in."""

    def __init__(self) -> None:
        self.fds: List[int] = []

    def duplicate_for_child(self, fd: int) -> int:
        self.fds.append(os.dup(fd))
        return len(self.fds) - 1

    def DupFd(self, place: int) -> Place:
        return Place(place)


class Came:
    """A descriptor that came: who rebuilds a tensor takes it, and closes it."""

    def __init__(self, fds: List[int], place: int) -> None:
        self.fds, self.place = fds, place

    def detach(self) -> int:
        fd, self.fds[self.place] = self.fds[self.place], -1
        return fd


class Pickler(ForkingPickler):
    def persistent_id(self, value: Any) -> Any:
        return value.place if type(value) is Place else None


class Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, fds: List[int]) -> None:
        super().__init__(file)
        self.fds = fds

    def persistent_load(self, place: Any) -> Any:
        return Came(self.fds, place)


def close(fds: List[int]) -> None:
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def dump(value: Any) -> Tuple[io.BytesIO, List[int]]:
    """A message, and the descriptors that go with it, which are the caller's to close()."""
    gathered, message = Gathered(), io.BytesIO()
    before = context.get_spawning_popen()
    message.write(bytes(COUNT_B))
    context.set_spawning_popen(gathered)
    try:
        Pickler(message).dump(value)
    except BaseException:
        close(gathered.fds)
        raise
    finally:
        context.set_spawning_popen(before)
    message.getbuffer()[:COUNT_B] = len(gathered.fds).to_bytes(COUNT_B, "little")
    return message, gathered.fds


def send(conn: Any, message: io.BytesIO, fds: List[int]) -> None:
    conn.send_bytes(message.getbuffer())
    if not fds:
        return
    with socket.fromfd(conn.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as pipe:
        for at in range(0, len(fds), MOST):
            send_some(pipe, fds[at : at + MOST])


def send_some(pipe: socket.socket, fds: List[int]) -> None:
    while True:
        try:
            sendfds(pipe, fds)
            return
        except OSError as e:
            if e.errno != errno.ETOOMANYREFS:
                raise
            time.sleep(RETRY_S)  # until the job has taken others


def receive(conn: Any) -> Any:
    """The next answer. What it raises leaves a pipe that cannot be read on."""
    data = conn.recv_bytes()
    count = int.from_bytes(data[:COUNT_B], "little")
    fds: List[int] = []
    try:
        if count:
            with socket.fromfd(conn.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as pipe:
                while len(fds) < count:
                    fds += recvfds(pipe, min(MOST, count - len(fds)))
        message = io.BytesIO(data)
        message.seek(COUNT_B)
        return Unpickler(message, fds).load()
    finally:
        close(fds)
