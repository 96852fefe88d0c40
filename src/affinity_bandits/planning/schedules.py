"""A policy's rounds as a table: what happens if nobody is dropped."""

from __future__ import annotations

import math
from dataclasses import dataclass

from affinity_bandits.policies import Assumptions, CalibratedElimination, RoundPolicy
from affinity_bandits.policies.elimination import EliminationState
from affinity_bandits.policies.handicap_elimination import (
    LOOKS,
    MIXING,
    WINDOWS,
    HandicapState,
)

BY_CHANCE = 1.6449
"""Standard deviations that an advantage exceeds with probability 5%."""


@dataclass(frozen=True)
class ScheduledRound:
    """A line of the table.

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
    state = policy.start(assumptions.groups, assumptions.horizon)
    if isinstance(policy, CalibratedElimination):
        rows = _elimination(state, assumptions, policy.burn_in if policy.discard_first else 0)
    else:
        rows = _handicap(state, assumptions)
    return tuple(row for row in rows if row.choices <= assumptions.horizon)


def _variance(assumptions: Assumptions) -> float:
    """Return a bound on the variance of one feedback."""
    return 0.25 if assumptions.bounded else assumptions.sigma**2


def _elimination(
    state: EliminationState, assumptions: Assumptions, burn_in: int
) -> list[ScheduledRound]:
    groups = assumptions.groups
    trials = burn_in
    rows = [ScheduledRound(trials, trials * groups, None, None)] if burn_in > 0 else []
    for number in range(1, len(state.repetitions)):
        repetitions = int(state.repetitions[number])
        trials += repetitions
        drops = float(state.thresholds[number])
        noise = math.sqrt(2.0 * _variance(assumptions) / repetitions)
        rows.append(ScheduledRound(trials, trials * groups, drops, drops + BY_CHANCE * noise))
    return rows


def _handicap(state: HandicapState, assumptions: Assumptions) -> list[ScheduledRound]:
    """Return the looks; sums of all windows that are open then are compared, so the best counts."""
    groups, variance = assumptions.groups, _variance(assumptions)
    ends = state.ends.tolist()
    extra = assumptions.head_start + 1
    rows = [ScheduledRound(ends[0], ends[0] * groups, None, None)]
    for look in range(1, len(ends)):
        newest = (look - 1) // LOOKS
        best = math.inf
        for window in range(max(0, newest - WINDOWS + 1), newest + 1):
            passes = ends[look] - ends[window * LOOKS]
            mixing = MIXING * 2.0 * variance * ends[window * LOOKS]
            spread = 2.0 * variance * passes + mixing
            level = 2.0 * float(state.log_levels[window])
            best = min(best, math.sqrt(spread * (level + math.log(spread / mixing))) / passes)
        noise = math.sqrt(2.0 * variance / ends[look])
        rows.append(
            ScheduledRound(
                ends[look] + extra,
                groups * ends[look] + (groups - 1) * extra,
                best,
                best + BY_CHANCE * noise,
            )
        )
    return rows
