"""Check the health of campaigns, a few every second, and store the findings.

A check reads sums and counts and the last few events, never a whole trail.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from time import perf_counter
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np

from affinity_bandits.service.core.faults import load_policy
from affinity_bandits.service.core.scores import Scale, from_units
from affinity_bandits.service.health import words
from affinity_bandits.service.health.checks import (
    SHARE,
    AnswerTimes,
    OneRater,
    RoundCommittee,
    RoundLapses,
    RoundScores,
    find_at_end,
    find_misfit,
    find_missing,
    find_standstill,
    gives_nearly_all,
)
from affinity_bandits.service.metrics import Metrics
from affinity_bandits.service.problems import NeedsAttention
from affinity_bandits.service.store.connection import GONE, sql, transaction
from affinity_bandits.service.webhooks.sending import Details, report

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
        busiest: the rater who gave more than four of five scores, if any.
        committee: whether the policy is told about a committee.
    """

    about: Row
    closed: Sequence[Row]
    sums: Sequence[Row]
    lapses: Sequence[Row]
    owed: Sequence[Row]
    events: Sequence[Row]
    busiest: OneRater | None
    committee: bool


@dataclass(frozen=True)
class Checked:
    """What came of a look: findings, and what the next look has to know."""

    found: tuple[words.Words, ...]
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
            except GONE:
                raise
            except Exception as error:
                self._metrics.count_failure(error)
        return MOST_LOOKS

    async def check(self, campaign: UUID, *, now: datetime | None = None) -> None:
        """Look at a campaign and keep what was found."""
        look = await self._read(campaign, now)
        if look is None:
            return
        # A thousand groups take a while, and there are asks to serve.
        checked = await asyncio.to_thread(check_look, look)
        at, over = look.about["now"], look.about["status"] != "open"
        async with transaction(self._pool) as db:
            rest = (checked.answers, checked.silent, checked.longest, over)
            await db.execute(sql.save_look, campaign, at, *rest)
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
            return Look(
                about,
                rounds[::-1],
                await db.fetch(sql.stored_sums, campaign),
                await db.fetch(sql.stored_lapses, campaign, about["round"]),
                await db.fetch(
                    sql.owed_by_expired, campaign, about["now"], MOST_LEASES, about["lease_seconds"]
                ),
                await db.fetch(sql.last_events, campaign, about["events"] - LAST_EVENTS),
                await _busiest(db, campaign),
                _told_committee(campaign, about["policy"]),
            )


def _seen(found: words.Words) -> Details:
    return lambda _: {"seen": found.seen, "advice": found.advice}


async def _busiest(db: asyncpg.Connection, campaign: UUID) -> OneRater | None:
    """Return the rater who gave more than four of five scores so far; None if nobody did."""
    all_ = await db.fetchrow(sql.scores_of_raters, campaign)
    if all_["most"] is None or all_["most"] <= SHARE * all_["total"]:
        return None
    row = await db.fetchrow(sql.rater_with, campaign, all_["most"])
    return OneRater(row["rater"], all_["most"], all_["total"], row["place"])


def _told_committee(campaign: UUID, policy: str) -> bool:
    """Return whether a policy is told of a committee, all of which judges."""
    try:
        made = load_policy(campaign, policy)
    except NeedsAttention:  # which others say; the other checks need no policy
        return False
    return made.told_judges and made.judging_body == "committee"


def check_look(look: Look) -> Checked:
    """Return what all checks find in what a look has read."""
    about = look.about
    names, scale = about["arms"], Scale(about["lowest"], about["highest"])
    compared = set(range(len(names))) - set(about["dropped"])
    if len(compared) < 2:  # the comparison is over: say what it was like
        compared = set(range(len(names)))
    found: list[words.Words] = []
    missing = find_missing(lapses_of(look), len(names))
    if missing is not None:
        found.append(words.missing_words(missing, names))
    uneven = next(
        (one["number"] for one in look.closed if max(one["counts"]) - min(one["counts"]) > 1), None
    )
    if uneven is not None:
        found.append(words.uneven_words(uneven))
    at_end = find_at_end(scores_of(look, scale), len(names), compared)
    if at_end is not None:
        ends = (from_units(scale.lowest), from_units(scale.highest))
        found.append(words.ends_words(at_end, names, *ends))
    if look.busiest is not None and gives_nearly_all(look.busiest):
        found.append(words.rater_words(look.busiest))
    misfit = find_misfit(committees_of(look))
    if misfit is not None:
        found.append(words.committee_words(misfit, names))
    times = answer_times(look)
    if about["status"] == "open" and about["answered"] < about["size"]:
        still = find_standstill(times)
        if still is not None:
            found.append(words.standstill_words(still))
    answers = about["before"] + about["answered"]
    return Checked(tuple(found), answers, times.silent, times.longest)


def lapses_of(look: Look) -> list[RoundLapses]:
    """Return how many slots lapsed in each round in which they were counted, the open one too."""
    about = look.about
    rounds = [
        RoundLapses(
            one["number"],
            tuple(one["arms"]),
            tuple(one["lapsed"]),
            -(-one["size"] // len(one["arms"])),
            whole=one["size"] % len(one["arms"]) == 0,
        )
        for one in look.closed
    ]
    if about["status"] == "exhausted":
        return rounds
    width = about["width"]
    lapsed = runs_by_place([(one["first"], one["beyond"]) for one in look.owed], width)
    for one in look.lapses:
        if one["place"] < width:
            lapsed[one["place"]] += one["slots"]
    arms, begun = tuple(about["round_arms"]), -(-about["next_slot"] // width)
    return [*rounds, RoundLapses(about["round"], arms, tuple(lapsed), begun, whole=False)]


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


def scores_of(look: Look, scale: Scale) -> list[RoundScores]:
    """Return the scores of each round, mapped to [0, 1], the open one too."""
    about = look.about

    def scores(number: int, arms: Sequence[int], told: Sequence[tuple[int, int]]) -> RoundScores:
        totals = tuple(scale.to_policy(total, answers) for answers, total in told)
        return RoundScores(number, tuple(arms), tuple(answers for answers, _ in told), totals)

    rounds = [
        scores(
            one["number"],
            one["arms"],
            [(n, int(total)) for n, total in zip(one["counts"], one["sums"], strict=True)],
        )
        for one in look.closed
    ]
    if about["status"] != "exhausted" and look.sums:
        open_ = [one for one in look.sums if one["place"] < len(about["round_arms"])]
        arms = [about["round_arms"][one["place"]] for one in open_]
        told = [(one["answers"], int(one["total"])) for one in open_]
        rounds.append(scores(about["round"], arms, told))
    return rounds


def committees_of(look: Look) -> list[RoundCommittee]:
    """Return the committees that were told before each round, the open one too."""
    about = look.about
    if not look.committee:
        return []
    arms = range(len(about["arms"]))
    left = set(arms) - set(about["dropped"])
    committees = []
    if about["status"] != "exhausted" and about["judges"] is not None:
        committees.append(
            RoundCommittee(about["round"], about["judges"], [0] * len(arms), sorted(left))
        )
    for one in reversed(look.closed):
        left |= set(one["dropped"])
        if one["judges"] is None:
            continue
        chosen = [0] * len(arms)
        for counts in (one["counts"], one["lapsed"] or ()):
            for arm, count in zip(one["arms"], counts, strict=False):
                chosen[arm] += count
        committees.append(RoundCommittee(one["number"], one["judges"], chosen, sorted(left)))
    return committees[::-1]


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
        gaps=[(b - a).total_seconds() for a, b in pairwise(tells)] if tells else None,
        events=about["events"],
        outstanding=about["next_slot"] - about["answered"],
        lease_seconds=about["lease_seconds"],
        longest=longest,
    )
