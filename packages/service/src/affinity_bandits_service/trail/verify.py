"""Verify that a campaign's stored state follows from its audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.base.errors import AffinityError, NotSupported
from affinity_bandits_service.core.judging import Appointment, JudgeCounts
from affinity_bandits_service.core.scores import tallies_in
from affinity_bandits_service.core.spec import served_policy
from affinity_bandits_service.problems import NoSuchCampaign
from affinity_bandits_service.store.connection import sql, transaction
from affinity_bandits_service.trail.chain import (
    Digest,
    campaign_digest,
    event_digest,
    read_trail,
)
from affinity_bandits_service.trail.replay import Replay, Row, slots_in

ENDED = ("exhausted", "stopped")
MOST_DIFFERENCES = 100  # then a replay ends, since one early mistake causes many others


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a campaign.

    Attributes:
        events: how many were replayed.
        rounds: how many rounds were closed in them.
        differences: contradictions inside the trail or with the stored state.
        digest: of the last event that was read, if any, to be kept elsewhere.
    """

    events: int
    rounds: int
    differences: tuple[str, ...]
    digest: Digest | None = None


async def verify(pool: asyncpg.Pool, campaign: UUID, expected: Sequence[Digest] = ()) -> Verdict:
    """Replay a campaign's events with the library's policy and compare the result with the tables.

    It reads the trail a few events at a time, and the tables with the last events in one snapshot,
    so the campaign may go on meanwhile, and transactions are short.

    Args:
        pool: connections.
        campaign: its id.
        expected: digests that were kept elsewhere, which the trail must have.

    Raises:
        NoSuchCampaign: the id is unknown.
        NotSupported: the campaign's policy is unknown to this version, or of another version, and
            the chain of digests is whole.
    """
    async with transaction(pool) as db:
        head, definition = await _find(db, campaign)
    check = _Check(definition, head["saved"], expected)
    await _take_all(check, pool, campaign)
    async with transaction(pool, isolation="repeatable_read", readonly=True) as db:
        head, definition = await _find(db, campaign)
        await _take_all(check, db, campaign)  # what was added since
        if len(check.differences) < MOST_DIFFERENCES:
            check.end(head["chain"])
            check.end_keys(await db.fetchval(sql.count_requests, campaign), head["status"])
            if check.unsupported is not None and not check.differences:
                raise check.unsupported
            if check.replaying:
                check.differences += _definition_differences(definition, head, check.replay)
                stored = await _stored(db, campaign, head)
                check.differences += _differences(stored, _replayed(check.replay), FOLLOWS)
                oldest = min(check.replay.owed, default=head["size"])
                if head["oldest"] > oldest:
                    check.differences.append(
                        f"slots before {head['oldest']} are said to be answered, but some are not"
                    )
    rounds = len(check.replay.closed)
    return Verdict(check.events, rounds, tuple(check.differences), check.digest)


async def _find(db: asyncpg.Connection, campaign: UUID) -> tuple[Row, Row]:
    """Return a campaign's head and definition."""
    head = await db.fetchrow(sql.stored_head, campaign)
    definition = await db.fetchrow(sql.stored_definition, campaign)
    if head is None or definition is None:
        raise NoSuchCampaign(campaign)
    return head, definition


async def _take_all(check: _Check, db: asyncpg.Pool | asyncpg.Connection, campaign: UUID) -> None:
    """Check the events after the last one that was checked, unless there is too much wrong."""
    after = 0 if check.digest is None else check.digest.number
    if len(check.differences) < MOST_DIFFERENCES:
        async for event in read_trail(db, sql.stored_events, campaign, after):
            check.take(event)
            if len(check.differences) >= MOST_DIFFERENCES:
                return


class _Check:
    """The differences found while a trail is read: in its chain, kept digests and the replay.

    Attributes:
        replaying: whether everything so far could be replayed.
        unsupported: why this version cannot, if that is so.
        digest: of the last event.
    """

    def __init__(self, definition: Row, saved: object, expected: Sequence[Digest]) -> None:
        self.replay = Replay(saved.get("version") if isinstance(saved, dict) else None)
        self.replaying = True
        self.unsupported: NotSupported | None = None
        self.events = 0
        self.digest: Digest | None = None
        self.differences: list[str] = []
        self._chain = campaign_digest(definition)
        self._keys = 0
        self._without_key: list[Row] = []
        self._expected = list(expected)

    def take(self, event: Row) -> None:
        """Check the next event."""
        self.events += 1
        number, stored = event["number"], bytes(event["chain"])
        if stored != event_digest(self._chain, event):
            self._note(
                event,
                "its digest is not that of what it says and of"
                + (" the event before it" if self.events > 1 else " what the campaign is"),
            )
        # Goes on from what is stored, so that one change is found once.
        self._chain, self.digest = stored, Digest(stored, number)
        kept = {one.value for one in self._expected if one.number == number}
        self._expected = [one for one in self._expected if one.number != number]
        if kept - {stored}:
            self._note(event, "its digest is not the one that was kept")
        if event["key"] is not None:
            self._take_key(event)
        if self.replaying:
            self._replay(event)

    def _take_key(self, event: Row) -> None:
        """Check that a repeat of the event's request would be answered from the event."""
        if event["answered_by"] is None:
            if len(self._without_key) < MOST_DIFFERENCES:
                self._without_key.append(event)
            return
        self._keys += 1
        if event["answered_by"] != event["number"]:
            self._note(event, f"its idempotency key leads to event {event['answered_by']}")

    def end_keys(self, stored: int, status: str) -> None:
        """After all events, check the idempotency keys that lead to none of them.

        Keys of a campaign that has ended may have been deleted (`keep_requests_days`).
        """
        for event in [] if status in ENDED else self._without_key:
            self._note(event, "its idempotency key is not stored")
        if stored > self._keys:
            more = stored - self._keys
            self.differences.append(f"{more:,} idempotency keys are of no request in the trail")

    def end(self, chain: bytes) -> None:
        """After all events, check the kept digests and the digest beside the lock."""
        if not self.events:
            self.differences.append("there are no events")
            self.replaying = False
        for number in sorted({one.number for one in self._expected}):
            self.differences.append(
                f"event {number} is not there, and a digest of it was kept; the last one is"
                f" {self.events}"
            )
        if chain != self._chain:
            self.differences.append("the newest digest is not that of the last event")

    def _replay(self, event: Row) -> None:
        found = len(self.replay.differences)
        try:
            self.replay.take(event)
        except NotSupported as error:
            # What another version makes of it is no difference; the chain is read on.
            self.unsupported, self.replaying = error, False
            return
        except Exception as error:  # an edited event may have any content
            self._note(event, f"cannot be replayed ({type(error).__name__})")
            self.replaying = False
        self.differences += self.replay.differences[found:]
        self.replaying = self.replaying and bool(self.replay.status)

    def _note(self, event: Row, text: str) -> None:
        self.differences.append(f"event {event['number']} ({event['kind']}): {text}")


FOLLOWS = "{} is {!r}, but {!r} follows from the events"


def _differences(found: Row, expected: Mapping[str, Any], text: str) -> Iterator[str]:
    for what, value in expected.items():
        if found[what] != value:
            yield text.format(what, found[what], value)


def _definition_differences(row: Row, head: Row, replay: Replay) -> list[str]:
    """Return where the stored definition of a campaign contradicts its first event."""
    spec = replay.spec
    terms = {
        "lease_seconds": spec.lease_seconds,
        "lowest": spec.scale.lowest,
        "highest": spec.scale.highest,
        "tellers": replay.tellers,
    }
    made = terms | {
        "name": spec.name,
        "arms": list(spec.arms),
        "horizon": spec.horizon,
        "committee": None if spec.committee is None else list(spec.committee),
    }
    beside = terms | {"tenant": row["tenant"], "width": len(replay.round.arms)}
    found = [
        *_differences(row, made, "{} is {!r}, made as {!r}"),
        *_differences(head, beside, "{} beside the lock is {!r}, but {!r} follows"),
    ]
    try:
        same = served_policy(row["policy"]).to_json() == spec.policy.to_json()
    except AffinityError:
        same = False
    return found if same else [*found, "the policy is not the one that the campaign was made with"]


async def _stored(db: asyncpg.Connection, campaign: UUID, head: Row) -> dict[str, Any]:
    """Return a campaign's state in the tables, under the names of `_replayed`."""
    named = await db.fetchrow(sql.named_judges, campaign)
    open_ = None
    if head["status"] != "exhausted":
        open_ = await db.fetchrow(sql.stored_round, campaign, head["round"])
    return {
        "number of events": head["events"],
        "bytes of answers": head["bytes"],
        "status": head["status"],
        "open round": head["round"],
        "size of the open round": head["size"],
        "next slot": head["next_slot"],
        "choices under way at once": head["in_flight"],
        "state of the policy": head["saved"],
        "answers in the open round": head["answered"],
        "nodes": head["nodes"],
        "sums of the open round": [
            (*row[:2], int(row[2]), tallies_in(row))
            for row in await db.fetch(sql.stored_sums, campaign)
        ],
        "open leases": {
            lease: (set(slots_in(pending)), *rest)
            for lease, pending, *rest in await db.fetch(sql.stored_leases, campaign)
        },
        "lapsed slots": [
            tuple(row) for row in await db.fetch(sql.stored_lapses, campaign, head["round"])
        ],
        "scores by rater": {
            rater: tuple(rest) for rater, *rest in await db.fetch(sql.stored_raters, campaign)
        },
        "blocks": {
            row["lease"]: {name: value for name, value in row.items() if name != "lease"}
            for row in await db.fetch(sql.stored_blocks, campaign)
        },
        "handing out no slots": head["awaits_judges"],
        "judges named for rounds to come": named
        and Appointment(named["event"], named["round"], JudgeCounts.from_json(named)),
        "what is stored of the open round": open_ and dict(open_),
        "closed rounds": [
            dict(row) | {"sums": [int(total) for total in row["sums"]]}
            for row in await db.fetch(sql.stored_rounds, campaign)
        ],
    }


def _replayed(replay: Replay) -> dict[str, Any]:
    """Return the state that follows from the events."""
    over = replay.status == "exhausted"
    counted = enumerate(zip(replay.answers, replay.sums, replay.tallies, strict=True))
    leases: dict[int, set[int]] = {}
    for slot, lease in replay.owed.items():
        leases.setdefault(lease, set()).add(slot)
    shape = replay.round.to_json() | {"before": replay.before, **replay.describe_judges()}
    shape["opened_at"] = replay.opened_at
    del shape["final"]
    return {
        "number of events": replay.events,
        "bytes of answers": replay.bytes,
        "status": replay.status,
        "open round": replay.number,
        "size of the open round": replay.round.size,
        "next slot": replay.next_slot,
        "choices under way at once": replay.in_flight,
        "state of the policy": replay.saved,
        "answers in the open round": replay.round.size if over else sum(replay.answers),
        "nodes": replay.nodes.number,
        "sums of the open round": [(place, *seen) for place, seen in counted if seen[0]],
        "open leases": {
            number: (pending, one.round, one.expires_at, one.again, one.actor, one.released)
            for number, pending in leases.items()
            for one in (replay.leases[number],)
        },
        "lapsed slots": [one for one in enumerate(replay.lapsed) if one[1]],
        "scores by rater": replay.raters,
        "blocks": {number: vars(one) for number, one in replay.blocks.given.items()},
        "handing out no slots": replay.round.waits or replay.by_blocks,
        "judges named for rounds to come": replay.named,
        "what is stored of the open round": None if over else shape,
        "closed rounds": replay.closed,
    }
