"""Hard worlds to test a plan in: in each round, the smallest lead that an admitted bias leaves.

While groups take turns, shares are known numbers. Relative to its value at equal shares, 1/K, a
bias f inside the assumptions satisfies, whatever its shape:

- at a share x below 1/K, f(x) >= max((K x)**s, 1 - L (1/K - x)); at one above, f(x) >= 1;
- of two shares x < y, f(y) <= min(f(x) (y/x)**s, f(x) + L (y - x));
- where scores are bounded, no f(x) lifts the best group's mean score above the highest score:
  f(x) <= 1/l if that mean is l at equal shares, on a scale from 0 to 1.

In a hardest world, in every round, each rival is behind the best group by the smallest lead that
these leave at the best group's smallest and largest weight, over levels l between two ends, at the
pass of the round where it is smallest. Where that lead is one, every admitted f, at every such
level, leaves the best group at least as much in the round; where rivals are ahead, a weight in
between can put them further ahead.

A smaller lead does not always mean a later decision. A policy with a leader can name the best group
too early, when the others' head start still outweighs its lead, and lose time until it leads again;
and scores far from their ends scatter more. So a world may also have a gift, a time in which the
best group is far ahead until it leads, and has a level of its own at which scores are drawn.
`sifting` looks for the worst of these worlds, and "enough choices" is judged there.

Bounded scores are 0 or 1. For a policy that bets, that is the worst law of scores with a given mean
in this sense: log(1 + k (y - c)) is concave in the score y, so whoever leads, whatever the stake k
and the centre c, the expected logarithm of what a round multiplies a wealth by is smallest when
scores are at the ends. Gaussian scores are given as sums: of subGaussian ones with a given sigma
they have the largest variance, and a policy that is told sums pays for sigma alone.

What is not proven is that a smaller growth in every round makes a whole comparison longest, since
leaders, centres and gifts depend on the scores as well, nor that no admitted f is worse still than
the worst world found: both are what the benchmark of certificates attacks, with thousands of f.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from affinity_bandits.displays import one_line
from affinity_bandits.planning.assumptions import Assumptions

NO_LIMIT = 1e300
"""Stands for a limit where none is assumed."""
SMALLEST_WEIGHT = 1e-300


class World(NamedTuple):
    """A hardest world as numbers; the best group is the last. Weights are 1 at equal shares."""

    groups: int
    least_mean: float  # of the best group at equal shares, on the scale that policies see
    largest_mean: float
    difference: float  # by which every other group's is smaller
    steepness: float
    lipschitz: float
    highest: float  # no mean score is above this
    sigma: float  # 0: scores of 0 and 1
    slack: int  # by how much the committee can differ between two pulls that are compared
    drawn_at: float = 0.0  # the mean at equal shares that scores are drawn for; 0: the hardest
    gift: int = -1  # choices after which the best group is far ahead until it leads; -1: never


@dataclass(frozen=True)
class HardWorld:
    """A hardest world in words and numbers.

    Attributes:
        favoured: who has the head start.
        initial: members of each group at the start.
        world: the rest.
    """

    favoured: str
    initial: tuple[int, ...]
    world: World

    __repr__ = one_line

    def __str__(self) -> str:
        return self.favoured


def hard_worlds(assumptions: Assumptions) -> list[HardWorld]:
    """Return the hardest worlds of stated assumptions, in a fixed order."""
    given = assumptions.on_unit_scale()
    groups = given.groups
    world = World(
        groups=groups,
        least_mean=given.smallest_difference,
        largest_mean=given.best_mean,
        difference=given.smallest_difference,
        steepness=given.steepness,
        lipschitz=NO_LIMIT if given.lipschitz is None else given.lipschitz,
        highest=1.0 if given.bounded else NO_LIMIT,
        sigma=0.0 if given.bounded else given.sigma,
        # The l-th pulls of two groups lie within one pass, or further apart by what is in flight.
        slack=groups - 1 + 2 * (given.in_flight - math.ceil(given.in_flight / groups)),
    )
    return [HardWorld(favoured, initial, world) for favoured, initial in initial_members(given)]


def rivals_ahead(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...]]]:
    """Return the initial committees that are hardest for the best group."""
    groups, ahead = assumptions.groups, 1 + assumptions.head_start
    if ahead == 1:
        return [("nobody has a head start", (1,) * groups)]
    one = ("one rival has the whole head start", (ahead, *(1,) * (groups - 1)))
    every = ("all rivals have the whole head start", (*(ahead,) * (groups - 1), 1))
    return [one] if groups == 2 else [one, every]


def initial_members(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...]]]:
    """Return the initial committees: one member of each group, and every head start."""
    groups, ahead = assumptions.groups, 1 + assumptions.head_start
    nobody = ("nobody has a head start", (1,) * groups)
    if ahead == 1:
        return [nobody]
    best = ("the best group has the whole head start", (*(1,) * (groups - 1), ahead))
    return [nobody, *rivals_ahead(assumptions), best]


def smallest_weight(world: World, share: float) -> float:
    """Return the smallest weight that an admitted bias can have at a share."""
    equal = 1.0 / world.groups
    if share >= equal:
        return 1.0
    steep = (share / equal) ** world.steepness
    # Not 0: what a rival's is at most is a multiple of it, which may be infinite.
    return float(max(steep, 1.0 - world.lipschitz * (equal - share), SMALLEST_WEIGHT))


def largest_weight(world: World, share: float) -> float:
    """Return the largest weight that an admitted bias can have at a share."""
    equal = 1.0 / world.groups
    if share <= equal:
        return 1.0
    return float(min((share / equal) ** world.steepness, 1.0 + world.lipschitz * (share - equal)))


def smallest_lead(world: World, weight: float, ratio: float, apart: float) -> tuple[float, float]:
    """Return the smallest lead of the best group over a rival, over all levels, and that level.

    With weight w, and a rival whose share is larger by a factor and by a difference, the rival's
    weight is at most some v >= w. At level l the lead is l w - (l - d) min(v, h/l), where h is the
    highest score. Below l = h/v that falls with l; above it is l w - h (1 - d/l), which is convex.

    Args:
        world: the limits.
        weight: of the best group.
        ratio: of the rival's share to the best group's, at least 1.
        apart: their difference.
    """
    d, highest = world.difference, world.highest
    # Beyond any number that matters, so that nothing overflows.
    steep = ratio**world.steepness if world.steepness * math.log(ratio) < 200.0 else 1e86
    rival = min(weight * steep, weight + world.lipschitz * apart)
    top = min(world.largest_mean, highest / weight)  # so large a weight allows no higher level
    turn = highest / rival
    if turn >= top:
        return float(top * weight - (top - d) * rival), top
    level = min(top, max(turn, world.least_mean, math.sqrt(d * highest / weight)))
    return float(level * weight - highest * (1.0 - d / level)), level
