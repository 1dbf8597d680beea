"""Agents that are not there: each answers as it is told, on a loopback address of its own.

    with Agents() as agents:
        agents.add(report(state="idle"))      a node's report
        agents.add("silent")                  or what nodes do that have no agent: see WAYS
        agents.names                          as brim top --nodes takes them
"""

import asyncio
import contextlib
import json
import socket
import threading

TOKEN = "0123456789abcdef"
LARGE = 1 << 20


def report(**changes):
    """What an agent of a node that is well answers, but for what is said."""
    made = {
        "schema": "brim.node.v1", "version": "0.1.0", "host": "n1", "time_ms": 1795234118000,
        "state": "ok", "severity": "note", "bottleneck": None,
        "sentence": "nothing is at its limit: CPUs 34 %", "waste": None, "action": None,
        "run": None, "gpus": 8, "gpus_idle": 0, "gpus_lost": 0, "gpu_hours_lost_per_h": 0.3,
        "alerts_critical": 0, "alerts_warning": 0, "alert": None, "runs": 1,
    }
    made.update(changes)
    return made


def limited(**changes):
    return report(**{
        "state": "limit", "severity": "warning", "bottleneck": "storage", "gpus_idle": 5,
        "gpu_hours_lost_per_h": 5.1,
        "sentence": "storage limits this node: disk vda is 98 % busy and takes 84 ms a request; "
                    "8 GPUs wait 62 % of the time",
        **changes})


def head(status, length=None):
    line = "" if length is None else "Content-Length: %d\r\n" % length
    return ("HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sConnection: close\r\n\r\n"
            % (status, line)).encode()


def answer(made):
    text = json.dumps(made).encode()
    return head("200 OK", len(text)) + text


async def silent(reader, _):
    await reader.read()  # until the one that asks goes away


async def trickle(reader, writer):
    """A byte at a time, and never all of them while somebody waits."""
    writer.write(head("200 OK", 10000))
    while not writer.is_closing() and not reader.at_eof():
        writer.write(b" ")
        await writer.drain()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.02)


def says(*parts):
    async def serve(_, writer):
        for part in parts:
            writer.write(part)
        await writer.drain()

    return serve


async def locked(reader, writer, request):
    """An agent with a token."""
    wanted = b"\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"
    refusal = b"a token is needed\n"
    writer.write(answer(report()) if wanted in request else head("401 no", len(refusal)) + refusal)
    await writer.drain()


OWN = b"this is served under 127.0.0.1 and localhost only\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
# {what a node does that has no report: how}
WAYS = {
    "closed": says(),
    "cut": says(head("200 OK", 5000), b"{"),
    "silent": silent,
    "trickle": trickle,
    "no agent": says(b"SSH-2.0-OpenSSH_9.2p1\r\n"),
    "web page": says(head("200 OK"), b"<!doctype html><title>hello</title>"),
    "redirect": says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
                     b"Content-Length: 0\r\n\r\n"),
    "huge": says(head("200 OK", LARGE), b"x" * LARGE),
    "endless": says(head("200 OK"), b" " * LARGE),
    "long head": says(b"HTTP/1.1 200 OK\r\nX: " + b"x" * LARGE),
    "chunked": says(CHUNKED),
    "not found": says(head("404 no", 0)),
    "own only": says(head("403 no", len(OWN)), OWN),
    "busy": says(head("503 no", 0)),
    "locked": locked,
}


class Agents:
    def __init__(self):
        self.names, self.asked, self._made = [], [], 0
        self._sockets, self._servers = [], []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        for one in self._sockets:
            one.close()

    async def _end(self):
        for server in self._servers:
            server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _address(self):
        self._made += 1
        return "127.0.%d.%d" % (self._made // 250 + 1, self._made % 250 + 1)

    def add(self, what):
        """A node that answers so; its name."""
        one = socket.socket()
        self._sockets.append(one)
        one.bind((self._address(), 0))
        name = "%s:%d" % one.getsockname()
        self.names.append(name)
        if what != "refused":
            one.listen(16)
            done = self._serve(one, name, what if isinstance(what, str) else answer(what))
            asyncio.run_coroutine_threadsafe(done, self._loop).result(60)
        return name

    async def _serve(self, one, name, what):
        async def on_client(reader, writer):
            with contextlib.suppress(OSError, asyncio.CancelledError):
                try:
                    request = await reader.readuntil(b"\r\n\r\n")
                    self.asked.append((name, request))
                    await self._reply(what, reader, writer, request)
                finally:
                    writer.close()

        self._servers.append(await asyncio.start_server(on_client, sock=one))

    @staticmethod
    async def _reply(what, reader, writer, request):
        if isinstance(what, bytes):
            writer.write(what)
            await writer.drain()
        elif what == "locked":
            await locked(reader, writer, request)
        else:
            await WAYS[what](reader, writer)

    @property
    def list(self):
        return ",".join(self.names)
