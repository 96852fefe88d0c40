"""The answers of a campaign, one after the other, as its audit trail has them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from affinity_bandits.errors import NotSupported
from affinity_bandits.service.core.memory import remember
from affinity_bandits.service.store.named import sql
from affinity_bandits.wire.limits import LARGEST_LEASE

AT_ONCE = 20
"""Tells that are fetched together; each may have thousands of answers."""
CHUNK = 1024
"""Slots whose answers are remembered in one number."""

Row = Mapping[str, Any]


class Judged(NamedTuple):
    """What answers need of a round: arms in the order of its slots, and who judged it, if told."""

    arms: Sequence[int]
    judges: Sequence[int] | None
    outsiders: int | None


class Answer(NamedTuple):
    """An answer of a slot, or several of an arm that were told as a total."""

    event: int
    time: datetime
    round: int  # of the slot; of a late answer, it was over
    slot: int | None  # None of a total
    arm: int
    units: int  # the score, or the sum of the total's scores
    answers: int
    outcome: str  # counted, late or duplicate
    rater: str | None
    rater_arm: int | None
    judged: Judged
    digest: bytes  # of the event


class Answered:
    """The slots of the open round that have an answer, in a bit each."""

    def __init__(self) -> None:
        self._round = -1
        self._chunks: dict[int, int] = {}

    def go_to(self, number: int) -> None:
        """Forget the slots of earlier rounds."""
        if number != self._round:
            self._round = number
            self._chunks.clear()

    def add(self, slot: int) -> bool:
        """Note that a slot is answered; return whether it had no answer before."""
        chunk, bit = divmod(slot, CHUNK)
        before = self._chunks.get(chunk, 0)
        self._chunks[chunk] = before | 1 << bit
        return not before >> bit & 1


async def answers_of(
    db: asyncpg.Connection, campaign: UUID, arms: int
) -> AsyncIterator[list[Answer]]:
    """Yield the answers of each tell, in the order in which they were recorded.

    What is held at a time does not grow with the trail, but for a bit for each slot of the open
    round.

    Args:
        db: a connection in a transaction.
        campaign: its id.
        arms: how many it has.

    Raises:
        NotSupported: an event contradicts those before it, so which answers counted is unknown.
    """
    await db.execute(sql.without_sorting)
    answered = Answered()
    rounds: dict[int, Judged] = {}
    async for event in db.cursor(sql.tells_to_export, campaign, prefetch=AT_ONCE):
        number = event["leased_in"]
        if number is not None and number not in rounds:
            row = await db.fetchrow(sql.round_to_export, campaign, number)
            if row is not None:
                remember(rounds, number, Judged(*row))
        if number not in rounds:
            raise _contradiction(event, "it is of a lease or a round that is not on record")
        answered.go_to(event["round"])
        try:
            told = _told(event, rounds[number], answered)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise _contradiction(event, "what it tells cannot be read") from error
        named = {one.arm for one in told} | {one.rater_arm or 0 for one in told}
        if not named.issubset(range(arms)):
            raise _contradiction(event, "it is of a group that the campaign does not have")
        yield told


def _told(event: Row, judged: Judged, answered: Answered) -> list[Answer]:
    """Return the answers of a tell, having noted those that counted."""
    is_total = event["counts"] is not None
    parts = list(_totals(event) if is_total else _answers(event))
    # Which answers counted is not in the event, only how many: those of slots that had none.
    if event["leased_in"] != event["round"]:
        new = [False] * len(parts)
    elif is_total:
        new = [event["counted"] > 0] * len(parts)
        if event["counted"]:
            _take_slots(event, judged, answered)
    else:
        new = [answered.add(slot) for slot in event["told"]]
    counted = sum(part.answers for part, is_new in zip(parts, new, strict=True) if is_new)
    if counted != event["counted"]:
        raise _contradiction(event, f"{event['counted']} answers counted, expected {counted}")
    missed = "late" if event["late"] else "duplicate"
    return [
        Answer(
            event=event["number"],
            time=event["at"],
            round=event["leased_in"],
            arm=judged.arms[part.slot % len(judged.arms)] if part.arm is None else part.arm,
            outcome="counted" if is_new else missed,
            judged=judged,
            slot=None if part.arm is not None else part.slot,
            units=part.units,
            answers=part.answers,
            rater=part.rater,
            rater_arm=part.rater_arm,
            digest=event["chain"],
        )
        for part, is_new in zip(parts, new, strict=True)
    ]


class _Part(NamedTuple):
    """What a tell says of a slot, or of an arm; the other is 0 or None."""

    slot: int
    arm: int | None
    units: int
    answers: int = 1
    rater: str | None = None
    rater_arm: int | None = None


def _answers(event: Row) -> Iterator[_Part]:
    nobody = [None] * len(event["told"])
    detail = event["detail"] or {"raters": nobody, "rater_arms": nobody}
    told = zip(event["told"], event["units"], detail["raters"], detail["rater_arms"], strict=True)
    for slot, units, rater, rater_arm in told:
        yield _Part(slot, None, units, 1, rater, rater_arm)


def _totals(event: Row) -> Iterator[_Part]:
    for arm, count, units in zip(event["told"], event["counts"], event["units"], strict=True):
        if count:
            yield _Part(0, arm, units, count)


def _take_slots(event: Row, judged: Judged, answered: Answered) -> None:
    """Note the slots that totals stand for: of each arm, the lowest of the lease."""
    wanted = dict.fromkeys(judged.arms, 0)
    for part in _totals(event):
        wanted[part.arm or 0] += part.answers
    runs: Iterable[range] = (range(run.lower, run.upper) for run in event["leased"])
    for slot in islice(chain.from_iterable(runs), LARGEST_LEASE):
        arm = judged.arms[slot % len(judged.arms)]
        if wanted[arm] > 0:
            wanted[arm] -= 1
            if not answered.add(slot):
                raise _contradiction(event, f"slot {slot} had an answer before")
    if any(wanted.values()):
        raise _contradiction(event, "it has more answers than its lease has slots")


def _contradiction(event: Row, found: str) -> NotSupported:
    return NotSupported(
        f"the trail cannot be exported, since event {event['number']} contradicts the rest of it"
        f" ({found}): see what 'affinity serve verify' says"
    )
