"""Biases that a plan's assumptions admit, and the instances that they make.

The assumptions are on the unit scale throughout (`Assumptions.on_unit_scale`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from affinity_bandits import AffinityBandit, Gaussian, PiecewisePower
from affinity_bandits.model.noise import Noise
from affinity_bandits.planning import Assumptions

SMALLEST_SHARE = 1e-7


def is_admitted(given: Assumptions, bias: PiecewisePower) -> bool:
    """Return whether assumptions admit a bias whose weights are at most 1."""
    if bias.steepness > given.steepest * (1.0 + 1e-9):
        return False
    if given.bonus is not None and strength(bias) > (1.0 + given.bonus) * (1.0 + 1e-9):
        return False
    fair = bias.weight(1.0 / given.groups)
    if given.bounded and fair < given.smallest_difference:
        return False  # scores of at most 1 could not differ by so much at equal shares
    return given.lipschitz is None or bias.lipschitz <= given.lipschitz * fair * (1.0 + 1e-9)


def strength(bias: PiecewisePower) -> float:
    """Return the largest weight as a multiple of the smallest: f(1)/f(0)."""
    return bias.weights[-1] / bias.weights[0]


def joined(shares: Sequence[float], exponents: Sequence[float], fair: float) -> PiecewisePower:
    """Return powers between shares, with weight 1 at the equal share `fair`.

    The exponents are those of the intervals from the left; they repeat if there are too few.
    """
    points = sorted({SMALLEST_SHARE, *shares, fair, 1.0})
    rises = [exponents[i % len(exponents)] for i in range(len(points) - 1)]
    logs = [0.0]
    for (left, right), exponent in zip(pairwise(points), rises, strict=True):
        logs.append(logs[-1] + exponent * np.log(right / left))
    at_fair = logs[points.index(fair)]
    return PiecewisePower(points, np.exp(np.array(logs) - at_fair).tolist())


def flattened(bias: PiecewisePower, part: float) -> PiecewisePower:
    """Return the bias with all its exponents multiplied by `part`; a weight of 1 stays 1."""
    return PiecewisePower(bias.shares, np.exp(part * np.log(np.array(bias.weights))).tolist())


def capped(bias: PiecewisePower, highest: float) -> PiecewisePower:
    """Return the bias with its weights limited to `highest`."""
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
    """Return the bias, 1 at equal shares, made flat enough for the assumptions.

    Args:
        bias: with weight 1 at equal shares.
        given: the assumptions.
        level: the best group's score at equal shares, which bounds how far weights can rise.
    """
    if bias.steepness > given.steepest:
        bias = flattened(bias, given.steepest / bias.steepness)
    if given.bonus is not None and strength(bias) > 1.0 + given.bonus:
        bias = flattened(bias, np.log1p(given.bonus) / np.log(strength(bias)))
    if given.lipschitz is not None:
        part = 1.0
        while bias.lipschitz > given.lipschitz and part > 1e-6:
            part *= 0.8
            bias = flattened(bias, part)
        if bias.lipschitz > given.lipschitz:
            bias = PiecewisePower([1.0 / given.groups], [1.0])
    return capped(bias, 1.0 / level) if given.bounded else bias


def random_bias(random: np.random.Generator, given: Assumptions, level: float) -> PiecewisePower:
    """Return an admitted bias with steps, ramps and kinks, some as steep as assumed."""
    count = int(random.integers(0, 6))
    shares = np.exp(random.uniform(np.log(1e-5), 0.0, count))
    # As often as not near equal shares, where a comparison ends up.
    near = random.random(count) < 0.5
    shares = np.where(near, np.exp(random.normal(0.0, 0.3, count)) / given.groups, shares)
    kinds = random.integers(0, 3, count + 2)
    parts = np.choose(kinds, [np.zeros(count + 2), np.ones(count + 2), random.random(count + 2)])
    usable = [float(share) for share in shares if SMALLEST_SHARE < share < 1.0]
    bias = joined(usable, (given.steepest * parts).tolist(), 1.0 / given.groups)
    return admitted(bias, given, level)


def harmful_biases(given: Assumptions, level: float) -> list[PiecewisePower]:
    """Return ramps as steep as assumed: throughout, up to equal shares, beyond or around them."""
    fair, steep = 1.0 / given.groups, given.steepest
    shapes = [
        joined([], [steep], fair),
        joined([], [steep, 0.0], fair),
        joined([], [0.0, steep], fair),
        joined([0.9 * fair, 1.1 * fair], [0.0, steep, steep, 0.0], fair),
        joined([0.5 * fair], [0.0, steep, 0.0], fair),
        joined([0.5 * fair], [steep, 0.0, steep], fair),
        joined([min(0.999, 1.2 * fair)], [0.0, steep, 0.0], fair),
    ]
    if given.bonus and steep > 0.0:
        # The whole bonus as suddenly as may be: below equal shares, beyond or around them.
        width = (1.0 + given.bonus) ** (1.0 / steep)
        for low in (fair / width, fair, fair / np.sqrt(width)):
            ends = [max(2 * SMALLEST_SHARE, low), min(0.999, low * width)]
            shapes.append(joined(ends, _rises(ends, fair, steep), fair))
    return [admitted(shape, given, level) for shape in shapes]


def _rises(ends: Sequence[float], fair: float, steep: float) -> list[float]:
    """Return the exponents of a bias that rises between two shares only."""
    points = sorted({SMALLEST_SHARE, *ends, fair, 1.0})
    return [
        steep if ends[0] <= left and right <= ends[1] else 0.0 for left, right in pairwise(points)
    ]


def instance(
    given: Assumptions,
    bias: PiecewisePower,
    level: float,
    initial: Sequence[int],
    rival: float | None = None,
    bounded_noise: Noise | str = "bernoulli",
) -> AffinityBandit:
    """Return a bandit whose scores at equal shares are given, the best group last.

    Args:
        given: the assumptions.
        bias: of any scale.
        level: the best group's score.
        initial: members of each group at the start.
        rival: the score of all others; by default as close to the best as assumed.
        bounded_noise: how scores vary if they are bounded; by default as much as they can.
    """
    if rival is None:
        rival = max(0.0, level - given.smallest_difference)
    if given.bounded and bias.weights[-1] > 1.0:
        bias = PiecewisePower(bias.shares, (np.array(bias.weights) / bias.weights[-1]).tolist())
    fair = bias.weight(1.0 / given.groups)
    means = [score / fair for score in (*[rival] * (given.groups - 1), level)]
    if given.bounded:
        means = [min(1.0, mean) for mean in means]
    noise = bounded_noise if given.bounded else Gaussian(given.sigma)
    return AffinityBandit(means, bias=bias, initial_pulls=initial, noise=noise)


def random_initial(random: np.random.Generator, given: Assumptions) -> list[int]:
    """Return members at the start: the whole initial lead for some, or anything inside it."""
    if random.random() < 0.5:
        extra = given.ahead * random.integers(0, 2, given.groups)
    else:
        extra = random.integers(0, given.ahead + 1, given.groups)
    least = int(random.choice([1, 1, 1, 2, 10]))
    return [least + int(one) for one in extra]
