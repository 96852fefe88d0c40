"""Add counts of scores, for policies that sums do not tell enough."""

from __future__ import annotations

import asyncpg


async def upgrade(db: asyncpg.Connection) -> None:
    """Add the columns; the policies of all campaigns that there are go on with sums."""
    await db.execute(
        "ALTER TABLE affinity.heads ADD COLUMN nodes integer NOT NULL DEFAULT 0 CHECK (nodes >= 0)"
    )
    await db.execute("ALTER TABLE affinity.sums ADD COLUMN tallies numeric[]")
