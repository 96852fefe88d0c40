"""Read-only queries: campaigns, rounds and events as they stand.

What is shown of a campaign is what the database knows. Its policy and state are read all the same,
to see whether it could go on; one that could not is shown with that, and keeps no other from being
shown.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.policies import FOREVER
from affinity_bandits.service.core.campaign_spec import CampaignSpec
from affinity_bandits.service.core.faults import check_places, ours, policy_of, state_of
from affinity_bandits.service.core.records import (
    Attention,
    Campaign,
    ClosedRound,
    Event,
    Progress,
    Stored,
)
from affinity_bandits.service.core.scores import from_units
from affinity_bandits.service.problems import NeedsAttention, NoSuchCampaign
from affinity_bandits.service.store.connection import translate_errors

_CAMPAIGNS = """
SELECT c.id, c.number, c.name, c.arms, c.policy::text, c.horizon, c.lease_seconds, c.lowest,
  c.highest, c.saved::text, c.created_at, h.status, h.round, h.next_slot, h.answered, h.in_flight,
  r.arms AS round_arms, r.repetitions, r.size, r.before, r.opened_at,
  coalesce(s.places, '{}') AS places, coalesce(s.answers, '{}') AS answers,
  coalesce(s.totals, '{}') AS totals,
  ARRAY(SELECT unnest(d.dropped) FROM affinity.rounds AS d WHERE d.campaign = c.id) AS dropped,
  f.kind, f.reason, coalesce(f.since, clock_timestamp()) AS since
FROM affinity.campaigns AS c
JOIN affinity.heads AS h ON h.campaign = c.id
JOIN affinity.rounds AS r ON r.campaign = c.id AND r.number = h.round
LEFT JOIN affinity.faults AS f ON f.campaign = c.id
LEFT JOIN LATERAL (
  SELECT array_agg(place) AS places, array_agg(answers) AS answers, array_agg(total) AS totals
  FROM affinity.sums AS s WHERE s.campaign = c.id) AS s ON true
"""


class CampaignQueries:
    """What can be read of the campaigns in one database.

    Args:
        pool: connections; they may lead to a read replica, which is then a little behind.
        note: given the faults that are found, as `Campaigns.note` is.
    """

    def __init__(
        self,
        pool: asyncpg.Pool[Any],
        note: Callable[[Sequence[NeedsAttention]], Awaitable[None]] | None = None,
    ) -> None:
        self._pool = pool
        self._note = note

    async def campaign(self, tenant: int, campaign: UUID) -> Campaign:
        """Return a campaign as it stands.

        Raises:
            NoSuchCampaign: this tenant has none by that id.
        """
        async with translate_errors():
            row = await self._pool.fetchrow(
                _CAMPAIGNS + " WHERE c.tenant = $1 AND c.id = $2", tenant, campaign
            )
        if row is None:
            raise NoSuchCampaign(campaign)
        return (await self._shown([row]))[0]

    async def arms(self, tenant: int, campaign: UUID) -> tuple[str, ...]:
        """Return the names of a campaign's arms.

        Raises:
            NoSuchCampaign: this tenant has none by that id.
        """
        async with translate_errors():
            names = await self._pool.fetchval(
                "SELECT arms FROM affinity.campaigns WHERE tenant = $1 AND id = $2",
                tenant,
                campaign,
            )
        if names is None:
            raise NoSuchCampaign(campaign)
        return tuple(names)

    async def campaigns(
        self, tenant: int, after: int | None, limit: int
    ) -> tuple[list[Campaign], int | None]:
        """Return a page of the tenant's campaigns, oldest first, and where the next one begins."""
        async with translate_errors():
            rows = await self._pool.fetch(
                _CAMPAIGNS + " WHERE c.tenant = $1 AND c.number > $2 ORDER BY c.number LIMIT $3",
                tenant,
                -1 if after is None else after,
                limit + 1,
            )
        more = rows[limit - 1]["number"] if len(rows) > limit else None
        return await self._shown(rows[:limit]), more

    async def rounds(
        self, tenant: int, campaign: UUID, after: int | None, limit: int
    ) -> tuple[list[ClosedRound], int | None]:
        """Return a page of the rounds that were closed, in their order."""
        async with translate_errors():
            rows = await self._pool.fetch(
                "SELECT r.* FROM affinity.rounds AS r"
                " JOIN affinity.campaigns AS c ON c.id = r.campaign"
                " WHERE c.tenant = $1 AND c.id = $2 AND r.number > $3 AND r.closed_at IS NOT NULL"
                " ORDER BY r.number LIMIT $4",
                tenant,
                campaign,
                -1 if after is None else min(after, 2**31 - 1),
                limit + 1,
            )
            if not rows:
                await self._check(tenant, campaign)
        more = rows[limit - 1]["number"] if len(rows) > limit else None
        return [_closed(row) for row in rows[:limit]], more

    async def events(
        self, tenant: int, campaign: UUID, after: int | None, limit: int
    ) -> tuple[list[Event], int | None]:
        """Return a page of the audit trail, in its order."""
        async with translate_errors():
            await self._check(tenant, campaign)
            rows = await self._pool.fetch(
                "SELECT * FROM affinity.events WHERE campaign = $1 AND number > $2"
                " ORDER BY number LIMIT $3",
                campaign,
                -1 if after is None else after,
                limit + 1,
            )
        more = rows[limit - 1]["number"] if len(rows) > limit else None
        return [_event(row) for row in rows[:limit]], more

    async def answers(self, campaigns: Sequence[Campaign]) -> dict[UUID, tuple[int, ...]]:
        """Return how many answers each arm of each campaign has, the open round included."""
        async with translate_errors():
            rows = await self._pool.fetch(
                "SELECT r.campaign, a.arm, sum(a.n) AS n FROM affinity.rounds AS r,"
                " unnest(r.arms, r.counts) AS a (arm, n)"
                " WHERE r.campaign = ANY ($1) AND r.closed_at IS NOT NULL GROUP BY 1, 2",
                [one.id for one in campaigns],
            )
        found = {one.id: [0] * len(one.spec.arms) for one in campaigns}
        for row in rows:
            counts = found[row["campaign"]]
            if row["arm"] in range(len(counts)):  # what does not fit keeps nobody's list
                counts[row["arm"]] += int(row["n"])
        for one in campaigns:
            if one.status == "exhausted":
                continue  # its last round is among the closed ones
            for arm, count in zip(one.round.arms, one.round.answers, strict=True):
                found[one.id][arm] += count
        return {id_: tuple(counts) for id_, counts in found.items()}

    async def _shown(self, rows: Sequence[asyncpg.Record]) -> list[Campaign]:
        found: list[NeedsAttention] = []
        campaigns = [_campaign(row, found) for row in rows]
        if found and self._note is not None:
            await self._note(found)
        return campaigns

    async def _check(self, tenant: int, campaign: UUID) -> None:
        there = await self._pool.fetchval(
            "SELECT true FROM affinity.campaigns WHERE tenant = $1 AND id = $2", tenant, campaign
        )
        if there is None:
            raise NoSuchCampaign(campaign)


def _campaign(row: asyncpg.Record, found: list[NeedsAttention]) -> Campaign:
    """Return a campaign; what keeps it from going on is added to what was found."""
    all_arms = range(len(row["arms"]))
    arms = tuple(arm for arm in row["round_arms"] if arm in all_arms)
    answers, sums = [0] * len(arms), [0] * len(arms)
    for place, count, total in zip(row["places"], row["answers"], row["totals"], strict=True):
        if place < len(arms):
            answers[place], sums[place] = count, int(total)
    spec, fault = _spec(row)
    attention = None
    if row["kind"] is not None:
        attention = Attention(row["kind"], row["reason"], row["since"])
    # A campaign that is over needs neither its policy nor its state any more.
    if fault is not None and row["status"] == "open":
        attention = Attention(fault.kind, fault.reason, row["since"])
        found.append(fault)
    return Campaign(
        id=row["id"],
        spec=spec,
        status=row["status"],
        recommended=arms[0] if row["repetitions"] >= FOREVER and len(arms) == 1 else None,
        active=tuple(arm for arm in all_arms if arm not in row["dropped"]),
        before=row["before"],
        in_flight=row["in_flight"],
        round=Progress(
            number=row["round"],
            arms=arms,
            repetitions=row["repetitions"],
            size=row["size"],
            handed_out=row["next_slot"],
            answered=row["answered"],
            answers=tuple(answers),
            sums=tuple(sums),
            opened_at=row["opened_at"],
        ),
        created_at=row["created_at"],
        attention=attention,
    )


def _spec(row: asyncpg.Record) -> tuple[CampaignSpec | Stored, NeedsAttention | None]:
    """Return what a campaign is, and what keeps it from going on."""
    id_, name, arms = row["id"], row["name"], tuple(row["arms"])
    low, high = from_units(row["lowest"]), from_units(row["highest"])
    rest = (row["horizon"], row["lease_seconds"], low, high)
    spec: CampaignSpec | None = None
    try:
        policy = policy_of(id_, row["policy"])
        with ours(id_, "policy"):
            spec = CampaignSpec(name, arms, policy, *rest)
        state_of(id_, policy, row["saved"])
        check_places(id_, max(row["places"], default=None), len(row["round_arms"]))
    except NeedsAttention as fault:
        return spec or Stored(name, arms, _settings(row["policy"]), *rest), fault
    return spec, None


def _settings(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _closed(row: asyncpg.Record) -> ClosedRound:
    return ClosedRound(
        number=row["number"],
        arms=tuple(row["arms"]),
        repetitions=row["repetitions"],
        size=row["size"],
        before=row["before"],
        opened_at=row["opened_at"],
        closed_at=row["closed_at"],
        counts=tuple(row["counts"]),
        sums=tuple(int(total) for total in row["sums"]),
        dropped=tuple(row["dropped"]),
    )


def _event(row: asyncpg.Record) -> Event:
    data: dict[str, Any] = {}
    if row["kind"] == "ask":
        data = {
            "count": row["asked"],
            "runs": [[run.lower, run.upper - run.lower] for run in row["slots"]],
            "expires_at": row["expires_at"].isoformat(),
        }
    elif row["kind"] == "tell":
        data = {name: row[name] for name in ("lease", "counted", "late", "duplicate")}
        if row["counts"] is None:
            data |= {"slots": row["told"], "units": row["units"]}
        else:
            data |= {"arms": row["told"], "counts": row["counts"], "units": row["units"]}
    elif row["detail"] is not None:
        data = row["detail"]
    return Event(
        row["number"], row["at"], row["kind"], row["actor"], row["key"], row["round"], data
    )
