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
from affinity_bandits.service.core.campaign_spec import CampaignSpec, Planned, tellers_stored
from affinity_bandits.service.core.faults import check_places, ours, policy_of, state_of
from affinity_bandits.service.core.judging import Judges
from affinity_bandits.service.core.long_work import off_loop
from affinity_bandits.service.core.records import Campaign, ClosedRound, Progress, Stored
from affinity_bandits.service.core.scores import from_units
from affinity_bandits.service.problems import NeedsAttention, NoSuchCampaign
from affinity_bandits.service.store.connection import translate_errors
from affinity_bandits.service.store.named import sql
from affinity_bandits.wire import Attention, Event, Finding, Health


class CampaignQueries:
    """Read-only access to the campaigns in one database.

    Args:
        pool: connections; they may lead to a read replica, which is then a little behind.
        note: given the faults that are found, as `Campaigns.note` is.
    """

    def __init__(
        self,
        pool: asyncpg.Pool,
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
            query = sql.campaigns + " WHERE c.tenant = $1 AND c.id = $2"
            row = await self._pool.fetchrow(query, tenant, campaign)
        if row is None:
            raise NoSuchCampaign(campaign)
        return (await self._shown([row]))[0]

    async def arms(self, tenant: int, campaign: UUID) -> tuple[str, ...]:
        """Return the names of a campaign's arms.

        Raises:
            NoSuchCampaign: this tenant has none by that id.
        """
        async with translate_errors():
            names = await self._pool.fetchval(sql.arms, tenant, campaign)
        if names is None:
            raise NoSuchCampaign(campaign)
        return tuple(names)

    async def campaigns(
        self, tenant: int, after: int | None, limit: int
    ) -> tuple[list[Campaign], int | None]:
        """Return a page of the tenant's campaigns, oldest first, and where the next one begins."""
        query = sql.campaigns + " WHERE c.tenant = $1 AND c.number > $2 ORDER BY c.number LIMIT $3"
        rows, more = await self._page(query, tenant, after=after, limit=limit)
        return await self._shown(rows), more

    async def rounds(
        self, tenant: int, campaign: UUID, after: int | None, limit: int
    ) -> tuple[list[ClosedRound], int | None]:
        """Return a page of closed rounds, in order, and where the next one begins."""
        start = None if after is None else min(after, 2**31 - 1)
        rows, more = await self._page(
            sql.page_of_rounds, tenant, campaign, after=start, limit=limit
        )
        if not rows:
            await self.arms(tenant, campaign)  # refused where there is no such campaign
        return [_closed(row) for row in rows], more

    async def events(
        self, tenant: int, campaign: UUID, after: int | None, limit: int
    ) -> tuple[list[Event], int | None]:
        """Return a page of the audit trail, in order, and where the next one begins."""
        await self.arms(tenant, campaign)  # refused where there is no such campaign
        rows, more = await self._page(sql.page_of_events, campaign, after=after, limit=limit)
        return [_event(row) for row in rows], more

    async def answers(self, campaigns: Sequence[Campaign]) -> dict[UUID, tuple[int, ...]]:
        """Return how many answers each arm of each campaign has, the open round included."""
        async with translate_errors():
            ids = [one.id for one in campaigns]
            rows = await self._pool.fetch(sql.answers_of_closed_rounds, ids)
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
        campaigns = [
            await off_loop(len(row["policy"]) + len(row["saved"]), _campaign, row, found)
            for row in rows
        ]
        if found and self._note is not None:
            await self._note(found)
        return campaigns

    async def _page(
        self, query: str, *arguments: object, after: int | None, limit: int
    ) -> tuple[list[asyncpg.Record], int | None]:
        """Return up to `limit` rows after a number, and where the next page begins."""
        start = -1 if after is None else after
        async with translate_errors():
            rows = await self._pool.fetch(query, *arguments, start, limit + 1)
        return rows[:limit], rows[limit - 1]["number"] if len(rows) > limit else None


def _campaign(row: asyncpg.Record, found: list[NeedsAttention]) -> Campaign:
    """Return the campaign in a row; a fault that keeps it from going on is added to `found`."""
    all_arms = range(len(row["arms"]))
    arms = tuple(arm for arm in row["round_arms"] if arm in all_arms)
    answers, sums = [0] * len(arms), [0] * len(arms)
    for place, count, total in zip(row["places"], row["answers"], row["totals"], strict=True):
        if place < len(arms):
            answers[place], sums[place] = count, int(total)
    spec, saved, fault = _spec(row)
    attention = None
    if row["kind"] is not None:
        attention = Attention(kind=row["kind"], reason=row["reason"], since=row["since"])
    # A campaign that is over needs neither its policy nor its state any more.
    if fault is not None and row["status"] == "open":
        attention = Attention(kind=fault.kind, reason=fault.reason, since=row["since"])
        found.append(fault)
    return Campaign(
        **_of(row, "id", "status", "before", "in_flight", "awaits_judges", "created_at"),
        spec=spec,
        recommended=arms[0] if row["repetitions"] >= FOREVER and len(arms) == 1 else None,
        active=tuple(arm for arm in all_arms if arm not in row["dropped"]),
        round=Progress(
            **_of(row, "repetitions", "size", "handed_out", "answered"),
            number=row["round"],
            arms=arms,
            answers=tuple(answers),
            sums=tuple(sums),
            judges=_tuple(row["judges"]),
            **_of(row, "outsiders", "fewest_seats"),
        ),
        named=_named(row),
        attention=attention,
        health=_health(row),
        saved=saved,
    )


def _health(row: asyncpg.Record) -> Health | None:
    if row["checked_at"] is None:
        return None
    names = row["arms"]
    found = [
        one | {"arms": [names[arm] for arm in one["arms"] if arm in range(len(names))]}
        for one in json.loads(row["findings"] or "[]")
    ]
    findings = tuple(Finding.model_validate(one) for one in found)
    return Health(checked_at=row["checked_at"], findings=findings)


def _spec(
    row: asyncpg.Record,
) -> tuple[CampaignSpec | Stored, dict[str, Any] | None, NeedsAttention | None]:
    """Return a campaign's spec, its saved state, and the fault that keeps it from going on, if any.

    Where there is a fault, no state is returned.
    """
    id_, name, arms = row["id"], row["name"], tuple(row["arms"])
    low, high = from_units(row["lowest"]), from_units(row["highest"])
    rest = (row["horizon"], row["lease_seconds"], low, high, _tuple(row["committee"]))
    tellers = tellers_stored(row["tellers"])
    spec: CampaignSpec | None = None
    try:
        policy = policy_of(id_, row["policy"])
        with ours(id_, "policy"):
            planned = None if row["planned"] is None else Planned(**row["planned"])
            spec = CampaignSpec(name, arms, policy, *rest, planned=planned, tellers=tellers)
        saved = state_of(id_, policy, row["saved"])
        check_places(id_, max(row["places"], default=None), len(row["round_arms"]))
    except NeedsAttention as fault:
        return spec or Stored(name, arms, _settings(row["policy"]), *rest, tellers), None, fault
    return spec, saved, None


def _named(row: asyncpg.Record) -> Judges | None:
    if row["named_judges"] is None:
        return None
    return Judges(tuple(row["named_judges"]), row["named_outsiders"], row["standing"])


def _tuple(numbers: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if numbers is None else tuple(numbers)


def _settings(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _closed(row: asyncpg.Record) -> ClosedRound:
    # Sums come as decimals, and all lists are of whole numbers.
    plain: dict[str, Any] = {
        name: tuple(map(int, value)) if isinstance(value, list) else value
        for name, value in row.items()
    }
    return ClosedRound(**plain)


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


def _of(row: asyncpg.Record, *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}
