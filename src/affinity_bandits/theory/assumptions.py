"""What the theorems assume of an instance and of a horizon, checked in one place."""

from __future__ import annotations

import math
import numbers

import numpy as np

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.committee import Judges
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.feedback import Feedback

LARGEST_LOG_HORIZON = 1e200
"""Largest log n: round lengths, a power of 4 times it, must stay inside floating point."""

UPPER = Feedback(sigma=1.0)
"""What the guarantee of Algorithm 1 assumes of feedback (`assump:multBias`)."""
LOWER = Feedback(sigma=1.0, law="normal")
"""The class of the lower bounds: feedback N(mu W, 1) (`thm:lowerBoundRegretAppendix`)."""

LOG_12_OVER_PI_2 = math.log(12.0 / math.pi**2)
"""The constant inside the logarithm of `eq:eliminationArmPullsInRound`."""


def log_of(horizon: int | None, log_horizon: float | None) -> float:
    """Return log n from n, a whole number of any size, or from log n itself.

    Args:
        horizon: n >= 1.
        log_horizon: log n >= 0, for horizons that are easier to write that way.
    """
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
    """Check what all theorems share: true means in [0, 1] and a committee that only grows.

    `thm:eliminationUnknownBiasAppendix` states the means' range; the gaps of
    `thm:lowerBoundRegretAppendix` and its alternative means lie in [0, 1] as well.
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
    check_committee(bandit)
    check_slope(bandit)


def check_committee(bandit: AffinityBandit) -> None:
    """Check that all who are chosen join at once, and that all members judge."""
    if not (bandit.joining.everyone and bandit.judges == Judges()):
        raise NotSupported(
            "the theorems are about committees that all who are chosen join at once, and of which "
            "all members judge: leave joining and judges out"
        )


def check_feedback(bandit: AffinityBandit, assumed: Feedback, where: str) -> None:
    """Check that feedback is what a theorem assumes it to be.

    Args:
        bandit: the instance.
        assumed: what the theorem says of feedback.
        where: whose assumption it is, for the message.

    Raises:
        NotSupported: it is not; the message says what is assumed and what is produced.
    """
    missing = assumed.missing(bandit.feedback)
    if missing:
        raise NotSupported(
            f"{where} assumes {assumed.in_words}; {bandit.feedback_name} here {missing}"
        )


def check_slope(bandit: AffinityBandit) -> None:
    """Check that the bias has a Lipschitz constant, as `assump:multBias` asks."""
    if bandit.bias.lipschitz == math.inf:
        raise NotSupported(
            f"the theorems assume a Lipschitz constant, and the bias {bandit.bias} has none"
        )


def check_weights(bandit: AffinityBandit) -> None:
    """Check f <= 1, which `assump:multBias` leaves open and some proofs use."""
    largest = bandit.bias.bounds[1]
    if largest > 1.0:
        raise InvalidInput("bias", "at most 1 everywhere, as this proof assumes", largest)


def check_arm(bandit: AffinityBandit, arm: int) -> int:
    """Return the index of an arm of the bandit."""
    return checks.integer("arm", arm, low=0, high=bandit.arms - 1)


def committee(bandit: AffinityBandit, discard_first: bool) -> tuple[int, ...]:
    """Return the paper's T0_i: the initial pulls, after the discarded pull if there is one.

    `alg:eliminationUnknownBiasAppendix` begins with a pull of each arm whose feedback it throws
    away, "to ensure T0_i >= 1"; all its formulas count time from there.
    """
    extra = 1 if checks.flag("discard_first", discard_first) else 0
    return tuple(pulls + extra for pulls in bandit.initial_pulls or ())
