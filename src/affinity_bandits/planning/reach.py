"""What a policy can tell apart, and what that costs, as the number of choices grows.

Everything here is measured in the hardest worlds of the assumptions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hardest import (
    HardWorld,
    hard_worlds,
    hardest_outcome,
    hardest_outcomes,
)
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.sifting import worst_worlds
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation.intervals import proportion_interval

UNDECIDED = 0.05
"""Choices are enough if no larger part of runs ends without a decision."""
RUNS = 200
HALVINGS = 7
LARGEST_HORIZON = 10**15
STEPS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
"""Horizons that a picture shows, in steps of the square root of ten from the planned one."""
SIFTING_RUNS = 200
GROWTH = 1.2
"""Factor by which a number of choices is raised until it is seen to suffice."""


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


def decided_enough(outcome: Outcome) -> bool:
    """Return whether at most 5% of runs end without a decision, with 95% confidence.

    A run that settled for a worse group decided nothing that anybody wanted, so it counts as one.
    """
    failed = outcome.undecided + outcome.wrong
    return proportion_interval(failed, outcome.replicates, 0.9)[2] <= UNDECIDED


def detectable(
    assumptions: Assumptions, hard: HardWorld, policy: RoundPolicy, horizon: int, seed: int
) -> float | None:
    """Return the smallest difference that is told apart in 95% of runs, by halving.

    Args:
        assumptions: what the world is of; they say how large a difference can be.
        hard: the world that is tried, with other differences in it.
        policy: what is run.
        horizon: choices in all.
        seed: of all runs.
    """
    world = hard.world
    largest = assumptions.on_unit_scale().best_mean  # a world may be about lower means only

    def told_apart(difference: float) -> bool:
        least = max(world.least_mean, difference)  # a mean is at least what it exceeds others by
        drawn_at = max(world.drawn_at, difference) if world.drawn_at > 0.0 else 0.0
        changed = world._replace(
            difference=difference,
            least_mean=least,
            largest_mean=max(world.largest_mean, difference),
            drawn_at=drawn_at,
        )
        found = hardest_outcome(replace(hard, world=changed), policy, horizon, RUNS, seed)
        return found.wrong + found.undecided <= UNDECIDED * RUNS

    if not told_apart(largest):
        return None
    high = math.log(largest)
    low = high - math.log(1e4)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if told_apart(math.exp(middle)) else (middle, high)
    return assumptions.span * math.exp(high)


def reach_at(
    assumptions: Assumptions, hard: HardWorld, policy: RoundPolicy, horizon: int, seed: int
) -> Reach:
    """Return what becomes of a policy in a hardest world with another number of choices.

    Args:
        assumptions: what the world is of.
        hard: the world.
        policy: what is run.
        horizon: choices in all.
        seed: of all runs.
    """
    found = hardest_outcome(hard, policy, horizon, RUNS, seed)
    return Reach(
        horizon=horizon,
        wrong=found.wrong / found.replicates,
        undecided=found.undecided_rate,
        choices=found.choices,
        choices_95=found.choices_95,
        detectable=detectable(assumptions, hard, policy, horizon, seed),
    )


def horizons_around(assumptions: Assumptions) -> list[int]:
    """Return the horizons that a picture shows."""
    around = {round(assumptions.horizon * 10.0 ** (step / 2)) for step in STEPS}
    return sorted(n for n in around if 2 * assumptions.groups <= n <= LARGEST_HORIZON)


def sufficient_horizon(
    assumptions: Assumptions, policy: RoundPolicy, runs: int, seed: int
) -> int | None:
    """Return a number of choices that is enough in every hardest world; None if 10**15 is not.

    To be asked when the planned number is too small. It is doubled until few runs end undecided
    anywhere; what 95% of those runs took is then raised until it is seen to be enough.
    """
    # Where it is about is found in the plain worlds, which are nearly as hard as their variants.
    left = hard_worlds(assumptions)
    horizon, least = 2 * assumptions.horizon, float(assumptions.horizon)
    while left:
        if horizon > LARGEST_HORIZON:
            return None
        found = hardest_outcomes(left, policy, horizon, SIFTING_RUNS, seed)
        decided = [one.wrong + one.undecided <= UNDECIDED * SIFTING_RUNS for one in found]
        # Where all is decided, more choices change nothing: such a world need not be run again.
        took = [one.choices_95 for one, done in zip(found, decided, strict=True) if done]
        least = max([least, *took])
        left = [world for world, done in zip(left, decided, strict=True) if not done]
        horizon *= 2
    while least <= LARGEST_HORIZON:
        candidate = _rounded_up(least)
        worlds = worst_worlds(assumptions, policy, candidate, seed + 1)
        found = hardest_outcomes(worlds, policy, candidate, runs, seed + 1)
        if all(map(decided_enough, found)):
            return candidate
        least = GROWTH * candidate
    return None


def _rounded_up(choices: float) -> int:
    """Return the number rounded up to two digits: more would suggest a false precision."""
    scale = int(10 ** max(0, math.floor(math.log10(choices)) - 1))
    return math.ceil(choices / scale) * scale
