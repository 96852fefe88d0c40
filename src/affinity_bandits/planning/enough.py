"""Whether a number of choices is enough, and which one is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hardest_rounds import NEVER
from affinity_bandits.planning.outcomes import LATE, Outcome, exceptions
from affinity_bandits.planning.runs import Tick, ignore, run_hardest
from affinity_bandits.planning.worlds import (
    HardWorld,
    hard_worlds,
)
from affinity_bandits.policies import RoundPolicy

LARGEST_HORIZON = 10**15
SIFTING_RUNS = 40
SOME = 0.2  # the part of runs that may be undecided in the search for the worst worlds
SUFFICIENT_RUNS = 150
NEARLY_ALL = 149 / 150
EIGHTFOLD = 8


def decided_enough(outcome: Outcome) -> bool:
    """Return whether at most 5% of runs end undecided, with 95% confidence.

    Wrong runs count as decided: their probability has a proven bound, which may exceed 5%.
    """
    return outcome.undecided <= exceptions(outcome.replicates)


def far_enough(
    assumptions: Assumptions, policy: RoundPolicy, seed: int, tick: Tick = ignore
) -> int | None:
    """Return a horizon by which most runs are decided; None if even 10**15 is too small.

    This is the planned horizon if possible, or eight times the choices that 95% of runs take in the
    worlds without gifts.
    """
    left, horizon = hard_worlds(assumptions), assumptions.horizon
    found = []
    for hard in left:
        found.append(run_hardest(hard, policy, horizon, SIFTING_RUNS, seed).within(horizon))
        tick(1.0 / len(left))
    if all(one.undecided_rate <= SOME for one in found):
        return horizon
    least = horizon
    while left:
        if horizon >= LARGEST_HORIZON:
            return None
        horizon = min(LARGEST_HORIZON, EIGHTFOLD * horizon)
        took = [
            run_hardest(hard, policy, horizon, SIFTING_RUNS, seed).count_needed(1.0 - LATE)
            for hard in left
        ]
        least = max([least, *(one for one in took if one < NEVER)])
        left = [hard for hard, one in zip(left, took, strict=True) if one == NEVER]
    return min(LARGEST_HORIZON, EIGHTFOLD * least)


def round_up(number: int) -> int:
    """Round up to two digits: more would suggest a false precision."""
    scale = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / scale) * scale


def sufficient_horizon(
    worlds: Sequence[HardWorld], policy: RoundPolicy, horizon: int, far: int, seed: int
) -> tuple[int, list[Outcome]] | None:
    """Return a number of choices that is enough in every world, and the outcomes then.

    All but one of 150 runs are decided by it. If more than 5% of all runs took longer, this would
    have probability 0.4%.

    Args:
        worlds: the worst world of each committee.
        policy: the policy to run; it gets `far` as the horizon.
        horizon: a number of choices that is too small.
        far: a horizon by which most runs are decided.
        seed: seed of all runs.
    """
    while True:
        runs = [run_hardest(hard, policy, far, SUFFICIENT_RUNS, seed) for hard in worlds]
        choices = round_up(max(horizon + 1, *(one.count_needed(NEARLY_ALL) for one in runs)))
        if choices <= far:
            return choices, [one.within(choices) for one in runs]
        if far >= LARGEST_HORIZON:
            return None
        far = min(LARGEST_HORIZON, EIGHTFOLD * far)
