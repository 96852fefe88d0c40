"""Notices: written in the transaction of what they report, for each webhook that wants them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from affinity_bandits.service.store.named import sql

KINDS = ("dropped", "decided", "exhausted", "attention", "standstill")
"""What a webhook can be told of: a group was dropped; one is left; the horizon is used up; the
campaign cannot go on by the service's fault; its answers have stopped."""
REPEATED = ("attention", "standstill")
"""Kinds that may come and go: one that is not delivered yet stands for those after it."""
MOST_OWED = 10_000
"""Notices, dead ones included, that are kept for one webhook: a receiver that is gone for good must
not fill the database. Those beyond are left out."""

Details = Callable[[list[str]], dict[str, Any]]


async def report(
    db: asyncpg.Connection, campaign: UUID, kind: str, details: Details = lambda _: {}
) -> None:
    """Write a notice for each webhook of the campaign's tenant that wants this kind.

    To be called in the transaction of what is reported, under the lock of the campaign's head, so
    that the numbers of a campaign's notices are in the order of what happened.

    Args:
        db: the connection.
        campaign: the one.
        kind: one of `KINDS`.
        details: given the names of the campaign's arms, returns what else is said.
    """
    for row in await db.fetch(sql.webhooks_for, campaign, kind, kind in REPEATED, MOST_OWED):
        body = {
            "notice": str(uuid4()),
            "kind": kind,
            "at": row["now"].isoformat(),
            "campaign": str(campaign),
            "name": row["name"],
            "status": row["status"],
            **details(row["arms"]),
        }
        await db.execute(sql.add_notice, row["id"], campaign, kind, json.dumps(body))
