"""Read-only queries: campaigns, rounds and events.

Policy and state of a campaign are loaded as well, to report whether it can go on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from affinity_bandits.base.declaration import Declaration
from affinity_bandits.policies import FOREVER, BlockPolicy
from affinity_bandits_client.messages import (
    Arm,
    Attention,
    Event,
    Finding,
    Health,
    Judges,
    NamedJudges,
    RaterBlocks,
)
from affinity_bandits_client.messages.campaigns import OpenRound
from affinity_bandits_service.core.faults import load_policy, load_state
from affinity_bandits_service.core.scores import from_units, units_to_text
from affinity_bandits_service.core.spec import (
    CampaignRecord,
    PlannedTime,
    RoundRecord,
    ServedPolicy,
    UnknownPolicy,
    tellers_stored,
)
from affinity_bandits_service.limits import off_loop
from affinity_bandits_service.problems import NeedsAttention, NoSuchCampaign
from affinity_bandits_service.store.connection import sql, translate_errors


class LeadInBlocks(NamedTuple):
    """How far a group was ahead of another within raters who scored both.

    Attributes:
        blocks: how many had both.
        mean: of the differences, in points.
    """

    blocks: int
    mean: float


class CampaignQueries:
    """Read-only access to the campaigns in one database.

    Args:
        pool: connections; they may lead to a read replica, which is then a little behind.
    """

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def campaign(self, tenant: int, campaign: UUID) -> CampaignRecord:
        """Return a campaign as it stands.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
        """
        async with translate_errors():
            query = sql.campaigns + " WHERE c.tenant = $1 AND c.id = $2"
            row = await self._pool.fetchrow(query, tenant, campaign)
        if row is None:
            raise NoSuchCampaign(campaign)
        return (await self._records([row]))[0]

    @translate_errors()
    async def arms(self, tenant: int, campaign: UUID) -> tuple[str, ...]:
        """Return the names of a campaign's arms.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
        """
        names = await self._pool.fetchval(sql.arms, tenant, campaign)
        if names is None:
            raise NoSuchCampaign(campaign)
        return tuple(names)

    async def campaigns(
        self, tenant: int, after: int | None, limit: int
    ) -> tuple[list[CampaignRecord], int | None]:
        """Return a page of the tenant's campaigns, oldest first, and where the next one begins."""
        query = sql.campaigns + " WHERE c.tenant = $1 AND c.number > $2 ORDER BY c.number LIMIT $3"
        rows, more = await self._page(query, tenant, after=after, limit=limit)
        return await self._records(rows), more

    async def rounds(
        self, tenant: int, campaign: UUID, after: int | None, limit: int
    ) -> tuple[list[RoundRecord], int | None]:
        """Return a page of closed rounds, in order, and where the next one begins."""
        names = await self.arms(tenant, campaign)
        start = None if after is None else min(after, 2**31 - 1)
        rows, more = await self._page(
            sql.page_of_rounds, tenant, campaign, after=start, limit=limit
        )
        return [_round(row, names) for row in rows], more

    async def events(
        self, tenant: int, campaign: UUID, after: int | None, limit: int
    ) -> tuple[list[Event], int | None]:
        """Return a page of the audit trail, in order, and where the next one begins."""
        await self.arms(tenant, campaign)  # refused where there is no such campaign
        rows, more = await self._page(sql.page_of_events, campaign, after=after, limit=limit)
        return [_event(row) for row in rows], more

    @translate_errors()
    async def leads_in_blocks(
        self, campaign: CampaignRecord, leader: str, rounds: int
    ) -> dict[str, LeadInBlocks]:
        """Return by how much a group was ahead of others within raters, in the first rounds."""
        row = UUID(campaign.id), rounds, campaign.names.index(leader)
        return {
            campaign.names[one["arm"]]: LeadInBlocks(
                one["blocks"], from_units(int(one["units"])) / one["blocks"]
            )
            for one in await self._pool.fetch(sql.lead_in_blocks, *row)
        }

    async def _records(self, rows: Sequence[asyncpg.Record]) -> list[CampaignRecord]:
        async with translate_errors():
            ids = [row["id"] for row in rows]
            counts = await self._pool.fetch(sql.answers_of_closed_rounds, ids)
        answers: dict[UUID, dict[int, int]] = {id_: {} for id_ in ids}
        for one in counts:
            answers[one["campaign"]][one["arm"]] = int(one["n"])
        found = [
            await off_loop(
                len(row["policy"]) + len(row["saved"]), _campaign, row, answers[row["id"]]
            )
            for row in rows
        ]
        return [await self._with_blocks(one) for one in found]

    async def _with_blocks(self, record: CampaignRecord) -> CampaignRecord:
        """Return a campaign with the blocks of its open round, if it has any."""
        policy = record.made_policy
        if not isinstance(policy, BlockPolicy) or record.saved is None or record.round_over:
            return record
        async with translate_errors():
            rows = await self._pool.fetch(sql.blocks_by_kind, UUID(record.id), record.round.number)
        planned = policy.round(policy.load(record.saved))
        assert planned is not None  # with one group left, the round is over
        by_kind = {row["kind"]: row for row in rows}
        blocks = tuple(
            RaterBlocks(
                rater_group=None if kind == len(record.names) else record.names[kind],
                groups=tuple(record.names[group] for group in groups),
                blocks=planned.passes,
                **{
                    name: by_kind[kind][name] if kind in by_kind else 0
                    for name in ("given", "open", "answered")
                },
            )
            for kind, groups in zip(planned.raters, planned.groups, strict=True)
        )
        opened = record.round.model_copy(update={"blocks": blocks})
        return record.model_copy(update={"round": opened})

    @translate_errors()
    async def _page(
        self, query: str, *arguments: object, after: int | None, limit: int
    ) -> tuple[list[asyncpg.Record], int | None]:
        """Return up to `limit` rows after a number, and where the next page begins."""
        start = -1 if after is None else after
        rows = await self._pool.fetch(query, *arguments, start, limit + 1)
        return rows[:limit], rows[limit - 1]["number"] if len(rows) > limit else None


def _campaign(row: asyncpg.Record, closed: Mapping[int, int]) -> CampaignRecord:
    """Return the campaign in a row, given the answers of its arms in closed rounds."""
    names = tuple(row["arms"])
    described = row["description"]  # as the first event has it
    arms = [arm for arm in row["round_arms"] if arm in range(len(names))]
    round_answers = [0] * len(arms)
    for place, count in zip(row["places"], row["answers"], strict=True):
        if place < len(arms):
            round_answers[place] = count
    answers = dict(closed)
    if row["status"] != "exhausted":  # its last round is among the closed ones
        for arm, count in zip(arms, round_answers, strict=True):
            answers[arm] = answers.get(arm, 0) + count
    policy, saved, fault = _load(row)
    attention = None
    if fault is not None and row["status"] == "open":  # others need no policy any more
        attention = Attention(kind=fault.kind, reason=fault.reason, since=row["since"])
    elif row["kind"] is not None:
        attention = Attention(kind=row["kind"], reason=row["reason"], since=row["since"])
    final = row["repetitions"] >= FOREVER and len(arms) == 1
    comparing = row["status"] == "open"
    by_blocks = isinstance(policy, BlockPolicy)
    named = None
    if comparing and row["named_judges"] is not None:
        named = NamedJudges(
            judges=dict(zip(names, row["named_judges"], strict=True)),
            outsiders=row["named_outsiders"],
            standing=row["standing"],
        )
    return CampaignRecord(
        **_of(row, "name", "status", "horizon", "lease_seconds", "in_flight"),
        awaits_judges=row["awaits_judges"] and not by_blocks,
        **_of(row, "created_at", "before"),
        id=str(row["id"]),
        arms=tuple(
            Arm(name=name, active=arm not in row["dropped"], answers=answers.get(arm, 0))
            for arm, name in enumerate(names)
        ),
        recommended=names[arms[0]] if final else None,
        round=OpenRound(
            **_of(row, "repetitions", "size", "handed_out", "answered"),
            number=row["round"],
            arms=tuple(names[arm] for arm in arms),
            judged_by=_judges(names, row),
        ),
        policy=_settings(row["policy"]) if policy is None else policy.to_json(),
        lowest=from_units(row["lowest"]),
        highest=from_units(row["highest"]),
        fewest_seats=_name(names, row["fewest_seats"]) if comparing else None,
        named_judges=named,
        committee=row["committee"] and dict(zip(names, row["committee"], strict=True)),
        tellers=tellers_stored(row["tellers"]),
        attention=attention,
        health=_health(row),
        made_policy=policy or UnknownPolicy(),
        saved=saved,
        planned=PlannedTime(**described["planned"]) if "planned" in described else None,
        declaration=Declaration.from_json(described["declaration"]),
        round_answers=tuple(round_answers),
    )


def _load(
    row: asyncpg.Record,
) -> tuple[ServedPolicy | None, dict[str, Any] | None, NeedsAttention | None]:
    """Return a campaign's policy and its state, as far as they can be loaded, and the fault."""
    policy = None
    try:
        policy = load_policy(row["id"], row["policy"])
        return policy, load_state(row["id"], policy, row["saved"]), None
    except NeedsAttention as fault:
        return policy, None, fault


def _health(row: asyncpg.Record) -> Health | None:
    if row["checked_at"] is None:
        return None
    found = json.loads(row["findings"] or "[]")
    findings = tuple(
        Finding.model_validate(one | {"arms": [_name(row["arms"], arm) for arm in one["arms"]]})
        for one in found
    )
    return Health(checked_at=row["checked_at"], findings=findings)


def _settings(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _round(row: asyncpg.Record, names: Sequence[str]) -> RoundRecord:
    sums = [int(total) for total in row["sums"]]
    pairs = zip(sums, row["counts"], strict=True)
    return RoundRecord(
        **_of(row, "number", "repetitions", "size", "before", "counts", "opened_at", "closed_at"),
        arms=tuple(names[arm] for arm in row["arms"]),
        sums=tuple(units_to_text(total) for total in sums),
        means=tuple(from_units(total) / n if n else None for total, n in pairs),
        dropped=tuple(names[arm] for arm in row["dropped"]),
        judged_by=_judges(names, row),
        fewest_seats=_name(names, row["fewest_seats"]),
    )


def _judges(names: Sequence[str], row: asyncpg.Record) -> Judges | None:
    if row["judges"] is None:
        return None
    by_name = dict(zip(names, row["judges"], strict=True))
    return Judges(judges=by_name, outsiders=row["outsiders"])


def _event(row: asyncpg.Record) -> Event:
    data: dict[str, Any] = {}
    if row["kind"] == "ask":
        data = {
            "count": row["asked"],
            "runs": [[run.lower, run.upper - run.lower] for run in row["slots"]],
            "expires_at": row["expires_at"].isoformat(),
        }
    elif row["kind"] == "tell":
        data = _of(row, "lease", "counted", "late", "duplicate")
        if row["counts"] is None:
            data |= {"slots": row["told"], "units": row["units"]}
        else:
            data |= {"arms": row["told"], **_of(row, "counts", "units")}
        data |= row["detail"] or {}
    elif row["detail"] is not None:
        data = row["detail"]
    return Event.model_validate(dict(row) | {"data": data, "digest": row["chain"].hex()})


def _name(names: Sequence[str], arm: int | None) -> str | None:
    return None if arm is None else names[arm]


def _of(row: asyncpg.Record, *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}
