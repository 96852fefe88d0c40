"""Give leases and idempotency keys to API keys; chain and partition the events of campaigns."""

from __future__ import annotations

import asyncpg

from affinity_bandits.service.store.named import SQL


async def upgrade(db: asyncpg.Connection) -> None:
    """Add columns; campaigns that there are go on as they were made."""
    await add_actors(db)
    await agree_on_moments(db)
    await chain_events(db)
    await db.execute("ALTER TABLE affinity_schema SET SCHEMA affinity")
    # Functions of these names take several campaigns now.
    await db.execute("DROP FUNCTION IF EXISTS affinity.ask, affinity.tell")
    await db.execute(
        "ALTER TABLE affinity.api_keys DROP CONSTRAINT api_keys_scopes_check,"
        " ADD CONSTRAINT api_keys_scopes_check"
        " CHECK (scopes <@ ARRAY['ask', 'tell', 'read', 'admin', 'keys'])"
    )


async def add_actors(db: asyncpg.Connection) -> None:
    """Say whose leases are, and who may tell; `chain_events` says it of idempotency keys.

    Whoever made a campaign so far could rely on asking with one key and telling with another, and
    cannot say so afterwards: every key of the tenant may go on to tell.
    """
    await db.execute("ALTER TABLE affinity.campaigns ADD COLUMN tellers text[]")
    await db.execute("ALTER TABLE affinity.heads ADD COLUMN tellers text[]")
    await db.execute("UPDATE affinity.campaigns SET tellers = '{any}'")
    await db.execute("UPDATE affinity.heads SET tellers = '{any}'")
    await db.execute("ALTER TABLE affinity.leases ADD COLUMN actor text")
    await db.execute(
        "UPDATE affinity.leases AS t SET actor = e.actor FROM affinity.events AS e"
        " WHERE e.campaign = t.campaign AND e.number = t.lease"
    )
    await db.execute("ALTER TABLE affinity.leases ALTER COLUMN actor SET NOT NULL")


async def agree_on_moments(db: asyncpg.Connection) -> None:
    """Take the moments of rounds from their events, which were written a moment later."""
    await db.execute(
        "UPDATE affinity.rounds AS r SET opened_at = e.at FROM affinity.events AS e"
        " WHERE e.campaign = r.campaign AND (e.kind = 'create' AND r.number = 0"
        "  OR e.kind = 'close' AND e.round = r.number - 1)"
    )
    await db.execute(
        "UPDATE affinity.rounds AS r SET opened_at = e.at FROM affinity.events AS e"
        " WHERE e.campaign = r.campaign AND e.kind = 'judges'"
        "  AND (e.detail ->> 'round')::integer = r.number AND e.detail ->> 'opened' IS NOT NULL"
    )
    await db.execute(
        "UPDATE affinity.rounds AS r SET closed_at = e.at FROM affinity.events AS e"
        " WHERE e.campaign = r.campaign AND e.kind = 'close' AND e.round = r.number"
        "  AND r.closed_at IS NOT NULL"
    )


async def chain_events(db: asyncpg.Connection) -> None:
    """Move events and requests to partitioned tables, and chain the events on the way.

    What happened to events before now, no digest can say: they are chained from the upgrade on.
    """
    await db.execute("ALTER TABLE affinity.heads ADD COLUMN chain bytea")
    await db.execute("DROP TRIGGER append_only ON affinity.events")
    await db.execute("DROP FUNCTION affinity.refuse_change")
    for table in ("events", "requests"):
        await db.execute(f"ALTER TABLE affinity.{table} RENAME TO former_{table}")
        await db.execute(
            f"ALTER TABLE affinity.former_{table} RENAME CONSTRAINT {table}_pkey"
            f" TO former_{table}_pkey"
        )
    await db.execute("ALTER TABLE affinity.former_events DROP CONSTRAINT events_kind_check")
    # As new databases have them: a later step that changes these tables gives this one a copy of
    # what they were, or upgrades from the old dumps fail.
    for name in ("trail_tables.sql", "chain_functions.sql"):
        await db.execute((SQL / name).read_text(encoding="utf-8"))
    # A campaign at a time, an event at a time: a trail may be of any length.
    await db.execute(CHAIN)
    # Left: a request of which no event says whose it is is refused, and not left out.
    await db.execute(
        "INSERT INTO affinity.requests (campaign, key, event, actor)"
        " SELECT r.campaign, r.key, r.event, e.actor FROM affinity.former_requests AS r"
        " LEFT JOIN affinity.former_events AS e"
        "  ON e.campaign = r.campaign AND e.number = r.event"
    )
    await db.execute("DROP TABLE affinity.former_events, affinity.former_requests")
    await db.execute("ALTER TABLE affinity.heads ALTER COLUMN chain SET NOT NULL")


CHAIN = """
DO $$
DECLARE
  v_campaign affinity.campaigns;
  v_event affinity.events;
  v_chain bytea;
BEGIN
  FOR v_campaign IN SELECT * FROM affinity.campaigns LOOP
    v_chain := affinity.defined(v_campaign);
    FOR v_event IN SELECT *, NULL::bytea FROM affinity.former_events AS e
        WHERE e.campaign = v_campaign.id ORDER BY e.number LOOP
      v_chain := affinity.chained(v_chain, v_event);
      v_event.chain := v_chain;
      INSERT INTO affinity.events SELECT v_event.*;
    END LOOP;
    UPDATE affinity.heads AS h SET chain = v_chain WHERE h.campaign = v_campaign.id;
  END LOOP;
END $$
"""
