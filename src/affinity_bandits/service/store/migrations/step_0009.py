"""Add who made a key, webhooks with the notices they are owed, and a record of what was removed."""

from __future__ import annotations

import asyncpg


async def upgrade(db: asyncpg.Connection) -> None:
    """Add the column, indexes and the tables; keys that there are were made by nobody's key."""
    await db.execute(
        "ALTER TABLE affinity.api_keys ADD COLUMN made_by text REFERENCES affinity.api_keys"
    )
    await db.execute(
        "CREATE INDEX api_keys_of_parent ON affinity.api_keys (parent) WHERE parent IS NOT NULL"
    )
    await db.execute(
        "CREATE INDEX api_keys_of_maker ON affinity.api_keys (made_by) WHERE made_by IS NOT NULL"
    )
    await db.execute(
        "CREATE TABLE affinity.webhooks ("
        " id uuid PRIMARY KEY,"
        " tenant bigint NOT NULL REFERENCES affinity.tenants,"
        " url text NOT NULL,"
        " secret bytea NOT NULL,"
        " kinds text[] NOT NULL,"
        " created_at timestamptz NOT NULL DEFAULT clock_timestamp(),"
        " created_by text NOT NULL,"
        " removed_at timestamptz,"
        " retry_at timestamptz NOT NULL DEFAULT clock_timestamp(),"
        " last_failure text"
        ")"
    )
    await db.execute("CREATE INDEX webhooks_of_tenant ON affinity.webhooks (tenant)")
    await db.execute(
        "CREATE TABLE affinity.notices ("
        " number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " webhook uuid NOT NULL REFERENCES affinity.webhooks,"
        " campaign uuid NOT NULL REFERENCES affinity.campaigns,"
        " kind text NOT NULL,"
        " body text NOT NULL,"
        " created_at timestamptz NOT NULL DEFAULT clock_timestamp(),"
        " tries integer NOT NULL DEFAULT 0,"
        " dead boolean NOT NULL DEFAULT false"
        ")"
    )
    await db.execute("CREATE INDEX notices_of_webhook ON affinity.notices (webhook, dead, number)")
    await db.execute(
        "CREATE TABLE affinity.removals ("
        " number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " at timestamptz NOT NULL DEFAULT clock_timestamp(),"
        " by text NOT NULL,"
        " role text NOT NULL DEFAULT current_user,"
        " tenant text NOT NULL,"
        " campaign uuid,"
        " detail json NOT NULL"
        ")"
    )
