"""Check the health of campaigns, a few every second, and store the findings.

A check reads sums and counts and only the last few events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import numpy as np

from affinity_bandits.policies import BlockPolicy
from affinity_bandits_service.core.faults import load_policy
from affinity_bandits_service.core.scores import Scale, from_units
from affinity_bandits_service.core.spec import ServedPolicy, told_committee
from affinity_bandits_service.health.checks import (
    CHECKS,
    SHARE,
    AnswerTimes,
    Facts,
    SeenRound,
)
from affinity_bandits_service.health.words import Words
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.problems import NeedsAttention, Unavailable
from affinity_bandits_service.store.connection import GONE, sql, transaction
from affinity_bandits_service.webhooks.sending import Details, report

LOOK_SECONDS = 60.0
"""Until the first look at a campaign, and between two."""
MOST_LOOKS, MOST_SECONDS = 20, 0.25
"""Campaigns that a process looks at in one go, and how long it may take: rounds wait to be closed.
Where there are many campaigns, each is looked at less often."""
MOST_COUNTS, FEWEST_ROUNDS = 10_000, 50
"""Rounds times groups that a look reads at most, but so many rounds in any case: the last ones.
What is left out makes a look more cautious, not less."""
MOST_LEASES = 100_000
LAST_EVENTS = 200
STAYING = ("missing",)
"""Kinds that stay found: a decision that was made meanwhile stays doubtful."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Look:
    """The data of a check of one campaign.

    Attributes:
        about: the campaign, its head, its open round and the result of the last check.
        closed: the last closed rounds, oldest first.
        sums: of the open round, by place.
        lapses: lapsed slots of the open round, by place.
        owed: runs of slots that expired first leases owe.
        events: the last few.
        busiest: the rater who gave more than four of five scores, if any; see `Facts`.
        committee: whether the policy is told about a committee.
        blocks: whether raters score blocks.
    """

    about: Row
    closed: Sequence[Row]
    sums: Sequence[Row]
    lapses: Sequence[Row]
    owed: Sequence[Row]
    events: Sequence[Row]
    busiest: Row | None
    committee: bool
    blocks: bool


class Checked(NamedTuple):
    """The findings of a look, and the numbers that the next look needs."""

    found: tuple[Words, ...]
    answers: int
    silent: float
    longest: float


class HealthChecks:
    """The health checks of the campaigns in one database.

    Args:
        pool: connections.
        metrics: counts unexpected errors of a check; the next one goes on.
        clock: seconds, to limit how long checks take.
    """

    def __init__(
        self,
        pool: asyncpg.Pool,
        metrics: Metrics | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._pool = pool
        self._metrics = metrics or Metrics()
        self._clock = clock

    async def check_due(self, *, now: datetime | None = None) -> int:
        """Look at some of the campaigns whose turn it is; return how many."""
        begun = self._clock()
        for looks in range(MOST_LOOKS):
            if self._clock() - begun > MOST_SECONDS:
                return looks
            campaign = await self._pool.fetchval(sql.next_to_check, now, LOOK_SECONDS)
            if campaign is None:
                return looks
            try:
                await self.check(campaign, now=now)
            except (Unavailable, *GONE):
                raise
            except Exception as error:
                self._metrics.count_failure(error)
        return MOST_LOOKS

    async def check(self, campaign: UUID, *, now: datetime | None = None) -> None:
        """Look at a campaign and keep the findings."""
        look = await self._read(campaign, now)
        if look is None:
            return
        # A thousand groups take a while, and there are asks to serve.
        checked = await asyncio.to_thread(check_look, look)
        at, over = look.about["now"], look.about["status"] != "open"
        async with transaction(self._pool) as db:
            await db.execute(sql.save_look, campaign, at, *checked[1:], over)
            kinds = [one.kind for one in checked.found]
            await db.execute(sql.forget_findings, campaign, [*kinds, *STAYING])
            for one in checked.found:
                said = (one.seen, one.effect, one.advice)
                new = await db.fetchval(
                    sql.save_finding, campaign, one.kind, one.severity, at, one.arms, *said
                )
                if new and one.kind == "standstill" and one.severity == "warning":
                    await db.execute(sql.lock_head, campaign)
                    await report(db, campaign, "standstill", _seen(one))

    async def count(self) -> dict[tuple[str, str], int]:
        """Return how many campaigns under way have each finding, by kind and severity."""
        rows = await self._pool.fetch(sql.count_findings)
        return {(row["kind"], row["severity"]): row["campaigns"] for row in rows}

    async def _read(self, campaign: UUID, now: datetime | None) -> Look | None:
        # One moment for all of it, or a slot could be counted twice while it changes hands.
        async with transaction(self._pool, isolation="repeatable_read", readonly=True) as db:
            about = await db.fetchrow(sql.campaign_to_check, campaign, now)
            if about is None:
                return None
            most = max(FEWEST_ROUNDS, MOST_COUNTS // len(about["arms"]))
            rounds = await db.fetch(sql.rounds_to_check, campaign, most)
            policy = _policy_of(campaign, about["policy"])
            return Look(
                about,
                rounds[::-1],
                await db.fetch(sql.stored_sums, campaign),
                await db.fetch(sql.stored_lapses, campaign, about["round"]),
                await db.fetch(
                    sql.owed_by_expired, campaign, about["now"], MOST_LEASES, about["lease_seconds"]
                ),
                await db.fetch(sql.last_events, campaign, about["events"] - LAST_EVENTS),
                await db.fetchrow(sql.busiest_rater, campaign, SHARE),
                policy is not None and told_committee(policy),
                isinstance(policy, BlockPolicy),
            )


def _seen(found: Words) -> Details:
    return lambda _: {"seen": found.seen, "advice": found.advice}


def _policy_of(campaign: UUID, text: str) -> ServedPolicy | None:
    try:
        return load_policy(campaign, text)
    except NeedsAttention:  # which others say; the other checks need no policy
        return None


def check_look(look: Look) -> Checked:
    """Return the findings of all checks in the data of a look."""
    about, times = look.about, answer_times(look)
    groups = set(range(len(about["arms"])))
    compared = groups - set(about["dropped"])
    awaited = about["status"] == "open" and about["answered"] < about["size"]
    facts = Facts(
        names=about["arms"],
        rounds=seen_rounds(look),
        # Once the comparison is over, say what it was like.
        compared=compared if len(compared) > 1 else groups,
        ends=(from_units(about["lowest"]), from_units(about["highest"])),
        times=times if awaited else None,
        busiest=look.busiest,
    )
    found = tuple(one for check in CHECKS if (one := check(facts)) is not None)
    return Checked(found, about["before"] + about["answered"], times.silent, times.longest)


def seen_rounds(look: Look) -> list[SeenRound]:
    """Return the rounds of a look as checks see them, oldest first, the open one too."""
    about = look.about
    rounds = [] if about["status"] == "exhausted" else [_open_round(look)]
    scale, left = Scale(about["lowest"], about["highest"]), set(range(len(about["arms"])))
    left -= set(about["dropped"])
    for one in reversed(look.closed):
        left |= set(one["dropped"])
        passes, rest = divmod(one["size"], len(one["arms"]))
        told = zip(one["sums"], one["counts"], strict=True)
        rounds.append(
            SeenRound(
                number=one["number"],
                arms=tuple(one["arms"]),
                answers=one["counts"],
                totals=[scale.to_policy(int(total), answers) for total, answers in told],
                lapsed=one["lapsed"],
                passes=passes + bool(rest),
                whole=not rest,
                judges=(look.committee and one["judges"]) or (),
                left=frozenset(left),
                blocks=look.blocks,
            )
        )
    return rounds[::-1]


def _open_round(look: Look) -> SeenRound:
    about = look.about
    scale, width = Scale(about["lowest"], about["highest"]), about["width"]
    answers, totals = [0] * width, [0.0] * width
    # Places beyond the width are reported as a fault of the record when the round is closed.
    for one in (row for row in look.sums if row["place"] < width):
        answers[one["place"]] = one["answers"]
        totals[one["place"]] = scale.to_policy(int(one["total"]), one["answers"])
    lapsed = runs_by_place([(one["first"], one["beyond"]) for one in look.owed], width)
    for one in (row for row in look.lapses if row["place"] < width):
        lapsed[one["place"]] += one["slots"]
    return SeenRound(
        number=about["round"],
        arms=tuple(about["round_arms"]),
        answers=answers,
        totals=totals,
        lapsed=lapsed,
        passes=-(-about["next_slot"] // width),
        whole=False,
        closed=False,
        judges=(look.committee and about["judges"]) or (),
        left=frozenset(range(len(about["arms"]))) - set(about["dropped"]),
        blocks=look.blocks,
    )


def runs_by_place(runs: Sequence[tuple[int, int]], width: int) -> list[int]:
    """Return how many slots of some runs belong to each place of a round.

    >>> runs_by_place([(0, 4), (5, 6)], 3)
    [2, 1, 2]
    """
    if not runs:
        return [0] * width
    first, beyond = np.array(runs, dtype=np.int64).T
    passes, rest = np.divmod(beyond - first, width)
    counts = np.full(width, passes.sum())
    # What is left of each run begins at a place and may go on at place 0.
    start = first % width
    change = np.zeros(2 * width + 1, dtype=np.int64)
    np.add.at(change, start, 1)
    np.add.at(change, start + rest, -1)
    twice = change.cumsum()
    return [int(one) for one in counts + twice[:width] + twice[width : 2 * width]]


def answer_times(look: Look) -> AnswerTimes:
    """Return how answers have come of late."""
    about, now = look.about, look.about["now"]
    tells = [one["at"] for one in look.events if one["kind"] == "tell" and one["counted"]]
    answers = about["before"] + about["answered"]
    if tells:
        last = tells[-1]
    else:  # silent since the first of these events at least
        asks = (one["at"] for one in look.events if one["kind"] == "ask")
        last = next(asks, now)
    silent = max(0.0, (now - last).total_seconds())
    longest = about["longest"]
    if answers > about["answers"]:  # what was silent by the last look went on
        longest = max(longest, about["silent"])
    return AnswerTimes(
        silent=silent,
        # The clock may have been set back between two of them.
        gaps=[max(0.0, (b - a).total_seconds()) for a, b in pairwise(tells)] if tells else None,
        events=about["events"],
        outstanding=about["next_slot"] - about["answered"],
        lease_seconds=about["lease_seconds"],
        longest=longest,
    )
