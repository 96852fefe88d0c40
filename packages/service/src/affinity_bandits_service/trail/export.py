"""Export a campaign's answers as a table that can be audited elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.base.errors import NotSupported
from affinity_bandits.base.tables import TableFile, UserText
from affinity_bandits_service.limits import remember
from affinity_bandits_service.problems import NoSuchCampaign
from affinity_bandits_service.store.connection import sql, translate_errors
from affinity_bandits_service.trail.chain import read_trail
from affinity_bandits_service.trail.replay import OwedSlots, Row, slots_in

FIXED: dict[str, type] = {  # of every table; two for each group come after them
    "order": int,
    "event": int,
    "time": datetime,
    "round": int,
    "slot": int,
    "group": UserText,
    "score": Decimal,
    "answers": int,
    "sum": Decimal,
    "total": bool,
    "counted": bool,
    "outcome": UserText,
    "rater": UserText,
    "rater group": UserText,
    "digest": UserText,
    "outsiders": int,
}


async def export(
    pool: asyncpg.Pool,
    campaign: UUID,
    target: TableFile,
    tell: Callable[[int, int], None] | None = None,
) -> int:
    """Write a campaign's answers to a file, in the order of its trail; return the number of rows.

    It reads the events that exist when it begins, a few at a time, so the campaign may go on
    meanwhile, and memory and transactions stay small for any trail.

    Args:
        pool: connections.
        campaign: its id.
        target: the file.
        tell: called with the number of the event that was written, and of the last one.

    Raises:
        NoSuchCampaign: the id is unknown.
        NotSupported: the trail contradicts itself.
        InvalidInput: the file cannot be written.
    """
    async with translate_errors():
        about = await pool.fetchrow(sql.campaign_to_export, campaign)
    if about is None:
        raise NoSuchCampaign(campaign)
    with target.open(columns_for(about["arms"])) as table:
        number = 0
        async for event, judged, counted in tells_of(pool, campaign, about["events"]):
            try:
                if event["kind"] == "tell_block":
                    rows = _rows_of_block(event, judged, about)
                else:
                    rows = _rows(event, judged, counted, about)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise _contradiction(event, "what it tells cannot be read") from error
            for row in rows:
                number += 1
                table.add([number, *row])
            if tell is not None and rows:
                tell(event["number"], about["events"])
    return table.rows


async def tells_of(
    pool: asyncpg.Pool, campaign: UUID, last: int
) -> AsyncIterator[tuple[Row, Row, set[int]]]:
    """Yield each tell up to an event, the round of its lease, and which of its entries counted.

    Of the scores of a block all count or none.

    Raises:
        NotSupported: an event contradicts those before it, so which answers counted is unknown.
    """
    owed, open_round = OwedSlots(), 0
    rounds: dict[int, Row] = {}
    async for event in read_trail(pool, sql.events_to_export, campaign):
        if event["number"] > last:
            return
        if event["kind"] not in ("ask", "tell", "tell_block"):
            continue
        if event["round"] != open_round:
            open_round = event["round"]
            owed.clear()
        if event["kind"] == "ask":
            owed.lease(event["number"], slots_in(event["slots"]))
            continue
        by_block = event["kind"] == "tell_block"
        number = event["given_in" if by_block else "leased_in"]
        judged = rounds.get(number)
        if judged is None and number is not None:
            async with translate_errors():
                judged = await pool.fetchrow(sql.stored_round, campaign, number)
        if judged is None:
            raise _contradiction(event, "it is of a lease or a round that is not on record")
        remember(rounds, number, judged)
        if by_block:
            yield event, judged, set(range(event["detail"]["counted"]))
            continue
        found = []
        if number == open_round:
            try:
                found = owed.settle(event, slots_in(event["slots"] or ()), judged["arms"])
            except ValueError as error:
                raise _contradiction(event, str(error)) from error
        counted = sum(len(one.slots) for one in found)
        if counted != event["counted"]:
            raise _contradiction(event, f"{event['counted']} answers counted, expected {counted}")
        yield event, judged, {one.entry for one in found}


def columns_for(groups: Sequence[str]) -> dict[str, type]:
    """Return the columns of a table of answers where these groups are compared."""
    judges = [f"{name} judges" for name in groups]
    members = [f"{name} initial members" for name in groups]
    return FIXED | dict.fromkeys(judges + members, int)


def _rows(event: Row, judged: Row, counted: set[int], about: Row) -> list[list[Any]]:
    """Return the unnumbered rows of a tell."""
    groups, arms = about["arms"], judged["arms"]
    entries, nobody = len(event["told"]), [None] * len(event["told"])
    nothing = [None] * len(groups)
    detail = event["detail"] or {"raters": nobody, "rater_arms": nobody}
    is_total = event["counts"] is not None
    missed = "late" if event["late"] else "duplicate"
    found = []
    for entry, (at, answers, units, rater, rater_arm) in enumerate(
        zip(
            event["told"],
            event["counts"] or [1] * entries,
            event["units"],
            detail["raters"],
            detail["rater_arms"],
            strict=True,
        )
    ):
        arm = at if is_total else arms[at % len(arms)]
        if not {arm, rater_arm or 0}.issubset(range(len(groups))):
            raise _contradiction(event, "it is of a group that the campaign does not have")
        outcome = "counted" if entry in counted else missed
        row = [
            event["number"],
            event["at"],
            event["leased_in"],
            None if is_total else at,
            groups[arm],
            _score(units // answers),
            answers,
            _score(units),
            is_total,
            outcome == "counted",
            outcome,
            rater,
            None if rater_arm is None else groups[rater_arm],
            event["chain"].hex(),
            judged["outsiders"],
            *(judged["judges"] or nothing),
            *(about["committee"] or nothing),
        ]
        found.append(row)
    return found


def _rows_of_block(event: Row, judged: Row, about: Row) -> list[list[Any]]:
    """Return the unnumbered rows of the scores of a block, in its order."""
    groups, given, detail = about["arms"], event["given"], event["detail"]
    outcome = "counted" if detail["counted"] else "late"
    nothing = [None] * len(groups)
    return [
        [
            event["number"],
            event["at"],
            event["given_in"],
            given["block"],
            groups[arm],
            _score(units),
            1,
            _score(units),
            False,
            outcome == "counted",
            outcome,
            given["rater"],
            given["rater_group"],
            event["chain"].hex(),
            judged["outsiders"],
            *nothing,
            *(about["committee"] or nothing),
        ]
        for arm, units in zip(given["arms"], detail["units"], strict=True)
    ]


def _score(units: int) -> Decimal:
    return Decimal(units).scaleb(-9)


def _contradiction(event: Row, found: str) -> NotSupported:
    return NotSupported(
        f"the trail cannot be exported, since event {event['number']} contradicts the rest of it"
        f" ({found}): see what 'affinity serve verify' says"
    )
