"""Campaigns, which any number of processes may create, ask, tell and stop at once.

Every write is one transaction that first locks the campaign's row in `heads`; nothing is held in
a process but what never changes. A process may die anywhere: what it had acknowledged is there,
what it had not may be repeated with the same idempotency key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

import asyncpg

from affinity_bandits import checks
from affinity_bandits.service import problems
from affinity_bandits.service.core import faults
from affinity_bandits.service.core.campaign_spec import (
    CampaignSpec,
)
from affinity_bandits.service.core.closer import Closer
from affinity_bandits.service.core.creating import create_campaign
from affinity_bandits.service.core.faults import policy_of
from affinity_bandits.service.core.judging import (
    Naming,
    RoundIsDue,
    awaited_words,
    name_judges,
)
from affinity_bandits.service.core.memory import remember
from affinity_bandits.service.core.records import Lease, Runs
from affinity_bandits.service.core.scores import units_to_text
from affinity_bandits.service.core.shares import (
    Sent,
    Share,
    layout,
    send_together,
    without_repeats,
)
from affinity_bandits.service.core.tells import TOLD, Tell, flattened
from affinity_bandits.service.store.connection import transaction
from affinity_bandits.service.store.named import sql
from affinity_bandits.wire import Finished, Told, Wait
from affinity_bandits.wire.limits import LARGEST_LEASE
from affinity_bandits.wire.values import check_key

JUDGES_SECONDS = 5.0
"""After how long to ask again while nobody has said who judges: people take their time."""


@dataclass(frozen=True)
class Ask:
    """A request for up to `count` slots: who asks, under which idempotency key."""

    count: int
    key: str
    actor: str

    def __post_init__(self) -> None:
        checks.integer("count", self.count, low=1, high=LARGEST_LEASE)
        check_key(self.key)


class Campaigns(Closer):
    """Campaigns in one database.

    Safe to share between the tasks of an event loop; other processes may use the same database.
    """

    @cached_property
    def _arms(self) -> dict[tuple[UUID, int], tuple[int, ...]]:
        """A cache of the arms of each round, which never change."""
        return {}

    @cached_property
    def _awaited(self) -> dict[tuple[UUID, int], str]:
        """A cache of what rounds wait for."""
        return {}

    async def create(
        self, tenant: int, spec: CampaignSpec, *, key: str, actor: str, now: datetime | None = None
    ) -> UUID:
        """Create a campaign and open its first round; a repeat returns the same id.

        A policy whose promise depends on the order of answers and that was not told how far they
        may be out of it is told `DEFAULT_IN_FLIGHT`.

        Raises:
            KeyReused: the key came before with another spec, or from another API key.
            InvalidInput: an API key that is to answer leases is none of the tenant's.
        """
        return await create_campaign(self._pool, tenant, spec, key=key, actor=actor, now=now)

    async def ask(
        self, tenant: int, campaign: UUID, asks: Sequence[Ask], *, now: datetime | None = None
    ) -> list[Lease | Wait | Finished | problems.Problem]:
        """Lease slots of the open round to each ask, in order; all in one transaction, but repeats.

        Fresh slots are handed out first; once a round has none, or its next one would be too far
        ahead of the oldest without an answer, slots that expired leases still owe. A lease may
        have fewer slots than were asked for, and never spans two rounds. Asks that would need a
        round which cannot be closed are given NeedsAttention.

        Raises:
            NoSuchCampaign: this tenant has none by that id.
            NeedsAttention: what the database returned makes no sense.
        """
        results: list[Lease | Wait | Finished | problems.Problem] = []
        for some in without_repeats(asks):
            results += await self._ask(Share(tenant, campaign, some), now)
        return results

    async def ask_shared(
        self, shares: Sequence[Share[Ask]], *, now: datetime | None = None
    ) -> list[Sent[Lease | Wait | Finished | problems.Problem] | None]:
        """Lease slots of several campaigns in one transaction, without waiting for any lock.

        A share whose campaign is locked, or that something goes wrong with, gets None: sent alone,
        it finds out what, and keeps nobody else.

        Raises:
            Unavailable: the database does not answer.
        """

        async def send(some: Sequence[Share[Ask]]) -> list[asyncpg.Record]:
            rows = await self._fetch_asked(some, now, wait=False)
            campaigns = [one.campaign for one in some for _ in one.items]
            leased = [
                (campaign, row["round"])
                for campaign, row in zip(campaigns, rows, strict=False)
                if row["outcome"] == "leased"
            ]
            await self._learn_arms(leased)  # of all at once
            return rows

        return await send_together(shares, send, self._asked_alike)

    async def _asked_alike(
        self, share: Share[Ask], rows: Sequence[asyncpg.Record]
    ) -> Sent[Lease | Wait | Finished | problems.Problem] | None:
        if any(row["outcome"] == "closing" for row in rows):
            return None
        return Sent([await self._asked(share.campaign, row) for row in rows])

    async def _fetch_asked(
        self, shares: Sequence[Share[Ask]], now: datetime | None, *, wait: bool
    ) -> list[asyncpg.Record]:
        asks = [one for share in shares for one in share.items]
        told = ([one.actor for one in asks], [one.key for one in asks], [one.count for one in asks])
        rows: list[asyncpg.Record] = await self._pool.fetch(
            sql.ask, *layout(shares, wait=wait), now, *told
        )
        return rows

    async def _ask(
        self, share: Share[Ask], now: datetime | None
    ) -> list[Lease | Wait | Finished | problems.Problem]:
        campaign = share.campaign
        while True:
            fault: problems.NeedsAttention | None = None
            async with self._watched(campaign):
                rows = await self._fetch_asked([share], now, wait=True)
                _check(campaign, rows, share.items)
                if any(row["outcome"] == "closing" for row in rows):
                    # Whoever completed the round has not closed it yet, or died before it could.
                    try:
                        await self.close(campaign, now=now)
                        continue
                    except problems.NeedsAttention as found:
                        fault = found
                return [
                    fault
                    if fault is not None and row["outcome"] == "closing"
                    else await self._asked(campaign, row)
                    for row in rows
                ]

    async def tell(
        self, tenant: int, campaign: UUID, tells: Sequence[Tell], *, now: datetime | None = None
    ) -> list[Told | problems.Problem]:
        """Record the answers of each tell, in order; all in one transaction, but repeats.

        One that is refused leaves the others as they are. What is committed is acknowledged,
        whether the round can be closed or not.

        Raises:
            NoSuchCampaign: this tenant has none by that id.
            NeedsAttention: what the database returned makes no sense.
        """
        results: list[Told | problems.Problem] = []
        for some in without_repeats(tells):
            async with self._watched(campaign):
                rows = await self._fetch_told([Share(tenant, campaign, some)], now, wait=True)
                _check(campaign, rows, some)
                if any(row["complete"] for row in rows):
                    await self.close_told(campaign, now=now)
            results += [_told(one, row) for one, row in zip(some, rows, strict=True)]
        return results

    async def tell_shared(
        self, shares: Sequence[Share[Tell]], *, now: datetime | None = None
    ) -> list[Sent[Told | problems.Problem] | None]:
        """Record answers of several campaigns in one transaction; see `ask_shared`.

        Whoever calls closes the rounds that are complete (`close_told`).
        """

        async def send(some: Sequence[Share[Tell]]) -> list[asyncpg.Record]:
            return await self._fetch_told(some, now, wait=False)

        async def read(
            share: Share[Tell], rows: Sequence[asyncpg.Record]
        ) -> Sent[Told | problems.Problem]:
            told = [_told(one, row) for one, row in zip(share.items, rows, strict=True)]
            return Sent(told, any(row["complete"] for row in rows))

        return await send_together(shares, send, read)

    async def close_told(self, campaign: UUID, *, now: datetime | None = None) -> None:
        """Close a round whose last answer was told, if that can be done.

        The answers are committed, whatever becomes of this: `close_due` tries again.
        """
        try:
            await self.close(campaign, now=now)
        except problems.Problem:
            pass  # the campaign is marked, or the database is away
        except Exception as error:
            self._faulted(faults.fault_of(campaign, "unexpected", error))

    async def _fetch_told(
        self, shares: Sequence[Share[Tell]], now: datetime | None, *, wait: bool
    ) -> list[asyncpg.Record]:
        told = flattened([one for share in shares for one in share.items])
        query = sql.tell if len(told) == TOLD else sql.tell_rated
        rows: list[asyncpg.Record] = await self._pool.fetch(
            query, *layout(shares, wait=wait), now, *told
        )
        return rows

    async def stop(
        self, tenant: int, campaign: UUID, *, actor: str, key: str, now: datetime | None = None
    ) -> None:
        """Stop a campaign: it hands out no more slots, but answers to leased slots still count."""
        check_key(key)
        async with transaction(self._pool) as db:
            head = await db.fetchrow(sql.head_to_stop, campaign, tenant)
            if head is None:
                raise problems.NoSuchCampaign(campaign)
            used = await db.fetchval(sql.kind_of_request, campaign, key, actor)
            if used is not None and used != "stop":
                raise problems.KeyReused
            status, event = head["status"], head["events"] + 1
            if used is not None or status in ("stopped", "exhausted"):
                return
            rest = (actor, key, head["round"], {"status": status})
            await db.execute(sql.add_event, campaign, event, now, "stop", *rest)
            await db.execute(sql.add_request, campaign, key, event, actor)
            await db.execute(sql.end_campaign, campaign, "stopped")

    async def name_judges(
        self, tenant: int, campaign: UUID, naming: Naming, *, now: datetime | None = None
    ) -> None:
        """Name who judges the round that waits, or the one after the open round.

        See `judging.name_judges`.
        """
        try:
            while not await self._named(tenant, campaign, naming, now):
                await self.close(campaign, now=now)
        except problems.NeedsAttention as fault:
            await self.note([fault])
            raise

    async def _named(
        self, tenant: int, campaign: UUID, naming: Naming, now: datetime | None
    ) -> bool:
        """Name judges, unless the open round must be closed first; return whether that was done."""
        try:
            async with transaction(self._pool) as db:
                await name_judges(db, tenant, campaign, naming, now=now)
        except RoundIsDue:
            return False
        return True

    async def _asked(
        self, campaign: UUID, row: asyncpg.Record
    ) -> Lease | Wait | Finished | problems.Problem:
        outcome = row["outcome"]
        if outcome == "leased":
            return Lease(
                number=row["lease"],
                round=row["round"],
                runs=_runs(row["slots"]),
                arms=await self._arms_of(campaign, row["round"]),
                expires_at=row["expires_at"],
            )
        if outcome == "wait":
            return Wait(
                status="wait", outstanding=row["outstanding"], retry_after=row["retry_after"] or 0.0
            )
        if outcome == "awaits_judges":
            reason = await self._wanted_in(campaign, row["round"])
            return Wait(status="wait", outstanding=0, retry_after=JUDGES_SECONDS, reason=reason)
        if outcome == "key_reused":
            return problems.KeyReused()
        return Finished(status=outcome)

    async def _wanted_in(self, campaign: UUID, number: int) -> str:
        """Return who should judge a round that waits, in words, which never change."""
        known = self._awaited.get((campaign, number))
        if known is None:
            row = await self._pool.fetchrow(sql.judges_wanted, campaign, number)
            policy = policy_of(campaign, row["policy"])
            words = awaited_words(
                number, policy, row["arms"], row["fewest_seats"], named=row["named"]
            )
            known = remember(self._awaited, (campaign, number), words)
        return known

    async def _arms_of(self, campaign: UUID, number: int) -> tuple[int, ...]:
        """Return the arms of a round in the order of its slots."""
        await self._learn_arms([(campaign, number)])
        return self._arms[campaign, number]

    async def _learn_arms(self, rounds: Sequence[tuple[UUID, int]]) -> None:
        """Look up the arms of those rounds of which they are not known."""
        unknown = {one for one in rounds if one not in self._arms}
        if unknown:
            for row in await self._pool.fetch(sql.arms_of_rounds, *zip(*unknown, strict=True)):
                remember(self._arms, (row["campaign"], row["number"]), tuple(row["arms"]))


def _check(campaign: UUID, rows: Sequence[asyncpg.Record], sent: Sequence[object]) -> None:
    if not rows:
        raise problems.NoSuchCampaign(campaign)
    if len(rows) != len(sent):
        raise ValueError(f"{len(sent)} requests were sent, and {len(rows)} came back")


def _runs(slots: Sequence[asyncpg.Range]) -> Runs:
    return tuple((run.lower, run.upper - run.lower) for run in slots)


def _told(tell: Tell, row: asyncpg.Record) -> Told | problems.Problem:
    match row["outcome"]:
        case "told":
            return Told(counted=row["counted"], late=row["late"], duplicate=row["duplicate"])
        case "key_reused":
            return problems.KeyReused()
        case "no_lease":
            return problems.NoSuchLease(tell.lease)
        case "not_teller":
            return problems.NotTeller(tell.lease, tell.actor)
        case "slot_not_leased":
            return problems.NotLeased(tell.lease)
        case "scores_needed":
            return problems.ScoresNeeded(units_to_text(tell.units[0]))
    return problems.ScoreOutOfRange()
