"""How long the horizon must be for the guarantee of Algorithm 1 to hold."""

from __future__ import annotations

import math
from typing import NamedTuple

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.theory.assumptions import (
    LOG_12_OVER_PI_2,
    UPPER,
    check_bandit,
    check_feedback,
    log_of,
)


class HorizonCondition(NamedTuple):
    """Both sides of `eq:eliminationSuccessProbSufficientlyLarge`."""

    log_horizon: float
    left: float
    """log(n K)."""
    right: float
    holds: bool
    """Whether left >= right."""


def horizon_condition(
    bandit: AffinityBandit, horizon: int | None = None, *, log_horizon: float | None = None
) -> HorizonCondition:
    """log(n K) >= mu_1 L / 2**5 (1 + max{(1 + D/K) log(1 + 2**8 log(12 K**2 n / pi**2)), (1 + D) log 13}).

    `eq:eliminationSuccessProbSufficientlyLarge`, with D = T0_max - T0_min, mu_1 the largest true
    mean and L the bias' Lipschitz constant. It assumes true means in [0, 1] and 1-subGaussian
    feedback. Under it, the bias cannot make Algorithm 1 drop an optimal arm but with probability 1/n. The discarded pull
    changes nothing here: D stays the same.

    Args:
        bandit: the instance.
        horizon: n, a whole number of any size.
        log_horizon: log n, instead of n.

    Returns:
        Both sides, and whether the condition holds.
    """  # noqa: E501 - the formula stays on its line
    _check(bandit)
    return _condition(bandit, log_of(horizon, log_horizon))


def smallest_log_horizon(bandit: AffinityBandit) -> float:
    """Return log n of the smallest n >= 1, real, that meets the horizon condition.

    Every larger n meets it too, so bisection finds the one point where
    `eq:eliminationSuccessProbSufficientlyLarge` begins to hold. Proof: with y = log n and
    q = log(12 K**2 / pi**2), the condition says that both y + log K - (1 + D) log(13) B' - A and
    g(y) = y + log K - A - B log(1 + 2**8 (q + y)) are at least 0, for some A, B, B' >= 0. The
    first rises with y. If g(y0) >= 0, then B <= (y0 + log K) / log(1 + 2**8 (q + y0)), where the
    logarithm is above 1; so for all y >= y0

        g'(y) = 1 - B / (2**-8 + q + y) > 1 - (y0 + log K) / (q + y) >= 0,

    because q > log K: once g is at least 0, it rises for ever.

    Args:
        bandit: the instance; true means in [0, 1] and 1-subGaussian feedback are assumed.

    Returns:
        log n, to the last bit, on the side where the condition holds; infinity if it lies beyond
        floating point.
    """
    _check(bandit)
    if _condition(bandit, 0.0).holds:
        return 0.0
    low, high = 0.0, 1.0
    while not _condition(bandit, high).holds:
        low, high = high, 2.0 * high
        if high == math.inf:
            return math.inf
    while True:
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            return high
        if _condition(bandit, middle).holds:
            high = middle
        else:
            low = middle


def smallest_horizon(bandit: AffinityBandit) -> int | None:
    """Return the smallest whole n that meets `eq:eliminationSuccessProbSufficientlyLarge`.

    All larger n meet it too; see `smallest_log_horizon`, which has no upper limit.

    Args:
        bandit: the instance; true means in [0, 1] and 1-subGaussian feedback are assumed.

    Returns:
        n, or None where it is above 10**15, the package's largest horizon.
    """
    log_horizon = smallest_log_horizon(bandit)
    if log_horizon > math.log(checks.LARGEST_COUNT) + 1.0:
        return None
    # exp() is a few units off at most; the condition itself says which whole number it is.
    found = max(1, math.ceil(math.exp(log_horizon)))
    while found > 1 and _condition(bandit, math.log(found - 1)).holds:
        found -= 1
    while not _condition(bandit, math.log(found)).holds:
        found += 1
    return found if found <= checks.LARGEST_COUNT else None


def _check(bandit: AffinityBandit) -> None:
    check_bandit(bandit)
    check_feedback(bandit, UPPER, "the guarantee of Algorithm 1")


def _condition(bandit: AffinityBandit, log_horizon: float) -> HorizonCondition:
    pulls = bandit.initial_pulls or ()
    imbalance = max(pulls) - min(pulls)
    log_arms = math.log(bandit.arms)
    inner = LOG_12_OVER_PI_2 + 2.0 * log_arms + log_horizon
    first_round = (1.0 + imbalance / bandit.arms) * math.log1p(2.0**8 * inner)
    later_rounds = (1.0 + imbalance) * math.log(13.0)
    scale = max(bandit.true_means) * bandit.bias.lipschitz / 2.0**5
    left = log_horizon + log_arms
    right = scale * (1.0 + max(first_round, later_rounds))
    return HorizonCondition(log_horizon, left, right, left >= right)
