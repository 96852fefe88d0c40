"""Campaigns: create, ask, tell, stop, name judges."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits._version import __version__
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import BlockPolicy, RoundPolicy
from affinity_bandits_client.messages import Block, Finished, Lease, Told, Wait
from affinity_bandits_service import problems
from affinity_bandits_service.core.blocks import (
    BlockAsk,
    BlockTell,
    OpenBlocks,
    give_block,
    read_open_blocks,
    settle_block,
)
from affinity_bandits_service.core.closing import Closer, insert_round
from affinity_bandits_service.core.faults import fault_of, load_policy
from affinity_bandits_service.core.health_checks import LOOK_SECONDS
from affinity_bandits_service.core.judging import (
    Appointment,
    JudgeCounts,
    Naming,
    RoundIsDue,
    awaited_words,
    fewest_seats,
    name_judges,
    open_with,
)
from affinity_bandits_service.core.scores import units_to_text
from affinity_bandits_service.core.spec import (
    ANY,
    CampaignSpec,
    ServedPolicy,
    next_round,
    order_window,
    tellers_to_store,
)
from affinity_bandits_service.core.tells import (
    AnyTell,
    ScoreTell,
    Sent,
    Share,
    layout,
    rows_by_share,
    sendable,
    sql_arguments,
    without_repeats,
)
from affinity_bandits_service.limits import Turns, off_loop, remember
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.store.connection import sql, transaction, translate_errors

JUDGES_SECONDS = 5.0
"""After how long to ask again while nobody has said who judges: people take their time."""

Outcome = Lease | Wait | Finished | problems.ServiceProblem
"""The result of an ask."""


@dataclass(frozen=True)
class SlotAsk:
    """A request for up to `count` slots, and whether to list each of them with its arm."""

    count: int
    key: str
    actor: str
    listed: bool = False


class Campaigns:
    """Campaigns in one database.

    Safe to share between the tasks of an event loop; other processes may use the same database.

    Args:
        pool: connections, as `connection.connect` makes them.
        metrics: counts closed rounds and faults.
    """

    def __init__(self, pool: asyncpg.Pool, metrics: Metrics | None = None) -> None:
        self._pool = pool
        self._metrics = metrics or Metrics()
        self.closer = Closer(pool, self._metrics)
        self._turns = Turns(max(1, pool.get_max_size() // 2))  # to wait for a campaign's lock
        # Caches of what never changes: the arms of rounds, and what rounds wait for.
        self._arms: dict[tuple[UUID, int], tuple[str, ...]] = {}
        self._awaited: dict[tuple[UUID, int], str | None] = {}
        self._blocks: dict[tuple[UUID, int], OpenBlocks] = {}

    async def create(
        self, tenant: int, spec: CampaignSpec, *, key: str, actor: str, now: datetime | None = None
    ) -> UUID:
        """Create a campaign and open its first round; a repeat returns the same id.

        If the policy needs an order window and has none, the window is `DEFAULT_IN_FLIGHT`.

        Raises:
            ServiceProblem: the key came before with another spec, or from another API key.
            InvalidInput: one of the tellers is not an API key of the tenant.
        """
        spec = spec.with_window()
        policy, arms, scale = spec.policy, len(spec.arms), spec.scale
        state = policy.start(arms, spec.horizon)
        first = next_round(policy, state, arms, spec.horizon, 0)
        if first is None:
            raise _no_first_round(policy, state, spec.horizon)
        saved = policy.save(state, arms, spec.horizon)
        by_blocks = isinstance(policy, BlockPolicy)
        data, digest = spec.to_json(), spec.digest()
        terms = (spec.lease_seconds, scale.lowest, scale.highest)
        tellers = tellers_to_store(spec.tellers)
        async with transaction(self._pool) as db:
            now = await db.fetchval(sql.time_of, now)
            what = (
                *(spec.name, spec.arms, data["policy"], spec.horizon, *terms),
                *(saved, spec.committee, tellers),
            )
            id_: UUID | None = await db.fetchval(
                sql.create_campaign, uuid.uuid4(), tenant, *what, now, actor, key, digest
            )
            if id_ is None:
                before = await db.fetchrow(sql.created_before, tenant, key)
                if before is None or (before["digest"], before["created_by"]) != (digest, actor):
                    raise problems.ServiceProblem(problems.KEY_REUSED)
                return UUID(str(before["id"]))
            await _check_tellers(db, tenant, spec)
            status = "decided" if first.final else "open"
            shape = (len(first.arms), first.size)
            await db.execute(
                *(sql.create_head, id_, tenant, status, *shape, *terms),
                *(order_window(policy), spec.nodes.number, first.waits or by_blocks, tellers),
            )
            wanted = fewest_seats(policy, state)
            await insert_round(db, id_, 0, first, before=0, now=now, wanted=wanted)
            await db.execute(sql.watch, id_, now, LOOK_SECONDS)
            detail = {
                "description": data,  # the spec; so called since the first schema
                "version": __version__,
                "in_flight": order_window(policy),
                "tellers": tellers,
                "state": saved["state"],
            }
            await db.execute(sql.add_event, id_, 1, now, "create", actor, None, 0, detail)
            if isinstance(policy, RoundPolicy) and first.waits and spec.first_judges is not None:
                named = Appointment(1, 0, JudgeCounts(spec.first_judges))
                await open_with(db, id_, policy, saved, named, 2, now)
        return UUID(str(id_))

    async def ask(
        self,
        tenant: int,
        campaign: UUID,
        asks: Sequence[SlotAsk],
        *,
        now: datetime | None = None,
    ) -> list[Outcome]:
        """Lease slots of the open round to each ask, in order, in one transaction except repeats.

        Fresh slots come first, then those that expired leases still owe. A lease may have fewer
        slots than were asked for, and all are of one round. An ask that needs a round which cannot
        be closed gets NeedsAttention.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
            NeedsAttention: the database's reply is inconsistent.
        """
        results: list[Outcome] = []
        async with self._turns.of(tenant):
            for some in without_repeats(asks):
                results += await self._ask(Share(tenant, campaign, some), now)
        return results

    async def ask_shared(
        self, shares: Sequence[Share[SlotAsk]], *, now: datetime | None = None
    ) -> list[Sent[Outcome] | None]:
        """Lease slots of several campaigns in one transaction that never waits for a lock.

        A share gets None, and must be sent alone, if its campaign is locked or raises an error.

        Raises:
            Unavailable: the database does not answer.
        """
        together = sendable(shares)
        rows = await rows_by_share(together, self._fetch_asked(together, now, wait=False))
        return [await self._read_asked(one, rows.get((one.tenant, one.campaign))) for one in shares]

    async def tell(
        self, tenant: int, campaign: UUID, tells: Sequence[AnyTell], *, now: datetime | None = None
    ) -> list[Told | problems.ServiceProblem]:
        """Record the answers of each tell, in order, in one transaction except repeats.

        A refused tell leaves the others as they are. Committed answers are acknowledged even if the
        round cannot be closed.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
            NeedsAttention: the database's reply is inconsistent.
        """
        results: list[Told | problems.ServiceProblem] = []
        for some in without_repeats(tells):
            async with self._turns.of(tenant), self._errors_as_faults(campaign):
                rows = await self._fetch_told([Share(tenant, campaign, some)], now, wait=True)
                _check(campaign, rows, some)
                if any(row["complete"] for row in rows):
                    await self.closer.close_told(campaign, now=now)
            results += [_told(one, row) for one, row in zip(some, rows, strict=True)]
        return results

    async def tell_shared(
        self, shares: Sequence[Share[AnyTell]], *, now: datetime | None = None
    ) -> list[Sent[Told | problems.ServiceProblem] | None]:
        """Record answers of several campaigns in one transaction; see `ask_shared`.

        The caller closes the rounds that are complete (`close_told`).
        """
        together = sendable(shares)
        found = await rows_by_share(together, self._fetch_told(together, now, wait=False))
        sent: list[Sent[Told | problems.ServiceProblem] | None] = []
        for share in shares:
            rows = found.get((share.tenant, share.campaign))
            if rows is None:
                sent.append(None)
            else:
                told = [_told(one, row) for one, row in zip(share.items, rows, strict=True)]
                sent.append(Sent(told, any(row["complete"] for row in rows)))
        return sent

    async def close_told(self, tenant: int, campaign: UUID) -> None:
        """Close a round whose last answer was told, if it can be done now; see `Closer`."""
        with suppress(problems.Unavailable):  # `close_due` does it later
            async with self._turns.of(tenant):
                await self.closer.close_told(campaign)

    async def stop(
        self, tenant: int, campaign: UUID, *, actor: str, key: str, now: datetime | None = None
    ) -> None:
        """Stop a campaign: it hands out no more slots, but answers to leased slots still count."""
        async with self._turns.of(tenant), transaction(self._pool) as db:
            head = await db.fetchrow(sql.head_of_tenant, campaign, tenant)
            if head is None:
                raise problems.NoSuchCampaign(campaign)
            used = await db.fetchval(sql.event_of_request, campaign, key, actor)
            if used is not None and used != "stop":
                raise problems.ServiceProblem(problems.KEY_REUSED)
            status, event = head["status"], head["events"] + 1
            if used is not None or status in ("stopped", "exhausted"):
                return
            rest = (actor, key, head["round"], {"status": status})
            await db.execute(sql.add_event, campaign, event, now, "stop", *rest)
            await db.execute(sql.add_request, campaign, key, event, actor)
            await db.execute(sql.end_campaign, campaign, "stopped")

    async def release(
        self,
        tenant: int,
        campaign: UUID,
        lease: int,
        *,
        actor: str,
        key: str,
        now: datetime | None = None,
    ) -> int:
        """Give back a lease of the open round, or a block; return how many slots it still owed.

        They are offered again at once. A repeat returns the same number, which may be 0.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
            ServiceProblem: the key came before with another request.
            ServiceProblem: the campaign granted no such lease.
            ServiceProblem: another API key took the lease.
        """
        async with self._turns.of(tenant), transaction(self._pool) as db:
            head = await db.fetchrow(sql.head_of_tenant, campaign, tenant)
            if head is None:
                raise problems.NoSuchCampaign(campaign)
            before = await db.fetchrow(sql.event_of_request, campaign, key, actor)
            if before is not None:
                if before["kind"] != "release" or before["detail"]["lease"] != lease:
                    raise problems.ServiceProblem(problems.KEY_REUSED)
                return int(before["detail"]["slots"])
            slots = await db.fetchval(sql.release_lease, campaign, lease, actor)
            if slots is None:
                slots = await db.fetchval(sql.release_block, campaign, lease, actor)
            if slots is None:
                await _check_holder(db, campaign, lease, actor)
                slots = 0
            event, detail = head["events"] + 1, {"lease": lease, "slots": slots}
            rest = (actor, key, head["round"], detail)
            await db.execute(sql.add_event, campaign, event, now, "release", *rest)
            await db.execute(sql.add_request, campaign, key, event, actor)
            await db.execute(sql.count_event, campaign)
            return int(slots)

    async def ask_block(
        self, tenant: int, campaign: UUID, ask: BlockAsk, *, now: datetime | None = None
    ) -> Block | Wait | Finished:
        """Give a block to a rater; see `blocks.give_block`.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
            ServiceProblem: the campaign does not give blocks.
        """
        while True:
            try:
                async with self._turns.of(tenant), transaction(self._pool) as db:
                    head, blocks = await self._open_blocks(db, tenant, campaign)
                    at = await db.fetchval(sql.time_of, now)
                    return await give_block(db, campaign, head, blocks, ask, at)
            except RoundIsDue:
                await self.closer.close(campaign, now=now)

    async def tell_block(
        self, tenant: int, campaign: UUID, tell: BlockTell, *, now: datetime | None = None
    ) -> Told:
        """Record the scores of a block; see `blocks.settle_block`.

        Committed scores are acknowledged even if the round cannot be closed.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
        """
        async with self._turns.of(tenant):
            async with transaction(self._pool) as db:
                head = await db.fetchrow(sql.head_of_blocks, campaign, tenant)
                if head is None:
                    raise problems.NoSuchCampaign(campaign)
                at = await db.fetchval(sql.time_of, now)
                told = await settle_block(db, campaign, head, tell, at)
            if told.counted and head["answered"] + told.counted >= head["size"]:
                await self.closer.close_told(campaign, now=now)
            return told

    async def _open_blocks(
        self, db: asyncpg.Connection, tenant: int, campaign: UUID
    ) -> tuple[asyncpg.Record, OpenBlocks]:
        """Lock a campaign; return its head and its open round of blocks, which is cached."""
        head = await db.fetchrow(sql.head_of_blocks, campaign, tenant)
        if head is None:
            raise problems.NoSuchCampaign(campaign)
        known = self._blocks.get((campaign, head["round"]))
        if known is None:
            row = await db.fetchrow(sql.round_of_blocks, campaign)
            size = len(row["policy"]) + len(row["saved"])
            texts = (row["policy"], row["saved"], row["arms"])
            found = await off_loop(size, read_open_blocks, campaign, *texts)
            if found is None:
                name = load_policy(campaign, row["policy"]).name
                raise problems.ServiceProblem(problems.GIVES_SLOTS, name)
            known = remember(self._blocks, (campaign, head["round"]), found)
        return head, known

    async def name_judges(
        self, tenant: int, campaign: UUID, naming: Naming, *, now: datetime | None = None
    ) -> None:
        """Name who judges the round that waits, or the one after the open round.

        See `judging.name_judges`.
        """
        while True:
            try:
                async with self._turns.of(tenant), transaction(self._pool) as db:
                    return await name_judges(db, tenant, campaign, naming, now=now)
            except RoundIsDue:
                await self.closer.close(campaign, now=now)

    async def _fetch_asked(
        self, shares: Sequence[Share[SlotAsk]], now: datetime | None, *, wait: bool
    ) -> list[asyncpg.Record]:
        asks = [one for share in shares for one in share.items]
        told = ([one.actor for one in asks], [one.key for one in asks], [one.count for one in asks])
        rows: list[asyncpg.Record] = await self._pool.fetch(
            sql.ask, *layout(shares, wait=wait), now, *told
        )
        campaigns = [one.campaign for one in shares for _ in one.items]
        leased = {
            (campaign, row["round"])
            for campaign, row in zip(campaigns, rows, strict=False)
            if row["outcome"] == "leased"
        }
        unknown = leased - self._arms.keys()
        if unknown:
            for row in await self._pool.fetch(sql.arms_of_rounds, *zip(*unknown, strict=True)):
                remember(self._arms, (row["campaign"], row["number"]), tuple(row["arms"]))
        return rows

    async def _fetch_told(
        self, shares: Sequence[Share[AnyTell]], now: datetime | None, *, wait: bool
    ) -> list[asyncpg.Record]:
        told = sql_arguments([one for share in shares for one in share.items])
        rows: list[asyncpg.Record] = await self._pool.fetch(
            sql.tell, *layout(shares, wait=wait), now, *told
        )
        return rows

    async def _ask(self, share: Share[SlotAsk], now: datetime | None) -> list[Outcome]:
        campaign = share.campaign
        while True:
            fault: problems.NeedsAttention | None = None
            async with self._errors_as_faults(campaign):
                rows = await self._fetch_asked([share], now, wait=True)
                _check(campaign, rows, share.items)
                if any(row["outcome"] == "closing" for row in rows):
                    # The process that completed the round has not closed it yet, or died before.
                    try:
                        await self.closer.close(campaign, now=now)
                        continue
                    except problems.NeedsAttention as found:
                        fault = found
                return [
                    fault
                    if fault is not None and row["outcome"] == "closing"
                    else await self._asked(campaign, one, row)
                    for one, row in zip(share.items, rows, strict=True)
                ]

    async def _read_asked(
        self, share: Share[SlotAsk], rows: Sequence[asyncpg.Record] | None
    ) -> Sent[Outcome] | None:
        if rows is None or any(row["outcome"] == "closing" for row in rows):
            return None
        pairs = zip(share.items, rows, strict=True)
        try:
            return Sent([await self._asked(share.campaign, one, row) for one, row in pairs])
        except Exception:  # it is committed: sent again, it is a repeat, and read again
            return None

    async def _asked(self, campaign: UUID, ask: SlotAsk, row: asyncpg.Record) -> Outcome:
        outcome = row["outcome"]
        if outcome == "leased":
            lease = Lease(
                status="leased",
                number=row["lease"],
                round=row["round"],
                arms=self._arms[campaign, row["round"]],
                runs=tuple((run.lower, run.upper - run.lower) for run in row["slots"]),
                expires_at=row["expires_at"],
                campaign=str(campaign),
            )
            if not ask.listed:
                return lease
            slots = [{"slot": slot, "arm": arm} for slot, arm in lease.slots]
            return lease.model_copy(update={"listed": slots})
        if outcome == "wait":
            return Wait(
                status="wait", outstanding=row["outstanding"], retry_after=row["retry_after"] or 0.0
            )
        if outcome == "awaits_judges":
            reason = await self._why_awaited(campaign, row["round"])
            if reason is None:
                return problems.ServiceProblem(problems.GIVES_BLOCKS)
            return Wait(status="wait", outstanding=0, retry_after=JUDGES_SECONDS, reason=reason)
        if outcome == "key_reused":
            return problems.ServiceProblem(problems.KEY_REUSED)
        return Finished(status=outcome)

    async def _why_awaited(self, campaign: UUID, number: int) -> str | None:
        """Return who should judge a round that waits, in words; None if it consists of blocks.

        Both are cached.
        """
        if (campaign, number) not in self._awaited:
            row = await self._pool.fetchrow(sql.judges_wanted, campaign, number)
            policy = load_policy(campaign, row["policy"])
            words = None
            if isinstance(policy, RoundPolicy):
                rest = (row["arms"], row["fewest_seats"])
                words = awaited_words(number, policy, *rest, named=row["named"])
            remember(self._awaited, (campaign, number), words)
        return self._awaited[campaign, number]

    @asynccontextmanager
    async def _errors_as_faults(self, campaign: UUID) -> AsyncIterator[None]:
        """Turn an unexpected error in the block into a fault on the campaign."""
        try:
            async with translate_errors():
                yield
        except problems.ServiceProblem:
            raise
        except Exception as error:
            fault = fault_of(campaign, "unexpected", error)
            self._metrics.count_fault(fault)
            raise fault from error


def _no_first_round(policy: ServedPolicy, state: Any, horizon: int) -> InvalidInput:
    if isinstance(policy, BlockPolicy) and (first := policy.round(state)) is not None:
        rule = f"at least {first.scores}, the scores of the first round of {policy.name}"
        return InvalidInput("horizon", rule, horizon)
    return InvalidInput("policy", "one that plans a first round", str(policy))


async def _check_tellers(db: asyncpg.Connection, tenant: int, spec: CampaignSpec) -> None:
    """Refuse tellers outside the tenant's keys: a campaign's tellers are final."""
    if spec.tellers in (None, ANY):
        return
    known = {row["id"] for row in await db.fetch(sql.keys_of_tenant, tenant, spec.tellers)}
    strange = [one for one in spec.tellers or () if one not in known]
    if strange:
        raise InvalidInput("tellers", "ids of API keys of this tenant that are in use", strange)


async def _check_holder(db: asyncpg.Connection, campaign: UUID, lease: int, actor: str) -> None:
    """Refuse a lease that was not granted, or that another API key took."""
    holder = await db.fetchval(sql.holder, campaign, lease)
    if holder is None:
        raise problems.ServiceProblem(problems.NO_SUCH_LEASE, lease)
    if holder != actor:
        raise problems.ServiceProblem(problems.NOT_HOLDER, lease)


def _check(campaign: UUID, rows: Sequence[asyncpg.Record], sent: Sequence[object]) -> None:
    if not rows:
        raise problems.NoSuchCampaign(campaign)
    if len(rows) != len(sent):
        raise ValueError(f"{len(sent)} requests were sent, and {len(rows)} came back")


def _told(tell: AnyTell, row: asyncpg.Record) -> Told | problems.ServiceProblem:
    match row["outcome"]:
        case "told":
            return Told(counted=row["counted"], late=row["late"], duplicate=row["duplicate"])
        case "key_reused":
            return problems.ServiceProblem(problems.KEY_REUSED)
        case "no_lease":
            return problems.ServiceProblem(problems.NO_SUCH_LEASE, tell.lease)
        case "not_teller":
            return problems.ServiceProblem(problems.NOT_TELLER, tell.lease, tell.actor)
        case "slot_not_leased":
            return problems.ServiceProblem(problems.NOT_LEASED, tell.lease)
    return _out_of_range(tell, row["counted"], row["late"])


def _out_of_range(tell: AnyTell, low: int, high: int) -> problems.ServiceProblem:
    counts = tell.counts if isinstance(tell, ScoreTell) else (1,) * len(tell.units)
    scores = (units // count for units, count in zip(tell.units, counts, strict=True))
    found = next(score for score in scores if not low <= score <= high)
    return problems.ServiceProblem(
        problems.SCORE_OUT_OF_RANGE, *map(units_to_text, (low, high, found))
    )


AT_ONCE = 5000
"""Keys that one statement deletes, so that none takes long."""
MOST = 200_000
"""Keys that one call deletes: rounds wait to be closed."""


@translate_errors()
async def expire_requests(
    pool: asyncpg.Pool, seconds: float, *, now: datetime | None = None
) -> int:
    """Delete old idempotency keys of campaigns that ended; return how many.

    Args:
        pool: connections.
        seconds: how long ago a campaign's last event must be.
        now: the time; the database's by default.
    """
    deleted = 0
    while deleted < MOST:
        campaign = await pool.fetchval(sql.next_to_expire, seconds, now)
        if campaign is None:
            break
        deleted += len(await pool.fetch(sql.expire_requests, campaign, AT_ONCE))
    return deleted
