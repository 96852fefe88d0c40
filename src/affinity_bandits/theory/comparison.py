"""How far the upper bound is above the lower one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias
from affinity_bandits.errors import InvalidInput
from affinity_bandits.theory.lower import lower_bound
from affinity_bandits.theory.upper import regret_bound

GRID = 4097
"""Shares at which a bias is looked at, evenly spread on a logarithmic scale."""


class BoundRatio(NamedTuple):
    """The two bounds of one instance."""

    upper: float
    lower: float
    ratio: float
    holds: bool
    """Whether the horizon condition holds; without it, the upper bound bounds nothing."""


def bound_ratio(
    bandit: AffinityBandit,
    horizon: int | None = None,
    *,
    exponent: float = 0.5,
    eps: float | None = None,
    log_horizon: float | None = None,
    discard_first: bool = True,
) -> BoundRatio:
    """Return `regret_bound` over `lower_bound`, constants and all.

    The quantity of `cor:comparisonUpperLowerBound`, which bounds it by O(log(K)**(2 L')). The
    constants of both sides are those of the proofs, so the ratio is of the order of 10**4 already
    for an ordinary bandit.

    Args:
        bandit: the instance; true means below 1, feedback N(mu W, 1), f <= 1.
        horizon: n, above 1.
        exponent: a in (0, 1) of `def:consistentPolicy`.
        eps: of `lower_bound`.
        log_horizon: log n, instead of n.
        discard_first: whether Algorithm 1 begins with its discarded pulls.
    """
    lower = lower_bound(bandit, horizon, exponent=exponent, eps=eps, log_horizon=log_horizon)
    upper = regret_bound(bandit, horizon, log_horizon=log_horizon, discard_first=discard_first)
    if lower.regret == 0.0:
        raise InvalidInput("horizon", "above 1: the lower bound is a multiple of log n", horizon)
    ratio = upper.value / lower.regret if upper.value < math.inf else math.inf
    return BoundRatio(upper.value, lower.regret, ratio, upper.holds)


def polylog_factor(arms: int, growth: float, *, constant: float = 1.0) -> float:
    """(15 c log K)**(2 L').

    The factor of `cor:comparisonUpperLowerBound`, from its proof: f(c log(K)/K) is at most
    (15 c log K)**L' times f(1/(15 K)), and the bounds have these to the power -2. Assumed is
    f(mu x) <= mu**L' f(x), see `growth_exponent`, and that 15 c log K lies in (1, 15 K).

    Args:
        arms: K >= 2.
        growth: L'.
        constant: c, which the paper does not name; beta'/log K of `lower_bound` is one.

    Returns:
        The factor; infinity beyond floating point.
    """
    size = checks.integer("arms", arms, low=2)
    power = checks.number("growth", growth, low=0.0)
    scale = checks.number("constant", constant, low=0.0, open_low=True)
    base = 15.0 * scale * math.log(size)
    if not 1.0 < base < 15.0 * size:
        raise InvalidInput("constant", "such that 15 c log K lies in (1, 15 K)", constant)
    exponent = 2.0 * power * math.log(base)
    return math.exp(exponent) if exponent < 709.0 else math.inf


def growth_exponent(bias: Bias, arms: int) -> float:
    """Return the smallest L' with f(mu x) <= mu**L' f(x) for shares from 1/(15 K) to 1.

    The assumption of `cor:comparisonUpperLowerBound`, in the range where its proof uses it. In
    logarithms L' is the steepest slope of log f over log x between two points. The slope between
    any two points of a grid is a mean of the slopes between neighbours, so neighbours suffice;
    what is found is a lower bound on L', exact for powers. The grid is denser behind
    breakpoints, where the counterexample of `rem:comparisonUpperLowerBound` is steep.

    Args:
        bias: f.
        arms: K.

    Returns:
        L'; infinity if f leaves 0 on the way.

    >>> from affinity_bandits import Power
    >>> round(growth_exponent(Power(2.0), 10), 9)
    2.0
    """
    if not isinstance(bias, Bias):
        raise InvalidInput("bias", "a bias model such as Power(1.0)", bias)
    size = checks.integer("arms", arms, low=1)
    smallest = 1.0 / (15.0 * size)
    grid = set(np.geomspace(smallest, 1.0, GRID).tolist())
    for mark in bias.breakpoints:
        grid.update([mark, *(mark * (1.0 + 10.0**-digits) for digits in range(1, 10))])
    shares = sorted(share for share in grid if smallest <= share <= 1.0)
    steepest = 0.0
    below, weight_below = shares[0], bias.weight(shares[0])
    for share in shares[1:]:
        weight = bias.weight(share)
        if weight > weight_below:
            if weight_below == 0.0:
                return math.inf
            rise = math.log(weight) - math.log(weight_below)
            steepest = max(steepest, rise / (math.log(share) - math.log(below)))
        below, weight_below = share, weight
    return steepest
