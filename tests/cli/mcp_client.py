"""A client of brim mcp over pipes: as small as the protocol allows."""

import json
import os
import select
import signal
import subprocess
import time

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {}}
PATIENCE = 60


class Client:
    """A server of its own, ended with the test. What it says on stderr is in errors()."""

    def __init__(self, brim, folder, *args, env=None):
        base = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE_", "LD_"))}
        base.update(BRIM_CONF="/nonexistent/brim.conf", STATE_DIRECTORY=str(folder))
        base.update(env or {})
        self.stderr = folder / "stderr"
        with self.stderr.open("w") as err:
            self.process = subprocess.Popen(
                [brim.program, "mcp", *[str(a) for a in args]], env=base, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=err, cwd=str(folder), bufsize=0
            )
        self.left, self.ids = b"", 0

    def write(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        while data:
            data = data[self.process.stdin.write(data):]

    def send(self, method, params=None, **more):
        message = {"jsonrpc": "2.0", "method": method, **more}
        if params is not None:
            message["params"] = params
        self.write(json.dumps(message) + "\n")

    def receive(self):
        """The next answer; None where there will be none."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.left:
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            assert ready, "no answer in %d s" % PATIENCE
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                assert not self.left, "an answer ends without a newline"
                return None
            self.left += piece
        line, _, self.left = self.left.partition(b"\n")
        message = json.loads(line.decode())
        assert message["jsonrpc"] == "2.0" and "id" in message
        return message

    def ask(self, method, params=None):
        """The answer to a request, when no other goes on."""
        self.ids += 1
        self.send(method, params, id=self.ids)
        answer = self.receive()
        assert answer["id"] == self.ids
        return answer

    def hello(self, version="2025-11-25"):
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                         "clientInfo": {"name": "test", "version": "1"}})
        self.send("notifications/initialized")
        return answer["result"]

    def begin(self, tool, id, **arguments):
        """A call whose answer is for receive()."""
        self.send("tools/call", {"name": tool, "arguments": arguments}, id=id)

    def call(self, tool, **arguments):
        """The result of a call."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return answer["result"]

    def children(self):
        """Its processes."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(child) for child in f.read().split()]

    def errors(self):
        return self.stderr.read_text()

    def close(self):
        """End its input; its status."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()


def text_of(result):
    """The texts of a result."""
    return "\n".join(item["text"] for item in result["content"] if item["type"] == "text")
