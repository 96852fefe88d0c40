"""Unbounded normal scores, and scores in an interval with Beta laws."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray, Function, kernel
from affinity_bandits.model.feedback import bernoulli_proxy, gated_normal_proxy
from affinity_bandits.model.noise.base import (
    GAUSSIAN_GATED,
    GAUSSIAN_SCALED,
    GAUSSIAN_SHIFTED,
    Noise,
)


@dataclass(frozen=True)
class Gaussian(Noise):
    """True values are X ~ N(mu, sigma**2); the paper's theory assumes sigma <= 1.

    Args:
        sigma: the standard deviation of all arms, or a list with one for each arm.
    """

    name: ClassVar[str] = "gaussian"
    mechanisms: ClassVar[tuple[str, ...]] = ("shifted", "scaled", "gated")
    laws: ClassVar[Mapping[str, int]] = {
        "scaled": GAUSSIAN_SCALED,
        "shifted": GAUSSIAN_SHIFTED,
        "gated": GAUSSIAN_GATED,
    }
    keeps_range: ClassVar[bool] = False
    sigma: float | tuple[float, ...] = 1.0
    lowest = -math.inf
    highest = math.inf
    nodes = ()
    # A bound of 1e9 keeps sums over 10**15 pulls far from the largest float.
    _mean_bounds = (-1e9, 1e9)

    if TYPE_CHECKING:

        def __init__(self, sigma: float | Sequence[float] = 1.0) -> None: ...

    def __post_init__(self) -> None:
        given = self.sigma
        if isinstance(given, numbers.Real | str) or not isinstance(given, Iterable):
            self._check(checks.number, "sigma", low=0.0)
            return
        self._check(checks.numbers_list, "sigma", low=0.0, high=1e9)
        if not self.sigma:
            raise InvalidInput("sigma", "a number, or a list with one for each arm", given)

    @property
    def largest_sigma(self) -> float:
        return self.sigma if isinstance(self.sigma, float) else max(self.sigma)

    def check_means(self, means: Sequence[float]) -> None:
        super().check_means(means)
        if isinstance(self.sigma, tuple) and len(self.sigma) != len(means):
            raise InvalidInput("sigma", f"as long as true_means ({len(means)})", self.sigma)

    @property
    def parameters(self) -> FloatArray:
        return np.atleast_1d(np.array(self.sigma, dtype=np.float64))

    def ends(self, means: FloatArray) -> FloatArray:
        spread = np.where(np.broadcast_to(self.parameters, np.shape(means)) > 0.0, math.inf, 0.0)
        return np.array([means - spread, means + spread])

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        if mechanism == "gated":
            furthest = float(np.abs(np.array(means, dtype=np.float64)).max())
            # The proxy increases with both, so the largest of each bounds every arm.
            return math.sqrt(gated_normal_proxy(furthest, self.largest_sigma, least, most))
        return most * self.largest_sigma if mechanism == "scaled" else self.largest_sigma

    def law(self, mechanism: str, least: float, most: float) -> str | None:
        if isinstance(self.sigma, tuple) and len(set(self.sigma)) > 1:
            return None  # normal, but not of one standard deviation
        untouched = least == most == 1.0
        scaled_evenly = mechanism == "scaled" and least == most
        return "normal" if untouched or scaled_evenly or mechanism == "shifted" else None

    def why_no_rounds(self, mechanism: str) -> str | None:
        return None

    def __str__(self) -> str:
        if isinstance(self.sigma, float):
            return f"Gaussian(sigma={self.sigma:g})"
        shown = ", ".join(f"{one:g}" for one in self.sigma[:6])
        return f"Gaussian(sigma={shown}{', ...' if len(self.sigma) > 6 else ''})"


TINY = 1e-300
"""Stands for 0 where a number is divided by."""
SMALLEST_EXPONENT = -745.0
"""The logarithm of the smallest float."""
CLOSE = 1e-8
"""Relative length of the last step: the error is of the order of its cube."""
NEGLIGIBLE = -38.0
"""The logarithm of a number that is negligible beside 1."""
ROUNDING = 2.220446049250313e-16


@kernel
def beta_quantile(a: float, b: float, p: float) -> float:
    """Return x with I_x(a, b) = p, for a, b > 0 and p in [0, 1).

    Halley's method from a first guess (Press et al., Numerical Recipes, 6.14) inside a bracket;
    bisection replaces a step that reduces the error too little.
    """
    if p <= 0.0:
        return 0.0
    norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    # Near 0 I_x is x**a / (a B(a, b)) (1 + r) with |r| < (1 + b) x.
    near_zero = (math.log(p) + math.log(a) - norm) / a
    if near_zero < NEGLIGIBLE - math.log(1.0 + b):
        return math.exp(near_zero) if near_zero > SMALLEST_EXPONENT else 0.0
    x = min(max(first_guess(a, b, p), 1e-18), 1.0 - ROUNDING)
    low, high, before = 0.0, 1.0, 2.0
    for _ in range(200):
        error = beta_part(a, b, norm, x) - p
        if error == 0.0:
            return x
        if error > 0.0:
            high = x
        else:
            low = x
        closer = 0.5 * (low + high)
        exponent = (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) + norm
        if abs(error) < 0.5 * before and abs(exponent) < 600.0:
            newton = error / math.exp(exponent)
            curve = newton * ((a - 1.0) / x - (b - 1.0) / (1.0 - x))
            step = x - newton / (1.0 - 0.5 * min(1.0, max(-1.0, curve)))
            if low < step < high:
                if abs(step - x) <= CLOSE * min(x, 1.0 - x):
                    return step
                closer = step
        if abs(closer - x) <= ROUNDING * x or closer <= low or closer >= high:
            return x
        before = abs(error)
        x = closer
    return x


@kernel
def first_guess(a: float, b: float, p: float) -> float:
    """Return about where the quantile lies."""
    if a >= 1.0 and b >= 1.0:
        tail = math.sqrt(-2.0 * math.log(p if p < 0.5 else 1.0 - p))
        z = (2.30753 + tail * 0.27061) / (1.0 + tail * (0.99229 + tail * 0.04481)) - tail
        if p < 0.5:
            z = -z
        curve = (z * z - 3.0) / 6.0
        mean = 2.0 / (1.0 / (2.0 * a - 1.0) + 1.0 / (2.0 * b - 1.0))
        w = z * math.sqrt(curve + mean) / mean if curve + mean > 0.0 else 0.0
        w -= (1.0 / (2.0 * b - 1.0) - 1.0 / (2.0 * a - 1.0)) * (
            curve + 5.0 / 6.0 - 2.0 / (3.0 * mean)
        )
        return a / (a + b * math.exp(min(600.0, max(-600.0, 2.0 * w))))
    left = math.exp(a * math.log(a / (a + b))) / a
    right = math.exp(b * math.log(b / (a + b))) / b
    both = left + right
    if p < left / both:
        return math.exp(max(SMALLEST_EXPONENT, math.log(a * both * p) / a))
    return 1.0 - math.exp(max(SMALLEST_EXPONENT, min(0.0, math.log(b * both * (1.0 - p)) / b)))


@kernel
def beta_part(a: float, b: float, norm: float, x: float) -> float:
    """Return I_x(a, b), the probability of less than x; `norm` is -log B(a, b)."""
    front = math.exp(max(SMALLEST_EXPONENT, a * math.log(x) + b * math.log1p(-x) + norm))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * fraction(a, b, x) / a
    return 1.0 - front * fraction(b, a, 1.0 - x) / b


@kernel
def fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b), by Lentz's rule."""
    c = 1.0
    d = apart(1.0 - (a + b) * x / (a + 1.0))
    d = 1.0 / d
    found = d
    for m in range(1, 2000):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 / apart(1.0 + even * d)
        c = apart(1.0 + even / c)
        found *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 / apart(1.0 + odd * d)
        c = apart(1.0 + odd / c)
        change = d * c
        found *= change
        if abs(change - 1.0) <= ROUNDING:
            break
    return found


@kernel
def apart(value: float) -> float:
    """Return a number that can be divided by."""
    return TINY if abs(value) < TINY else value


MOST_CONCENTRATION = 10_000.0
"""Beyond it a pull takes longer, and a normal law is the same to three digits."""


@kernel
def beta_value(parameters: FloatArray, mean: float, u: float) -> float:
    """Return the u-quantile of the Beta law with a mean and the concentration."""
    a, b = mean * parameters[0], (1.0 - mean) * parameters[0]
    if a <= 0.0:
        return 0.0
    if b <= 0.0:
        return 1.0
    return beta_quantile(a, b, u)


@dataclass(frozen=True)
class Beta(Noise):
    """True values, mapped to [0, 1], are X ~ Beta(mu c, (1 - mu) c).

    Args:
        concentration: c, the sum of both parameters: the variance is mu (1 - mu) / (c + 1).
        lowest: the lowest score.
        highest: the highest score.

    >>> Beta(9.0, lowest=0, highest=100).mapped(40.0).tolist()
    0.4
    """

    name: ClassVar[str] = "beta"
    mechanisms: ClassVar[tuple[str, ...]] = ("redrawn", "gated", "scaled")
    concentration: float = 10.0
    lowest: float = 0.0
    highest: float = 1.0

    def __post_init__(self) -> None:
        limits = {"low": 0.0, "high": MOST_CONCENTRATION, "open_low": True}
        self._check(checks.number, "concentration", **limits)
        self._check_range()

    @property
    def parameters(self) -> FloatArray:
        return np.array([self.concentration])

    @property
    def kernel(self) -> Function:
        return beta_value

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        # Marchal, Arbel 2017: 1 / (4 (c + 1)) will do for every mean.
        proxy = 0.25 / (self.concentration + 1.0)
        if mechanism == "scaled":
            return most * math.sqrt(proxy)
        if mechanism == "gated":
            # Given the gate, the noise is that of X or none; the gate itself is a coin worth mu.
            fairest = min(max(least, 0.5), most)
            proxy += max(means) ** 2 * bernoulli_proxy(fairest)
        return math.sqrt(proxy)

    def __str__(self) -> str:
        unit = (self.lowest, self.highest) == (0.0, 1.0)
        scale = "" if unit else f", {self.lowest:g} to {self.highest:g}"
        return f"Beta(concentration={self.concentration:g}{scale})"
