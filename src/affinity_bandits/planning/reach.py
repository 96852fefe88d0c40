"""What a policy can tell apart, and what that costs, as the number of choices grows.

Everything here is measured in the hardest worlds of the assumptions.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hard_rounds import NEVER, run_hardest
from affinity_bandits.planning.hardest import HardWorld, hard_worlds
from affinity_bandits.planning.outcomes import LATE, Outcome, Tick, so_few
from affinity_bandits.policies import RoundPolicy

UNDECIDED = LATE
"""Choices are enough if no larger part of runs ends without a decision."""
RUNS = 50
LARGEST_HORIZON = 10**15
STEPS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
"""Horizons that a picture shows, in steps of the square root of ten from the planned one."""
FACTOR = 2.0
"""Between the differences that are tried; in between, what they take is interpolated."""
TRIED = 14
"""Differences that are tried at most: down to a ten thousandth of the largest."""
FURTHER = 6
"""Runs go on to so many times the largest horizon: half the difference takes about four times the
choices."""
SIFTING_RUNS = 40
SOME = 0.2
"""The part of runs that may be undecided by a horizon to look for the worst worlds with."""
SUFFICIENT_RUNS = 150
NEARLY_ALL = 149 / 150
EIGHTFOLD = 8


@dataclass(frozen=True)
class Reach:
    """What becomes of a policy with a given number of choices.

    Attributes:
        horizon: that number.
        wrong: how often the best group is dropped.
        undecided: how often more than one group is left.
        choices: mean number of choices until one is left.
        choices_95: so many suffice in 95% of runs.
        detectable: with a difference of this or more 95% of runs are decided; None if not even
            with the largest possible one.
    """

    horizon: int
    wrong: float
    undecided: float
    choices: float
    choices_95: float
    detectable: float | None


def decided_enough(outcome: Outcome) -> bool:
    """Return whether at most 5% of runs end undecided, with 95% confidence.

    How many settle for a worse group is not asked here: that is proven to be no more than is
    tolerated, which may be more than 5%.
    """
    return so_few(outcome.undecided, outcome.replicates)


def reached(
    assumptions: Assumptions,
    hard: HardWorld,
    policy: RoundPolicy,
    horizons: Sequence[int],
    seed: int,
) -> list[Reach]:
    """Return what becomes of a policy in a hardest world with other numbers of choices.

    Runs are made once, with the largest number: what was decided by each smaller one is read off
    them. A policy that uses the horizon is told the largest.

    Args:
        assumptions: what the world is of.
        hard: the world.
        policy: what is run.
        horizons: choices in all, ascending.
        seed: of all runs.
    """
    runs = run_hardest(hard, policy, horizons[-1], RUNS, seed)
    told_apart = _told_apart(assumptions, hard, policy, horizons, seed)
    found = []
    for horizon, difference in zip(horizons, told_apart, strict=True):
        one = runs.within(horizon)
        found.append(
            Reach(
                horizon=horizon,
                wrong=one.wrong / one.replicates,
                undecided=one.undecided_rate,
                choices=one.choices,
                choices_95=one.choices_95,
                detectable=difference,
            )
        )
    return found


def _told_apart(
    assumptions: Assumptions,
    hard: HardWorld,
    policy: RoundPolicy,
    horizons: Sequence[int],
    seed: int,
) -> list[float | None]:
    """Return the smallest difference that is told apart with each number of choices.

    Ever smaller differences are tried, until they take more than all of these numbers.
    """
    largest = assumptions.on_unit_scale().best_mean  # a world may be about lower means only
    horizon = min(LARGEST_HORIZON, FURTHER * horizons[-1])
    differences, needed = [math.inf], [0]
    for number in range(TRIED + 1):
        difference = largest / FACTOR**number
        changed = _with_difference(hard, difference)
        took = run_hardest(changed, policy, horizon, RUNS, seed).needed(1.0 - UNDECIDED)
        differences.append(difference)
        needed.append(max(took, needed[-1]))
        if took > horizons[-1]:
            break
    found: list[float | None] = []
    for point in horizons:
        place = bisect_right(needed, point) - 1  # the last that takes no more
        if place == 0:
            found.append(None)
            continue
        part = 0.0
        if place + 1 < len(needed) and needed[place + 1] < NEVER:
            part = math.log(point / needed[place]) / math.log(needed[place + 1] / needed[place])
        found.append(assumptions.span * differences[place] / FACTOR**part)
    return found


def _with_difference(hard: HardWorld, difference: float) -> HardWorld:
    """Return a world with another difference; a mean is at least what it exceeds others by."""
    world = hard.world
    changed = world._replace(
        difference=difference,
        least_mean=max(world.least_mean, difference),
        largest_mean=max(world.largest_mean, difference),
        drawn_at=max(world.drawn_at, difference) if world.drawn_at > 0.0 else 0.0,
    )
    return replace(hard, world=changed)


def horizons_around(assumptions: Assumptions) -> list[int]:
    """Return the horizons that a picture shows."""
    around = {round(assumptions.horizon * 10.0 ** (step / 2)) for step in STEPS}
    return sorted(n for n in around if 2 * assumptions.groups <= n <= LARGEST_HORIZON)


def far_enough(
    assumptions: Assumptions, policy: RoundPolicy, seed: int, tick: Tick | None = None
) -> int | None:
    """Return a horizon by which most runs are decided; None if 10**15 is not far enough.

    It is the planned one if that will do, or eight times what 95% of runs take in the plain worlds.
    `tick` is told of parts of this work, which come to one unless the planned one will not do.
    """
    left, horizon = hard_worlds(assumptions), assumptions.horizon
    found = []
    for hard in left:
        found.append(run_hardest(hard, policy, horizon, SIFTING_RUNS, seed))
        if tick is not None:
            tick(1.0 / len(left))
    if all(one.within(horizon).undecided_rate <= SOME for one in found):
        return horizon
    least = horizon
    while left:
        if horizon >= LARGEST_HORIZON:
            return None
        horizon = min(LARGEST_HORIZON, EIGHTFOLD * horizon)
        took = [
            run_hardest(hard, policy, horizon, SIFTING_RUNS, seed).needed(1.0 - UNDECIDED)
            for hard in left
        ]
        least = max([least, *(one for one in took if one < NEVER)])
        left = [hard for hard, one in zip(left, took, strict=True) if one == NEVER]
    return min(LARGEST_HORIZON, EIGHTFOLD * least)


def sufficient_horizon(
    worlds: Sequence[HardWorld], policy: RoundPolicy, horizon: int, far: int, seed: int
) -> tuple[int, list[Outcome]] | None:
    """Return choices that are enough in every one of some worlds, and what becomes of them then.

    To be asked when the planned number is too small. All but one of 150 runs are decided by it: if
    more than 5% of all runs were not, that would happen with probability 0.4%.

    Args:
        worlds: the worst of each committee.
        policy: what is run; it is told `far` as the horizon.
        horizon: the number that is too small.
        far: a horizon by which most runs are decided.
        seed: of all runs.
    """
    while True:
        runs = [run_hardest(hard, policy, far, SUFFICIENT_RUNS, seed) for hard in worlds]
        choices = _rounded_up(max(horizon + 1, *(one.needed(NEARLY_ALL) for one in runs)))
        if choices <= far:
            return choices, [one.within(choices) for one in runs]
        if far >= LARGEST_HORIZON:
            return None
        far = min(LARGEST_HORIZON, EIGHTFOLD * far)


def _rounded_up(choices: float) -> int:
    """Return the number rounded up to two digits: more would suggest a false precision."""
    scale = int(10 ** max(0, math.floor(math.log10(choices)) - 1))
    return math.ceil(choices / scale) * scale
