"""A policy's rounds as a table: what happens if nobody is dropped."""

from __future__ import annotations

import math
from dataclasses import dataclass

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.policies import RoundPolicy

BY_CHANCE = 1.6449
"""Standard deviations that an advantage exceeds with probability 5%."""


@dataclass(frozen=True)
class ScheduledRound:
    """A line of the table, in the units of the assumptions' scores.

    Attributes:
        trials: choices of each group in all when the round has ended.
        choices: choices of all groups together.
        drops: a group is dropped if its mean score lags the best by more than this; None where
            nobody is dropped.
        detects: a group whose scores are this much lower on average, once shares are equal, is
            dropped with 95% probability; None where nobody is dropped.
    """

    trials: int
    choices: int
    drops: float | None
    detects: float | None


def scheduled_rounds(policy: RoundPolicy, assumptions: Assumptions) -> tuple[ScheduledRound, ...]:
    """Return the rounds that fit in the horizon, while all groups take part."""
    span, horizon = assumptions.span, assumptions.horizon
    # A bound on the variance of one score, on the scale that policies see.
    variance = 0.25 if assumptions.bounded else assumptions.sigma**2
    rows = []
    for planned in policy.rounds_without_drops(assumptions.groups, horizon, variance):
        drops = detects = None
        if planned.drops is not None:
            noise = math.sqrt(2.0 * variance / planned.compared)
            drops = span * planned.drops
            detects = span * (planned.drops + BY_CHANCE * noise)
        rows.append(ScheduledRound(planned.pulls_each, planned.pulls, drops, detects))
    return tuple(row for row in rows if row.choices <= horizon)
