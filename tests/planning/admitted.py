"""Biases and instances inside stated assumptions, drawn at random or shaped to do harm."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from affinity_bandits import AffinityBandit, Gaussian, PiecewisePower
from affinity_bandits.planning import Assumptions

SMALLEST_SHARE = 1e-7


def joined(shares: Sequence[float], exponents: Sequence[float], fair: float) -> PiecewisePower:
    """Powers between shares, 1 at the fair share: the last is what f rises with up to 1."""
    points = sorted({SMALLEST_SHARE, *shares, fair, 1.0})
    rises = [exponents[i % len(exponents)] for i in range(len(points) - 1)]
    logs = [0.0]
    for (left, right), exponent in zip(pairwise(points), rises, strict=True):
        logs.append(logs[-1] + exponent * np.log(right / left))
    at_fair = logs[points.index(fair)]
    return PiecewisePower(points, np.exp(np.array(logs) - at_fair))


def flattened(bias: PiecewisePower, part: float, fair: float) -> PiecewisePower:
    """The same with all exponents multiplied by a part."""
    weights = np.asarray(bias.weights) ** part
    return PiecewisePower(bias.shares, weights / PiecewisePower(bias.shares, weights).weight(fair))


def capped(bias: PiecewisePower, highest: float) -> PiecewisePower:
    """The same where it is below a limit, and the limit beyond: 1 at the fair share stays."""
    shares, weights = list(bias.shares), list(bias.weights)
    if weights[-1] <= highest:
        return bias
    place = next(i for i, weight in enumerate(weights) if weight > highest)
    rise = bias.exponents[place - 1]
    crossing = shares[place - 1] * (highest / weights[place - 1]) ** (1.0 / rise)
    if not shares[place - 1] < crossing < shares[place]:  # no float lies in between
        return PiecewisePower(shares[:place], weights[:place])
    return PiecewisePower([*shares[:place], crossing], [*weights[:place], highest])


def admitted(bias: PiecewisePower, given: Assumptions, level: float) -> PiecewisePower:
    """The bias made gentle enough for assumptions (on the unit scale) and a level of scores."""
    fair = 1.0 / given.groups
    if bias.steepness > given.steepness:
        bias = flattened(bias, given.steepness / bias.steepness, fair)
    if given.lipschitz is not None:
        part = 1.0
        while bias.lipschitz > given.lipschitz and part > 1e-6:
            part *= 0.8
            bias = flattened(bias, part, fair)
        if bias.lipschitz > given.lipschitz:
            bias = PiecewisePower([fair], [1.0])
    return capped(bias, 1.0 / level) if given.bounded else bias


def random_bias(random: np.random.Generator, given: Assumptions, level: float) -> PiecewisePower:
    """A bias inside the assumptions: steps, ramps, kinks, as steep as can be here and there."""
    count = int(random.integers(0, 6))
    shares = np.exp(random.uniform(np.log(1e-5), 0.0, count))
    # As often as not near equal shares, where a comparison ends up.
    near = random.random(count) < 0.5
    shares = np.where(near, np.exp(random.normal(0.0, 0.3, count)) / given.groups, shares)
    kinds = random.integers(0, 3, count + 2)
    parts = np.choose(kinds, [np.zeros(count + 2), np.ones(count + 2), random.random(count + 2)])
    usable = [float(share) for share in shares if SMALLEST_SHARE < share < 1.0]
    bias = joined(usable, (given.steepness * parts).tolist(), 1.0 / given.groups)
    return admitted(bias, given, level)


def harmful_biases(given: Assumptions, level: float) -> list[PiecewisePower]:
    """Ramps as steep as can be: throughout, up to equal shares, beyond them, around them."""
    fair, steep = 1.0 / given.groups, given.steepness
    shapes = [
        joined([], [steep], fair),
        joined([], [steep, 0.0], fair),
        joined([], [0.0, steep], fair),
        joined([0.9 * fair, 1.1 * fair], [0.0, steep, steep, 0.0], fair),
        joined([0.5 * fair], [0.0, steep, 0.0], fair),
        joined([0.5 * fair], [steep, 0.0, steep], fair),
        joined([min(0.999, 1.2 * fair)], [0.0, steep, 0.0], fair),
    ]
    return [admitted(shape, given, level) for shape in shapes]


def instance(
    given: Assumptions, bias: PiecewisePower, level: float, initial: Sequence[int]
) -> AffinityBandit:
    """The best group last, every rival as close as can be at equal shares (on the unit scale)."""
    scores = [max(0.0, level - given.smallest_difference)] * (given.groups - 1) + [level]
    highest = bias.weights[-1]
    if not given.bounded:
        return AffinityBandit(scores, bias=bias, initial_pulls=initial, noise=Gaussian(given.sigma))
    # True values and weights of at most 1, whose products are the scores.
    scaled = PiecewisePower(bias.shares, np.asarray(bias.weights) / highest)
    means = [min(1.0, score * highest) for score in scores]
    return AffinityBandit(means, bias=scaled, initial_pulls=initial)


def random_initial(random: np.random.Generator, given: Assumptions) -> list[int]:
    """Members at the start: the whole head start for some, or anything inside it."""
    if random.random() < 0.5:
        extra = given.head_start * random.integers(0, 2, given.groups)
    else:
        extra = random.integers(0, given.head_start + 1, given.groups)
    least = int(random.choice([1, 1, 1, 2, 10]))
    return [least + int(one) for one in extra]
