"""A policy's rounds as a table: what happens if nobody is dropped."""

from __future__ import annotations

import math
from dataclasses import dataclass

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.policies import HandicapElimination
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


def scheduled_rounds(
    policy: HandicapElimination, assumptions: Assumptions
) -> tuple[ScheduledRound, ...]:
    """Return the looks that fit in the horizon, while all groups take part.

    At a look, sums of all windows that are open then are compared, so the best of them counts.
    """
    groups, span = assumptions.groups, assumptions.span
    # A bound on the variance of one score, on the scale that policies see.
    variance = 0.25 if assumptions.bounded else assumptions.sigma**2
    state: HandicapState = policy.start(groups, assumptions.horizon)
    ends = state.ends.tolist()
    extra = int(state.head_start) + 1
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
                span * best,
                span * (best + BY_CHANCE * noise),
            )
        )
    return tuple(row for row in rows if row.choices <= assumptions.horizon)
