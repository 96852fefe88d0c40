"""The theorems' assumptions on an instance and a horizon, checked in one place."""

from __future__ import annotations

import math
import numbers
from typing import NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.committee import Judges
from affinity_bandits.model.feedback import Feedback

LARGEST_LOG_HORIZON = 1e200
"""Largest log n: round lengths, a power of 4 times it, must stay inside floating point."""

UPPER = Feedback(sigma=1.0)
"""What the guarantee of Algorithm 1 assumes of feedback (Assumption 2.1)."""
LOWER = Feedback(sigma=1.0, law="normal")
"""The class of the lower bounds: feedback N(mu W, 1) (Theorem D.1)."""

LOG_12_OVER_PI_2 = math.log(12.0 / math.pi**2)
"""The constant inside the logarithm of Equation (10)."""


def log_of(horizon: int | None, log_horizon: float | None) -> float:
    """Return log n from n >= 1, a whole number of any size, or from log n >= 0 itself."""
    if (horizon is None) == (log_horizon is None):
        raise InvalidInput(
            "horizon", "given, unless log_horizon is, and not both", (horizon, log_horizon)
        )
    if log_horizon is not None:
        return checks.number("log_horizon", log_horizon, low=0.0, high=LARGEST_LOG_HORIZON)
    rule = "a whole number of at least 1"
    value = horizon.item() if isinstance(horizon, np.generic) else horizon
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidInput("horizon", rule, horizon)
    # The range first: it also catches nan, and infinity is not whole.
    if not value >= 1 or value == math.inf or value != int(value):
        raise InvalidInput("horizon", rule, horizon)
    return math.log(int(value))


def check_bandit(bandit: AffinityBandit) -> None:
    """Check the assumptions of all theorems: true means in [0, 1], a committee that only grows.

    Theorem C.4 states the means' range; the gaps of Theorem D.1 and its alternative means lie in
    [0, 1] as well.
    """
    if not isinstance(bandit, AffinityBandit):
        raise InvalidInput("bandit", "an AffinityBandit", bandit)
    for arm, mean in enumerate(bandit.true_means):
        if not 0.0 <= mean <= 1.0:
            raise InvalidInput(f"true_means[{arm}]", "in [0, 1], as the theorems assume", mean)
    if bandit.memory is not None:
        raise NotSupported(
            "the theorems are about committees that only grow; "
            f"this one remembers its last {bandit.memory:,} members: leave memory out"
        )
    check_joining(bandit)
    check_slope(bandit)


def check_joining(bandit: AffinityBandit) -> None:
    """Check that all who are chosen join at once, and that all members judge."""
    if not (bandit.joining.everyone and bandit.judges == Judges()):
        raise NotSupported(
            "the theorems are about committees that all who are chosen join at once, and of which "
            "all members judge: leave joining and judges out"
        )


def check_feedback(bandit: AffinityBandit, assumed: Feedback, where: str) -> None:
    """Raise NotSupported unless feedback is as a theorem assumes.

    `where` names the theorem in the message.
    """
    missing = assumed.missing(bandit.feedback)
    if missing:
        raise NotSupported(
            f"{where} assumes {assumed.in_words}; {bandit.feedback_name} here {missing}"
        )


def check_slope(bandit: AffinityBandit) -> None:
    """Check that the bias has a Lipschitz constant, as Assumption 2.1 asks."""
    if bandit.bias.lipschitz == math.inf:
        raise NotSupported(
            f"the theorems assume a Lipschitz constant, and the bias {bandit.bias} has none"
        )


def check_weights(bandit: AffinityBandit) -> None:
    """Check f <= 1, which Assumption 2.1 leaves open and some proofs use."""
    largest = bandit.bias.bounds[1]
    if largest > 1.0:
        raise InvalidInput("bias", "at most 1 everywhere, as this proof assumes", largest)


def check_arm(bandit: AffinityBandit, arm: int) -> int:
    """Return the index of an arm of the bandit."""
    return checks.integer("arm", arm, low=0, high=bandit.arms - 1)


def effective_initial_pulls(bandit: AffinityBandit, discard_first: bool) -> tuple[int, ...]:
    """Return the paper's T0_i: the initial pulls, after the discarded pull if there is one.

    Algorithm 2 begins with a pull of each arm whose feedback it throws
    away, "to ensure T0_i >= 1"; all its formulas count time from there.
    """
    extra = 1 if checks.flag("discard_first", discard_first) else 0
    return tuple(pulls + extra for pulls in bandit.initial_pulls or ())


class HorizonCondition(NamedTuple):
    """Both sides of Equation (11)."""

    log_horizon: float
    #: log(n K).
    left: float
    right: float
    #: Whether left >= right.
    holds: bool


def horizon_condition(
    bandit: AffinityBandit, horizon: int | None = None, *, log_horizon: float | None = None
) -> HorizonCondition:
    """log(n K) >= mu_1 L / 2**5 (1 + max{(1 + D/K) log(1 + 2**8 log(12 K**2 n / pi**2)), (1 + D) log 13}).

    Equation (11), with D = T0_max - T0_min, mu_1 the largest true
    mean and L the Lipschitz constant of the bias. Under it, Algorithm 1 drops an optimal arm with
    probability at most 1/n. It assumes true means in [0, 1] and 1-subGaussian feedback.

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
    """Return log n of the smallest real n >= 1 that meets the horizon condition.

    Every larger n meets Equation (11) too, so bisection finds it.
    Proof: with y = log n and q = log(12 K**2 / pi**2), the condition says that a function that
    rises with y and g(y) = y + log K - A - B log(1 + 2**8 (q + y)) are at least 0, with A, B >= 0.
    If g(y0) >= 0, then B <= (y0 + log K) / log(1 + 2**8 (q + y0)), whose logarithm is above 1; so
    for all y >= y0

        g'(y) = 1 - B / (2**-8 + q + y) > 1 - (y0 + log K) / (q + y) >= 0,

    because q > log K.

    Returns:
        log n, rounded up to where the condition holds; infinity beyond floating point.
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
    """Return the smallest whole n that meets Equation (11).

    All larger n meet it too; see `smallest_log_horizon` for those above 10**15.

    Returns None above 10**15, the package's largest horizon.
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
