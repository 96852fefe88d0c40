"""Faults of the service that keep one campaign from going on.

A round that cannot be closed stays in `affinity.due` with the kind of the fault, the reason and the
time of the next try. Reasons are in fixed words, because data and errors may quote clients.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.base.errors import UnknownName, shown
from affinity_bandits_service.core.scores import Nodes, Scale, nodes_of, tallies_in
from affinity_bandits_service.core.spec import RoundSlots, ServedPolicy, served_policy
from affinity_bandits_service.problems import NeedsAttention
from affinity_bandits_service.store.connection import sql
from affinity_bandits_service.webhooks.sending import report

RETRY_SECONDS = 10.0
"""Seconds until a round that could not be closed is tried again."""
REASONS = {
    "policy": "this server has no policy of the name and settings that the campaign was made with",
    "state": "the saved state of its policy cannot be read",
    "decision": "its policy failed to decide from the answers of a round",
    "record": "what the database holds of it does not fit together",
    "page": "its page cannot be put into words",
    "unexpected": "a request for it met a defect of the service",
}


def fault_of(campaign: UUID, kind: str, cause: Exception | None = None) -> NeedsAttention:
    """Return a fault of this kind on a campaign."""
    fault = NeedsAttention(campaign, kind, REASONS[kind])
    fault.__cause__ = cause
    return fault


@contextmanager
def errors_as_faults(campaign: UUID, kind: str) -> Iterator[None]:
    """Turn any error in the block into a fault; only for blocks without database calls."""
    try:
        yield
    except NeedsAttention:
        raise
    except Exception as error:
        raise fault_of(campaign, kind) from error


def load_policy(campaign: UUID, text: str) -> ServedPolicy:
    """Return a campaign's policy from its stored JSON.

    Raises:
        NeedsAttention: the policy is unknown to this server, or fails.
    """
    with errors_as_faults(campaign, "policy"):
        try:
            return served_policy(json.loads(text))
        except UnknownName as error:
            reason = f"this server has no policy of the name {shown(error.value)}"
            raise NeedsAttention(campaign, "policy", reason) from error


def load_state(campaign: UUID, policy: ServedPolicy, text: str) -> dict[str, Any]:
    """Return a campaign's saved state from its stored JSON, after checking that it can be loaded.

    Raises:
        NeedsAttention: the state is unusable for the policy.
    """
    with errors_as_faults(campaign, "state"):
        saved: dict[str, Any] = json.loads(text)
        found = saved.get("version")
        if isinstance(found, int) and found != policy.version:
            raise NeedsAttention(
                campaign,
                "state",
                f"the state of its policy was saved by version {found} of the policy, and this "
                f"server has version {policy.version}",
            )
        policy.load(saved)
    return saved


def check_sums(
    campaign: UUID,
    policy: ServedPolicy,
    scale: Scale,
    number: int,
    width: int,
    rows: Sequence[Mapping[str, Any]],
) -> Nodes:
    """Check the sums and tallies of an open round; return the nodes that its tallies are for.

    Raises:
        NeedsAttention: a sum is of an unknown arm, or tallies and sums disagree.
    """
    with errors_as_faults(campaign, "record"):
        nodes = nodes_of(policy, scale)
        if nodes.number != number:
            raise ValueError("the policy has other nodes than the campaign was made with")
        for row in rows:
            if row["place"] >= width:
                raise ValueError("sums are of arms that the round does not have")
            if not nodes.fit(tallies_in(row), row["answers"], int(row["total"])):
                raise ValueError("tallies and sums are not of the same answers")
    return nodes


def check_plan(round_: RoundSlots | None, arms: int, left: int) -> None:
    """Check the round that a policy planned, before it is stored."""
    if round_ is None:
        if left > 0:
            raise ValueError("a policy plans rounds up to the horizon")
    elif not set(range(arms)) >= set(round_.arms) or len(set(round_.arms)) < len(round_.arms):
        raise ValueError("a round is of different arms of the campaign")


async def find_held(
    db: asyncpg.Connection, campaign: UUID, now: datetime | None
) -> NeedsAttention | None:
    """Lock a campaign; return its fault if the next try is still to come, None otherwise."""
    row = await db.fetchrow(sql.held_fault, campaign, now, RETRY_SECONDS)
    held = row is not None and row["kind"] is not None
    return NeedsAttention(campaign, row["kind"], row["reason"]) if held else None


async def mark(db: asyncpg.Connection, fault: NeedsAttention, now: datetime | None) -> None:
    """Record the fault of a round, and notify the tenant's webhooks the first time."""
    what = (fault.campaign, fault.kind, fault.reason)
    if await db.fetchval(sql.mark_fault, *what, now, RETRY_SECONDS):
        await report(db, fault.campaign, "attention")
