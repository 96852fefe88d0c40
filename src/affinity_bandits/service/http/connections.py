"""Connections: limits on their number, on the size of heads, and on how long a client may take.

Uvicorn alone has a limit on the pause between two requests, and no other. Here the clock runs only
while it is the client that is waited for, and is looked at once a second for all connections
together, so that a request pays for none of it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from affinity_bandits.service.core.addresses import source_of
from affinity_bandits.service.http.proxies import Proxies

MOST_CONNECTIONS = 900
"""Of a process, unless told otherwise: with the database's and the log they fit the 1,024 open
files that most systems allow a process."""
LARGEST_HEAD = 65_536
"""Bytes of a request line and its headers, to within what arrives at once."""
MOST_PIPELINED = 16
"""Requests sent ahead on one connection. Few clients send any, and all of what arrives at once is
parsed before anything else has its turn."""
HEAD_SECONDS = 10.0
"""For a head, from its first byte; and for the first byte of a connection."""
BODY_SECONDS = 20.0
"""For a body, besides what its size allows."""
BODY_RATE = 100.0
"""Bytes of a body for which a client has another second. Lines of single answers, sent as people
give them, are slower than any other honest body."""
HELD_RATE = 100 * BODY_RATE
"""The same of what is kept in memory until it is all there: a body, or of lines the last one, from
the end of the one before."""
LINES = "/tells"
"""How the path ends where lines are worked on as they come."""
IDLE_SECONDS = 10.0
"""Between requests. Uvicorn's own clock stops at the first byte, also one that begins no head."""
UNREAD_SECONDS = 20.0
"""For a client to read anything at all of what it was sent."""
LOOK_SECONDS = 1.0
"""Between two looks at all connections, which take a millisecond for some thousand."""

_SLOW = b"Request not sent in time."
_FULL = b"Too many connections."


def _refusal(status: bytes, words: bytes) -> bytes:
    lines = (
        b"HTTP/1.1 " + status,
        b"content-type: text/plain; charset=utf-8",
        b"content-length: %d" % len(words),
        b"retry-after: 1",
        b"connection: close",
        b"",
        words,
    )
    return b"\r\n".join(lines)


class Doorkeeper:
    """The connections of one process, and the limits that they keep.

    Args:
        most: connections at once; one address has half of them at most.
        proxies: may have all.
        patience: what all time limits are multiplied by.
    """

    def __init__(
        self, most: int = MOST_CONNECTIONS, proxies: Proxies | None = None, patience: float = 1.0
    ) -> None:
        self.patience = patience
        self._most = most
        self._most_of_one = max(1, most // 2)
        self._proxies = proxies or Proxies()
        self._open: set[Connection] = set()
        self._by_source: Counter[str] = Counter()

    def enter(self, connection: Connection, host: str | None) -> str | None:
        """Let a connection in; return what it is counted under, or None if there is no room."""
        source = "" if host is None or self._proxies.trust(host) else source_of(host)
        if len(self._open) >= self._most:
            return None
        if source and self._by_source[source] >= self._most_of_one:
            return None
        self._open.add(connection)
        self._by_source[source] += 1
        return source

    def leave(self, connection: Connection, source: str) -> None:
        """Count a connection no more."""
        self._open.discard(connection)
        self._by_source[source] -= 1
        if not self._by_source[source]:
            del self._by_source[source]

    async def look(self) -> None:
        """Close the connections whose clients take too long; to be called every second."""
        for connection in list(self._open):
            connection.look(LOOK_SECONDS / self.patience)


class Connection(HttpToolsProtocol):
    """Uvicorn's HTTP protocol, with limits on what a client may send and how long it may take."""

    _source: str | None = None
    _head = -1  # bytes of the head that is being read; -1 between heads
    _reading = False  # whether a request has begun to arrive and is not all there
    _body = 0  # bytes of the body that is being read
    _by_lines = False  # whether it is lines, which are not kept
    _held = 0  # bytes of it that are kept
    _waited = 0.0  # seconds for which the client was waited for, in one and the same state
    _held_for = 0.0  # those since what is kept began
    _unread = 0  # bytes that the client had yet to read at the last look
    _stuck = 0.0  # seconds for which it read none of them
    _stopping = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let the client in if there is room."""
        super().connection_made(transport)
        keeper = self._keeper
        self._source = keeper.enter(self, self.client[0] if self.client else None)
        if self._source is None:
            self._refuse(b"503 Service Unavailable", _FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another."""
        super().connection_lost(exc)
        if self._source is not None:
            self._keeper.leave(self, self._source)
            self._source = None

    def on_message_begin(self) -> None:
        """Start counting the bytes of a head."""
        if len(self.pipeline) >= MOST_PIPELINED:
            raise ValueError("too many requests were sent ahead")
        self._head, self._reading, self._waited = 0, True, 0.0
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)["pardon"] = self.pardon

    def on_headers_complete(self) -> None:
        """Stop counting, and pass the request on."""
        self._head, self._body, self._waited = -1, 0, 0.0
        self._held, self._held_for = 0, 0.0
        super().on_headers_complete()
        self._by_lines = self.scope["path"].endswith(LINES)
        if self._stopping and self.cycle is not None:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Count the bytes of a body."""
        self._body += len(body)
        self._held += len(body)
        if self._by_lines and (end := body.rfind(b"\n")) >= 0:
            self._held, self._held_for = len(body) - end - 1, 0.0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for the client no more."""
        self._reading = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._waited = 0.0
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """Parse incoming data, and refuse a head that is too large."""
        super().data_received(data)
        if self._head >= 0 and not self.transport.is_closing():
            self._head += len(data)
            if self._head > LARGEST_HEAD:
                self.send_400_response("Head of the request too large.")

    def shutdown(self) -> None:
        """Finish what has begun to arrive, and take no more; called when the server stops."""
        self._stopping = True
        cast("Any", self.app).state.stopping = True
        if self._head < 0 or (self.cycle is not None and not self.cycle.response_complete):
            super().shutdown()

    def pardon(self, seconds: float) -> None:
        """Take off a time for which it was the service that kept the client waiting."""
        self._waited -= seconds / self._keeper.patience
        self._held_for -= seconds / self._keeper.patience

    def look(self, seconds: float) -> None:
        """Close the connection if the client has been waited for too long.

        Args:
            seconds: since the last look.
        """
        unread = self.transport.get_write_buffer_size()
        waits = self.flow.write_paused or self.transport.is_closing()
        self._stuck = self._stuck + seconds if waits and 0 < self._unread <= unread else 0.0
        self._unread = unread
        if self._stuck > UNREAD_SECONDS:
            self.transport.abort()
        elif self.transport.is_closing() or (self._reading and self.flow.read_paused):
            return
        elif self._reading:
            self._waited += seconds
            self._held_for += seconds
            if self._too_long():
                self._cut()
        elif self.cycle is None or self.cycle.response_complete:
            self._waited += seconds
            if self._waited > IDLE_SECONDS:
                self.transport.close()
        else:
            self._waited = 0.0  # the client waits for us

    def _too_long(self) -> bool:
        """Whether the rest of a head or body has been waited for too long."""
        if self._head >= 0:
            return self._waited > HEAD_SECONDS
        held = self._held > 0 and self._held_for > BODY_SECONDS + self._held / HELD_RATE
        return held or self._waited > BODY_SECONDS + self._body / BODY_RATE

    def _cut(self) -> None:
        """Say that a request comes too slowly, unless the response has begun, and close."""
        if self._head < 0 and self.cycle.response_started:
            self.transport.close()
        else:
            self._refuse(b"408 Request Timeout", _SLOW)

    @property
    def _keeper(self) -> Doorkeeper:
        keeper: Doorkeeper = self.config.doorkeeper  # type: ignore[attr-defined]
        return keeper

    def _refuse(self, status: bytes, words: bytes) -> None:
        self.transport.write(_refusal(status, words))
        self.transport.close()
