"""What a policy can tell apart, and what that costs, as the number of choices grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.planning.families import Family
from affinity_bandits.planning.outcomes import outcome, outcomes
from affinity_bandits.policies import Assumptions, CalibratedElimination, RoundPolicy

DECIDED = 0.95
"""A difference counts as detectable if so large a part of runs ends with the best group alone."""
RUNS = 200
HALVINGS = 7
LARGEST_HORIZON = 10**15
SIFTING_RUNS = 100
MARGIN = 1.25
"""Added to what suffices, since the 95% point of a hundred runs is itself uncertain."""
STEPS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
"""Horizons that a picture shows, in steps of the square root of ten from the planned one."""


@dataclass(frozen=True)
class Reach:
    """What becomes of a policy with a given number of choices.

    Attributes:
        horizon: that number.
        wrong: how often the best group is dropped.
        undecided: how often more than one group is left.
        choices: mean number of choices until one is left.
        choices_95: so many suffice in 95% of runs.
        detectable: the smallest difference that is told apart in 95% of runs; None if not even
            the largest possible one is.
    """

    horizon: int
    wrong: float
    undecided: float
    choices: float
    choices_95: float
    detectable: float | None


def for_horizon(policy: RoundPolicy, horizon: int) -> RoundPolicy:
    """Return the policy with its assumptions changed to another horizon."""
    if isinstance(policy, CalibratedElimination) and policy.assumptions is not None:
        return replace(policy, assumptions=replace(policy.assumptions, horizon=horizon))
    return policy


def with_difference(assumptions: Assumptions, family: Family, difference: float) -> AffinityBandit:
    """Return a family's instance with its rivals moved to another difference from the best."""
    best = max(family.bandit.true_means)
    best = max(best, min(difference, assumptions.largest_mean))
    smallest = assumptions.smallest_difference
    means = []
    for mean in family.bandit.true_means:
        lag = max(family.bandit.true_means) - mean
        means.append(best if lag == 0.0 else max(0.0, best - difference - (lag - smallest)))
    return replace(family.bandit, true_means=means)


def detectable(
    assumptions: Assumptions, policy: RoundPolicy, family: Family, horizon: int, seed: int
) -> float | None:
    """Return the smallest difference that is told apart in 95% of runs, by halving."""

    def told_apart(difference: float) -> bool:
        bandit = with_difference(assumptions, family, difference)
        counted = outcome(bandit, for_horizon(policy, horizon), horizon, RUNS, seed)
        return counted.replicates - counted.wrong - counted.undecided >= DECIDED * RUNS

    high = math.log(assumptions.largest_mean)
    if not told_apart(assumptions.largest_mean):
        return None
    low = high - math.log(1e4)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if told_apart(math.exp(middle)) else (middle, high)
    return math.exp(high)


def reach_at(
    assumptions: Assumptions, policy: RoundPolicy, family: Family, horizon: int, seed: int
) -> Reach:
    """Return what becomes of a policy on a family with another number of choices."""
    counted = outcome(family.bandit, for_horizon(policy, horizon), horizon, RUNS, seed)
    return Reach(
        horizon=horizon,
        wrong=counted.wrong / counted.replicates,
        undecided=counted.undecided_rate,
        choices=counted.choices,
        choices_95=counted.choices_95,
        detectable=detectable(assumptions, policy, family, horizon, seed),
    )


def horizons_around(assumptions: Assumptions) -> list[int]:
    """Return the horizons that a picture shows."""
    around = {round(assumptions.horizon * 10.0 ** (step / 2)) for step in STEPS}
    return sorted(n for n in around if 2 * assumptions.groups <= n <= LARGEST_HORIZON)


def sufficient_horizon(
    assumptions: Assumptions, policy: RoundPolicy, tried: Sequence[Family], seed: int
) -> int | None:
    """Return a number of choices within which 95% of runs end, whatever the family.

    To be asked when the planned number does not suffice. It is doubled until it does for every
    family; None if 10**15 does not.
    """
    horizon = 2 * assumptions.horizon
    needed = float(assumptions.horizon)
    left = [family.bandit for family in tried]
    while horizon <= LARGEST_HORIZON:
        counted = outcomes(left, for_horizon(policy, horizon), horizon, SIFTING_RUNS, seed)
        decided = [one.undecided <= (1.0 - DECIDED) * SIFTING_RUNS for one in counted]
        needed = max(
            [needed, *(one.choices_95 for one, is_ in zip(counted, decided, strict=True) if is_)]
        )
        left = [bandit for bandit, is_ in zip(left, decided, strict=True) if not is_]
        if not left:
            needed *= MARGIN
            # Rounded up to two digits: more would pretend to a precision that the runs lack.
            scale = int(10 ** max(0, math.floor(math.log10(needed)) - 1))
            return math.ceil(needed / scale) * scale
        horizon *= 2
    return None
