"""Add order windows; refuse campaigns of schema 0001 whose scores were not mapped."""

from __future__ import annotations

import json

import asyncpg

from affinity_bandits.errors import NotSupported


async def upgrade(db: asyncpg.Connection) -> None:
    """Add the columns for order windows, and the setting that policies now have."""
    await refuse_sums_that_were_not_mapped(db)
    await db.execute(
        "ALTER TABLE affinity.heads ADD COLUMN in_flight bigint CHECK (in_flight >= 1),"
        " ADD COLUMN oldest bigint NOT NULL DEFAULT 0"
    )
    await tell_policies_of_the_setting(db)


async def refuse_sums_that_were_not_mapped(db: asyncpg.Connection) -> None:
    """Refuse campaigns whose range is not [0, 1]: their policies were given unmapped sums."""
    rows = await db.fetch(
        "SELECT id FROM affinity.campaigns WHERE (lowest, highest) <> (0, 1000000000)"
        " ORDER BY number"
    )
    ids = [str(row["id"]) for row in rows]
    if ids:
        listed = ", ".join(ids[:5]) + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")
        raise NotSupported(
            "this database has campaigns whose scores do not go from 0 to 1, and whose policies"
            f" were given them as they came ({listed}); now they are mapped to [0, 1], so what"
            " these campaigns decided cannot be replayed, and going on would mix the two."
            " Nothing was changed: keep this database for the version that made it, and begin"
            " them anew in another one"
        )


async def tell_policies_of_the_setting(db: asyncpg.Connection) -> None:
    """Give stored handicap policies the setting `in_flight`, as None: they had no order window."""
    rows = await db.fetch(
        "SELECT id, policy::text, saved::text FROM affinity.campaigns"
        " WHERE policy ->> 'name' = 'handicap-elimination'"
    )
    for row in rows:
        # In Python, since its floats stay what they were to the bit.
        policy, saved = json.loads(row["policy"]), json.loads(row["saved"])
        policy.setdefault("in_flight", None)
        saved["policy"].setdefault("in_flight", None)
        await db.execute(
            "UPDATE affinity.campaigns SET policy = $2::text::json, saved = $3::text::json"
            " WHERE id = $1",
            row["id"],
            json.dumps(policy),
            json.dumps(saved),
        )
