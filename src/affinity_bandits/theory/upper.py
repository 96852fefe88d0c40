"""Upper bounds on the regret of Algorithm 1, and the lemmas they rest on.

All hold when the horizon condition does (`horizon_condition`), which each result says in `holds`.
They were proved for the published schedule with offset 5; the proofs go through word by word for
any offset c >= 5, with 2**(c + 6) where the paper has 2**11, and that is what is computed. That
m_r is rounded up and that the discarded pull counts too is covered: u rounds are bounded by
2**(c + 2)/3 log(12/pi**2 K**2 n**3) 4**u pulls, of which more than u + 1 stay unused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies import PublishedSchedule
from affinity_bandits.theory.assumptions import (
    LOG_12_OVER_PI_2,
    check_arm,
    check_bandit,
    check_committee,
    check_slope,
    check_weights,
    committee,
    log_of,
)
from affinity_bandits.theory.horizon import horizon_condition
from affinity_bandits.theory.rounds import active_sets, check_history


class RegretBound(NamedTuple):
    """An upper bound on the expected regret."""

    value: float
    holds: bool
    """Whether the horizon condition holds; without it, the value bounds nothing."""


class ArmPullBound(NamedTuple):
    """Upper bounds on the expected pulls of each arm."""

    pulls: FloatArray
    """Per arm; nan for optimal arms, on which the lemma says nothing."""
    holds: bool
    """Whether the horizon condition holds; without it, the values bound nothing."""


class SimplifiedBounds(NamedTuple):
    """The three forms of `cor:regretConstSuboptimalityGaps`."""

    own_share: float
    """With f(min{T0_i / (t0 + i - 1), 1/K})."""
    smallest_share: float
    """With f(T0_min / (t0 + K - 1)); never below the first."""
    equal_share: float | None
    """With f(1 / (15 K)); None unless T0_max <= 2**7 log(12 K**2 n / pi**2)."""
    holds: bool
    """Whether the horizon condition holds; without it, the values bound nothing."""


class WeightFloor(NamedTuple):
    """Floors of fbar_i^min(r), all of `lem:fminTypicalScaling`."""

    own_share: float
    """f(min{T0_i / (t0 + i - 1), 1/K}), for every round."""
    smallest_share: float
    """f(T0_min / (t0 + K - 1)), for every round and arm; never above the first."""
    equal_share: float | None
    """f(1 / (15 K)), for r = 2, ..., n; None unless T0_max <= 2**7 log(12 K**2 n / pi**2)."""


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

    `eq:eliminationRegretInstDep`: the sum of Delta_i times `arm_pull_bound`, which see.

    Args:
        bandit: the instance; true means in [0, 1], feedback 1-subGaussian.
        horizon: n.
        schedule: `PublishedSchedule()` if left out; its offset must be at least 5.
        log_horizon: log n, instead of n.
        discard_first: whether Algorithm 1 begins with its discarded pulls.
        tight: whether to stop at the proof's last step but one; never larger.
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

    `lem:eliminationArmBound`, for every suboptimal arm. Its proof has, one step earlier,

        E T_i(n) <= 1 + 2**7/3 log(12/pi**2 K**2 n**3) 4**u_i,

    which is at most that, and is what `tight` returns. It is also used for u_i = 1, where
    fbar_i^min(0) is not defined and the lemma's last step is void; that takes a weight above 1,
    because Delta_i f <= 1 otherwise. For an arm that stays in U_r as far as rounds are looked at,
    fbar_i^min is replaced by its floor, `weight_floor`.

    Args:
        bandit: the instance; true means in [0, 1], feedback 1-subGaussian.
        horizon: n.
        schedule: `PublishedSchedule()` if left out; its offset must be at least 5.
        log_horizon: log n, instead of n.
        discard_first: whether Algorithm 1 begins with its discarded pulls.
        tight: whether to stop at the proof's last step but one.
    """
    log_n, plan, holds = _setting(bandit, horizon, log_horizon, schedule)
    found = active_sets(bandit, horizon, plan, discard_first=discard_first, log_horizon=log_horizon)
    initial = committee(bandit, discard_first)
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
            factor = _inverse_square(gap * bandit.bias.weight(share))
        elif tight or last == 1:
            factor = 4.0 ** (last - 2)  # 2**(c + 2) 4**u is 2**(c + 6) 4**(u - 2)
        else:
            factor = _inverse_square(gap * float(found.weights[last - 2, arm]))
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

    `eq:eliminationRegretWorstCase`, which does not depend on the gaps. Assumed besides what
    `regret_bound` assumes: f <= 1, without which u_i = 1 is possible and the proof has a hole.

    Args:
        bandit: the instance.
        horizon: n.
        schedule: `PublishedSchedule()` if left out; its offset must be at least 5.
        log_horizon: log n, instead of n.
        discard_first: whether Algorithm 1 begins with its discarded pulls.

    Returns:
        The bound; infinity if it lies beyond floating point.
    """
    log_n, plan, holds = _setting(bandit, horizon, log_horizon, schedule)
    check_weights(bandit)
    floor = bandit.bias.weight(_smallest_share(committee(bandit, discard_first)))
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

    `cor:regretConstSuboptimalityGaps`, with x_i = min{T0_i / (t0 + i - 1), 1/K}, then with
    T0_min / (t0 + K - 1), then with 1/(15 K) if T0_max <= 2**7 log(12 K**2 n / pi**2). Assumed
    besides what `regret_bound` assumes: f <= 1, which the proof uses; for a constant weight of
    100 the corollary would promise fewer pulls than round 1 has.

    The first two are never below `regret_bound`; the third can be, because it treats u_i = 2
    apart, but it is never below the tight form.

    Args:
        bandit: the instance.
        horizon: n.
        schedule: `PublishedSchedule()` if left out; its offset must be at least 5.
        log_horizon: log n, instead of n.
        discard_first: whether Algorithm 1 begins with its discarded pulls.
    """
    log_n, plan, holds = _setting(bandit, horizon, log_horizon, schedule)
    check_weights(bandit)
    initial = committee(bandit, discard_first)
    size = sum(initial)
    gaps = bandit.gaps.tolist()
    arms = [arm for arm in range(bandit.arms) if gaps[arm] > 0.0]
    scale = _scale(bandit, log_n, plan)

    def total(shares: Sequence[float]) -> float:
        terms = (
            gaps[arm] * (1.0 + scale * _inverse_square(gaps[arm] * bandit.bias.weight(share)))
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

    `lem:fminTypicalScaling`, with arms counted from 1; and fbar_i^min(r) >= f(1/(15 K)) for
    r = 2, ..., n if T0_max <= m_1 = 2**7 log(12 K**2 n / pi**2). Nothing is asked of the horizon.

    Args:
        bandit: the instance.
        arm: i, counted from 0 as everywhere in this package.
        horizon: n.
        schedule: `PublishedSchedule()` if left out; its offset must be at least 5.
        log_horizon: log n, instead of n.
        discard_first: whether Algorithm 1 begins with its discarded pulls.
    """
    check_bandit(bandit)
    index = check_arm(bandit, arm)
    log_n, plan = log_of(horizon, log_horizon), _published(schedule)
    initial = committee(bandit, discard_first)
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

    `lem:eliminationSuboptimalityGaps`, with D = T0_max - T0_min: how far apart the mean weights
    of two active arms can be in round r. Nothing is asked of the means, the horizon or the
    schedule.

    Args:
        bandit: the instance; its bias, its Lipschitz constant and its initial pulls count.
        sets: A_1, ..., A_r, each inside the one before.
        lengths: m_1, ..., m_r.
        discard_first: whether a discarded pull of each arm came before round 1.
    """
    if bandit.memory is not None:
        raise NotSupported("the lemma is about committees that only grow: leave memory out")
    check_committee(bandit)
    check_slope(bandit)
    history, pulls = check_history(bandit, sets, lengths)
    initial = committee(bandit, discard_first)
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
    """Check what the theorem assumes; return log n, the schedule, the horizon condition."""
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


def _inverse_square(value: float) -> float:
    """Return 1/value**2, infinite where that is beyond floating point."""
    return math.inf if value == 0.0 else (1.0 / value) * (1.0 / value)
