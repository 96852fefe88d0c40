"""Find the worst of many hard worlds: run all of them briefly, then the worst of them longer."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hardest import (
    FEW_RUNS,
    HardWorld,
    hard_worlds,
    hardest_outcomes,
    rounds_until_decided,
)
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.policies import RoundPolicy

LEVELS = (0.25, 0.5, 0.7, 0.8, 0.87, 0.93, 0.97, 1.0)
"""Ends of the intervals that the best group's mean can lie in, as parts of the largest. They are
narrow where means are high: there the smallest leads are, and scores scatter ever less."""
EVERY = 2
"""Gifts are tried in every second round: what matters is who leads some rounds later."""
MORE_RUNS = 100
FINALISTS = 12


def worst_worlds(
    assumptions: Assumptions, policy: RoundPolicy, horizon: int, seed: int
) -> list[HardWorld]:
    """Return, for each initial committee, the world that keeps the policy busy longest."""
    return [worst_of(hard, policy, horizon, seed) for hard in hard_worlds(assumptions)]


def worst_of(hard: HardWorld, policy: RoundPolicy, horizon: int, seed: int) -> HardWorld:
    """Return the variant of a world that keeps the policy busy longest."""
    tried = variants(hard, rounds_until_decided(hard, policy, horizon, seed))
    for runs, kept in ((FEW_RUNS, FINALISTS), (MORE_RUNS, 1)):
        found = hardest_outcomes(tried, policy, horizon, runs, seed)
        # Those that come first stay first among equals, so that the result is always the same.
        order = sorted(range(len(tried)), key=lambda i: _hardship(found[i]), reverse=True)
        tried = [tried[i] for i in order[:kept]]
        seed += 1
    return tried[0]


def variants(hard: HardWorld, rounds: int) -> list[HardWorld]:
    """Return a world with every interval of levels and every gift, the world itself first."""
    world = hard.world
    levelled = [world]
    if world.sigma == 0.0:  # Gaussian scores scatter alike at all levels
        least = world.least_mean
        ends = [least, *(world.largest_mean * part for part in LEVELS)]
        ends = [end for end in ends if end >= least]
        levelled += [
            world._replace(least_mean=low, largest_mean=high, drawn_at=low)
            for low, high in pairwise(ends)
            if low < high
        ]
    gifts = (-1, *range(0, rounds, EVERY))
    return [replace(hard, world=one._replace(gift=gift)) for one in levelled for gift in gifts]


def _hardship(found: Outcome) -> tuple[float, float, float]:
    return found.wrong + found.undecided, found.choices_95, found.choices
