"""Find the worst of many hard worlds: run all of them briefly, then the worst of them longer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hard_rounds import hardest_outcomes
from affinity_bandits.planning.hardest import HardWorld, hard_worlds
from affinity_bandits.planning.outcomes import Outcome, Tick
from affinity_bandits.policies import RoundPolicy

LEVELS = (0.25, 0.5, 0.7, 0.8, 0.87, 0.93, 0.97, 1.0)
"""Ends of the intervals that the best group's mean can lie in, as parts of the largest. They are
narrow where means are high: there the smallest leads are, and scores scatter ever less."""
GIFTS_APART = 3
"""Each gift is tried after so many times the choices before the last one: a policy looks at what
has been seen in all, so what matters is how large a part of it a gift is."""
FEW_RUNS = 8
MORE_RUNS = 40
WITH_GIFTS = 2
"""How many of the worst worlds without a gift are tried with all of them."""
SERIOUS = 4
"""How many worlds without a gift are run again if runs differ much."""
USUAL_SPREAD = 0.3
"""By what part of their mean 19 of 20 runs exceed it at most, if few runs are to tell worlds apart.
Where they do by more, more runs are made."""
MOST_TIMES = 6


Tried = list[tuple[HardWorld, Outcome]]


def worst_worlds(
    assumptions: Assumptions,
    policy: RoundPolicy,
    horizon: int,
    seed: int,
    tick: Tick | None = None,
) -> list[HardWorld]:
    """Return, for each initial committee, the world that keeps the policy busy longest.

    `tick` is told of parts of this work, which come to one in all.
    """
    worlds = hard_worlds(assumptions)

    def done(part: float) -> None:
        if tick is not None:
            tick(part / len(worlds))

    return [worst_of(hard, policy, horizon, seed, done) for hard in worlds]


def worst_of(
    hard: HardWorld,
    policy: RoundPolicy,
    horizon: int,
    seed: int,
    done: Tick = lambda part: None,
) -> HardWorld:
    """Return the variant of a world that keeps the policy busy longest."""
    levels = levelled(hard)
    without = _tried(levels, policy, horizon, FEW_RUNS, seed, _each(done, 0.4, levels))
    longest = without[0][1].choices_95
    more = _runs(FEW_RUNS, without)
    if more > FEW_RUNS:
        serious = [one for one, _ in without[:SERIOUS]]
        without = _tried(serious, policy, horizon, more, seed)
    if hard.world.joining == 0.0:  # what never changes gives no early lead
        done(0.6)
        return without[0][0]
    gifted = [one for base, _ in without[:WITH_GIFTS] for one in with_gifts(base, longest)]
    with_them = _tried(gifted, policy, horizon, FEW_RUNS, seed, _each(done, 0.4, gifted))
    last = [without[0][0], *(one for one, _ in with_them[:2])]
    more = _runs(MORE_RUNS, without)
    return _tried(last, policy, horizon, more, seed + 1, _each(done, 0.2, last))[0][0]


def _each(done: Tick, part: float, worlds: Sequence[HardWorld]) -> Tick:
    """Return what is called with a number of runs when those of one of the worlds are made."""
    return lambda _: done(part / len(worlds))


def _runs(usual: int, found: Tried) -> int:
    """Return how many runs tell worlds apart, by how much those of the hardest differ."""
    spread = found[0][1].choices_95 / found[0][1].choices - 1.0
    return math.ceil(usual * min(MOST_TIMES, max(1.0, (spread / USUAL_SPREAD) ** 2)))


def levelled(hard: HardWorld) -> list[HardWorld]:
    """Return a world with every interval of levels, the world itself first."""
    world = hard.world
    found = [world]
    if world.sigma == 0.0:  # Gaussian scores scatter alike at all levels
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


def _tried(
    worlds: list[HardWorld],
    policy: RoundPolicy,
    horizon: int,
    runs: int,
    seed: int,
    tick: Tick | None = None,
) -> Tried:
    """Return the worlds, the hardest first, with what became of the policy there."""
    found = hardest_outcomes(worlds, policy, horizon, runs, seed, tick)
    # By the mean, which few runs tell better than how many of them are late. Those that come first
    # stay first among equals, so that the result is always the same.
    pairs = zip(worlds, found, strict=True)
    return sorted(pairs, key=lambda one: one[1].choices, reverse=True)
