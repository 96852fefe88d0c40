"""Hard worlds to test a plan in: in each round, the smallest lead that an admitted bias leaves.

While groups take turns, shares are known numbers. Relative to its value at equal shares, 1/K, a
bias f inside the assumptions satisfies, whatever its shape:

- at a share x below 1/K, f(x) >= max((K x)**s, 1 - L (1/K - x), 1/(1 + b)); at one above,
  f(x) >= 1;
- of two shares x < y, f(y) <= min(f(x) (y/x)**s, f(x) + L (y - x), f(x) (1 + b));
- where scores are bounded, no f(x) lifts the best group's mean score above the highest score:
  f(x) <= 1/l if that mean is l at equal shares, on a scale from 0 to 1.

The bonus b stands for f(1) <= (1 + b) f(0): since f does not fall, no two of its values differ by
a larger factor. Where panels or strangers judge, shares do not change: they are 1/K for all, where
f is 1, or 0, where it is at least 1/(1 + b).

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
scores are at the ends. Where their standard deviation is stated, too, scores have two values, of
which one is an end: 0 for the best group and 1 for the others. The third derivative of
log(1 + k (y - c)) is positive and that of log(1 - k (y - c)) negative, and of all laws on [0, 1]
with a given mean and variance the first has its smallest expectation at the law of two values that
has 0, the second at that which has 1 (Chebyshev and Markov). So bets on the best group grow least
with these. Gaussian scores are given as sums: of subGaussian ones with a given sigma they have the
largest variance, and a policy that is told sums pays for sigma alone.

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
LARGEST_SPREAD = 0.5
"""The largest standard deviation that values in [0, 1] can have."""


class World(NamedTuple):
    """A hardest world as numbers. Weights are 1 at equal shares."""

    groups: int
    best: int  # the number of the best group
    least_mean: float  # of the best group at equal shares, on the scale that policies see
    largest_mean: float
    difference: float  # by which every other group's is smaller
    steepness: float
    lipschitz: float
    strength: float  # no weight is larger than another by more than this factor
    highest: float  # no mean score is above this
    sigma: float  # 0: bounded scores
    spread: float  # the standard deviation of bounded scores; 0.5: as large as it can be
    slack: int  # by how much the committee can differ between two pulls that are compared
    joining: float  # the part of those chosen who join the committee; 0: shares do not change
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
    strength = NO_LIMIT if given.bonus is None else 1.0 + given.bonus
    world = World(
        groups=groups,
        best=groups - 1,
        least_mean=given.smallest_difference,
        largest_mean=given.best_mean,
        difference=given.smallest_difference,
        steepness=given.steepest,
        lipschitz=NO_LIMIT if given.lipschitz is None else given.lipschitz,
        strength=strength,
        highest=1.0 if given.bounded else NO_LIMIT,
        sigma=0.0 if given.bounded else given.sigma,
        spread=LARGEST_SPREAD if given.spread is None else given.spread,
        # The l-th pulls of two groups lie within one pass, or further apart by what is in flight.
        slack=groups - 1 + 2 * (given.in_flight - math.ceil(given.in_flight / groups)),
        joining=given.joining,
    )
    if given.judges != "committee":
        return [_unchanging(world, given)]
    return [
        HardWorld(favoured, initial, world._replace(best=best))
        for favoured, initial, best in committees(given)
    ]


def _unchanging(world: World, given: Assumptions) -> HardWorld:
    """Return the world in which shares are always the same."""
    words, weight = "panels have as many seats for each group", 1.0
    if given.judges == "strangers":
        # The lead shrinks with the weight; the mean can be anything up to that at equal shares.
        words = "nobody judges their own group"
        weight = smallest_weight(world, 0.0)
    difference = weight * given.smallest_difference
    world = world._replace(difference=difference, least_mean=difference, slack=0, joining=0.0)
    return HardWorld(words, (1,) * given.groups, world)


Committee = tuple[str, tuple[int, ...], int]
"""Who is favoured, in words; members of each group; the number of the best group."""


def committees(assumptions: Assumptions) -> list[Committee]:
    """Return the initial committees, each with every group that makes a difference as the best."""
    if assumptions.committee is None:
        last = assumptions.groups - 1
        return [(words, initial, last) for words, initial in initial_members(assumptions)]
    members = tuple(assumptions.committee)
    found = []
    for number in sorted(set(members)):
        best = len(members) - 1 - members[::-1].index(number)  # last in a pass: least favoured
        words = f"the best group has {number:,} of {sum(members):,} members"
        found.append((words, members, best))
    return found


def rivals_ahead(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...]]]:
    """Return the initial committees that are hardest for the best group."""
    groups, ahead = assumptions.groups, 1 + assumptions.ahead
    if ahead == 1:
        return [("nobody has a head start", (1,) * groups)]
    one = ("one rival has the whole head start", (ahead, *(1,) * (groups - 1)))
    every = ("all rivals have the whole head start", (*(ahead,) * (groups - 1), 1))
    return [one] if groups == 2 else [one, every]


def initial_members(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...]]]:
    """Return the initial committees: one member of each group, and every head start."""
    groups, ahead = assumptions.groups, 1 + assumptions.ahead
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
    limit = max(1.0 - world.lipschitz * (equal - share), 1.0 / world.strength)
    # Not 0: what a rival's is at most is a multiple of it, which may be infinite.
    return float(max(steep, limit, SMALLEST_WEIGHT))


def largest_weight(world: World, share: float) -> float:
    """Return the largest weight that an admitted bias can have at a share."""
    equal = 1.0 / world.groups
    if share <= equal:
        return 1.0
    limit = min(1.0 + world.lipschitz * (share - equal), world.strength)
    return float(min((share / equal) ** world.steepness, limit))


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
    steep = min(steep, world.strength)
    rival = min(weight * steep, weight + world.lipschitz * apart)
    top = min(world.largest_mean, highest / weight)  # so large a weight allows no higher level
    turn = highest / rival
    if turn >= top:
        return float(top * weight - (top - d) * rival), top
    level = min(top, max(turn, world.least_mean, math.sqrt(d * highest / weight)))
    return float(level * weight - highest * (1.0 - d / level)), level


def two_scores(world: World, mean: float, best: bool) -> tuple[float, float, float]:
    """Return two scores and how often the higher comes, with a mean and the spread of a world.

    The best group's lower score is 0, the others' higher score is 1, unless that would be too small
    a spread for the mean: then both are.
    """
    variance = world.spread**2
    if variance >= mean * (1.0 - mean):
        return 0.0, 1.0, mean
    if best:
        high = mean + variance / mean
        return 0.0, high, mean / high
    low = mean - variance / (1.0 - mean)
    return low, 1.0, (mean - low) / (1.0 - low)
