"""A cheap load generator: keep-alive connections, ready-made requests, no library.

It shares the machine with what it measures, so its own cost is part of every figure; it is the
same for both sides of a comparison.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

Handle = Callable[[bytes, bytes], None]
"""Takes a request and the body of its answer."""


@dataclass(frozen=True)
class Load:
    """The outcome of a burst of requests.

    Attributes:
        requests: how many were answered.
        seconds: how long they took in all.
        latencies: of each, in seconds, sorted.
        failures: answers whose status was not 2xx.
    """

    requests: int
    seconds: float
    latencies: list[float]
    failures: int

    @property
    def per_second(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    def quantile(self, q: float) -> float:
        """Return a quantile of the latencies, in seconds."""
        return self.latencies[min(int(q * len(self.latencies)), len(self.latencies) - 1)]


def post(path: str, body: bytes, headers: dict[str, str] | None = None) -> bytes:
    """Return a POST request as bytes."""
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


class _Connection(asyncio.Protocol):
    """One connection: a request, its response, the next request."""

    def __init__(
        self, requests: Iterator[bytes], handle: Handle | None, latencies: list[float]
    ) -> None:
        self._requests = requests
        self._handle = handle
        self._latencies = latencies
        self._buffer = b""
        self._sent = 0.0
        self._request = b""
        self._transport: asyncio.Transport | None = None
        self.failures = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not a subclass
        self._send()

    def _send(self) -> None:
        assert self._transport is not None
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            return
        self._request = request
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        at = head.index(b"content-length:") + 15
        length = int(head[at : (head + b"\r").index(b"\r", at)])
        if len(self._buffer) < end + 4 + length:
            return
        body = self._buffer[end + 4 : end + 4 + length]
        self._latencies.append(time.perf_counter() - self._sent)
        if head[9:10] != b"2":
            self.failures += 1
        elif self._handle is not None:
            self._handle(self._request, body)
        self._buffer = b""
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


def burst(
    ports: Sequence[int], requests: Iterator[bytes], connections: int, handle: Handle | None = None
) -> Load:
    """Send requests over so many connections, each as soon as the response before it came.

    The connections are spread over the ports, as a proxy would do.
    """

    async def run() -> Load:
        loop = asyncio.get_running_loop()
        latencies: list[float] = []
        shared = iter(requests)
        start = time.perf_counter()
        made = [
            await loop.create_connection(
                lambda: _Connection(shared, handle, latencies), "127.0.0.1", port
            )
            for port in itertools.islice(itertools.cycle(ports), connections)
        ]
        for _, connection in made:
            await connection.done
        seconds = time.perf_counter() - start
        failures = sum(connection.failures for _, connection in made)
        return Load(len(latencies), seconds, sorted(latencies), failures)

    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(run())


def numbered(make: Callable[[int], bytes], count: int) -> Iterator[bytes]:
    """Return requests made from the numbers 0, 1, ..."""
    return map(make, itertools.islice(itertools.count(), count))
