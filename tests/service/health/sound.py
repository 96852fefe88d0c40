"""Campaigns whose answers are missing for no reason that has to do with a group, and others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from affinity_bandits.service.health import missing
from affinity_bandits.service.health.evidence import Array, log_sum, start_prior
from affinity_bandits.service.health.missing import RoundLapses


@dataclass(frozen=True)
class Shape:
    """What a simulated campaign is like.

    Attributes:
        arms: how many groups there are at first.
        rates: the part of slots that lapse, from the first pass to the last.
        lease: slots of a lease, which lapse together; 1 if each lapses for itself.
        passes: of each round.
    """

    arms: int
    rates: tuple[float, float]
    lease: int
    passes: tuple[int, ...]


def shapes(number: int, seed: int) -> Iterator[tuple[Shape, np.random.Generator]]:
    """Two to eight groups, 0 to 60% missing and drifting, leases of one slot or many."""
    for place in range(number):
        random = np.random.default_rng((seed, place))
        first = random.integers(4, 40)
        growth = random.uniform(1.0, 2.0)
        passes = tuple(int(min(200, first * growth**one)) for one in range(random.integers(1, 8)))
        yield (
            Shape(
                arms=int(random.integers(2, 9)),
                rates=(random.uniform(0.0, 0.6), random.uniform(0.0, 0.6)),
                lease=int(random.choice([1, 1, 2, 3, 5, 7, 16])),
                passes=passes,
            ),
            random,
        )


def played(
    shape: Shape, random: np.random.Generator, every: int, factor: float = 1.0
) -> Iterator[tuple[list[RoundLapses], RoundLapses]]:
    """Yield what looks see of each round: after every so many slots, and at its end.

    Groups are dropped on the way. Slots of group 0 lapse `factor` times as often as the others'.
    """
    total, seen = sum(shape.passes), 0
    for number, passes in enumerate(shape.passes):
        width = max(2, shape.arms - number // 2)
        arms = tuple(range(width))
        slots = np.arange(passes * width)
        rate = np.interp((seen + slots / width) / total, (0.0, 1.0), shape.rates)
        together = random.random(-(-len(slots) // shape.lease))[slots // shape.lease]
        lapsed = together < rate * np.where(slots % width == 0, factor, 1.0)
        seen += passes
        by_arm = np.cumsum((slots % width == np.arange(width)[:, np.newaxis]) & lapsed, axis=1)
        inside = [
            RoundLapses(number, arms, tuple(by_arm[:, one - 1]), -(-one // width), whole=False)
            for one in range(every, len(slots), every)
        ]
        yield inside, RoundLapses(number, arms, tuple(by_arm[:, -1]), passes)


def most_evidence(shape: Shape, rounds: Iterator[tuple[list[RoundLapses], RoundLapses]]) -> float:
    """Return the most evidence, as a logarithm, that any look at a campaign has.

    All looks at a round at once: `find_missing` itself would take a minute for each thousand.
    """
    held: Array | float = -np.inf
    most = -np.inf
    for inside, whole in rounds:
        steps = missing._steps([*inside, whole], shape.arms)
        after = np.logaddexp(held, np.log(start_prior(whole.number))) + steps
        found = log_sum(after - np.log(steps[0].size), (1, 2, 3, 4))
        most = max(most, float(found.max()))
        held = after[-1]
    return most
