"""A real receiver of notices, which fails, hangs and redirects when it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """What came, and what is replied: `reply` is given the number of the request, from 1.

    A reply is a status, or a function that is called with the handler and returns one.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.reply: Callable[[int], Any] = lambda _: 204
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()

    @property
    def kinds(self) -> list[str]:
        return [json.loads(body)["kind"] for body in self.bodies]

    def came(self, handler: BaseHTTPRequestHandler) -> int:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        with self._lock:
            self.bodies.append(body)
            self.headers.append({name.lower(): one for name, one in handler.headers.items()})
            number = len(self.bodies)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            answer = self.reply(number)
            return int(answer(handler) if callable(answer) else answer)
        finally:
            with self._lock:
                self.at_once -= 1


def slow(seconds: float, status: int = 204) -> Callable[[object], int]:
    def reply(_: object) -> int:
        time.sleep(seconds)
        return status

    return reply


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = receiver.came(self)
            try:
                self.send_response(status)
                self.send_header("location", f"{receiver.url}/elsewhere")
                self.end_headers()
                self.wfile.write(b"x" * 100_000)
            except OSError:
                pass  # the sender did not wait, or reads no body

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
