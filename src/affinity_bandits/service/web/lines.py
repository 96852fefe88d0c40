"""A body cut into lines as it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

LONGEST_LINE = 2**20
TOO_LONG = b"too long"
"""Stands, by identity, for a line that was too long to be kept."""


async def lines_of(
    chunks: AsyncIterable[bytes], longest: int = LONGEST_LINE
) -> AsyncIterator[list[bytes]]:
    """Give the lines that each chunk completes, and last what has no end of line.

    Of a line longer than allowed nothing is kept, however long it goes on.
    """
    rest: list[bytes] = []
    size = 0
    async for chunk in chunks:
        *complete, begun = chunk.split(b"\n")
        lines = []
        for end in complete:
            size += len(end)
            lines.append(TOO_LONG if size > longest else b"".join([*rest, end]))
            rest, size = [], 0
        size += len(begun)
        if size > longest:
            rest = []
        elif begun:
            rest.append(begun)
        if lines:
            yield lines
    if size:
        yield [TOO_LONG if size > longest else b"".join(rest)]
