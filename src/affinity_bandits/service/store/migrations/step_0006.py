"""Add who judges: initial committees, the judges of rounds, and a place to say who rated."""

from __future__ import annotations

import asyncpg


async def upgrade(db: asyncpg.Connection) -> None:
    """Add columns and a table; no campaign that there is has a policy that is told who judges."""
    await db.execute("ALTER TABLE affinity.campaigns ADD COLUMN committee bigint[]")
    await db.execute(
        "ALTER TABLE affinity.heads ADD COLUMN awaits_judges boolean NOT NULL DEFAULT false"
    )
    await db.execute(
        "ALTER TABLE affinity.rounds ADD COLUMN judges bigint[], ADD COLUMN outsiders bigint,"
        " ADD COLUMN fewest_seats integer"
    )
    await db.execute(
        "CREATE TABLE affinity.named_judges ("
        " campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,"
        " event bigint NOT NULL,"
        " round integer NOT NULL,"
        " judges bigint[] NOT NULL,"
        " outsiders bigint NOT NULL,"
        " standing boolean NOT NULL)"
    )
    await db.execute(
        "ALTER TABLE affinity.events DROP CONSTRAINT events_kind_check,"
        " ADD CONSTRAINT events_kind_check"
        " CHECK (kind IN ('create', 'ask', 'tell', 'close', 'stop', 'judges'))"
    )
    # The function of that name has one more parameter now, which may be left out: beside the old
    # one, a call that leaves it out would fit both.
    await db.execute("DROP FUNCTION affinity.tell")
