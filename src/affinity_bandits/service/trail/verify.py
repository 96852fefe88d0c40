"""Verify that a campaign's stored state follows from its audit trail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.errors import NotSupported
from affinity_bandits.service.core.judging import Judges, NamedJudges
from affinity_bandits.service.core.tallies import tallies_in
from affinity_bandits.service.problems import NoSuchCampaign
from affinity_bandits.service.store.connection import transaction
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.trail.replay import Replay

MOST_DIFFERENCES = 100
"""Differences after which a replay gives up: one early mistake brings many others."""


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a campaign.

    Attributes:
        events: how many were replayed.
        rounds: how many rounds were closed in them.
        differences: where the trail contradicts itself or the stored state; empty if nowhere.
    """

    events: int
    rounds: int
    differences: tuple[str, ...]


async def verify(pool: asyncpg.Pool, campaign: UUID) -> Verdict:
    """Replay a campaign's events with the library's policy and compare the result with the tables.

    It reads one snapshot of the database, so the campaign may go on meanwhile.

    Raises:
        NoSuchCampaign: there is none by that id.
        NotSupported: this version does not have the campaign's policy, or another version of it.
    """
    async with transaction(pool, isolation="repeatable_read", readonly=True) as db:
        head = await db.fetchrow(sql.stored_head, campaign)
        if head is None:
            raise NoSuchCampaign(campaign)
        replay = Replay()
        async for event in db.cursor(sql.stored_events, campaign):
            replay.take(event)
            if replay.events == 1:
                _check_version(replay, head["saved"])
            if len(replay.differences) >= MOST_DIFFERENCES or not replay.status:
                return Verdict(replay.events, len(replay.closed), tuple(replay.differences))
        differences = replay.differences + await _stored_differences(db, campaign, head, replay)
    return Verdict(replay.events, len(replay.closed), tuple(differences))


def _check_version(replay: Replay, saved: object) -> None:
    """Check that the campaign's state was saved by the version of its policy that is here."""
    found = saved.get("version") if isinstance(saved, dict) else None
    if replay.status and isinstance(found, int) and found != replay.spec.policy.version:
        raise NotSupported(
            f"the campaign cannot be replayed by this version, which has version"
            f" {replay.spec.policy.version} of its policy, and its state was saved by version"
            f" {found}; that says nothing against its record: verify it with the version that it"
            " was made with"
        )


def committee_of(replay: Replay) -> list[int] | None:
    """Return the initial committee that a campaign was made with."""
    members = replay.spec.committee
    return None if members is None else list(members)


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
    if head["oldest"] > min((min(one) for one in replay.pending().values()), default=head["size"]):
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
        lease: {slot for run in pending for slot in range(run.lower, run.upper)}
        for lease, pending in await db.fetch(sql.stored_leases, campaign)
    }
    compare("open leases", leases, replay.pending())
    if head["lapses_known"]:
        rows = await db.fetch(sql.stored_lapses, campaign, head["round"])
        lapsed = enumerate(replay.lapsed)
        compare("lapsed slots", [tuple(one) for one in rows], [one for one in lapsed if one[1]])
    raters = {name: tuple(one) for name, *one in await db.fetch(sql.stored_raters, campaign)}
    compare("scores by rater", raters, replay.raters)
    compare("initial committee", head["committee"], committee_of(replay))
    compare("waiting for judges", head["awaits_judges"], replay.round.waits)
    row = await db.fetchrow(sql.named_judges, campaign)
    named = None if row is None else NamedJudges(row["event"], row["round"], Judges.from_json(row))
    compare("judges named for rounds to come", named, replay.named)
    if replay.status != "exhausted":
        open_ = await db.fetchrow(sql.stored_round, campaign, replay.number)
        shape = replay.round.to_json() | {"before": replay.before, **replay.judged()}
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
