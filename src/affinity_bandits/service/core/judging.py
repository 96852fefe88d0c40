"""Who judges a round: named by whoever runs the campaign, told to the policy, put on record.

A campaign whose policy is told who judges has no slots in a round until somebody has said. What is
here without a database is what `replay` computes again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.service import problems
from affinity_bandits.service.core.campaign_spec import OpenRound, open_round
from affinity_bandits.service.core.faults import check_plan, ours, policy_of, state_of
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.webhooks.notices import report
from affinity_bandits.wire.limits import MOST_JUDGES
from affinity_bandits.wire.values import check_key


@dataclass(frozen=True)
class Judges:
    """Those who judge a round; checked when made.

    Args:
        counts: how many of each arm of the campaign.
        outsiders: how many who belong to none.
        standing: whether they judge the rounds after it as well, until others are named.
    """

    counts: tuple[int, ...]
    outsiders: int = 0
    standing: bool = False

    def __post_init__(self) -> None:
        checks.integers_list("judges", self.counts, low=0, high=MOST_JUDGES)
        checks.integer("outsiders", self.outsiders, low=0, high=MOST_JUDGES)

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON-ready data, as events record them."""
        return {
            "judges": list(self.counts),
            "outsiders": self.outsiders,
            "standing": self.standing,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Judges:
        """Return those in the detail of an event, or in a row."""
        return cls(tuple(data["judges"]), data["outsiders"], data["standing"])


@dataclass(frozen=True)
class NamedJudges:
    """Judges who were named for rounds to come.

    Attributes:
        event: in which they were named.
        round: the first that they may judge.
        judges: who they are.
    """

    event: int
    round: int
    judges: Judges


@dataclass(frozen=True)
class Naming:
    """A request that names who judges a round.

    Args:
        judges: those who judge it.
        round: its number; None for the round that waits.
        key: the idempotency key.
        actor: who names them.
    """

    judges: Judges
    round: int | None
    key: str
    actor: str

    def __post_init__(self) -> None:
        check_key(self.key)

    def to_json(self) -> dict[str, Any]:
        """Return what a repeat must have in common with it, as JSON-ready data."""
        return self.judges.to_json() | {"asked": self.round}


class RoundIsDue(Exception):  # noqa: N818 - reads as the fact it states
    """The open round has all its answers, and nobody has closed it yet."""


def fewest_seats(policy: RoundPolicy, state: Any) -> int | None:
    """Return the arm that should have no more judges than any other, if there is one."""
    if not policy.told_judges:
        return None
    arm = int(policy.kernels().fewest_seats(state))
    return arm if arm >= 0 else None


def in_order(wanted: int | None, left: Sequence[int], judges: Judges) -> bool:
    """Return whether the arm that should have the fewest judges has no more than any that is left.

    Args:
        wanted: that arm; None where any judges will do.
        left: arms that may still be the best.
        judges: those who would judge.
    """
    if wanted is None:
        return True
    return all(judges.counts[wanted] <= judges.counts[arm] for arm in left)


def judged_round(
    policy: RoundPolicy, saved: Mapping[str, Any], judges: Judges, before: int
) -> tuple[dict[str, Any], OpenRound]:
    """Tell the policy who judges the round; return its state then, as saved, and the round.

    Args:
        policy: the campaign's.
        saved: its state before the round.
        judges: those who judge it.
        before: answers counted in earlier rounds.
    """
    arms, horizon = saved["arms"], saved["horizon"]
    if len(judges.counts) != arms:
        raise InvalidInput("judges", f"a number for each of the {arms} arms", judges.counts)
    state = policy.met(policy.load(saved), judges.counts)
    return policy.save(state, arms, horizon), open_round(policy, state, horizon, before)


def awaited_words(
    number: int, policy: RoundPolicy, arms: Sequence[str], wanted: int | None, *, named: bool
) -> str:
    """Return what a round waits for that nobody was named to judge, in words.

    Args:
        number: of the round.
        policy: the campaign's.
        arms: names.
        wanted: the arm that should have the fewest seats, if there is one.
        named: whether somebody was, who cannot judge it without favouring that arm.
    """
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

    To be called in a transaction: either all of it is done or nothing.

    Args:
        db: the connection.
        tenant: whose campaign it is.
        campaign: the one.
        naming: the request.
        now: the time; the database's if None.

    Raises:
        RoundIsDue: the open round must be closed first.
        NoSuchCampaign: this tenant has none by that id.
        KeyReused: the key came before with another request.
        JudgesNotAsked: the campaign does not ask who judges, or not any more.
        JudgesSettled: the round is open, and others judge it.
        NeedsAttention: the policy or its state cannot be read, or the policy fails.
    """
    head = await db.fetchrow(sql.head_to_judge, campaign, tenant)
    if head is None:
        raise problems.NoSuchCampaign(campaign)
    judges, key, request = naming.judges, naming.key, naming.to_json()
    now = await db.fetchval(sql.time_of, now)
    used = await db.fetchrow(sql.event_of_request, campaign, key, naming.actor)
    if used is not None:
        if used["kind"] != "judges" or not request.items() <= used["detail"].items():
            raise problems.KeyReused
        return
    about = await db.fetchrow(sql.campaign_to_close, campaign)
    policy = policy_of(campaign, about["policy"])
    _check_asked(policy, head["status"], about["arms"], judges)
    current, waits = head["round"], head["awaits_judges"]
    if not waits and head["answered"] == head["size"]:
        raise RoundIsDue
    named = await db.fetchrow(sql.named_judges, campaign)
    if not waits and naming.round in (None, current):
        row = await db.fetchrow(sql.round_to_judge, campaign, current)
        stands = named is not None and named["standing"]
        found = {"judges": row["judges"], "outsiders": row["outsiders"], "standing": stands}
        if found == judges.to_json():
            return
        raise problems.JudgesSettled(policy.judging_body, current, current + 1)
    coming = current if waits else current + 1
    if naming.round not in (None, coming):
        raise InvalidInput("round", f"left out, or the one to come ({coming})", naming.round)
    event = head["events"] + 1
    detail = request | {"round": coming, "named": None, "opened": None}
    if waits:
        saved = state_of(campaign, policy, about["saved"])
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
    """Open a round that waits if somebody was named to judge it and does not favour the leader.

    Args:
        db: a connection in a transaction.
        campaign: the one.
        policy: its policy.
        saved: the policy's state.
        number: of the round.
        event: the number that the event gets.
        left: arms that may still be the best.
        now: the time; the database's if None.
    """
    row = await db.fetchrow(sql.named_judges, campaign)
    if row is None:
        return
    judges = Judges.from_json(row)
    with ours(campaign, "decision"):
        wanted = fewest_seats(policy, policy.load(saved))
    if not in_order(wanted, left, judges):
        return
    named = NamedJudges(row["event"], number, judges)
    await open_with(db, campaign, policy, saved, named, event, now)
    if not judges.standing:
        await db.execute(sql.forget_judges, campaign)


async def open_with(
    db: asyncpg.Connection,
    campaign: UUID,
    policy: RoundPolicy,
    saved: Mapping[str, Any],
    named: NamedJudges,
    event: int,
    now: datetime | None,
) -> None:
    """Open a round that waits with judges who were named in an earlier event."""
    number, judges = named.round, named.judges
    opened = await _open(db, campaign, policy, saved, number, judges, now)
    detail = judges.to_json() | {"round": number, "named": named.event, "opened": opened}
    rest = ("judges", "service", None, number, detail)
    await db.execute(sql.add_event, campaign, event, now, *rest)


def _check_asked(policy: RoundPolicy, status: str, arms: int, judges: Judges) -> None:
    if not policy.told_judges:
        raise problems.JudgesNotAsked("its policy is not told who judges")
    if status != "open":
        raise problems.JudgesNotAsked(f"it is {status}")
    if len(judges.counts) != arms:
        raise InvalidInput("judges", f"a number for each of the {arms} arms", judges.counts)


async def _open(
    db: asyncpg.Connection,
    campaign: UUID,
    policy: RoundPolicy,
    saved: Mapping[str, Any],
    number: int,
    judges: Judges,
    now: datetime | None,
) -> dict[str, Any]:
    """Open a round that waits; return it as events record it."""
    row = await db.fetchrow(sql.round_to_judge, campaign, number)
    with ours(campaign, "decision"):
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
