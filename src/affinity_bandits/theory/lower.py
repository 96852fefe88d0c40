"""Lower bounds on the regret of every consistent policy.

A policy is consistent with (C, a) if its regret is at most C n**a on every instance of the class
(`def:consistentPolicy`). As the class contains arbitrarily small gaps, where no policy does
better than a root of n, a is at least 1/2 for every policy there is: the default.

The class is feedback N(mu W, 1) (`thm:lowerBoundRegretAppendix`): what a pull says of mu shrinks
with W**2, because the noise does not shrink with the weight. That is where the factor f**-2 comes
from, so these bounds are refused for any other feedback. Scaled Gaussian values, for one, are
N(mu W, sigma**2 W**2): who knows f divides by W, and has lost nothing. For the bound of a Gaussian
bandit with the same means, give that bandit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.kernels import FloatArray
from affinity_bandits.noise import Gaussian
from affinity_bandits.theory.assumptions import (
    LOWER,
    check_bandit,
    check_feedback,
    check_weights,
    log_of,
)


class LaiRobbins(NamedTuple):
    """The classical lower bound of the ordinary bandit."""

    regret: float
    pulls: FloatArray
    """Per arm; 0 for optimal arms."""


class LowerBound(NamedTuple):
    """`thm:lowerBoundRegretAppendix` with the constants of its proof."""

    regret: float
    """The leading term, over every B' that the theorem may mean."""
    exponent: float
    """The exponent a.

    See `def:consistentPolicy`.
    """
    eps: float
    alpha: float
    """|A| / (6 K)."""
    beta: float
    """2 K / |A|."""
    beta_prime: float
    n_zero: float
    arms: tuple[int, ...]
    """A, the suboptimal arms among which B' is."""
    guaranteed: int
    """The smallest size of B', |A| / 4 rounded up."""
    share: float
    """min{1, beta'/K}; at 1, the proof's small-share set holds every arm and the bias is lost."""
    weight: float
    """f(share)."""
    in_set: FloatArray
    """Per arm: leading term of E T_i(n) if it is in B', 0 outside A."""
    outside: FloatArray
    """Per arm: leading term of E T_i(n) whether or not it is in B'; 0 for optimal arms."""


def lai_robbins(
    bandit: AffinityBandit, horizon: int | None = None, *, log_horizon: float | None = None
) -> LaiRobbins:
    """sum_{i : Delta_i > 0} 2 log(n) / Delta_i, and per arm 2 log(n) / Delta_i**2.

    The lower bound of Lai and Robbins for Gaussian values of variance 1, which the paper compares
    with: what an ordinary bandit costs a policy that is consistent with every a > 0. It leaves
    out a term O(1), so it is not a guarantee at any one n.

    Args:
        bandit: the instance, with noise `Gaussian(1.0)`; how it is biased is ignored.
        horizon: n.
        log_horizon: log n, instead of n.
    """
    check_bandit(bandit)
    if bandit.noise != Gaussian(1.0):
        raise NotSupported(
            f"the bound of Lai and Robbins assumes true values of Gaussian(sigma=1), "
            f"not {bandit.noise}"
        )
    scale = 2.0 * log_of(horizon, log_horizon)
    inverse = _inverse_gaps(bandit)
    return LaiRobbins(
        float(sum(scale * x for x in inverse)), np.array([scale * x * x for x in inverse])
    )


def finite_horizon_pulls(
    bandit: AffinityBandit,
    horizon: int | None = None,
    *,
    constant: float,
    exponent: float = 0.5,
    eps: float | None = None,
    log_horizon: float | None = None,
) -> FloatArray:
    """2/((1 + eps)**2 Delta_i**2) ((1 - C/(Delta_i n**(1-a))) log(eps Delta_i n**(1-a)/C) - log 2).

    `eq:divDecompConsequenceOneAppendix`: at least so often does a consistent policy pull arm i,
    at this very n. It is 0 where the formula is negative, and also where one of its two factors
    is: the proof replaces each by a lower bound, so their product says nothing then, although two
    negative ones would make it positive. Assumed: feedback N(mu W, 1), f <= 1 and
    mu_i + (1 + eps) Delta_i <= 1.

    Args:
        bandit: the instance.
        horizon: n.
        constant: C > 0 of `def:consistentPolicy`.
        exponent: a in (0, 1) of `def:consistentPolicy`.
        eps: by what part of Delta_i the alternative mean passes the best one; left out, as much
            as fits for all arms, (1 - mu_max) / Delta_max.
        log_horizon: log n, instead of n.

    Returns:
        Per arm; 0 for optimal arms.
    """
    _check(bandit)
    log_n = log_of(horizon, log_horizon)
    scale = checks.number("constant", constant, low=0.0, open_low=True)
    power = _exponent(exponent)
    margin = _eps(bandit, eps)
    pulls = np.zeros(bandit.arms)
    for arm, gap in enumerate(bandit.gaps.tolist()):
        if gap == 0.0:
            continue
        log_ratio = math.log(gap) + (1.0 - power) * log_n - math.log(scale)
        # 1 - exp(-x) is negative, and may overflow, for negative x.
        share = -math.expm1(-log_ratio) if log_ratio > 0.0 else 0.0
        information = share * max(0.0, math.log(margin) + log_ratio) - math.log(2.0)
        if information > 0.0:
            pulls[arm] = 2.0 * information * _inverse_square((1.0 + margin) * gap)
    return pulls


def lower_bound(
    bandit: AffinityBandit,
    horizon: int | None = None,
    *,
    exponent: float = 0.5,
    eps: float | None = None,
    arms: Sequence[int] | None = None,
    log_horizon: float | None = None,
) -> LowerBound:
    """f(beta'/K)**-2 sum_{i in B'} alpha (1-a) log(n) / (4 (1+eps)**2 Delta_i) + sum_{i not in B'} 2 (1-a) log(n) / ((1+eps)**2 Delta_i).

    `thm:lowerBoundRegretAppendix` with the constants that its proof chooses,

        alpha = |A|/(6 K),  beta = 2 K/|A|,  n_0 = alpha (1-a) log(n) / (4 (1+eps)**2 Delta_max**2),
        beta' = (2 log(Delta_max/Delta_min) + log(4 K/alpha) - 2 log f(beta/K)) / alpha,

    gaps and extremes over A. The paper hides terms O(1) and o(1), so this is the leading term as
    n grows, not a guarantee at any one n; `finite_horizon_pulls` is one.

    Which arms are in B' is not known, only that B' is a part of A with |A|/4 arms or more. To
    stay a lower bound, the sum takes the arms of A that would add least. An arm of B' has both
    bounds, of which the larger counts. f is evaluated at min{1, beta'/K}. As beta' is at least
    6 log(24 K), that is 1 with few arms, and nothing is left but the ordinary bandit's bound: for
    f(x) = x and equal gaps, up to 93 arms; membership in B' adds something from 929 on.

    Args:
        bandit: the instance; feedback N(mu W, 1) and f <= 1 are assumed.
        horizon: n.
        exponent: a in (0, 1) of `def:consistentPolicy`.
        eps: in (0, (1 - mu_max) / Delta_max], the upper end if left out. Less makes the leading
            term larger and the hidden ones too.
        arms: A, suboptimal arms; all of them if left out.
        log_horizon: log n, instead of n.
    """  # noqa: E501 - the formula stays on its line
    _check(bandit)
    log_n = log_of(horizon, log_horizon)
    power = _exponent(exponent)
    margin = _eps(bandit, eps)
    gaps = bandit.gaps
    chosen = _chosen(bandit, arms)
    size, total = len(chosen), bandit.arms
    largest, smallest = float(gaps[chosen].max()), float(gaps[chosen].min())
    alpha = size / (6.0 * total)
    beta = 2.0 * total / size
    edge = bandit.bias.weight(min(1.0, beta / total))
    minus_log_edge = -math.log(edge) if edge > 0.0 else math.inf
    beta_prime = (
        2.0 * math.log(largest / smallest) + math.log(4.0 * total / alpha) + 2.0 * minus_log_edge
    ) / alpha
    share = min(1.0, beta_prime / total)
    weight = bandit.bias.weight(share)
    leading = (1.0 - power) * log_n / (1.0 + margin) ** 2
    # By how much membership in B' multiplies log(n) / Delta_i**2, and what every arm has anyhow.
    member, anyone = alpha / 4.0 * _inverse_square(weight), 2.0
    guaranteed = math.ceil(size / 4)
    inverse = _inverse_gaps(bandit)
    least = sorted(inverse[arm] for arm in chosen)[:guaranteed]
    regret = leading * anyone * sum(inverse)
    if member > anyone and leading > 0.0:
        regret += leading * (member - anyone) * sum(least)
    in_set = np.zeros(total)
    if leading > 0.0:
        in_set[chosen] = [leading * member * inverse[arm] * inverse[arm] for arm in chosen]
    return LowerBound(
        regret=regret,
        exponent=power,
        eps=margin,
        alpha=alpha,
        beta=beta,
        beta_prime=beta_prime,
        n_zero=alpha * (1.0 - power) * log_n / (4.0 * ((1.0 + margin) * largest) ** 2),
        arms=tuple(chosen),
        guaranteed=guaranteed,
        share=share,
        weight=weight,
        in_set=in_set,
        outside=np.array([leading * anyone * x * x for x in inverse]),
    )


def _check(bandit: AffinityBandit) -> None:
    check_bandit(bandit)
    check_weights(bandit)
    check_feedback(bandit, LOWER, "the lower bound")


def _exponent(value: float) -> float:
    return checks.number("exponent", value, low=0.0, high=1.0, open_low=True, open_high=True)


def _eps(bandit: AffinityBandit, eps: float | None) -> float:
    """Return eps in (0, (1 - mu_max) / Delta_max]."""
    widest = float(bandit.gaps.max())
    if widest == 0.0:
        raise InvalidInput(
            "true_means", "of which one at least is below the largest", bandit.true_means
        )
    largest = (1.0 - max(bandit.true_means)) / widest
    if largest <= 0.0:
        raise InvalidInput(
            "true_means", "below 1, to leave room for a better arm", max(bandit.true_means)
        )
    if eps is None:
        return largest
    return checks.number("eps", eps, low=0.0, high=largest, open_low=True)


def _chosen(bandit: AffinityBandit, arms: Sequence[int] | None) -> list[int]:
    worse = np.flatnonzero(bandit.gaps > 0.0).tolist()
    if arms is None:
        return list(worse)
    chosen = sorted(set(checks.integers_list("arms", arms, low=0, high=bandit.arms - 1)))
    if not chosen or not set(chosen) <= set(worse):
        raise InvalidInput("arms", "a list of suboptimal arms, at least one", arms)
    return chosen


def _inverse_gaps(bandit: AffinityBandit) -> list[float]:
    """Return 1/Delta_i, and 0 for optimal arms, which add nothing to a lower bound."""
    return [0.0 if gap == 0.0 else 1.0 / gap for gap in bandit.gaps.tolist()]


def _inverse_square(value: float) -> float:
    """Return 1/value**2, infinite where that is beyond floating point."""
    return math.inf if value == 0.0 else (1.0 / value) * (1.0 / value)
