"""Feedback: its laws, as bandits produce or theorems assume them, and subGaussian constants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray

LAWS = ("bernoulli", "normal")
SAME = 1e-9
"""Relative difference up to which two constants count as equal: no theorem depends on it, and
products of rounded numbers differ by less."""


@dataclass(frozen=True)
class Feedback:
    """The facts known of feedback, given the past. `Feedback()` covers any feedback.

    Args:
        low: lower bound.
        high: upper bound.
        sigma: it is sigma-subGaussian around its mean: E[exp(l (Y - E Y))] is at most exp(l**2
            sigma**2 / 2) for every l. At most half of the width of the interval.
        law: "bernoulli": it is 0 or 1. "normal": it is normal with standard deviation sigma at
            every pull. None: any law.

    >>> Feedback(low=0.0, high=1.0).covers(Feedback(sigma=0.1))
    False
    >>> Feedback(sigma=1.0).covers(Feedback(low=0.0, high=1.0))
    True
    """

    low: float = -math.inf
    high: float = math.inf
    sigma: float = math.inf
    law: str | None = None

    def __post_init__(self) -> None:
        if not self.low <= self.high:  # also where one is nan
            raise InvalidInput("high", f"at least low ({self.low:g})", self.high)
        if not self.sigma >= 0.0:
            raise InvalidInput("sigma", "at least 0", self.sigma)
        if self.law is not None:
            checks.choice("law", self.law, LAWS)
        if self.law == "bernoulli":
            object.__setattr__(self, "low", max(self.low, 0.0))
            object.__setattr__(self, "high", min(self.high, 1.0))
        object.__setattr__(self, "sigma", min(self.sigma, 0.5 * (self.high - self.low)))

    @property
    def bounded(self) -> bool:
        """Whether it lies in an interval."""
        return self.high - self.low < math.inf

    def covers(self, produced: Feedback) -> bool:
        """Return whether everything stated here holds for the other feedback."""
        return not self.missing(produced)

    def missing(self, produced: Feedback) -> str:
        """Return how the other feedback breaks these facts, to follow "feedback", or ""."""
        slack = SAME * max(1.0, abs(self.low), abs(self.high))
        # Without an end there is nothing to exceed: inf + slack is inf, and so is slack.
        if produced.low < self.low - slack or produced.high > self.high + slack:
            return f"lies in {_interval(produced)}" if produced.bounded else "has no bounds"
        if self.law is not None and produced.law != self.law:
            return "is not only 0 or 1" if self.law == "bernoulli" else "is not normal"
        heavier = produced.sigma > self.sigma * (1.0 + SAME)
        if heavier and produced.sigma == math.inf:
            return "may have tails of any weight"
        if heavier or (self.law == "normal" and produced.sigma < self.sigma * (1.0 - SAME)):
            found = _told_apart(produced.sigma, self.sigma)
            return f"has sigma {found}" if self.law == "normal" else f"is {found}-subGaussian"
        return ""

    def __str__(self) -> str:
        """Return the known facts as a table shows them."""
        if self.law == "bernoulli":
            return "0 or 1"
        if self.law == "normal":
            return f"normal, sigma {self.sigma:.4g}"
        if self.bounded:
            return f"in {_interval(self)}"
        return "any" if self.sigma == math.inf else f"{self.sigma:.4g}-subGaussian"

    @property
    def in_words(self) -> str:
        """The known facts with the word "feedback", for a sentence."""
        if self.law == "bernoulli":
            return "feedback of 0 or 1"
        if self.law == "normal":
            return f"normal feedback with standard deviation {self.sigma:.4g}"
        return f"feedback {self}" if self.bounded else f"{self} feedback"


ANYTHING = Feedback()
UNIT_INTERVAL = Feedback(low=0.0, high=1.0)


def _interval(feedback: Feedback) -> str:
    return f"[{feedback.low:.4g}, {feedback.high:.4g}]"


def _told_apart(value: float, other: float) -> str:
    """Return a number with enough digits to distinguish it from the other."""
    for digits in range(4, 17):
        text = f"{value:.{digits}g}"
        if float(text) != float(f"{other:.{digits}g}"):
            return text
    return repr(value)


STEP = 0.01
"""Logarithmic width of the cells on which a proxy is bounded; the error goes with its square."""
NEAR_ZERO = 1e-4
TAIL = 1e-4
SMALLEST_VARIANCE = 1e-12
LARGEST_RATIO = 300.0
"""Mean over sigma beyond which the sum of both proxies is used: it is within 5 parts in 10**5."""
ROUNDING = 1.0 + 1e-6
"""Bounds that are computed on a grid are raised by this: floating point errs by less."""


def bernoulli_proxy(p: float) -> float:
    """Return the proxy of Bernoulli(p): (1 - 2 p) / (2 log((1 - p)/p)).

    Kearns and Saul (1998) prove it, Buldygin and Moskvina (2013) that it is the smallest. It is 1/4
    at p = 1/2, symmetric, and falls on both sides.
    """
    less = min(p, 1.0 - p)
    if less <= 0.0:
        return 0.0
    if less < 0.25:
        return (1.0 - 2.0 * less) / (2.0 * (math.log1p(-less) - math.log(less)))
    odds = 1.0 - 2.0 * less
    return 0.25 if odds == 0.0 else 0.25 * odds / math.atanh(odds)


def gated_normal_proxy(mean: float, sigma: float, low: float, high: float) -> float:
    """Return a bound on the proxy of B X, with X ~ N(mean, sigma**2) and B ~ Bernoulli(w).

    It holds for every w in [low, high] and every mean at most as far from 0, and is within one part
    in a thousand of the smallest.

    It is the smaller of two bounds. First, given B the noise of B X is normal with variance at most
    sigma**2, and the rest is `mean` times a Bernoulli variable: sigma**2 + mean**2
    `bernoulli_proxy`. Second, in units of sigma and with m = |mean|, the log moment generating
    function is

        g(l, w) = log(1 - w + w E) - l m w,    E = exp(l m + l**2 / 2),

    concave in w, so its largest value G(l) is known, and convex in l, as is then G. Hence G lies
    below its chords, which bound 2 G(l) / l**2 on each cell of a grid. Near 0 the variance of the
    law tilted by exp(l Y) bounds it, far out 1 + 2 m (1 - w) / l. For l <= -2 m it is at most 1,
    since there log(1 - w + w E) <= l m + l**2 / 2; and 1 is reached as l grows. Elsewhere g rises
    with m: its derivative is l w (1 - w) (E - 1) / (1 - w + w E). So the largest |mean| is the
    worst.
    """
    if high <= 0.0:
        return 0.0
    fairest = min(max(low, 0.5), high)
    sum_of_both = sigma**2 + mean**2 * bernoulli_proxy(fairest)
    if sigma <= 0.0 or abs(mean) > LARGEST_RATIO * sigma:
        return sum_of_both
    ratio = _gated_proxy(abs(mean) / sigma, low, high)
    return min(sum_of_both, sigma**2 * ratio * ROUNDING)


def gated_finite_proxy(values: FloatArray, chances: FloatArray, low: float, high: float) -> float:
    """Return a bound on the proxy of B X, with X one of values >= 0 and B ~ Bernoulli(w).

    It holds for every w in [low, high], within one part in a thousand of the smallest. The proof is
    that of `gated_normal_proxy`, with E = E[exp(l X)]. Far out 2 top / |l| bounds it, as
    exp(l (Y - E Y)) is at most exp(|l| top). Near 0 the variance of the law tilted by exp(l Y)
    does: it is at most E[(Y - E Y)**2] under that law, whose density is at most exp(|l| top).
    """
    found = chances > 0.0
    values, chances = values[found], chances[found]
    mean, top = float(chances @ values), float(values[-1])
    if high <= 0.0 or mean <= 0.0 or (low == high == 1.0 and len(values) == 1):
        return 0.0
    hoeffding = 0.25 * (top - (float(values[0]) if low == 1.0 else 0.0)) ** 2
    square = float(chances @ values**2)
    w = min(max(0.5 * square / mean**2, low), high)
    variance = w * square - w * w * mean**2
    first = NEAR_ZERO / top
    # As far as where 2 top / l is the variance, which no proxy is below.
    last = max(2.0 * first, 2.0 * top / max(variance, SMALLEST_VARIANCE))
    reached = [variance * math.exp(NEAR_ZERO), 2.0 * top / last]
    at = _grid(first, last)
    for sign in (1.0, -1.0):
        exponents = sign * at[:, None] * values
        largest = exponents.max(axis=1)
        own = largest + np.log(np.exp(exponents - largest[:, None]) @ chances)
        reached.append(_chords(at, _gated(sign * at, own, mean, low, high)))
    return min(hoeffding, max(reached) * ROUNDING)


@lru_cache(maxsize=1024)
def _gated_proxy(m: float, low: float, high: float) -> float:
    """Return the second bound of `gated_normal_proxy` in units of sigma**2."""
    if m == 0.0:
        return 1.0
    first, last = NEAR_ZERO / (1.0 + m), 2.0 * m / TAIL
    near = _near_zero(m, low, high, first)
    ahead = _grid(first, max(last, 2.0 * first))
    found = max(
        near,
        _chords(ahead, _largest(ahead, m, low, high)),
        1.0 + 2.0 * m * (1.0 - low) / float(ahead[-1]),
    )
    if first < 2.0 * m:
        behind = _grid(first, 2.0 * m)
        found = max(found, _chords(behind, _largest(-behind, m, low, high)))
    return found


def _grid(first: float, last: float) -> FloatArray:
    count = math.ceil(math.log(last / first) / STEP) + 1
    return np.geomspace(first, last, max(2, count))


def _largest(at: FloatArray, m: float, low: float, high: float) -> FloatArray:
    """Return G(l) of a normal value with mean m and variance 1."""
    return _gated(at, at * m + 0.5 * at * at, m, low, high)


def _gated(at: FloatArray, exponent: FloatArray, m: float, low: float, high: float) -> FloatArray:
    """Return G(l) with E = exp(exponent).

    That is g at its best w, 1/(l m) - 1/(E - 1), or at the end next to it.
    """
    with np.errstate(divide="ignore", over="ignore"):
        best = 1.0 / (at * m) - 1.0 / np.expm1(exponent)
        # E = 1, where g is -l m w and l is below 0.
        best = np.where(exponent == 0.0, high, best)
        w = np.clip(best, low, high)
        found: FloatArray = np.logaddexp(np.log1p(-w), np.log(w) + exponent) - at * m * w
    return found


def _chords(at: FloatArray, values: FloatArray) -> float:
    """Return the most that 2 c(l) / l**2 reaches, c the chords of a convex function of l > 0."""
    left, right = at[:-1], at[1:]
    slope = np.diff(values) / np.diff(at)
    ahead = values[:-1] - slope * left
    # (ahead + slope l) / l**2 has one extreme point, at -2 ahead / slope.
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.clip(np.nan_to_num(-2.0 * ahead / slope, nan=0.0), left, right)
    reached = [2.0 * (ahead + slope * point) / (point * point) for point in (left, turn, right)]
    return float(np.max(reached))


def _near_zero(m: float, low: float, high: float, reach: float) -> float:
    """Return a bound on 2 g / l**2 for |l| <= reach: the largest second derivative of g.

    That is the variance of the tilted law, in which w becomes w E / (1 - w + w E) and the mean
    m + l: w (1 + M**2) - w**2 M**2 with |M| <= m + reach, which rises with |M|.
    """
    tilt = math.exp(reach * m + 0.5 * reach * reach)
    lowest = low / tilt / (1.0 - low + low / tilt)
    highest = high * tilt / (1.0 - high + high * tilt)
    square = (m + reach) ** 2
    w = min(max(0.5 * (1.0 + square) / square, lowest), highest)
    return w * (1.0 + square) - w * w * square
