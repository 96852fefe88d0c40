"""HTTP connections that are closed if the client lets the service wait for too long."""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Impatient(HttpToolsProtocol):
    """uvicorn's protocol, whose `timeout_keep_alive` also limits what it leaves without a limit.

    The head of a request must be there so many seconds after the connection was made or the last
    response ended, however it trickles in. Of a body, no piece may take longer than that, unless
    the service itself has stopped reading. A request that the service works on has no limit here.
    """

    _since: float
    _look: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        super().connection_made(cast(asyncio.Transport, transport))
        self._begin_to_wait()
        self._look_again()

    def on_headers_complete(self) -> None:
        """Begin to wait for a body, if there is one."""
        super().on_headers_complete()
        self._begin_to_wait()

    def on_body(self, body: bytes) -> None:
        """Begin to wait for the next piece."""
        super().on_body(body)
        self._begin_to_wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._begin_to_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._look.cancel()
        super().connection_lost(exc)

    def _begin_to_wait(self) -> None:
        self._since = self.loop.time()

    def _look_again(self) -> None:
        """Close the connection if its client is late; else look when it may be.

        One timer for a connection: a new one for each request would cost the hot path more.
        """
        now, cycle = self.loop.time(), self.cycle
        at_work = cycle is not None and not cycle.response_complete
        if at_work and (not cycle.more_body or self.flow.read_paused):
            self._begin_to_wait()
        left = self._since + self.timeout_keep_alive - now
        if left > 0:
            self._look = self.loop.call_later(left, self._look_again)
        elif not self.transport.is_closing():
            self.transport.close()
