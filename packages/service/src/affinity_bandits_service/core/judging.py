"""Judges of a round: named by the campaign's owner, told to the policy, put on record.

If the policy must know who judges, a round gets its slots when its judges are named. `replay` uses
the functions that are independent of the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import RoundPolicy
from affinity_bandits_client.messages import NameJudges
from affinity_bandits_client.messages.base import MOST_JUDGES
from affinity_bandits_service import problems
from affinity_bandits_service.core.faults import (
    check_plan,
    errors_as_faults,
    load_policy,
    load_state,
)
from affinity_bandits_service.core.spec import (
    RoundSlots,
    ServedPolicy,
    counts_by_arm,
    open_round,
)
from affinity_bandits_service.store.connection import sql
from affinity_bandits_service.webhooks.sending import report


@dataclass(frozen=True)
class JudgeCounts:
    """The judges of a round; checked when made, since they are also read from events.

    Args:
        counts: judges of each arm.
        outsiders: judges from outside all arms.
        standing: whether they also judge later rounds until others are named.
        coming: empty, or how many of each arm may begin during the round, and then how many of each
            will begin after it.
    """

    counts: tuple[int, ...]
    outsiders: int = 0
    standing: bool = False
    coming: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        checks.integers_list("judges", self.counts, low=0, high=MOST_JUDGES)
        checks.integer("outsiders", self.outsiders, low=0, high=MOST_JUDGES)
        checks.integers_list("coming", self.coming, low=0, high=MOST_JUDGES)
        if len(self.coming) not in (0, 2 * len(self.counts)):
            raise InvalidInput("coming", "two numbers for each arm", self.coming)

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON-ready data, as events record them."""
        return {
            "judges": list(self.counts),
            "outsiders": self.outsiders,
            "standing": self.standing,
        } | ({"coming": list(self.coming)} if self.coming else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JudgeCounts:
        """Return those in the detail of an event, or in a row."""
        coming = tuple(data.get("coming") or ())
        return cls(tuple(data["judges"]), data["outsiders"], data["standing"], coming)


@dataclass(frozen=True)
class Appointment:
    """Judges who were named for rounds to come.

    Attributes:
        event: in which they were named.
        round: the first that they may judge.
        judges: their numbers.
    """

    event: int
    round: int
    judges: JudgeCounts


@dataclass(frozen=True)
class Naming:
    """A request that names who judges a round.

    Args:
        judges: those who judge it.
        round: its number; None for the round that waits.
        key: the idempotency key.
        actor: who names them.
    """

    judges: JudgeCounts
    round: int | None
    key: str
    actor: str

    def to_json(self) -> dict[str, Any]:
        """Return the content that a repeat must share, as JSON-ready data."""
        return self.judges.to_json() | {"asked": self.round}


def read_judges(body: NameJudges, names: Sequence[str]) -> JudgeCounts:
    """Return the judges that a request names.

    Raises:
        InvalidInput: some are of an unknown group.
    """
    counts = counts_by_arm("judges", body.judges, names)
    coming: tuple[int, ...] = ()
    if body.soon or body.later:
        coming = (
            *counts_by_arm("soon", body.soon, names),
            *counts_by_arm("later", body.later, names),
        )
    return JudgeCounts(counts, body.outsiders, body.standing, coming)


class RoundIsDue(Exception):  # noqa: N818 - reads as the fact it states
    """The open round has all its answers and is still to be closed."""


def fewest_seats(policy: ServedPolicy, state: Any) -> int | None:
    """Return the arm that should have the fewest judges, if one should."""
    if not isinstance(policy, RoundPolicy) or not policy.told_judges:
        return None
    arm = int(policy.kernels().fewest_seats(state))
    return arm if arm >= 0 else None


def in_order(wanted: int | None, left: Sequence[int], judges: JudgeCounts) -> bool:
    """Return whether the arm `wanted` has the fewest judges of the arms that are left."""
    if wanted is None:
        return True
    return all(judges.counts[wanted] <= judges.counts[arm] for arm in left)


def judged_round(
    policy: RoundPolicy, saved: Mapping[str, Any], judges: JudgeCounts, before: int
) -> tuple[dict[str, Any], RoundSlots]:
    """Tell the policy who judges the round; return its state then, as saved, and the round."""
    arms, horizon = saved["arms"], saved["horizon"]
    if len(judges.counts) != arms:
        raise InvalidInput("judges", f"a number for each of the {arms} arms", judges.counts)
    state = policy.met(policy.load(saved), (*judges.counts, *judges.coming))
    return policy.save(state, arms, horizon), open_round(policy, state, horizon, before)


def awaited_words(
    number: int, policy: RoundPolicy, arms: Sequence[str], wanted: int | None, *, named: bool
) -> str:
    """Return why a round waits for judges, in words."""
    if policy.judging_body == "committee":
        return f"nobody has said yet who is in the committee before round {number}"
    words = f"the panel of round {number} is not named yet"
    if wanted is None:
        return f"{words}; any panel will do"
    words += f"; {arms[wanted]} leads and should have no more seats than any other group"
    return words + (", and the panel that was named gives it more" if named else "")


async def name_judges(
    db: asyncpg.Connection,
    tenant: int,
    campaign: UUID,
    naming: Naming,
    *,
    now: datetime | None,
) -> None:
    """Name who judges the round that waits, which opens it, or the one after the open round.

    Must be called in a transaction.

    Raises:
        RoundIsDue: the open round must be closed first.
        NoSuchCampaign: the id is unknown to this tenant.
        ServiceProblem: the key came before with another request.
        ServiceProblem: the campaign does not ask who judges.
        ServiceProblem: the round is open, and others judge it.
        NeedsAttention: the policy or its state cannot be read, or the policy fails.
    """
    head = await db.fetchrow(sql.head_of_tenant, campaign, tenant)
    if head is None:
        raise problems.NoSuchCampaign(campaign)
    judges, key, request = naming.judges, naming.key, naming.to_json()
    now = await db.fetchval(sql.time_of, now)
    used = await db.fetchrow(sql.event_of_request, campaign, key, naming.actor)
    if used is not None:
        if used["kind"] != "judges" or not request.items() <= used["detail"].items():
            raise problems.ServiceProblem(problems.KEY_REUSED)
        return
    about = await db.fetchrow(sql.campaign_to_close, campaign)
    policy = _told_policy(load_policy(campaign, about["policy"]))
    _check_asked(head["status"], about["arms"], judges)
    current, waits = head["round"], head["awaits_judges"]
    if not waits and head["answered"] == head["size"]:
        raise RoundIsDue
    named = await db.fetchrow(sql.named_judges, campaign)
    if not waits and naming.round in (None, current):
        row = await db.fetchrow(sql.stored_round, campaign, current)
        stands = named is not None and named["standing"]
        found = {"judges": row["judges"], "outsiders": row["outsiders"], "standing": stands}
        if found.items() <= judges.to_json().items():
            return
        raise problems.ServiceProblem(
            problems.JUDGES_SETTLED, policy.judging_body, current, current + 1
        )
    if judges.coming and (judges.standing or not waits):
        rule = "told when a round opens, of that round alone"
        raise InvalidInput("soon and later", rule, list(judges.coming))
    coming = current if waits else current + 1
    if naming.round not in (None, coming):
        raise InvalidInput("round", f"left out, or the one to come ({coming})", naming.round)
    event = head["events"] + 1
    detail = request | {"round": coming, "named": None, "opened": None}
    if waits:
        saved = load_state(campaign, policy, about["saved"])
        detail["opened"] = await _open(db, campaign, policy, saved, current, judges, now)
    else:
        await db.execute(sql.count_event, campaign)
    rest = ("judges", naming.actor, key, current, detail)
    await db.execute(sql.add_event, campaign, event, now, *rest)
    await db.execute(sql.add_request, campaign, key, event, naming.actor)
    if judges.standing or not waits:
        first = coming + waits
        whom = (list(judges.counts), judges.outsiders, judges.standing)
        await db.execute(sql.name_judges, campaign, event, first, *whom)
    else:
        await db.execute(sql.forget_judges, campaign)


async def open_with_named(
    db: asyncpg.Connection,
    campaign: UUID,
    policy: RoundPolicy,
    saved: Mapping[str, Any],
    number: int,
    event: int,
    left: Sequence[int],
    now: datetime | None,
) -> None:
    """Open a round that waits if judges were named who cannot favor the leader."""
    row = await db.fetchrow(sql.named_judges, campaign)
    if row is None:
        return
    judges = JudgeCounts.from_json(row)
    with errors_as_faults(campaign, "decision"):
        wanted = fewest_seats(policy, policy.load(saved))
    if not in_order(wanted, left, judges):
        return
    named = Appointment(row["event"], number, judges)
    await open_with(db, campaign, policy, saved, named, event, now)
    if not judges.standing:
        await db.execute(sql.forget_judges, campaign)


async def open_with(
    db: asyncpg.Connection,
    campaign: UUID,
    policy: RoundPolicy,
    saved: Mapping[str, Any],
    named: Appointment,
    event: int,
    now: datetime | None,
) -> None:
    """Open a round that waits with judges who were named in an earlier event."""
    number, judges = named.round, named.judges
    opened = await _open(db, campaign, policy, saved, number, judges, now)
    detail = judges.to_json() | {"round": number, "named": named.event, "opened": opened}
    rest = ("judges", "service", None, number, detail)
    await db.execute(sql.add_event, campaign, event, now, *rest)


def _told_policy(policy: ServedPolicy) -> RoundPolicy:
    if not isinstance(policy, RoundPolicy) or not policy.told_judges:
        raise problems.ServiceProblem(
            problems.JUDGES_NOT_ASKED, "its policy is not told who judges"
        )
    return policy


def _check_asked(status: str, arms: int, judges: JudgeCounts) -> None:
    if status != "open":
        raise problems.ServiceProblem(problems.JUDGES_NOT_ASKED, f"it is {status}")
    if len(judges.counts) != arms:
        raise InvalidInput("judges", f"a number for each of the {arms} arms", judges.counts)


async def _open(
    db: asyncpg.Connection,
    campaign: UUID,
    policy: RoundPolicy,
    saved: Mapping[str, Any],
    number: int,
    judges: JudgeCounts,
    now: datetime | None,
) -> dict[str, Any]:
    """Open a round that waits; return it as events record it."""
    row = await db.fetchrow(sql.stored_round, campaign, number)
    with errors_as_faults(campaign, "decision"):
        after, round_ = judged_round(policy, saved, judges, row["before"])
        check_plan(round_, saved["arms"], saved["horizon"] - row["before"])
        if round_.size == 0:
            raise ValueError("a policy that was told who judges plans a round")
    shape = (list(round_.arms), round_.repetitions, round_.size)
    whom = (list(judges.counts), judges.outsiders)
    await db.execute(sql.open_judged_round, campaign, number, *shape, *whom, now)
    head = (round_.final, len(round_.arms), round_.size)
    if await db.fetchval(sql.open_judged_head, campaign, *head):
        await report(db, campaign, "decided", lambda names: {"group": names[round_.arms[0]]})
    await db.execute(sql.save_state, campaign, after)
    return round_.to_json()
