"""Worlds that a plan is tested in: the hardest that its assumptions allow, and a plain one.

They are no `JudgeWorld`: a plan may have 10**15 choices, so the scores of a round are drawn at
once, and a hardest bias multiplies scores by any function of the share, where judges of a
`JudgeWorld` add points. Worlds of judges are in `judge_worlds`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from affinity_bandits.base.displays import one_line
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, Constant, PiecewisePower
from affinity_bandits.model.committee import Joining, Judges
from affinity_bandits.model.noise import Bernoulli, Gaussian, Noise, Ordinal
from affinity_bandits.planning.assumptions import Assumptions

NO_LIMIT = 1e300  # the value of a limit that is not assumed
SMALLEST_WEIGHT = 1e-300
LARGEST_SPREAD = 0.5  # the largest standard deviation that values in [0, 1] can have


class WorldLimits(NamedTuple):
    """A hardest world in numbers. Weights are 1 at equal shares."""

    groups: int
    best: int  # the number of the best group
    least_mean: float  # of the best group at equal shares, on the scale that policies see
    largest_mean: float
    difference: float  # by which every other group's is smaller
    steepness: float
    lipschitz: float
    strength: float  # largest ratio of two weights
    highest: float  # no mean score is above this
    sigma: float  # 0: bounded scores
    spread: float  # the standard deviation of bounded scores; 0.5: as large as it can be
    slack: int  # by how much the committee can differ between two pulls that are compared
    joining: float  # the part of those chosen who join the committee; 0: shares do not change
    begin_after: int = 0  # choices until they begin to judge
    # If not all join, this times as many of the best group, and of the others one for this: one
    # group's members join at most twice as often as another's.
    uneven: float = math.sqrt(2.0)
    # By how much rivals' judges favor their own more than the best group's do, per unit of share.
    favor_gap: float = 0.0
    strictness: float = 0.0  # by how much the best group's judges are stricter than the others'
    drawn_at: float = 0.0  # the mean at equal shares that scores are drawn for; 0: the hardest
    gift: int = -1  # choices after which the best group is far ahead until it leads; -1: never


@dataclass(frozen=True)
class HardWorld:
    """A hardest world with its initial committee.

    Attributes:
        favored: who leads at the start, in words.
        initial: members per group at the start.
        world: the numbers.
    """

    favored: str
    initial: tuple[int, ...]
    world: WorldLimits

    __repr__ = one_line

    def __str__(self) -> str:
        return self.favored


def hard_worlds(assumptions: Assumptions) -> list[HardWorld]:
    """Return the hardest worlds of stated assumptions, in a fixed order."""
    given = assumptions.on_unit_scale()
    groups = given.groups
    world = WorldLimits(
        groups=groups,
        best=groups - 1,
        least_mean=given.smallest_difference,
        largest_mean=given.best_mean,
        difference=given.smallest_difference,
        steepness=given.steepest,
        lipschitz=NO_LIMIT if given.lipschitz is None else given.lipschitz,
        strength=NO_LIMIT if given.bonus is None else 1.0 + given.bonus,
        highest=1.0 if given.bounded else NO_LIMIT,
        sigma=0.0 if given.bounded else given.sigma,
        spread=LARGEST_SPREAD if given.spread is None else given.spread,
        # The l-th pulls of two groups lie within one pass, or further apart by what is in flight.
        slack=groups - 1 + 2 * (given.in_flight - math.ceil(given.in_flight / groups)),
        joining=given.joining,
        begin_after=given.begin_after,
        # Where the gap may hide the difference, nothing is said of costs.
        favor_gap=(given.favor_gap or 0.0) if given.hidden_gap and given.identified else 0.0,
    )
    if given.judges == "committee":
        return [
            HardWorld(favored, initial, world._replace(best=best))
            for favored, initial, best in committees(given)
        ]
    # Shares never change. With recusal the lead shrinks with the weight.
    words, weight = "panels have as many seats for each group", 1.0
    if given.judges == "outsiders":  # all shares are 0, as on panels of equal seats all are 1/K
        words = "nobody judges who belongs to a group"
    if given.judges == "recused":
        words, weight = "nobody judges their own group", smallest_weight(world, 0.0)
    difference = weight * given.smallest_difference
    world = world._replace(difference=difference, least_mean=difference, slack=0, joining=0.0)
    return [HardWorld(words, (1,) * groups, world)]


def committees(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...], int]]:
    """Return each initial committee: a description, the members per group, the best group.

    In a known committee, each group whose size differs can be the best.
    """
    if assumptions.committee is None:
        last = assumptions.groups - 1
        return [(words, initial, last) for words, initial in initial_members(assumptions)]
    members = tuple(assumptions.committee)
    found = []
    for number in sorted(set(members)):
        best = len(members) - 1 - members[::-1].index(number)  # last in a pass: least favored
        words = f"the best group has {number:,} of {sum(members):,} members"
        found.append((words, members, best))
    return found


def initial_members(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...]]]:
    """Return the initial committees: one member per group, plus every initial lead."""
    groups, ahead = assumptions.groups, 1 + assumptions.ahead
    found = [("nobody leads at the start", (1,) * groups)]
    if ahead > 1:
        found.append(("one rival has the whole initial lead", (ahead, *(1,) * (groups - 1))))
        if groups > 2:
            every = (*(ahead,) * (groups - 1), 1)
            found.append(("all rivals have the whole initial lead", every))
        best = (*(1,) * (groups - 1), ahead)
        found.append(("the best group has the whole initial lead", best))
    return found


def smallest_weight(world: WorldLimits, share: float) -> float:
    """Return the smallest weight that an admitted bias can have at a share."""
    equal = 1.0 / world.groups
    if share >= equal:
        return 1.0
    steep = (share / equal) ** world.steepness
    limit = max(1.0 - world.lipschitz * (equal - share), 1.0 / world.strength)
    # Not 0: a rival's weight is a multiple of it.
    return float(max(steep, limit, SMALLEST_WEIGHT))


def largest_weight(world: WorldLimits, share: float) -> float:
    """Return the largest weight that an admitted bias can have at a share."""
    equal = 1.0 / world.groups
    if share <= equal:
        return 1.0
    limit = min(1.0 + world.lipschitz * (share - equal), world.strength)
    return float(min((share / equal) ** world.steepness, limit))


def smallest_lead(
    world: WorldLimits, weight: float, ratio: float, apart: float
) -> tuple[float, float]:
    """Return the smallest lead of the best group over a rival, and the mean l that attains it.

    If the best group has weight w, the rival has at most some weight v >= w. The lead at mean l is
    l w - (l - d) min(v, h/l), where h is the highest score. It falls with l up to l = h/v; beyond,
    it is l w - h (1 - d/l), which is convex.

    Args:
        world: the limits.
        weight: weight of the best group.
        ratio: the rival's share divided by the best group's, at least 1.
        apart: the difference of these shares.
    """
    d, highest = world.difference, world.highest
    # Avoid overflow.
    steep = ratio**world.steepness if world.steepness * math.log(ratio) < 200.0 else 1e86
    steep = min(steep, world.strength)
    rival = min(weight * steep, weight + world.lipschitz * apart)
    top = min(world.largest_mean, highest / weight)
    turn = highest / rival
    if turn >= top:
        return float(top * weight - (top - d) * rival), top
    level = min(top, max(turn, world.least_mean, math.sqrt(d * highest / weight)))
    return float(level * weight - highest * (1.0 - d / level)), level


def two_scores(world: WorldLimits, mean: float, best: bool) -> tuple[float, float, float]:
    """Return two scores and the probability of the higher, with a mean and the world's spread.

    The best group's lower score is 0, the others' higher score is 1. Scores are 0 and 1 if the
    spread is as large as the mean allows.
    """
    variance = world.spread**2
    if variance >= mean * (1.0 - mean):
        return 0.0, 1.0, mean
    if best:
        high = mean + variance / mean
        return 0.0, high, mean / high
    low = mean - variance / (1.0 - mean)
    return low, 1.0, (mean - low) / (1.0 - low)


SMALLEST_SHARE = 1e-12  # powers are constant below this share, which no run reaches
LEVELS = 17  # number of scores of a scale whose spread is stated
NARROWEST = 0.03  # smallest standard deviation of the bell of scores


def example(assumptions: Assumptions) -> AffinityBandit:
    """Return an instance inside the assumptions: a plain one that a plan can be tried on.

    All rivals are close, the best group has the fewest members, and scores grow up to equal shares
    by as much as is allowed.
    """
    given = assumptions.on_unit_scale()
    level = given.best_mean
    if given.spread is not None:  # scores have a typical spread around the middle of the scale only
        level = min(level, 0.5 * (1.0 + given.smallest_difference))
    _, initial, best = min(committees(given), key=lambda one: one[1][one[2]] / sum(one[1]))
    means = [max(0.0, level - given.smallest_difference)] * given.groups
    means[best] = level
    members = [max(1, number) for number in initial]
    moving = given.judges == "committee" and given.at_once
    who = "panel" if given.judges == "outsiders" else given.judges
    return AffinityBandit(
        means,
        bias=Constant() if given.judges == "outsiders" else _growing_bias(given),
        initial_pulls=members,
        noise=_noise(given),
        joining=Joining() if moving else Joining(given.joining, when="next round"),
        judges=Judges(who, given.groups * min(members) if who == "panel" else None),
    )


def _growing_bias(given: Assumptions) -> Bias:
    """Return a bias that is 1 from equal shares on, and below as small as is allowed."""
    steepness, equal = given.steepest, 1.0 / given.groups
    if given.lipschitz is not None:
        steepness = min(steepness, given.lipschitz * equal)
    # The slope of a power below 1 has no bound.
    if given.bonus == 0.0 or steepness == 0.0 or (given.lipschitz is not None and steepness < 1.0):
        return Constant()
    smallest = 1e-299 if given.bonus is None else 1.0 / (1.0 + given.bonus)
    low = max(SMALLEST_SHARE / equal, smallest ** (1.0 / steepness))
    return PiecewisePower([low * equal, equal], [low**steepness, 1.0])


def _noise(given: Assumptions) -> Noise:
    """Return the noise: of the largest variance, unless a spread is stated."""
    if not given.bounded:
        return Gaussian(given.sigma)
    if given.spread is None:
        return Bernoulli()
    # A truncated normal shape, whose width is found by bisection.
    at = np.linspace(-0.5, 0.5, LEVELS)
    low, high = NARROWEST, 1e3
    for _ in range(60):
        width = math.sqrt(low * high)
        shape = np.exp(-0.5 * (at / width) ** 2)
        shape /= shape.sum()
        low, high = (width, high) if shape @ at**2 < given.spread**2 else (low, width)
    return Ordinal([place / (LEVELS - 1) for place in range(LEVELS)], shape=shape.tolist())
