"""What the commands of `affinity serve` share: connections, and ids as they are typed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    import asyncpg

Answer = TypeVar("Answer")


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
