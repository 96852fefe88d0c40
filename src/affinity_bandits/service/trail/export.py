"""Export a campaign's answers as a table that can be audited elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.service.problems import NoSuchCampaign
from affinity_bandits.service.store.connection import transaction
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.trail.answers import Answer, answers_of
from affinity_bandits.service.trail.table_files import Column, Target

FIXED = (
    Column("order", "number"),
    Column("event", "number"),
    Column("time", "time"),
    Column("round", "number"),
    Column("slot", "number"),
    Column("group", "text"),
    Column("score", "score"),
    Column("answers", "number"),
    Column("sum", "score"),
    Column("total", "yes or no"),
    Column("counted", "yes or no"),
    Column("outcome", "text"),
    Column("rater", "text"),
    Column("rater group", "text"),
    Column("digest", "text"),
    Column("outsiders", "number"),
)
"""The columns of every table; two for each group come after them."""


async def export(
    pool: asyncpg.Pool,
    campaign: UUID,
    target: Target,
    tell: Callable[[int, int], None] | None = None,
) -> int:
    """Write a campaign's answers to a file, in the order of its trail; return the number of rows.

    It reads one snapshot of the database, a few events at a time, so the campaign may go on
    meanwhile and may be of any length.

    Args:
        pool: connections.
        campaign: its id.
        target: the file.
        tell: given the number of the event that was written, and of the last one.

    Raises:
        NoSuchCampaign: there is none by that id.
        NotSupported: the trail contradicts itself.
        InvalidInput: the file cannot be written.
    """
    async with transaction(pool, isolation="repeatable_read", readonly=True) as db:
        about = await db.fetchrow(sql.campaign_to_export, campaign)
        if about is None:
            raise NoSuchCampaign(campaign)
        groups = about["arms"]
        committee = about["committee"] or [None] * len(groups)
        order = 0
        with target.written(columns_for(groups)) as table:
            async for told in answers_of(db, campaign, len(groups)):
                for answer in told:
                    order += 1
                    table.add(_row(order, answer, groups, committee))
                if tell is not None and told:
                    tell(told[0].event, about["events"])
    return order


def columns_for(groups: Sequence[str]) -> list[Column]:
    """Return the columns of a table of answers where these groups are compared."""
    return [
        *FIXED,
        *(Column(f"{name} judges", "number") for name in groups),
        *(Column(f"{name} initial members", "number") for name in groups),
    ]


def _row(
    order: int, answer: Answer, groups: Sequence[str], committee: Sequence[int | None]
) -> list[Any]:
    judges: Sequence[int | None] | None = answer.judged.judges
    return [
        order,
        answer.event,
        answer.time,
        answer.round,
        answer.slot,
        groups[answer.arm],
        round(Fraction(answer.units, answer.answers)) if answer.answers > 1 else answer.units,
        answer.answers,
        answer.units,
        answer.slot is None,
        answer.outcome == "counted",
        answer.outcome,
        answer.rater,
        None if answer.rater_arm is None else groups[answer.rater_arm],
        answer.digest.hex(),
        answer.judged.outsiders,
        *(judges or [None] * len(groups)),
        *committee,
    ]
