"""Rounds of Algorithm 1 on paper: their lengths, mean weights, and who can still be active."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias
from affinity_bandits.model.round_sums import bound_sums
from affinity_bandits.policies import PublishedSchedule, Schedule
from affinity_bandits.theory.horizon import (
    LOG_12_OVER_PI_2,
    check_arm,
    check_bandit,
    effective_initial_pulls,
    log_of,
)

MOST_ROUNDS = 1000
"""Rounds ever looked at, as in the policy; published rounds double out of floats before."""
LONGEST_ROUND = 10**290
"""Rounds longer than this are not looked at: times 10**5 arms they must fit into a float."""
EXACT_PULLS = 2**50
"""Up to here a round is summed as it is; longer ones on a coarser grid, see `mean_weight`."""


class ActiveSets(NamedTuple):
    """The sets U_r of Definition C.2, with their lengths and weights, for r = 1, ..., R."""

    #: U_1, ..., U_R, U_{R+1}, arms in increasing order.
    sets: tuple[tuple[int, ...], ...]
    #: m_1, ..., m_R.
    lengths: tuple[int, ...]
    #: [r - 1, i]: fbar_i^min(r); nan where i is not in U_r.
    weights: FloatArray
    #: u_i, the last r with i in U_r; None for optimal arms and for arms still in U_{R+1}.
    last_rounds: tuple[int | None, ...]


def round_lengths(
    bandit: AffinityBandit,
    horizon: int | None = None,
    schedule: Schedule | None = None,
    *,
    rounds: int | None = None,
    log_horizon: float | None = None,
) -> tuple[int, ...]:
    """m_r = ceil(2**(2 r + 5) log(12/pi**2 K**2 r**2 n)) for r = 1, 2, ...

    Equation (10), rounded up as the policy does, or any other schedule.

    Args:
        bandit: the instance; only its number of arms counts.
        horizon: n.
        schedule: by default `PublishedSchedule()`.
        rounds: number of rounds; by default those that two arms could begin within the horizon.
        log_horizon: log n, instead of n; for published schedules.
    """
    log_n = log_of(horizon, log_horizon)
    plan = _schedule(schedule)
    if rounds is not None:
        wanted = checks.integer("rounds", rounds, low=0, high=MOST_ROUNDS)
        return tuple(
            round_length(plan, r, bandit.arms, log_n, horizon) for r in range(1, wanted + 1)
        )
    lengths: list[int] = []
    planned = 0
    while planned == 0 or (_within(planned, horizon, log_n) and len(lengths) < MOST_ROUNDS):
        lengths.append(round_length(plan, len(lengths) + 1, bandit.arms, log_n, horizon))
        planned += 2 * lengths[-1]
    return tuple(lengths)


def rounds_that_fit(
    arms: int,
    horizon: int | None = None,
    schedule: Schedule | None = None,
    *,
    active: int | None = None,
    discard_first: bool = True,
    log_horizon: float | None = None,
) -> int:
    """Return the largest R with K + k (m_1 + ... + m_R) <= n: rounds that end within the horizon.

    m_r is Equation (10); k arms stay active. k = K gives the fewest rounds a run
    can complete, k = 2 nearly the most. R is at most `MOST_ROUNDS`.

    Args:
        arms: K.
        horizon: n.
        schedule: by default `PublishedSchedule()`.
        active: k, from 1 to K; by default K.
        discard_first: whether the K discarded pulls come first.
        log_horizon: log n, instead of n; for published schedules.
    """
    size = checks.integer("arms", arms, low=1, high=100_000)
    playing = size if active is None else checks.integer("active", active, low=1, high=size)
    log_n = log_of(horizon, log_horizon)
    plan = _schedule(schedule)
    planned = size if checks.flag("discard_first", discard_first) else 0
    for number in range(1, MOST_ROUNDS + 1):
        planned += playing * round_length(plan, number, size, log_n, horizon)
        if not _within(planned, horizon, log_n):
            return number - 1
    return MOST_ROUNDS


def mean_weight(
    bandit: AffinityBandit,
    arm: int,
    sets: Sequence[Sequence[int]],
    lengths: Sequence[int],
    *,
    discard_first: bool = True,
) -> float:
    """fbar_i(r | A_1, ..., A_r) = 1/m_r sum_{l=1}^{m_r} f((T0_i + M + l - 1) / (t0 + N + |A_r| (l - 1) + b_i)).

    Equation (8), where M = m_1 + ... + m_{r-1}, N = |A_1| m_1 + ... +
    |A_{r-1}| m_{r-1} and b_i is the number of arms before i in A_r: the mean weight of arm
    i in round r. The cost is independent of m_r. A round of more than 2**50 pulls is replaced by
    one of 2**50 pulls over the same shares, with a relative error of about 2**-48.

    Args:
        bandit: the instance.
        arm: i, an arm of every set.
        sets: A_1, ..., A_r, each inside the one before.
        lengths: m_1, ..., m_r.
        discard_first: whether a discarded pull of each arm came before round 1.
    """  # noqa: E501 - the formula stays on its line
    check_bandit(bandit)
    index = check_arm(bandit, arm)
    history, pulls = check_history(bandit, sets, lengths)
    if index not in history[-1]:
        raise InvalidInput("arm", "active in the last round", arm)
    initial = effective_initial_pulls(bandit, discard_first)
    own = initial[index] + sum(pulls[:-1])
    everyone = sum(initial) + sum(
        len(active) * length for active, length in zip(history[:-1], pulls[:-1], strict=True)
    )
    before = sum(other < index for other in history[-1])
    return _weigher(bandit.bias)(own, everyone + before, len(history[-1]), pulls[-1])


def active_sets(
    bandit: AffinityBandit,
    horizon: int | None = None,
    schedule: Schedule | None = None,
    *,
    discard_first: bool = True,
    log_horizon: float | None = None,
) -> ActiveSets:
    """U_1 = [K], U_{r+1} = {i in U_r : Delta_i fbar_i^min(r) <= 2**(-r + 1)}.

    Definition C.2, with fbar_i^min(r) = fbar_i(r | U_1, ..., U_r) and u_i the last r with
    i in U_r. Under the horizon condition, Algorithm 1 has dropped arm i by the end of round u_i
    with probability 1 - 1/n (Lemma C.8). For a schedule with other
    thresholds, 2**(-r + 1) is twice its threshold.

    Rounds continue until only optimal arms are left, even beyond the horizon. Arms whose weight or
    gap is 0 to rounding stay beyond `MOST_ROUNDS` and `LONGEST_ROUND`.

    Arguments as in `rounds_that_fit`; true means must lie in [0, 1].
    """
    check_bandit(bandit)
    log_n = log_of(horizon, log_horizon)
    plan = _schedule(schedule)
    initial = effective_initial_pulls(bandit, discard_first)
    gaps = [float(gap) for gap in bandit.gaps]
    weigh = _weigher(bandit.bias)
    members = list(range(bandit.arms))
    sets = [tuple(members)]
    lengths: list[int] = []
    rows: list[list[float]] = []
    last_rounds: list[int | None] = [None] * bandit.arms
    own, everyone = 0, sum(initial)
    while any(gaps[arm] > 0.0 for arm in members) and len(lengths) < MOST_ROUNDS:
        number = len(lengths) + 1
        length = round_length(plan, number, bandit.arms, log_n, horizon)
        if length > LONGEST_ROUND:
            break
        row = [math.nan] * bandit.arms
        for position, arm in enumerate(members):
            row[arm] = weigh(initial[arm] + own, everyone + position, len(members), length)
        own += length
        everyone += len(members) * length
        limit = 2.0 * plan.threshold(number)
        for arm in members:
            if gaps[arm] * row[arm] > limit:
                last_rounds[arm] = number
        members = [arm for arm in members if last_rounds[arm] is None]
        lengths.append(length)
        rows.append(row)
        sets.append(tuple(members))
    weights = np.array(rows, dtype=np.float64).reshape(len(rows), bandit.arms)
    return ActiveSets(tuple(sets), tuple(lengths), weights, tuple(last_rounds))


def round_length(
    schedule: Schedule, number: int, arms: int, log_horizon: float, horizon: int | None
) -> int:
    """Return m_r as a whole number, also where the schedule itself would stop at 2**62.

    `horizon` is needed by schedules other than the published one.
    """
    if isinstance(schedule, PublishedSchedule):
        # The schedule's own arithmetic, so that the results are the same bits.
        logarithm = LOG_12_OVER_PI_2 + 2.0 * math.log(arms * number) + log_horizon
        exponent = 2 * number + schedule.offset
        if exponent < 300.0:
            return max(1, math.ceil(math.pow(2.0, exponent) * logarithm))
        # Beyond floating point, sooner or later: 2**60 is more than the digits a float has.
        whole = math.floor(exponent) - 60
        return math.ceil(math.pow(2.0, exponent - whole) * logarithm) << whole
    if horizon is None:
        raise NotSupported(
            "only a published schedule can be laid out from log_horizon: give horizon"
        )
    return schedule.repetitions(number, arms, int(horizon))


def check_history(
    bandit: AffinityBandit, sets: Sequence[Sequence[int]], lengths: Sequence[int]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return active sets and round lengths after checking that Algorithm 1 can have them."""
    history: list[tuple[int, ...]] = []
    for number, active in enumerate(checks.sequence("sets", sets, "a list of sets of arms")):
        name = f"sets[{number}]"
        found = set(checks.integers_list(name, active, low=0, high=bandit.arms - 1))
        if not found or (history and not found <= set(history[-1])):
            raise InvalidInput(name, "a nonempty part of the set before it", active)
        history.append(tuple(sorted(found)))
    pulls: list[int] = []
    for number, length in enumerate(checks.sequence("lengths", lengths, "a list of lengths")):
        # Not `checks.integer`: rounds may be longer than any horizon that can be simulated.
        if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 1:
            raise InvalidInput(f"lengths[{number}]", "a whole number of at least 1", length)
        pulls.append(int(length))
    if not history or len(history) != len(pulls):
        raise InvalidInput("lengths", f"as long as sets ({len(history)}), at least 1", len(pulls))
    if max(pulls) > LONGEST_ROUND:
        raise NotSupported("rounds of more than 10**290 pulls are beyond floating point")
    return history, pulls


def _schedule(schedule: Schedule | None) -> Schedule:
    if schedule is None:
        return PublishedSchedule()
    if not isinstance(schedule, Schedule):
        raise InvalidInput("schedule", "a schedule such as PublishedSchedule()", schedule)
    return schedule


def _within(planned: int, horizon: int | None, log_horizon: float) -> bool:
    """Return whether so many pulls fit, exactly where the horizon is known exactly."""
    return planned <= horizon if horizon is not None else math.log(planned) <= log_horizon


def _weigher(bias: Bias) -> Callable[[int, int, int, int], float]:
    """Return the mean weight over a round as a function of (a, b, k, pulls) of `round_sums`."""
    kernel = bias.kernel
    sums = bound_sums(kernel)
    code, parameters, smooth = bias.code, bias.parameters, bool(bias.smooth)
    breakpoints = np.array(bias.breakpoints, dtype=np.float64)

    def weigh(a: int, b: int, k: int, pulls: int) -> float:
        # Shares move in one direction and f is nondecreasing, so all weights lie between the
        # first and the last; in late rounds there is nothing between those.
        first = float(kernel(code, parameters, a / b))
        last = float(kernel(code, parameters, (a + pulls - 1) / (b + k * (pulls - 1))))
        if abs(last - first) <= 2.0**-50 * first:
            return 0.5 * (first + last)
        if pulls <= EXACT_PULLS:
            total = sums(code, parameters, breakpoints, smooth, float(a), float(b), float(k), pulls)
            return float(total[0]) / pulls
        # Counting in steps of one stops at 2**53. With l = s (l' + 1/2) - 1/2 the same shares are
        # run through in 2**50 steps of s pulls, midpoint on midpoint.
        step = pulls / EXACT_PULLS
        near = (a - 0.5) / step + 0.5
        far = (b - 0.5 * k) / step + 0.5 * k
        total = sums(code, parameters, breakpoints, smooth, near, far, float(k), EXACT_PULLS)
        return float(total[0]) / EXACT_PULLS

    return weigh
