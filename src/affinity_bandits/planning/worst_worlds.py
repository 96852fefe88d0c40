"""The search for the variant of a hardest world in which a policy takes longest."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.runs import Tick, hardest_outcomes, ignore
from affinity_bandits.planning.worlds import (
    HardWorld,
    hard_worlds,
)
from affinity_bandits.policies import RoundPolicy

# Ends of the intervals of the best group's mean, as parts of the largest mean. They are narrow at
# the top, where leads are smallest and the variance changes fastest.
LEVELS = (0.25, 0.5, 0.7, 0.8, 0.87, 0.93, 0.97, 1.0)
# Ratio between the numbers of choices after which gifts begin. The effect of a gift depends on
# its size relative to all choices so far.
GIFTS_APART = 3
FEW_RUNS = 8
MORE_RUNS = 40
WITH_GIFTS = 2  # how many of the worst worlds without a gift are tried with all gifts
SERIOUS = 4  # how many worlds without a gift are run again if runs differ much
USUAL_SPREAD = 0.3  # the excess of the 95th percentile over the mean up to which few runs suffice
MOST_TIMES = 6

Tried = list[tuple[HardWorld, Outcome]]


def worst_worlds(
    assumptions: Assumptions, policy: RoundPolicy, horizon: int, seed: int, tick: Tick = ignore
) -> list[HardWorld]:
    """Return, for each initial committee, the world in which the policy takes longest."""
    worlds = hard_worlds(assumptions)
    return [
        worst_of(hard, policy, horizon, seed, lambda part: tick(part / len(worlds)))
        for hard in worlds
    ]


def worst_of(
    hard: HardWorld,
    policy: RoundPolicy,
    horizon: int,
    seed: int,
    tick: Tick = ignore,
) -> HardWorld:
    """Return the variant of a world in which the policy takes longest."""

    def tried(worlds: list[HardWorld], runs: int, seed: int, work: float) -> Tried:
        """Return the worlds with their outcomes, the hardest first."""
        found = hardest_outcomes(
            worlds, policy, horizon, runs, seed, lambda _: tick(work / len(worlds))
        )
        # By the mean, which has less variance than the 95th percentile. The order is stable.
        pairs = zip(worlds, found, strict=True)
        return sorted(pairs, key=lambda one: one[1].choices, reverse=True)

    without = tried(vary_means(hard), FEW_RUNS, seed, 0.4)
    longest = without[0][1].choices_95
    more = _runs(FEW_RUNS, without)
    if more > FEW_RUNS:
        without = tried([one for one, _ in without[:SERIOUS]], more, seed, 0.0)
    if hard.world.joining == 0.0:  # shares never change, so no lead is too early
        tick(0.6)
        return without[0][0]
    gifted = [one for base, _ in without[:WITH_GIFTS] for one in with_gifts(base, longest)]
    with_them = tried(gifted, FEW_RUNS, seed, 0.4)
    last = [without[0][0], *(one for one, _ in with_them[:2])]
    return tried(last, _runs(MORE_RUNS, without), seed + 1, 0.2)[0][0]


def _runs(usual: int, found: Tried) -> int:
    """Return how many runs are needed, given how much those of the hardest world differ."""
    spread = found[0][1].choices_95 / found[0][1].choices - 1.0
    return math.ceil(usual * min(MOST_TIMES, max(1.0, (spread / USUAL_SPREAD) ** 2)))


def vary_means(hard: HardWorld) -> list[HardWorld]:
    """Return a world with every interval of means, the world itself first."""
    world = hard.world
    found = [world]
    if world.sigma == 0.0:  # the variance of Gaussian scores is the same at all means
        least = world.least_mean
        ends = [least, *(world.largest_mean * part for part in LEVELS)]
        ends = [end for end in ends if end >= least]
        found += [
            world._replace(least_mean=low, largest_mean=high, drawn_at=low)
            for low, high in pairwise(ends)
            if low < high
        ]
    return [replace(hard, world=one) for one in found]


def with_gifts(hard: HardWorld, choices: float) -> list[HardWorld]:
    """Return a world with every gift that begins before so many choices."""
    gifts, start = [0], hard.world.groups
    while start < choices:
        gifts.append(start)
        start *= GIFTS_APART
    return [replace(hard, world=hard.world._replace(gift=gift)) for gift in gifts]
