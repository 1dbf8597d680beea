#!/usr/bin/env python3
"""A store of photos that is far away: each answer takes --latency-ms. Made-up pixels, compressed.
Prints its address, and ends when its standard input does."""

import argparse
import os
import random
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SIDE = 48


def photo(number):
    pixels = random.Random(number).randbytes(256) * (3 * SIDE * SIDE // 256 + 1)
    return zlib.compress(pixels[: 3 * SIDE * SIDE])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    latency_s = 0.0

    def do_GET(self):
        time.sleep(self.latency_s)
        data = photo(int(self.path.rsplit("/", 1)[1]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--latency-ms", type=float, default=8)
    p.add_argument("--port", type=int, default=0)
    a = p.parse_args()
    Handler.latency_s = a.latency_ms / 1e3
    server = Server(("127.0.0.1", a.port), Handler)
    print("http://127.0.0.1:%d" % server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while os.read(sys.stdin.fileno(), 4096):
        pass


if __name__ == "__main__":
    main()
