"""The paper's bounds on regret and pulls: from below, from above, and their ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias
from affinity_bandits.model.noise import Gaussian
from affinity_bandits.policies import PublishedSchedule
from affinity_bandits.theory.horizon import (
    LOG_12_OVER_PI_2,
    LOWER,
    check_arm,
    check_bandit,
    check_feedback,
    check_joining,
    check_slope,
    check_weights,
    effective_initial_pulls,
    horizon_condition,
    log_of,
)
from affinity_bandits.theory.rounds import active_sets, check_history


class LaiRobbins(NamedTuple):
    """The classical lower bound of the ordinary bandit."""

    regret: float
    #: Per arm; 0 for optimal arms.
    pulls: FloatArray


class LowerBound(NamedTuple):
    """Theorem D.1 with the constants of its proof."""

    #: The leading term, over every B' that the theorem may mean.
    regret: float
    #: The exponent a of a consistent policy.
    exponent: float
    eps: float
    #: |A| / (6 K).
    alpha: float
    #: 2 K / |A|.
    beta: float
    beta_prime: float
    n_zero: float
    #: A, the suboptimal arms among which B' is.
    arms: tuple[int, ...]
    #: The smallest size of B', |A| / 4 rounded up.
    guaranteed: int
    #: min{1, beta'/K}; at 1, the proof's small-share set holds every arm and the bias is
    #: lost.
    share: float
    #: f(share).
    weight: float
    #: Per arm: leading term of E T_i(n) if it is in B', 0 outside A.
    in_set: FloatArray
    #: Per arm: leading term of E T_i(n) whether or not it is in B'; 0 for optimal arms.
    outside: FloatArray


def lai_robbins(
    bandit: AffinityBandit, horizon: int | None = None, *, log_horizon: float | None = None
) -> LaiRobbins:
    """sum_{i : Delta_i > 0} 2 log(n) / Delta_i, and per arm 2 log(n) / Delta_i**2.

    The lower bound of Lai and Robbins for Gaussian values of variance 1, for policies consistent
    with every a > 0 in an ordinary bandit. It omits a term O(1), so it is asymptotic.

    Args:
        bandit: the instance, with noise `Gaussian(1.0)`; its bias is ignored.
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
    biased: bool = False,
) -> FloatArray:
    """2/((1 + eps)**2 Delta_i**2) ((c - C/(Delta_i n**(1-a))) log(eps Delta_i n**(1-a)/C) - log 2), c = 1.

    Equation (30): a lower bound on a consistent policy's pulls of arm i at
    this n; 0 for optimal arms, and where the formula or one of its two factors is negative. It
    assumes feedback N(mu W, 1), f <= 1 and mu_i + (1 + eps) Delta_i <= 1.

    With `biased`, for arms of the unknown set B' of Theorem D.1, whose shares stay small or that are
    pulled often: the smaller of the first line of Equation (31),

        f(beta'/K)**-2 (the formula above with c = alpha/4, less n_0),

    and of Case 2' of Lemma D.11, alpha (beta' - beta) (t0 + n_0) exp(alpha beta') / (4 K). The
    constants are those of `lower_bound`, n_0 rounded up.

    Args:
        bandit: the instance.
        horizon: n.
        constant: C > 0 of Definition 5.1.
        exponent: a in (0, 1) of Definition 5.1.
        eps: as in `lower_bound`.
        log_horizon: log n, instead of n.
        biased: whether to use that shares in B' are small.
    """  # noqa: E501 - the formula stays on its line
    _check(bandit)
    log_n = log_of(horizon, log_horizon)
    scale = checks.number("constant", constant, low=0.0, open_low=True)
    power = _exponent(exponent)
    margin = _eps(bandit, eps)
    stay, n_zero, gain, most = 1.0, 0.0, 1.0, math.inf
    if biased:
        proven = lower_bound(bandit, exponent=power, eps=margin, log_horizon=log_n)
        stay, n_zero = proven.alpha / 4.0, math.ceil(proven.n_zero)
        gain = inverse_square(proven.weight)
        log_most = proven.alpha * proven.beta_prime + math.log(
            stay
            * (proven.beta_prime - proven.beta)
            * (sum(effective_initial_pulls(bandit, False)) + n_zero)
        )
        most = math.exp(min(log_most - math.log(bandit.arms), 709.0))
    pulls = np.zeros(bandit.arms)
    for arm, gap in enumerate(bandit.gaps.tolist()):
        if gap == 0.0:
            continue
        log_ratio = math.log(gap) + (1.0 - power) * log_n - math.log(scale)
        # exp(-x) may overflow for negative x, where c - exp(-x) is negative.
        share = max(0.0, stay - math.exp(-log_ratio)) if log_ratio > 0.0 else 0.0
        information = share * max(0.0, math.log(margin) + log_ratio) - math.log(2.0)
        least = 2.0 * information * inverse_square((1.0 + margin) * gap) - n_zero
        if least > 0.0:
            pulls[arm] = min(gain * least, most)
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

    Theorem D.1 with the constants that its proof chooses,

        alpha = |A|/(6 K),  beta = 2 K/|A|,  n_0 = alpha (1-a) log(n) / (4 (1+eps)**2 Delta_max**2),
        beta' = (2 log(Delta_max/Delta_min) + log(4 K/alpha) - 2 log f(beta/K)) / alpha,

    with gaps and extremes over A. This is the leading term as n grows; `finite_horizon_pulls` is a
    guarantee at one n. B' is an unknown part of A with at least |A|/4 arms, so the sum takes the
    arms of A that add least. f is evaluated at min{1, beta'/K}. With few arms that is 1 and the
    ordinary bandit's bound remains (for f(x) = x and equal gaps up to 93 arms).

    Args:
        bandit: the instance; feedback N(mu W, 1) and f <= 1 are assumed.
        horizon: n.
        exponent: a in (0, 1) of Definition 5.1.
        eps: in (0, (1 - mu_max) / Delta_max], by default the upper end.
        arms: A, by default all suboptimal arms.
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
    member, anyone = alpha / 4.0 * inverse_square(weight), 2.0
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
    return [0.0 if gap == 0.0 else 1.0 / gap for gap in bandit.gaps.tolist()]


def inverse_square(value: float) -> float:
    """Return 1/value**2, infinite where that is beyond floating point."""
    return math.inf if value == 0.0 else (1.0 / value) * (1.0 / value)


class RegretBound(NamedTuple):
    """An upper bound on the expected regret."""

    value: float
    #: Whether the horizon condition holds; without it, the value bounds nothing.
    holds: bool


class ArmPullBound(NamedTuple):
    """Upper bounds on the expected pulls of each arm."""

    #: Per arm; nan for optimal arms, on which the lemma says nothing.
    pulls: FloatArray
    #: Whether the horizon condition holds; without it, the values bound nothing.
    holds: bool


class SimplifiedBounds(NamedTuple):
    """The three forms of Corollary C.6."""

    #: With f(min{T0_i / (t0 + i - 1), 1/K}).
    own_share: float
    #: With f(T0_min / (t0 + K - 1)); never below the first.
    smallest_share: float
    #: With f(1 / (15 K)); None unless T0_max <= 2**7 log(12 K**2 n / pi**2).
    equal_share: float | None
    #: Whether the horizon condition holds; without it, the values bound nothing.
    holds: bool


class WeightFloor(NamedTuple):
    """Floors of fbar_i^min(r), all of Lemma C.5."""

    #: f(min{T0_i / (t0 + i - 1), 1/K}), for every round.
    own_share: float
    #: f(T0_min / (t0 + K - 1)), for every round and arm; never above the first.
    smallest_share: float
    #: f(1 / (15 K)), for r = 2, ..., n; None unless T0_max <= 2**7 log(12 K**2 n / pi**2).
    equal_share: float | None


def regret_bound(
    bandit: AffinityBandit,
    horizon: int | None = None,
    schedule: PublishedSchedule | None = None,
    *,
    log_horizon: float | None = None,
    discard_first: bool = True,
    tight: bool = False,
) -> RegretBound:
    """sum_{i : Delta_i > 0} Delta_i + 2**11/3 log(12/pi**2 K**2 n**3) / (Delta_i fbar_i^min(u_i - 1)**2).

    Equation (12): the sum of Delta_i times `arm_pull_bound`, which see.

    Args:
        bandit: the instance; true means in [0, 1], feedback 1-subGaussian.
        horizon: n.
        schedule: `PublishedSchedule()` if left out; its offset must be at least 5.
        log_horizon: log n, instead of n.
        discard_first: whether Algorithm 1 begins with its discarded pulls.
        tight: whether to stop at the proof's last step but one, which is at most as large.
    """  # noqa: E501 - the formula stays on its line
    pulls, holds = arm_pull_bound(
        bandit,
        horizon,
        schedule,
        log_horizon=log_horizon,
        discard_first=discard_first,
        tight=tight,
    )
    # Python's own sum: it ends at infinity, where numpy would warn and fsum raise.
    terms = zip(bandit.gaps.tolist(), pulls.tolist(), strict=True)
    return RegretBound(float(sum(gap * bound for gap, bound in terms if gap > 0.0)), holds)


def arm_pull_bound(
    bandit: AffinityBandit,
    horizon: int | None = None,
    schedule: PublishedSchedule | None = None,
    *,
    log_horizon: float | None = None,
    discard_first: bool = True,
    tight: bool = False,
) -> ArmPullBound:
    """E T_i(n) <= 1 + 2**11/3 log(12/pi**2 K**2 n**3) / (Delta_i fbar_i^min(u_i - 1))**2.

    Lemma C.9, for every suboptimal arm. Its proof has, one step earlier,

        E T_i(n) <= 1 + 2**7/3 log(12/pi**2 K**2 n**3) 4**u_i,

    which is smaller, and which `tight` returns. It also serves u_i = 1, possible for weights above
    1, where fbar_i^min(0) is undefined. For an arm that stays in every U_r, `weight_floor` replaces
    fbar_i^min.

    Arguments as in `regret_bound`.
    """
    log_n, plan, holds = _setting(bandit, horizon, log_horizon, schedule)
    found = active_sets(bandit, horizon, plan, discard_first=discard_first, log_horizon=log_horizon)
    initial = effective_initial_pulls(bandit, discard_first)
    total = sum(initial)
    scale = _scale(bandit, log_n, plan)
    gaps = bandit.gaps
    pulls = np.full(bandit.arms, math.nan)
    for arm in range(bandit.arms):
        gap, last = float(gaps[arm]), found.last_rounds[arm]
        if gap == 0.0:
            continue
        if last is None:
            share = _own_share(initial, total, arm)
            factor = inverse_square(gap * bandit.bias.weight(share))
        elif tight or last == 1:
            factor = 4.0 ** (last - 2)  # 2**(c + 2) 4**u is 2**(c + 6) 4**(u - 2)
        else:
            factor = inverse_square(gap * float(found.weights[last - 2, arm]))
        pulls[arm] = 1.0 + scale * factor
    return ArmPullBound(pulls, holds)


def worst_case_regret_bound(
    bandit: AffinityBandit,
    horizon: int | None = None,
    schedule: PublishedSchedule | None = None,
    *,
    log_horizon: float | None = None,
    discard_first: bool = True,
) -> RegretBound:
    """K + 2 sqrt(2**11 n K log(12/pi**2 K**2 n**3) / (3 f(T0_min / (t0 + K - 1))**2)).

    Equation (13), the same for all gaps. It also assumes f <= 1; otherwise u_i = 1 is possible,
    which the proof leaves out.

    Arguments as in `regret_bound`. The result is infinite beyond floating point.
    """
    log_n, plan, holds = _setting(bandit, horizon, log_horizon, schedule)
    check_weights(bandit)
    floor = bandit.bias.weight(_smallest_share(effective_initial_pulls(bandit, discard_first)))
    if floor == 0.0:
        return RegretBound(math.inf, holds)
    log_root = 0.5 * (log_n + math.log(bandit.arms * _scale(bandit, log_n, plan)))
    exponent = log_root - math.log(floor)
    # exp() raises beyond 709.78; the bound itself is then beyond floating point.
    root = math.exp(exponent) if exponent < 709.0 else math.inf
    return RegretBound(bandit.arms + 2.0 * root, holds)


def simplified_regret_bounds(
    bandit: AffinityBandit,
    horizon: int | None = None,
    schedule: PublishedSchedule | None = None,
    *,
    log_horizon: float | None = None,
    discard_first: bool = True,
) -> SimplifiedBounds:
    """sum_{i : Delta_i > 0} Delta_i + 2**11/3 log(12/pi**2 K**2 n**3) / (Delta_i f(x_i)**2).

    Corollary C.6, with x_i = min{T0_i / (t0 + i - 1), 1/K}, then with T0_min / (t0 + K - 1), then
    with 1/(15 K) if T0_max <= 2**7 log(12 K**2 n / pi**2). It also assumes f <= 1. The first two
    are at least `regret_bound`, the third at least its tight form.

    Arguments as in `regret_bound`.
    """
    log_n, plan, holds = _setting(bandit, horizon, log_horizon, schedule)
    check_weights(bandit)
    initial = effective_initial_pulls(bandit, discard_first)
    size = sum(initial)
    gaps = bandit.gaps.tolist()
    arms = [arm for arm in range(bandit.arms) if gaps[arm] > 0.0]
    scale = _scale(bandit, log_n, plan)

    def total(shares: Sequence[float]) -> float:
        terms = (
            gaps[arm] * (1.0 + scale * inverse_square(gaps[arm] * bandit.bias.weight(share)))
            for arm, share in zip(arms, shares, strict=True)
        )
        return float(sum(terms))

    small = _small_committee(bandit, initial, log_n, plan)
    return SimplifiedBounds(
        own_share=total([_own_share(initial, size, arm) for arm in arms]),
        smallest_share=total([_smallest_share(initial)] * len(arms)),
        equal_share=total([1.0 / (15.0 * bandit.arms)] * len(arms)) if small else None,
        holds=holds,
    )


def weight_floor(
    bandit: AffinityBandit,
    arm: int,
    horizon: int | None = None,
    schedule: PublishedSchedule | None = None,
    *,
    log_horizon: float | None = None,
    discard_first: bool = True,
) -> WeightFloor:
    """fbar_i^min(r) >= f(min{T0_i / (t0 + i - 1), 1/K}) >= f(T0_min / (t0 + K - 1)).

    Lemma C.5, with arms counted from 1; and fbar_i^min(r) >= f(1/(15 K)) for
    r = 2, ..., n if T0_max <= m_1 = 2**7 log(12 K**2 n / pi**2). It holds for every horizon.

    Arguments as in `regret_bound`; `arm` counts from 0.
    """
    check_bandit(bandit)
    index = check_arm(bandit, arm)
    log_n, plan = log_of(horizon, log_horizon), _published(schedule)
    initial = effective_initial_pulls(bandit, discard_first)
    small = _small_committee(bandit, initial, log_n, plan)
    return WeightFloor(
        own_share=bandit.bias.weight(_own_share(initial, sum(initial), index)),
        smallest_share=bandit.bias.weight(_smallest_share(initial)),
        equal_share=bandit.bias.weight(1.0 / (15.0 * bandit.arms)) if small else None,
    )


def bias_error_bound(
    bandit: AffinityBandit,
    sets: Sequence[Sequence[int]],
    lengths: Sequence[int],
    *,
    discard_first: bool = True,
) -> float:
    """L/m_r (1 + (1 + D/|A_r|) log(1 + |A_r| m_r / (t0 + |A_1| m_1 + ... + |A_{r-1}| m_{r-1}))).

    Lemma C.7, with D = T0_max - T0_min: an upper bound on the difference
    of two active arms' mean weights in round r, for any means, horizon and schedule.

    Arguments as in `mean_weight`.
    """
    if bandit.memory is not None:
        raise NotSupported("the lemma is about committees that only grow: leave memory out")
    check_joining(bandit)
    check_slope(bandit)
    history, pulls = check_history(bandit, sets, lengths)
    initial = effective_initial_pulls(bandit, discard_first)
    before = sum(initial) + sum(
        len(active) * length for active, length in zip(history[:-1], pulls[:-1], strict=True)
    )
    size, length = len(history[-1]), pulls[-1]
    spread = 1.0 + (max(initial) - min(initial)) / size
    growth = math.log1p(size * length / before)
    return bandit.bias.lipschitz / length * (1.0 + spread * growth)


def _setting(
    bandit: AffinityBandit,
    horizon: int | None,
    log_horizon: float | None,
    schedule: PublishedSchedule | None,
) -> tuple[float, PublishedSchedule, bool]:
    """Check the theorem's assumptions; return log n, the schedule, the horizon condition."""
    plan = _published(schedule)
    condition = horizon_condition(bandit, horizon, log_horizon=log_horizon)
    return condition.log_horizon, plan, condition.holds


def _published(schedule: PublishedSchedule | None) -> PublishedSchedule:
    plan = PublishedSchedule() if schedule is None else schedule
    if not isinstance(plan, PublishedSchedule):
        raise NotSupported(f"the upper bounds were proved for published schedules, not for {plan}")
    if plan.offset < 5.0:
        raise InvalidInput("offset", "at least 5, which the upper bounds' proofs need", plan.offset)
    return plan


def _scale(bandit: AffinityBandit, log_horizon: float, plan: PublishedSchedule) -> float:
    """Return 2**(c + 6)/3 log(12/pi**2 K**2 n**3)."""
    logarithm = LOG_12_OVER_PI_2 + 2.0 * math.log(bandit.arms) + 3.0 * log_horizon
    return math.pow(2.0, plan.offset + 6.0) / 3.0 * logarithm


def _own_share(initial: Sequence[int], total: int, arm: int) -> float:
    return min(initial[arm] / (total + arm), 1.0 / len(initial))


def _smallest_share(initial: Sequence[int]) -> float:
    return min(initial) / (sum(initial) + len(initial) - 1)


def _small_committee(
    bandit: AffinityBandit, initial: Sequence[int], log_horizon: float, plan: PublishedSchedule
) -> bool:
    """Return whether T0_max <= 2**(c + 2) log(12 K**2 n / pi**2), the unrounded m_1."""
    logarithm = LOG_12_OVER_PI_2 + 2.0 * math.log(bandit.arms) + log_horizon
    return max(initial) <= math.pow(2.0, plan.offset + 2.0) * logarithm


GRID = 4097
"""Shares at which a bias is looked at, evenly spread on a logarithmic scale."""


class BoundRatio(NamedTuple):
    """The two bounds of one instance."""

    upper: float
    lower: float
    ratio: float
    #: Whether the horizon condition holds; without it, the upper bound bounds nothing.
    holds: bool


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

    Corollary 5.4 bounds it by O(log(K)**(2 L')). With the constants of both
    proofs the ratio is about 10**4 even for an ordinary bandit.

    Args:
        bandit: the instance; true means below 1, feedback N(mu W, 1), f <= 1.
        horizon: n, above 1.
        exponent: a in (0, 1) of Definition 5.1.
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

    The factor of Corollary 5.4, from its proof, which assumes f(mu x) <= mu**L' f(x) (see
    `growth_exponent`) and 15 c log K in (1, 15 K). Infinite beyond floating point.

    Args:
        arms: K >= 2.
        growth: L'.
        constant: c, which the paper leaves unnamed. beta'/log K of `lower_bound` is one.
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

    The assumption of Corollary 5.4, in the range its proof uses. L' is the
    steepest slope of log f over log x. The function compares neighbors on a grid, so it returns a
    lower bound on L', exact for powers. The grid is denser behind breakpoints, where the
    counterexample of Remark D.2 is steep.

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
