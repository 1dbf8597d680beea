"""Many clients of an agent at once, in one thread."""

import json
import re
import selectors
import time

from served import Unchunked, request, status_of


class Load:
    """Scrapers and stream clients in one thread, on one selector."""

    def __init__(self, agent):
        self.agent = agent
        self.selector = selectors.DefaultSelector()
        self.latencies = []
        self.broken = []
        self.events = {}
        self.waiting = []

    def scraper(self, keep_alive):
        headers = [] if keep_alive else ["Connection: close"]
        self._scrape({"what": request("/metrics", *headers), "keep": keep_alive})

    def _scrape(self, state):
        state.setdefault("socket", None)
        if not state["socket"]:
            state["socket"] = self.agent.connect()
            self.selector.register(state["socket"], selectors.EVENT_READ, state)
        state["begin"], state["raw"] = time.perf_counter(), b""
        state["socket"].sendall(state["what"])

    def listener(self, index):
        s = self.agent.connect()
        s.sendall(request("/api/v1/live"))
        state = {"socket": s, "stream": Unchunked(), "text": b"", "index": index}
        self.events[index] = []
        self.selector.register(s, selectors.EVENT_READ, state)

    def _on_stream(self, state, data):
        if not data:
            self.broken.append("stream %d ended" % state["index"])
            return self._forget(state)
        state["text"] += state["stream"].add(data)
        *whole, state["text"] = state["text"].split(b"\n\n")
        for event in whole:
            assert event.startswith(b"data: "), event[:80]
            self.events[state["index"]].append(json.loads(event[6:])["time_ms"])
        return None

    def _on_scrape(self, state, data):
        state["raw"] += data
        head, end, body = state["raw"].partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head) if end else None
        if not data and not length:
            self.broken.append("a scrape was cut off")
            return self._forget(state)
        if not length or len(body) < int(length.group(1)):
            return None
        self.latencies.append((time.perf_counter() - state["begin"]) * 1e3)
        if status_of(head) != 200 or b"brim_agent_ticks_total" not in body:
            self.broken.append(head)
        if not state["keep"]:
            self._forget(state)
        state["next"] = time.monotonic() + 1
        self.waiting.append(state)
        return None

    def _forget(self, state):
        self.selector.unregister(state["socket"])
        state["socket"].close()
        state["socket"] = None

    def run(self, seconds, until=lambda: False):
        """Each scraper once a second, for so long at most."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            for key, _ in self.selector.select(0.05):
                data = key.fileobj.recv(1 << 16)
                on = self._on_stream if "stream" in key.data else self._on_scrape
                on(key.data, data)
            now = time.monotonic()
            ready = [s for s in self.waiting if s["next"] <= now]
            self.waiting = [s for s in self.waiting if s["next"] > now]
            for state in ready:
                self._scrape(state)

    def close(self):
        for key in list(self.selector.get_map().values()):
            self._forget(key.data)
