"""Looking at campaigns; nothing here locks or changes anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.policies import FOREVER
from affinity_bandits.service.database import answering
from affinity_bandits.service.description import Description, served_policy
from affinity_bandits.service.problems import NoSuchCampaign
from affinity_bandits.service.records import Campaign, ClosedRound, Event, Progress
from affinity_bandits.service.scores import from_units

_CAMPAIGNS = """
SELECT c.id, c.number, c.name, c.arms, c.policy, c.horizon, c.lease_seconds, c.lowest, c.highest,
  c.saved, c.created_at, h.status, h.round, h.next_slot, h.answered,
  r.arms AS round_arms, r.repetitions, r.size, r.before, r.opened_at,
  coalesce(s.places, '{}') AS places, coalesce(s.answers, '{}') AS answers,
  coalesce(s.totals, '{}') AS totals
FROM affinity.campaigns AS c
JOIN affinity.heads AS h ON h.campaign = c.id
JOIN affinity.rounds AS r ON r.campaign = c.id AND r.number = h.round
LEFT JOIN LATERAL (
  SELECT array_agg(place) AS places, array_agg(answers) AS answers, array_agg(total) AS totals
  FROM affinity.sums AS s WHERE s.campaign = c.id) AS s ON true
"""


class Reading:
    """What can be read of the campaigns in one database.

    Args:
        pool: connections; they may lead to a read replica, which is then a little behind.
    """

    def __init__(self, pool: asyncpg.Pool[Any]) -> None:
        self._pool = pool

    async def campaign(self, tenant: int, campaign: UUID) -> Campaign:
        """Return a campaign as it stands.

        Raises:
            NoSuchCampaign: this tenant has none by that id.
        """
        async with answering():
            row = await self._pool.fetchrow(
                _CAMPAIGNS + " WHERE c.tenant = $1 AND c.id = $2", tenant, campaign
            )
        if row is None:
            raise NoSuchCampaign(campaign)
        return _campaign(row)

    async def campaigns(
        self, tenant: int, after: int | None, limit: int
    ) -> tuple[list[Campaign], int | None]:
        """Return a page of the tenant's campaigns, oldest first, and where the next one begins."""
        async with answering():
            rows = await self._pool.fetch(
                _CAMPAIGNS + " WHERE c.tenant = $1 AND c.number > $2 ORDER BY c.number LIMIT $3",
                tenant,
                -1 if after is None else after,
                limit + 1,
            )
        more = rows[limit - 1]["number"] if len(rows) > limit else None
        return [_campaign(row) for row in rows[:limit]], more

    async def rounds(
        self, tenant: int, campaign: UUID, after: int | None, limit: int
    ) -> tuple[list[ClosedRound], int | None]:
        """Return a page of the rounds that were closed, in their order."""
        async with answering():
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
        async with answering():
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
        async with answering():
            rows = await self._pool.fetch(
                "SELECT r.campaign, a.arm, sum(a.n) AS n FROM affinity.rounds AS r,"
                " unnest(r.arms, r.counts) AS a (arm, n)"
                " WHERE r.campaign = ANY ($1) AND r.closed_at IS NOT NULL GROUP BY 1, 2",
                [one.id for one in campaigns],
            )
        found = {one.id: [0] * len(one.description.arms) for one in campaigns}
        for row in rows:
            found[row["campaign"]][row["arm"]] += int(row["n"])
        for one in campaigns:
            if one.status == "exhausted":
                continue  # its last round is among the closed ones
            for arm, count in zip(one.round.arms, one.round.answers, strict=True):
                found[one.id][arm] += count
        return {id_: tuple(counts) for id_, counts in found.items()}

    async def _check(self, tenant: int, campaign: UUID) -> None:
        there = await self._pool.fetchval(
            "SELECT true FROM affinity.campaigns WHERE tenant = $1 AND id = $2", tenant, campaign
        )
        if there is None:
            raise NoSuchCampaign(campaign)


def _campaign(row: asyncpg.Record) -> Campaign:
    policy = served_policy(row["policy"])
    description = Description(
        row["name"],
        tuple(row["arms"]),
        policy,
        row["horizon"],
        row["lease_seconds"],
        from_units(row["lowest"]),
        from_units(row["highest"]),
    )
    state = policy.load(row["saved"])
    candidate = policy.kernels().candidate
    arms = tuple(row["round_arms"])
    answers, sums = [0] * len(arms), [0] * len(arms)
    for place, count, total in zip(row["places"], row["answers"], row["totals"], strict=True):
        answers[place], sums[place] = count, int(total)
    return Campaign(
        id=row["id"],
        description=description,
        status=row["status"],
        recommended=arms[0] if row["repetitions"] >= FOREVER and len(arms) == 1 else None,
        active=tuple(arm for arm in range(len(description.arms)) if candidate(state, arm)),
        before=row["before"],
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
    )


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
