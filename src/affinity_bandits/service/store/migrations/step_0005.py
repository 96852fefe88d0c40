"""Add the health of campaigns: slots that lapsed, when it was looked at, and what was found."""

from __future__ import annotations

import asyncpg


async def upgrade(db: asyncpg.Connection) -> None:
    """Add columns and tables; in rounds that are open by now, lapsed slots were not all counted."""
    await db.execute("ALTER TABLE affinity.rounds ADD COLUMN lapsed bigint[]")
    await db.execute("ALTER TABLE affinity.rounds ALTER COLUMN lapsed SET DEFAULT '{}'")
    await db.execute("ALTER TABLE affinity.leases ADD COLUMN again boolean NOT NULL DEFAULT false")
    await db.execute(
        "CREATE TABLE affinity.lapses ("
        " campaign uuid NOT NULL,"
        " round integer NOT NULL,"
        " place integer NOT NULL,"
        " slots bigint NOT NULL,"
        " PRIMARY KEY (campaign, round, place)"
        ") WITH (fillfactor = 50)"
    )
    await db.execute(
        "CREATE TABLE affinity.health ("
        " campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,"
        " due_at timestamptz,"
        " checked_at timestamptz,"
        " answers bigint NOT NULL DEFAULT 0,"
        " silent double precision NOT NULL DEFAULT 0,"
        " longest double precision NOT NULL DEFAULT 0)"
    )
    await db.execute("CREATE INDEX health_due ON affinity.health (due_at)")
    await db.execute(
        "CREATE TABLE affinity.findings ("
        " campaign uuid NOT NULL REFERENCES affinity.campaigns,"
        " kind text NOT NULL,"
        " severity text NOT NULL CHECK (severity IN ('note', 'warning')),"
        " since timestamptz NOT NULL,"
        " arms integer[] NOT NULL,"
        " seen text NOT NULL,"
        " effect text NOT NULL,"
        " advice text NOT NULL,"
        " PRIMARY KEY (campaign, kind))"
    )
    await db.execute(
        "INSERT INTO affinity.health (campaign, due_at)"
        " SELECT id, clock_timestamp() FROM affinity.campaigns"
    )
