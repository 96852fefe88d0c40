"""Faults of the service that concern one campaign: recorded, retried, cleared.

A campaign whose round cannot be closed, or whose policy or state cannot be read, gets a row in
`affinity.faults`, which every process sees. It is tried again after growing pauses by whichever
process comes first, and the row goes when a try succeeds. Reasons are made of fixed words, version
numbers and a policy's name: what an error says may quote data, and is for nobody but the log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.errors import UnknownName, shown
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.service.core.campaign_spec import OpenRound, served_policy
from affinity_bandits.service.core.scores import Scale
from affinity_bandits.service.core.tallies import Nodes, nodes_of, tallies_in
from affinity_bandits.service.problems import NeedsAttention
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.webhooks.notices import report

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds until a marked campaign is tried again: the first time, and at most."""
REASONS = {
    "policy": "this server has no policy of the name and settings that the campaign was made with",
    "state": "the saved state of its policy cannot be read",
    "decision": "its policy failed to decide from the answers of a round",
    "record": "what the database holds of it does not fit together",
    "page": "its page cannot be put into words",
    "unexpected": "a request for it met a defect of the service",
}
PASSING = ("page", "unexpected")
"""Kinds that keep no round from closing: their marks go if the fault is not met again."""


def fault_of(campaign: UUID, kind: str, cause: Exception | None = None) -> NeedsAttention:
    """Return a fault of this kind on a campaign."""
    fault = NeedsAttention(campaign, kind, REASONS[kind])
    fault.__cause__ = cause
    return fault


@contextmanager
def ours(campaign: UUID, kind: str) -> Iterator[None]:
    """Turn any error in the block into a fault; not for blocks that call the database."""
    try:
        yield
    except NeedsAttention:
        raise
    except Exception as error:
        raise fault_of(campaign, kind) from error


def policy_of(campaign: UUID, text: str) -> RoundPolicy:
    """Return a campaign's policy from its stored JSON.

    Raises:
        NeedsAttention: this server cannot make it.
    """
    with ours(campaign, "policy"):
        try:
            return served_policy(json.loads(text))
        except UnknownName as error:
            reason = f"this server has no policy of the name {shown(error.value)}"
            raise NeedsAttention(campaign, "policy", reason) from error


def state_of(campaign: UUID, policy: RoundPolicy, text: str) -> dict[str, Any]:
    """Return a campaign's saved state from its stored JSON, after checking that it can be loaded.

    Raises:
        NeedsAttention: the policy cannot go on from it.
    """
    with ours(campaign, "state"):
        saved = json.loads(text)
        found = saved.get("version") if isinstance(saved, Mapping) else None
        if isinstance(found, int) and found != policy.version:
            raise NeedsAttention(
                campaign,
                "state",
                f"the state of its policy was saved by version {found} of the policy, and this "
                f"server has version {policy.version}",
            )
        policy.load(saved)
    assert isinstance(saved, dict)
    return saved


def check_places(campaign: UUID, last: int | None, width: int) -> None:
    """Check that the sums of an open round belong to its arms.

    Raises:
        NeedsAttention: they are not.
    """
    with ours(campaign, "record"):
        if last is not None and last >= width:
            raise ValueError("sums are of arms that the round does not have")


def check_sums(
    campaign: UUID,
    policy: RoundPolicy,
    scale: Scale,
    number: int,
    width: int,
    rows: Sequence[Mapping[str, Any]],
) -> Nodes:
    """Check what an open round has of each arm; return the nodes that its tallies are for.

    Args:
        campaign: the one.
        policy: the campaign's.
        scale: the campaign's.
        number: how many nodes the campaign was made with.
        width: how many arms the round has.
        rows: of `affinity.sums`.

    Raises:
        NeedsAttention: sums are of no arm, or tallies not of the same answers as sums.
    """
    check_places(campaign, max((row["place"] for row in rows), default=None), width)
    with ours(campaign, "record"):
        nodes = nodes_of(policy, scale)
        if nodes.number != number:
            raise ValueError("the policy has other nodes than the campaign was made with")
        for row in rows:
            if not nodes.fit(tallies_in(row), row["answers"], int(row["total"])):
                raise ValueError("tallies and sums are not of the same answers")
    return nodes


def check_plan(round_: OpenRound | None, arms: int, left: int) -> None:
    """Check the round that a policy planned, before it is stored.

    Args:
        round_: the round; None for none.
        arms: how many the campaign has.
        left: answers up to the horizon.
    """
    if round_ is None:
        if left > 0:
            raise ValueError("a policy plans rounds up to the horizon")
    elif not set(range(arms)) >= set(round_.arms) or len(set(round_.arms)) < len(round_.arms):
        raise ValueError("a round is of different arms of the campaign")


async def held(
    db: asyncpg.Connection, campaign: UUID, now: datetime | None
) -> NeedsAttention | None:
    """Return the fault on a campaign whose next try is not due yet; None if there is none."""
    row = await db.fetchrow(sql.held, campaign, now, PASSING)
    return None if row is None else NeedsAttention(campaign, row["kind"], row["reason"])


async def mark(db: asyncpg.Connection, fault: NeedsAttention, now: datetime | None) -> None:
    """Record a failed try; the pause before the next one doubles each time, up to a limit."""
    what = (fault.campaign, fault.kind, fault.reason)
    if await db.fetchval(sql.mark, *what, now, FIRST_PAUSE, LONGEST_PAUSE):
        await report(db, fault.campaign, "attention")


async def note(pool: asyncpg.Pool, found: Sequence[NeedsAttention]) -> set[UUID]:
    """Mark campaigns on which requests met faults; return those whose mark is new.

    Heads are locked first, and in order, as by whoever closes rounds; where there is nothing to
    mark, none is: readers do not wait for a campaign that is marked already.
    """
    whats = [[getattr(one, name) for one in found] for name in ("campaign", "kind", "reason")]
    pauses = [LONGEST_PAUSE if one.kind in PASSING else FIRST_PAUSE for one in found]
    async with pool.acquire() as db, db.transaction():
        unmarked = await db.fetch(sql.unmarked, *whats[:2], PASSING)
        if not unmarked:
            return set()
        for row in unmarked:
            await db.execute(sql.lock_head, row["campaign"])
        rows = await db.fetch(sql.note, *whats, pauses, PASSING)
        new = {row["campaign"] for row in rows}
        for campaign in new:
            await report(db, campaign, "attention")
    return new


async def forget(db: asyncpg.Connection, campaign: UUID) -> None:
    """Remove a campaign's mark."""
    await db.execute(sql.forget, campaign)


async def examine(db: asyncpg.Connection, campaign: UUID) -> None:
    """Check that an open campaign can go on.

    Raises:
        NeedsAttention: it could not.
    """
    row = await db.fetchrow(sql.examine, campaign)
    if row is not None and row["status"] == "open":
        policy = policy_of(campaign, row["policy"])
        state_of(campaign, policy, row["saved"])
        rows = await db.fetch(sql.stored_sums, campaign)
        scale = Scale(row["lowest"], row["highest"])
        check_sums(campaign, policy, scale, row["nodes"], row["width"], rows)
