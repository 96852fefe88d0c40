"""Close rounds that are due: tell the policy, open the next round, retry failures."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np

from affinity_bandits.policies import BlockPolicy, RoundPolicy
from affinity_bandits_service import problems, tracing
from affinity_bandits_service.core import faults
from affinity_bandits_service.core.faults import (
    check_plan,
    check_sums,
    errors_as_faults,
    load_policy,
    load_state,
)
from affinity_bandits_service.core.judging import fewest_seats, open_with_named
from affinity_bandits_service.core.scores import Nodes, Scale, tallies_in
from affinity_bandits_service.core.spec import RoundSlots, ServedPolicy, next_round
from affinity_bandits_service.limits import off_loop
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.store.connection import GONE, sql, transaction
from affinity_bandits_service.webhooks.sending import report


@dataclass(frozen=True)
class RoundEnd:
    """The result of telling the policy the scores of a round.

    Attributes:
        saved: the policy's state, as `Policy.save` writes it.
        dropped: arms that stopped being candidates.
        next: the next round, or None at the horizon.
        fewest_seats: the arm that should have the fewest judges, if any.
    """

    saved: dict[str, Any]
    dropped: tuple[int, ...]
    next: RoundSlots | None
    fewest_seats: int | None = None


def advance(
    policy: RoundPolicy,
    nodes: Nodes,
    saved: dict[str, Any],
    current: RoundSlots,
    sums: list[int],
    tallies: list[list[int]],
    before: int,
) -> RoundEnd:
    """Tell the policy a finished round's sums, mapped to [0, 1], or its counts at the nodes."""
    if not current.whole:
        # The horizon cut the round short: as in a simulation, its answers decide nothing.
        return RoundEnd(saved, (), None)
    state = policy.load(saved)
    if nodes.number:
        seen = [count for own in tallies for count in nodes.counts(own)]
    else:
        seen = [nodes.scale.to_policy(total, current.repetitions) for total in sums]
    after = policy.absorbed(state, np.array(seen))
    return _end(policy, saved, state, after, before + current.size)


def advance_blocks(
    policy: BlockPolicy,
    scale: Scale,
    saved: dict[str, Any],
    size: int,
    blocks: Sequence[Mapping[str, Any]],
    before: int,
) -> RoundEnd:
    """Tell the policy the blocks of a finished round, in its order, mapped to [0, 1].

    Args:
        policy: of the campaign.
        scale: of its scores.
        saved: the policy's state before the round.
        size: scores in the round.
        blocks: the `block`, `arms` and `units` of each, in order.
        before: answers counted in earlier rounds.

    Raises:
        ValueError: these are not the blocks of the round.
    """
    state = policy.load(saved)
    planned = policy.round(state)
    if planned is None or planned.scores != size or len(blocks) != planned.blocks:
        raise ValueError("these are not the blocks that the policy planned")
    told = []
    for number, one in enumerate(blocks):
        groups = planned.block(number)[1]
        if one["block"] != number or sorted(one["arms"]) != list(groups):
            raise ValueError(f"block {number} is not the one that the policy planned")
        pairs = zip(one["arms"], one["units"], strict=True)
        told.append({arm: scale.to_policy(units, 1) for arm, units in pairs})
    return _end(policy, saved, state, policy.absorbed(state, told), before + size)


def _end(
    policy: ServedPolicy, saved: dict[str, Any], state: Any, after: Any, before: int
) -> RoundEnd:
    """Return the end of a round that changed the policy's state."""
    arms, horizon = saved["arms"], saved["horizon"]
    candidate = policy.kernels().candidate
    dropped = tuple(
        arm for arm in range(arms) if candidate(state, arm) and not candidate(after, arm)
    )
    following = next_round(policy, after, arms, horizon, before)
    return RoundEnd(
        policy.save(after, arms, horizon), dropped, following, fewest_seats(policy, after)
    )


async def close_round(db: asyncpg.Connection, campaign: UUID, *, now: datetime | None) -> bool:
    """Close the open round if it has all its answers; must be called in a transaction.

    Raises:
        NeedsAttention: its policy or state cannot be read, or the policy fails.
    """
    head = await db.fetchrow(sql.head_to_close, campaign)
    await db.execute(sql.no_longer_due, campaign)
    if head is None or head["answered"] < head["size"] or head["status"] == "exhausted":
        return False
    number = head["round"]
    about = await db.fetchrow(sql.campaign_to_close, campaign)
    size = len(about["policy"]) + len(about["saved"])
    policy = await off_loop(size, load_policy, campaign, about["policy"])
    by_blocks = isinstance(policy, BlockPolicy)
    if head["awaits_judges"] and not by_blocks:
        return False
    saved = await off_loop(size, load_state, campaign, policy, about["saved"])
    row = await db.fetchrow(sql.stored_round, campaign, number)
    current = RoundSlots(tuple(row["arms"]), row["repetitions"], row["size"], final=False)
    scale = Scale(about["lowest"], about["highest"])
    rows = await db.fetch(sql.take_sums, campaign)
    nodes = check_sums(campaign, policy, scale, head["nodes"], len(current.arms), rows)
    counts, sums = [0] * len(current.arms), [0] * len(current.arms)
    tallies = nodes.none(len(current.arms))
    for one in rows:
        place = one["place"]
        counts[place], sums[place] = one["answers"], int(one["total"])
        tallies[place] = tallies_in(one)
    lapsed = [0] * len(current.arms)
    for one in await db.fetch(sql.take_lapses, campaign):
        # One that closed a round and is older than these counts left them behind.
        if one["round"] == number and one["place"] < len(lapsed):
            lapsed[one["place"]] = one["slots"]
    scored = await db.fetch(sql.scored_blocks, campaign, number) if by_blocks else []
    with errors_as_faults(campaign, "decision"):
        if isinstance(policy, BlockPolicy):
            blocks = (saved, current.size, scored, row["before"])
            made = await off_loop(size + len(scored), advance_blocks, policy, scale, *blocks)
        else:
            seen = (nodes, saved, current, sums, tallies, row["before"])
            made = await off_loop(size, advance, policy, *seen)
        left = 0 if by_blocks else saved["horizon"] - row["before"] - current.size
        check_plan(made.next, about["arms"], left)
    at = await db.fetchval(sql.time_of, now)
    told = (counts, sums, made.dropped, lapsed)
    await db.execute(sql.close_round, campaign, number, at, *told)
    detail = {
        "arms": list(current.arms),
        "repetitions": current.repetitions,
        "size": current.size,
        "counts": counts,
        "sums": [str(total) for total in sums],
        **record_tallies(tallies),
        "dropped": list(made.dropped),
        "state": made.saved["state"],
        "next": made.next and made.next.to_json(),
    }
    if made.fewest_seats is not None:
        detail["fewest_seats"] = made.fewest_seats
    event = head["events"] + 1
    await db.execute(sql.add_event, campaign, event, at, "close", "service", None, number, detail)
    await db.execute(sql.save_state, campaign, made.saved)
    if made.dropped:
        await report(
            db,
            campaign,
            "dropped",
            lambda names: {"round": number, "groups": [names[arm] for arm in made.dropped]},
        )
    if made.next is None:
        await db.execute(sql.end_campaign, campaign, "exhausted")
        await report(db, campaign, "exhausted", lambda _: {"round": number})
        return True
    coming, before = number + 1, row["before"] + current.size
    wanted = made.fewest_seats
    await insert_round(db, campaign, coming, made.next, before=before, now=at, wanted=wanted)
    shape = (len(made.next.arms), made.next.size, made.next.waits or by_blocks)
    await db.execute(sql.next_round, campaign, made.next.final, *shape)
    if made.next.final and head["status"] == "open":
        left = made.next.arms[0]
        await report(db, campaign, "decided", lambda names: {"group": names[left]})
    if isinstance(policy, RoundPolicy) and made.next.waits:
        rest = (coming, event + 1, made.next.arms, at)
        await open_with_named(db, campaign, policy, made.saved, *rest)
    return True


def record_tallies(tallies: list[list[int]]) -> dict[str, Any]:
    """Return tallies as the event of a round's end has them, if the policy has nodes."""
    return {"tallies": [[str(one) for one in own] for own in tallies]} if any(tallies) else {}


async def insert_round(
    db: asyncpg.Connection,
    campaign: UUID,
    number: int,
    round_: RoundSlots,
    *,
    before: int,
    now: datetime | None,
    wanted: int | None = None,
) -> None:
    """Record that a round was opened, or that it waits to be."""
    shape = (round_.arms, round_.repetitions, round_.size)
    await db.execute(sql.open_round, campaign, number, *shape, before, now, wanted)


CLOSED_AT_ONCE = 2
"""Rounds that requests close at once in a process: one of a thousand groups takes a while."""


class Closer:
    """Closes the rounds of the campaigns in one database.

    Args:
        pool: connections, as `connection.connect` makes them.
        metrics: counts closed rounds and faults.
    """

    def __init__(self, pool: asyncpg.Pool, metrics: Metrics | None = None) -> None:
        self._pool = pool
        self._metrics = metrics or Metrics()
        self._turns = asyncio.Semaphore(CLOSED_AT_ONCE)

    async def close(self, campaign: UUID, *, now: datetime | None = None) -> bool:
        """Close the open round if it has all its answers; return whether this call closed it.

        Raises:
            NeedsAttention: closing it fails now, or failed a moment ago.
        """
        async with transaction(self._pool) as db:
            # The lock first: a round that waits for it must not keep others from being closed.
            held = await faults.find_held(db, campaign, now)
            async with self._turns:
                outcome = held or await self._try(db, campaign, now)
        if isinstance(outcome, problems.NeedsAttention):
            raise outcome
        return outcome

    async def close_told(self, campaign: UUID, *, now: datetime | None = None) -> None:
        """Close a round whose last answer was told, if that can be done.

        The answers are committed in any case; `close_due` tries again.
        """
        try:
            await self.close(campaign, now=now)
        except problems.ServiceProblem:
            pass  # the round stays due, or the database is away
        except Exception as error:
            self._metrics.count_fault(faults.fault_of(campaign, "unexpected", error))

    async def close_due(self, *, now: datetime | None = None) -> int:
        """Close all due rounds, except those that other processes are closing; return how many."""
        closed = 0
        while True:
            async with transaction(self._pool) as db:
                campaign = await db.fetchval(sql.next_due, now, faults.RETRY_SECONDS)
                if campaign is None:
                    return closed
                closed += await self._try(db, campaign, now) is True

    async def _try(
        self, db: asyncpg.Connection, campaign: UUID, now: datetime | None
    ) -> bool | problems.NeedsAttention:
        """Close the open round if it is complete; if that fails, mark it and return the fault.

        Must be called in a transaction.
        """
        try:
            async with db.transaction():  # a savepoint: the mark must outlive what it is about
                with tracing.timed("close round", campaign=str(campaign)):
                    closed = await close_round(db, campaign, now=now)
                self._metrics.rounds.inc(closed)
                return closed
        except problems.NeedsAttention as found:
            fault = found
        except GONE:
            raise
        except Exception as error:
            fault = faults.fault_of(campaign, "record", error)
        await faults.mark(db, fault, now)
        self._metrics.count_fault(fault)
        return fault
