"""Powers of the share, joined at given shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import PIECEWISE_POWER
from affinity_bandits.displays import one_line
from affinity_bandits.errors import InvalidInput

MOST_POINTS = 100


@dataclass(frozen=True)
class PiecewisePower(Bias):
    """f through given points, a power of the share between two of them, flat beyond the ends.

    It satisfies `assump:multBias`: between points (x, w) and (y, v) it is w (s/x)**e with
    e = log(v/w) / log(y/x), so any steepness can be had anywhere: a root near 0, a step that is
    not quite one, a curve that was measured at some shares.

    Args:
        shares: ascending, in (0, 1].
        weights: f there, positive and nondecreasing.

    >>> ramp = PiecewisePower([0.01, 0.5], [0.1, 1.0])
    >>> ramp.weight(0.9), round(ramp.weight(0.05), 3)
    (1.0, 0.258)
    """

    name: ClassVar[str] = "piecewise-power"
    shares: Sequence[float]
    weights: Sequence[float]

    __repr__ = one_line

    def __post_init__(self) -> None:
        shares = checks.numbers_list("shares", self.shares, low=1e-18, high=1.0)
        # The ratio of any two must be a number, too: the exponents are made of its logarithm.
        weights = checks.numbers_list("weights", self.weights, low=1e-300, high=1e8)
        if not 1 <= len(shares) <= MOST_POINTS:
            raise InvalidInput("shares", f"a list of 1 to {MOST_POINTS} shares", len(shares))
        if len(weights) != len(shares):
            raise InvalidInput("weights", f"as long as shares ({len(shares)})", len(weights))
        if any(right <= left for left, right in pairwise(shares)):
            raise InvalidInput("shares", "ascending", list(shares))
        if any(right < left for left, right in pairwise(weights)):
            raise InvalidInput("weights", "nondecreasing", list(weights))
        object.__setattr__(self, "shares", tuple(shares))
        object.__setattr__(self, "weights", tuple(weights))

    @property
    def code(self) -> int:
        return PIECEWISE_POWER

    @property
    def exponents(self) -> tuple[float, ...]:
        """The power between each point and the next; 0 after the last."""
        points = pairwise(zip(self.shares, self.weights, strict=True))
        return (*(_log_ratio(w, v) / _log_ratio(x, y) for (x, w), (y, v) in points), 0.0)

    @property
    def steepness(self) -> float:
        """The smallest e such that f(c x) <= c**e f(x) for every c > 1."""
        return max(self.exponents)

    @property
    def own_parameters(self) -> tuple[float, ...]:
        laid = [
            number
            for point in zip(self.shares, self.weights, self.exponents, strict=True)
            for number in point
        ]
        return (float(len(self.shares)), *laid)

    @property
    def lipschitz(self) -> float:
        # The slope e f(x) / x grows with x if e > 1 and falls if e < 1: largest at an end.
        slopes = [
            exponent * self.weights[end] / self.shares[end]
            for place, exponent in enumerate(self.exponents[:-1])
            for end in (place, place + 1)
        ]
        return max(slopes, default=0.0)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return tuple(share for share in self.shares if share < 1.0)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "shares": list(self.shares), "weights": list(self.weights)}

    def __str__(self) -> str:
        if len(self.shares) == 1:
            return f"{self.weights[0]:g}"
        low, high = self.weights[0], self.weights[-1]
        return f"from {low:.3g} to {high:.3g}, at most as steep as x^{self.steepness:.3g}"


def _log_ratio(low: float, high: float) -> float:
    """Return log(high / low); of numbers side by side, not of their quotient's rounding."""
    return math.log1p((high - low) / low) if high < 2.0 * low else math.log(high / low)
