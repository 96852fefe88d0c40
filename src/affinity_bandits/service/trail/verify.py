"""Verify that a campaign's stored state follows from its audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.errors import AffinityError, NotSupported
from affinity_bandits.service.core.campaign_spec import served_policy
from affinity_bandits.service.core.judging import Judges, NamedJudges
from affinity_bandits.service.core.tallies import tallies_in
from affinity_bandits.service.problems import NoSuchCampaign
from affinity_bandits.service.store.connection import transaction
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.trail.chain import Digest, chained, defined
from affinity_bandits.service.trail.replay import Replay, Row
from affinity_bandits.service.trail.replayable import not_replayable

MOST_DIFFERENCES = 100
"""Differences after which a replay gives up: one early mistake brings many others."""


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a campaign.

    Attributes:
        events: how many were replayed.
        rounds: how many rounds were closed in them.
        differences: where the trail contradicts itself or the stored state; empty if nowhere.
        digest: of the last event that was read, to be kept elsewhere; None if there is none.
    """

    events: int
    rounds: int
    differences: tuple[str, ...]
    digest: Digest | None = None


async def verify(pool: asyncpg.Pool, campaign: UUID, expected: Sequence[Digest] = ()) -> Verdict:
    """Replay a campaign's events with the library's policy and compare the result with the tables.

    It reads one snapshot of the database, so the campaign may go on meanwhile.

    Args:
        pool: connections.
        campaign: its id.
        expected: digests that were kept elsewhere, which the trail must have.

    Raises:
        NoSuchCampaign: there is none by that id.
        NotSupported: this version does not have the campaign's policy, or another version of it,
            and the chain of digests is whole.
    """
    async with transaction(pool, isolation="repeatable_read", readonly=True) as db:
        head = await db.fetchrow(sql.stored_head, campaign)
        definition = await db.fetchrow(sql.stored_definition, campaign)
        if head is None or definition is None:
            raise NoSuchCampaign(campaign)
        check = _Check(definition, head["saved"], expected)
        async for event in db.cursor(sql.stored_events, campaign):
            check.take(event)
            if len(check.differences) >= MOST_DIFFERENCES:
                break
        else:
            check.end(head["chain"])
            if check.unsupported is not None and not check.differences:
                raise check.unsupported
            if check.replaying:
                check.differences += _definition_differences(definition, head, check.replay)
                check.differences += await _stored_differences(db, campaign, head, check.replay)
    rounds = len(check.replay.closed)
    return Verdict(check.events, rounds, tuple(check.differences), check.digest)


class _Check:
    """What is found while a trail is read: the chain, what was kept of it, and the replay.

    Attributes:
        replaying: whether everything so far could be replayed.
        unsupported: why this version cannot, if that is so.
        digest: of the last event.
    """

    def __init__(self, definition: Row, saved: object, expected: Sequence[Digest]) -> None:
        self.replay = Replay()
        self.replaying = True
        self.unsupported: NotSupported | None = None
        self.events = 0
        self.digest: Digest | None = None
        self.differences: list[str] = []
        self._saved = saved
        self._chain = defined(definition)
        self._expected: dict[int, list[bytes]] = {}
        for one in expected:
            self._expected.setdefault(one.number, []).append(one.value)

    def take(self, event: Row) -> None:
        """Check the next event."""
        self.events += 1
        number, stored = event["number"], bytes(event["chain"])
        if stored != chained(self._chain, event):
            self.differences.append(
                f"event {number} ({event['kind']}): its digest is not that of what it says and of"
                + (" the event before it" if self.events > 1 else " what the campaign is")
            )
        # Goes on from what is stored, so that one change is found once.
        self._chain, self.digest = stored, Digest(stored, number)
        if any(kept != stored for kept in self._expected.pop(number, [])):
            self.differences.append(
                f"event {number} ({event['kind']}): its digest is not the one that was kept"
            )
        if self.replaying:
            self._replay(event)

    def end(self, chain: bytes) -> None:
        """Check what is left when all events are read, given the digest beside the lock."""
        if not self.events:
            self.differences.append("there are no events")
            self.replaying = False
        for number in sorted(self._expected):
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
            if self.replay.events == 1:
                _check_version(self.replay, self._saved)
        except NotSupported as error:
            # What another version makes of it is no difference; the chain is read on.
            self.unsupported, self.replaying = error, False
            return
        except Exception as error:  # whatever somebody wrote into it
            self.replay.differences.append(
                f"event {event['number']} ({event['kind']}): cannot be replayed"
                f" ({type(error).__name__})"
            )
            self.replaying = False
        self.differences += self.replay.differences[found:]
        self.replaying = self.replaying and bool(self.replay.status)


def _check_version(replay: Replay, saved: object) -> None:
    """Check that the campaign's state was saved by the version of its policy that is here."""
    found = saved.get("version") if isinstance(saved, dict) else None
    if replay.status and isinstance(found, int) and found != replay.spec.policy.version:
        has = f"version {replay.spec.policy.version} of its policy"
        raise not_replayable(f"{has}, and its state was saved by version {found}")


def _definition_differences(row: Row, head: Row, replay: Replay) -> list[str]:
    """Return where what is stored of a campaign is not what its first event says."""
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
    found = [
        f"{name} is {row[name]!r}, made as {made[name]!r}"
        for name in made
        if row[name] != made[name]
    ]
    beside = terms | {"tenant": row["tenant"], "width": len(replay.round.arms)}
    found += [
        f"{name} beside the lock is {head[name]!r}, but {beside[name]!r} follows"
        for name in beside
        if head[name] != beside[name]
    ]
    try:
        same = served_policy(row["policy"]).to_json() == spec.policy.to_json()
    except AffinityError:
        same = False
    return found if same else [*found, "the policy is not the one that the campaign was made with"]


async def _stored_differences(
    db: asyncpg.Connection, campaign: UUID, head: asyncpg.Record, replay: Replay
) -> list[str]:
    """Return where the tables differ from the replayed state."""
    found: list[str] = []

    def compare(what: str, stored: object, replayed: object) -> None:
        if stored != replayed:
            found.append(f"{what} is {stored!r}, but {replayed!r} follows from the events")

    compare("number of events", head["events"], replay.events)
    compare("status", head["status"], replay.status)
    compare("open round", head["round"], replay.number)
    compare("size of the open round", head["size"], replay.round.size)
    compare("next slot", head["next_slot"], replay.next_slot)
    compare("choices under way at once", head["in_flight"], replay.in_flight)
    compare("state of the policy", head["saved"], replay.saved)
    if head["oldest"] > replay.leases.oldest_owed(head["size"]):
        found.append(f"slots before {head['oldest']} are said to be answered, but some are not")
    answered = replay.round.size if replay.status == "exhausted" else sum(replay.answers)
    compare("answers in the open round", head["answered"], answered)
    compare("nodes", head["nodes"], replay.nodes.number)
    counted = enumerate(zip(replay.answers, replay.sums, replay.tallies, strict=True))
    rows = await db.fetch(sql.stored_sums, campaign)
    compare(
        "sums of the open round",
        [(*one[:2], int(one[2]), tallies_in(one)) for one in rows],
        [(place, *seen) for place, seen in counted if seen[0]],
    )
    leases = {
        lease: ({slot for run in pending for slot in range(run.lower, run.upper)}, *rest)
        for lease, pending, *rest in await db.fetch(sql.stored_leases, campaign)
    }
    if not head["lapses_known"]:  # nor which slots were offered again
        leases = {lease: (*one[:3], False, one[4]) for lease, one in leases.items()}
    owing = {
        lease: (
            one.pending,
            one.round,
            one.expires_at,
            one.again and head["lapses_known"],
            one.actor,
        )
        for lease, one in replay.leases.owing.items()
    }
    compare("open leases", leases, owing)
    if head["lapses_known"]:
        rows = await db.fetch(sql.stored_lapses, campaign, head["round"])
        lapsed = enumerate(replay.lapsed)
        compare("lapsed slots", [tuple(one) for one in rows], [one for one in lapsed if one[1]])
    raters = {name: tuple(one) for name, *one in await db.fetch(sql.stored_raters, campaign)}
    compare("scores by rater", raters, replay.raters)
    compare("waiting for judges", head["awaits_judges"], replay.round.waits)
    row = await db.fetchrow(sql.named_judges, campaign)
    named = None if row is None else NamedJudges(row["event"], row["round"], Judges.from_json(row))
    compare("judges named for rounds to come", named, replay.named)
    if replay.status != "exhausted":
        open_ = await db.fetchrow(sql.stored_round, campaign, replay.number)
        shape = replay.round.to_json() | {"before": replay.before, **replay.judged()}
        shape["opened_at"] = replay.opened_at
        del shape["final"]
        compare("what is stored of the open round", open_ and dict(open_), shape)
    rounds = map(dict, await db.fetch(sql.stored_rounds, campaign))
    closed = [one | {"sums": [int(total) for total in one["sums"]]} for one in rounds]
    compare("closed rounds", *map(_as_far_as_counted, (closed, replay.closed), (closed, closed)))
    return found


def _as_far_as_counted(
    rounds: list[dict[str, Any]], stored: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return rounds without lapsed slots where these were not counted: in older versions."""
    known = {one["number"] for one in stored if one["lapsed"]}
    return [one if one["number"] in known else one | {"lapsed": None} for one in rounds]
