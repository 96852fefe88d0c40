"""Close a round: one transaction gives its sums to the policy and opens the next round."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np

from affinity_bandits.policies import RoundPolicy
from affinity_bandits.service.core.campaign_spec import OpenRound, open_round
from affinity_bandits.service.core.faults import check_plan, ours, policy_of, state_of
from affinity_bandits.service.core.scores import Scale


@dataclass(frozen=True)
class Step:
    """What a policy makes of the sums of a round.

    Attributes:
        saved: the policy's state after it, as `Policy.save` writes it.
        dropped: arms that were candidates before and are not any more.
        next: the round that comes next, or None where the horizon ended this one.
    """

    saved: dict[str, Any]
    dropped: tuple[int, ...]
    next: OpenRound | None


def advance(
    policy: RoundPolicy,
    scale: Scale,
    saved: dict[str, Any],
    current: OpenRound,
    sums: list[int],
    before: int,
) -> Step:
    """Give a finished round's sums, in units of 1e-9, to the policy.

    Args:
        policy: the campaign's.
        scale: the campaign's, on which the sums are; the policy gets them mapped to [0, 1].
        saved: its state before the round.
        current: the round.
        sums: the exact sum of each arm, in the round's order.
        before: answers counted in earlier rounds.
    """
    if not current.whole:
        # The horizon cut the round short: as in a simulation, its sums decide nothing.
        return Step(saved, (), None)
    state = policy.load(saved)
    mapped = [scale.to_policy(total, current.repetitions) for total in sums]
    after = policy.absorbed(state, np.array(mapped))
    arms, horizon = saved["arms"], saved["horizon"]
    candidate = policy.kernels().candidate
    dropped = tuple(
        arm for arm in range(arms) if candidate(state, arm) and not candidate(after, arm)
    )
    following = open_round(policy, after, horizon, before + current.size)
    return Step(
        policy.save(after, arms, horizon), dropped, following if following.size > 0 else None
    )


async def close_round(
    db: asyncpg.pool.PoolConnectionProxy[Any], campaign: UUID, *, now: datetime | None
) -> bool:
    """Close the open round if it has all its answers; to be called in a transaction.

    Raises:
        NeedsAttention: its policy or state cannot be read, or the policy fails.
    """
    head = await db.fetchrow(
        "SELECT status, round, size, answered, events FROM affinity.heads"
        " WHERE campaign = $1 FOR UPDATE",
        campaign,
    )
    await db.execute("DELETE FROM affinity.due WHERE campaign = $1", campaign)
    if head is None or head["answered"] < head["size"] or head["status"] == "exhausted":
        return False
    number = head["round"]
    about = await db.fetchrow(
        "SELECT cardinality(arms) AS arms, policy::text, lowest, highest, saved::text"
        " FROM affinity.campaigns WHERE id = $1",
        campaign,
    )
    policy = policy_of(campaign, about["policy"])
    saved = state_of(campaign, policy, about["saved"])
    row = await db.fetchrow(
        "SELECT arms, repetitions, size, before FROM affinity.rounds"
        " WHERE campaign = $1 AND number = $2",
        campaign,
        number,
    )
    places = await db.fetch(
        "DELETE FROM affinity.sums WHERE campaign = $1 RETURNING place, answers, total", campaign
    )
    current = OpenRound(tuple(row["arms"]), row["repetitions"], row["size"], final=False)
    counts, sums = [0] * len(current.arms), [0] * len(current.arms)
    for one in places:
        counts[one["place"]], sums[one["place"]] = one["answers"], int(one["total"])
    with ours(campaign, "decision"):
        scale = Scale(about["lowest"], about["highest"])
        made = advance(policy, scale, saved, current, sums, row["before"])
        check_plan(made.next, about["arms"], saved["horizon"] - row["before"] - current.size)
    at = await db.fetchval("SELECT coalesce($1::timestamptz, clock_timestamp())", now)
    await db.execute(
        "UPDATE affinity.rounds SET closed_at = $3, counts = $4, sums = $5, dropped = $6"
        " WHERE campaign = $1 AND number = $2",
        campaign,
        number,
        at,
        counts,
        sums,
        list(made.dropped),
    )
    await db.execute(
        "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, detail)"
        " VALUES ($1, $2, $3, 'close', 'service', $4, $5)",
        campaign,
        head["events"] + 1,
        at,
        number,
        {
            "arms": list(current.arms),
            "repetitions": current.repetitions,
            "size": current.size,
            "counts": counts,
            "sums": [str(total) for total in sums],
            "dropped": list(made.dropped),
            "state": made.saved["state"],
            "next": None
            if made.next is None
            else {
                "arms": list(made.next.arms),
                "repetitions": made.next.repetitions,
                "size": made.next.size,
                "final": made.next.final,
            },
        },
    )
    await db.execute("UPDATE affinity.campaigns SET saved = $2 WHERE id = $1", campaign, made.saved)
    if made.next is None:
        await db.execute(
            "UPDATE affinity.heads SET status = 'exhausted', events = events + 1"
            " WHERE campaign = $1",
            campaign,
        )
        return True
    await opened(db, campaign, number + 1, made.next, before=row["before"] + current.size, now=at)
    await db.execute(
        "UPDATE affinity.heads SET status = CASE WHEN status = 'stopped' THEN status"
        " WHEN $2 THEN 'decided' ELSE 'open' END, round = round + 1, width = $3, size = $4,"
        " next_slot = 0, oldest = 0, answered = 0, events = events + 1 WHERE campaign = $1",
        campaign,
        made.next.final,
        len(made.next.arms),
        made.next.size,
    )
    return True


async def opened(
    db: asyncpg.pool.PoolConnectionProxy[Any],
    campaign: UUID,
    number: int,
    round_: OpenRound,
    *,
    before: int,
    now: datetime | None,
) -> None:
    """Write down a round that begins."""
    await db.execute(
        "INSERT INTO affinity.rounds (campaign, number, arms, repetitions, size, before, opened_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, clock_timestamp()))",
        campaign,
        number,
        list(round_.arms),
        round_.repetitions,
        round_.size,
        before,
        now,
    )
