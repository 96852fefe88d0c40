"""What the commands of `affinity serve` share: connections, ids as they are typed, progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    import asyncpg

Answer = TypeVar("Answer")
PAUSE = 0.2
"""Seconds between two lines; the first one comes after as many."""
ERASE = "\r\x1b[K"


def campaign_id(text: str) -> UUID:
    """Return a campaign's id."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput("CAMPAIGN", "a campaign's id", text) from None


def with_pool(dsn: str, work: Callable[[asyncpg.Pool[Any]], Awaitable[Answer]]) -> Answer:
    """Do some work on a database with the newest schema, and return what came of it."""
    import asyncio

    from affinity_bandits.service.serving import check_schema
    from affinity_bandits.service.store.connection import connect

    async def opened() -> Answer:
        await check_schema(dsn)
        pool = await connect(dsn, largest=1)
        try:
            return await work(pool)
        finally:
            await pool.close()

    return asyncio.run(opened())


@contextmanager
def event_counter() -> Iterator[Callable[[int, int], None] | None]:
    """Yield what shows the number of an event and of the last one; None where nobody looks.

    Plain text and no bar of rich's, which who runs only the service has not installed.
    """
    if not sys.stderr.isatty():
        yield None
        return
    due = time.monotonic() + PAUSE

    def show(event: int, events: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + PAUSE
            print(f"{ERASE}{event:,} of {events:,} events", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(ERASE, end="", file=sys.stderr, flush=True)
