"""Scores anywhere in a range, by the Beta distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.noise.base import Noise
from affinity_bandits.noise.beta_quantile import beta_quantile
from affinity_bandits.subgaussian import bernoulli_proxy

MOST_CONCENTRATION = 10_000.0
"""Beyond, the time of a pull grows, and a normal law is the same to three digits."""


def beta_value(parameters: FloatArray, mean: float, u: float) -> float:
    """Return the quantile of u of the Beta law with a mean and the concentration; a kernel."""
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
        lowest = checks.number("lowest", self.lowest, low=-1e9, high=1e9)
        for name, value in (
            (
                "concentration",
                checks.number(
                    "concentration",
                    self.concentration,
                    low=0.0,
                    high=MOST_CONCENTRATION,
                    open_low=True,
                ),
            ),
            ("lowest", lowest),
            (
                "highest",
                checks.number("highest", self.highest, low=lowest, high=1e9, open_low=True),
            ),
        ):
            object.__setattr__(self, name, value)

    @property
    def parameters(self) -> FloatArray:
        return np.array([self.concentration])

    @property
    def kernel(self) -> Function:
        return beta_value

    def ends(self, means: FloatArray) -> FloatArray:
        return np.array([means >= 1.0, means > 0.0], dtype=np.float64)

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        # Marchal, Arbel 2017: 1 / (4 (c + 1)) will do for every mean.
        proxy = 0.25 / (self.concentration + 1.0)
        if mechanism == "scaled":
            return most * math.sqrt(proxy)
        if mechanism == "gated":
            # Given the gate the noise is that of X or none; the gate itself is a coin worth mu.
            fairest = min(max(least, 0.5), most)
            proxy += max(means) ** 2 * bernoulli_proxy(fairest)
        return math.sqrt(proxy)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "concentration": self.concentration,
            "lowest": self.lowest,
            "highest": self.highest,
        }

    def __str__(self) -> str:
        scale = (
            ""
            if (self.lowest, self.highest) == (0.0, 1.0)
            else (f", {self.lowest:g} to {self.highest:g}")
        )
        return f"Beta(concentration={self.concentration:g}{scale})"
