"""What a policy achieves with fewer and with more choices: the picture of a plan."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.enough import LARGEST_HORIZON
from affinity_bandits.planning.hardest_rounds import NEVER
from affinity_bandits.planning.judge_worlds import MOST_SCORES
from affinity_bandits.planning.outcomes import LATE
from affinity_bandits.planning.runs import run_hardest
from affinity_bandits.planning.worlds import (
    HardWorld,
)
from affinity_bandits.policies import RoundPolicy

REACH_RUNS = 50
# Horizons of the picture, in steps of the square root of ten around the planned one.
STEPS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
FACTOR = 2.0  # ratio between the differences that are tried; costs in between are interpolated
TRIED = 14  # differences that are tried at most
# Runs last up to so many times the largest horizon, since half the difference takes about four
# times the choices.
REACH_FURTHER = 6


@dataclass(frozen=True)
class Reach:
    """The outcome of a policy with a given number of choices.

    Attributes:
        horizon: that number.
        wrong: the part of runs that drop the best group.
        undecided: the part of runs that keep more than one group.
        choices: mean number of choices until the decision.
        choices_95: choices that suffice in 95% of runs.
        detectable: the smallest difference that 95% of runs detect; None if there is none.
    """

    horizon: int
    wrong: float
    undecided: float
    choices: float
    choices_95: float
    detectable: float | None


def measure_reach(
    assumptions: Assumptions,
    hard: HardWorld,
    policy: RoundPolicy,
    horizons: Sequence[int],
    seed: int,
) -> list[Reach]:
    """Return the outcomes of a policy in a hardest world with several numbers of choices.

    Runs are made once, with the largest number. A policy that uses the horizon gets the largest.

    Args:
        assumptions: the assumptions of the world.
        hard: the world.
        policy: the policy to run.
        horizons: numbers of choices, ascending.
        seed: seed of all runs.
    """
    runs = run_hardest(hard, policy, horizons[-1], REACH_RUNS, seed)
    detectable = _detectable(assumptions, hard, policy, horizons, seed)
    found = []
    for horizon, difference in zip(horizons, detectable, strict=True):
        one = runs.within(horizon)
        wrong = one.wrong / one.replicates
        found.append(
            Reach(horizon, wrong, one.undecided_rate, one.choices, one.choices_95, difference)
        )
    return found


def _detectable(
    assumptions: Assumptions,
    hard: HardWorld,
    policy: RoundPolicy,
    horizons: Sequence[int],
    seed: int,
) -> list[float | None]:
    """Return the smallest difference that is detected within each number of choices.

    Ever smaller differences are tried, until they take more than all of these numbers.
    """
    world = hard.world
    largest = assumptions.on_unit_scale().best_mean  # the world may be about lower means only
    horizon = min(LARGEST_HORIZON, REACH_FURTHER * horizons[-1])
    differences, needed = [math.inf], [0]
    for number in range(TRIED + 1):
        difference = largest / FACTOR**number
        changed = world._replace(  # a mean is at least its lead over others
            difference=difference,
            least_mean=max(world.least_mean, difference),
            largest_mean=max(world.largest_mean, difference),
            drawn_at=max(world.drawn_at, difference) if world.drawn_at > 0.0 else 0.0,
        )
        runs = run_hardest(replace(hard, world=changed), policy, horizon, REACH_RUNS, seed)
        took = runs.count_needed(1.0 - LATE)
        differences.append(difference)
        needed.append(max(took, needed[-1]))
        if took > horizons[-1]:
            break
    found: list[float | None] = []
    for point in horizons:
        place = bisect_right(needed, point) - 1  # the last that takes no more
        part = 0.0
        if 0 < place < len(needed) - 1 and needed[place + 1] < NEVER:
            part = math.log(point / needed[place]) / math.log(needed[place + 1] / needed[place])
        seen = assumptions.span * differences[place] / FACTOR**part
        found.append(None if place == 0 else seen)
    return found


def horizons_around(assumptions: Assumptions) -> list[int]:
    """Return the horizons that a picture shows."""
    around = {round(assumptions.horizon * 10.0 ** (step / 2)) for step in STEPS}
    most = MOST_SCORES if assumptions.judges == "neutral" else LARGEST_HORIZON
    return sorted(n for n in around if 2 * assumptions.groups <= n <= most)
