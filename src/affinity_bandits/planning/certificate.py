"""The worst instance for a policy, and a certificate for its failure probability there.

The search and the certificate use different runs. Failures of a good policy are too rare for a
search to compare families by them, so the search runs a bolder version of the policy, with which
failures are frequent; the families that deceive it most are then tried with the policy itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from affinity_bandits.errors import NotSupported
from affinity_bandits.planning.families import Family
from affinity_bandits.planning.outcomes import Tick, outcomes
from affinity_bandits.policies import (
    CalibratedElimination,
    HandicapElimination,
    PaddedSchedule,
    RoundPolicy,
)
from affinity_bandits.simulation.intervals import proportion_interval

SUSPECTS = 3
"""Families that are certified: those that deceived the bolder version most often."""
LEVEL = 0.95
MOST_REPLICATES = 50_000
BOLDER_FAILURE = 0.49
BOLDER_OFFSET = 2.0
"""How much smaller the bolder version's offset is: rounds of a quarter the length."""


@dataclass(frozen=True)
class Certificate:
    """What independent runs on the worst families showed.

    Attributes:
        family: position of the family with the largest upper limit.
        wrong: runs there in which the best group was dropped.
        replicates: runs there.
        upper: with 95% confidence, the failure probability is below this on every family that
            was certified (Clopper and Pearson, the level shared among them).
        suspects: positions of the families that were certified.
    """

    family: int
    wrong: int
    replicates: int
    upper: float
    suspects: tuple[int, ...]


def bolder(policy: RoundPolicy) -> RoundPolicy:
    """Return a version of the policy that decides too early, for searching."""
    if isinstance(policy, HandicapElimination):
        return replace(policy, failure=BOLDER_FAILURE, head_start=(policy.head_start or 0) // 2)
    if isinstance(policy, CalibratedElimination) and isinstance(policy.schedule, PaddedSchedule):
        schedule = policy.schedule
        return replace(
            policy,
            schedule=PaddedSchedule(
                max(schedule.offset - BOLDER_OFFSET, -60.0), 0.5 * schedule.padding
            ),
            burn_in=max(1, policy.burn_in // 2),
        )
    raise NotSupported(f"{policy} has no bolder version to search with")


def suspects(
    policy: RoundPolicy,
    tried: Sequence[Family],
    horizon: int,
    replicates: int,
    seed: int,
    tick: Tick | None = None,
) -> tuple[int, ...]:
    """Return the positions of the families that deceive a bolder version most often."""
    bandits = [family.bandit for family in tried]
    counted = outcomes(bandits, bolder(policy), horizon, replicates, seed, tick)
    # Among equals, the later families come first: they are the steeper ones.
    ranked = sorted(range(len(tried)), key=lambda i: (-counted[i].wrong, -i))
    return tuple(ranked[:SUSPECTS])


def replicates_for(failure: float) -> int:
    """Return how many runs can certify a failure probability with a few failures to spare."""
    return min(MOST_REPLICATES, max(1_000, math.ceil(12.0 / failure)))


def certify(
    policy: RoundPolicy,
    tried: Sequence[Family],
    chosen: Sequence[int],
    horizon: int,
    failure: float,
    seed: int,
    tick: Tick | None = None,
) -> Certificate:
    """Run the policy on the chosen families and bound its failure probability."""
    replicates = replicates_for(failure)
    bandits = [tried[position].bandit for position in chosen]
    counted = outcomes(bandits, policy, horizon, replicates, seed, tick)
    # One-sided at 95% for all families at once.
    level = 1.0 - 2.0 * (1.0 - LEVEL) / len(chosen)
    found = [
        (proportion_interval(one.wrong, replicates, level)[2], position, one.wrong)
        for one, position in zip(counted, chosen, strict=True)
    ]
    upper, position, wrong = max(found, key=lambda one: one[0])
    return Certificate(position, wrong, replicates, upper, tuple(chosen))
