"""Add the table of faults, so that every server process sees which campaigns are marked."""

from __future__ import annotations

import asyncpg


async def upgrade(db: asyncpg.Connection) -> None:
    """Create the table."""
    await db.execute(
        "CREATE TABLE affinity.faults ("
        " campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,"
        " kind text NOT NULL,"
        " reason text NOT NULL,"
        " since timestamptz NOT NULL,"
        " tries integer NOT NULL,"
        " retry_at timestamptz NOT NULL)"
    )
