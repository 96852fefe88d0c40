"""Let idempotency keys of finished campaigns expire."""

from __future__ import annotations

from datetime import datetime

import asyncpg

from affinity_bandits.service.store.connection import translate_errors
from affinity_bandits.service.store.named import sql

AT_ONCE = 5000
"""Keys that one statement deletes, so that none takes long."""
MOST = 200_000
"""Keys that one call deletes: rounds wait to be closed."""


async def expire_requests(
    pool: asyncpg.Pool, seconds: float, *, now: datetime | None = None
) -> int:
    """Delete the idempotency keys of campaigns that ended, and had no event for so long.

    Those of a campaign under way stay: finding the old ones among them would mean reading all,
    and a repeat is what they are there for. Returns how many were deleted.

    Args:
        pool: connections.
        seconds: since a campaign's last event.
        now: the time; the database's if None.
    """
    deleted = 0
    async with translate_errors():
        while deleted < MOST:
            campaign = await pool.fetchval(sql.next_to_expire, seconds, now)
            if campaign is None:
                break
            deleted += len(await pool.fetch(sql.expire_requests, campaign, AT_ONCE))
    return deleted
