"""Newline-delimited JSON: split a body into lines as it arrives, and respond meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from affinity_bandits.wire.limits import LONGEST_LINE

BACKLOG = 2**24
"""Bytes of a response kept for a client that reads nothing before it has sent everything."""
MOST_LINES = 256
"""Lines that are handed on together: as many as share a transaction."""
TOO_LONG = b"too long"
"""Stands, by identity, for a line that was too long to be kept."""


async def lines_of(
    chunks: AsyncIterable[bytes], longest: int = LONGEST_LINE, most: int = MOST_LINES
) -> AsyncIterator[list[bytes]]:
    """Yield the lines that each chunk completes, a few at a time, and at the end one without end.

    Of a line longer than allowed nothing is kept, however long it goes on.
    """
    rest: list[bytes] = []
    size = 0
    async for chunk in chunks:
        begun = chunk
        while True:
            *complete, begun = begun.split(b"\n", most)
            lines = []
            for end in complete:
                size += len(end)
                lines.append(TOO_LONG if size > longest else b"".join([*rest, end]))
                rest, size = [], 0
            if not lines:
                break
            yield lines
        size += len(begun)
        if size > longest:
            rest = []
        elif begun:
            rest.append(begun)
    if size:
        yield [TOO_LONG if size > longest else b"".join(rest)]


class LinesResponse(Response):
    """A response that is written while its request is still being read.

    Writing never stops the reading, up to a limit: a client that sends everything before it reads
    would wait for us while we wait for it. Starlette's own streaming response would also take
    messages away from whoever reads the request.

    Args:
        parts: the text, piece by piece.
        headers: of the response.
        media_type: what the lines are called.
    """

    def __init__(
        self, parts: AsyncIterator[bytes], headers: dict[str, str], media_type: str
    ) -> None:
        super().__init__(None, 200, headers, media_type)
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        backlog = _Backlog(send)
        writer = asyncio.create_task(backlog.write())
        try:
            async for part in self._parts:
                await backlog.put(part)
            await backlog.put(b"")
            await writer
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        await send({"type": "http.response.body", "body": b""})


class _Backlog:
    """A queue of parts to send, limited in bytes; an empty part marks the end."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._parts: asyncio.Queue[bytes] = asyncio.Queue()
        self._size = 0
        self._room = asyncio.Event()

    async def put(self, part: bytes) -> None:
        while self._size > BACKLOG:
            self._room.clear()
            await self._room.wait()
        self._size += len(part)
        self._parts.put_nowait(part)

    async def write(self) -> None:
        while part := await self._parts.get():
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
            self._size -= len(part)
            self._room.set()
