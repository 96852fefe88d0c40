"""Scores without bounds, normally distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.noise.base import Noise, no_quantile
from affinity_bandits.noise.laws import GAUSSIAN_GATED, GAUSSIAN_SCALED, GAUSSIAN_SHIFTED
from affinity_bandits.subgaussian import gated_normal_proxy


@dataclass(frozen=True)
class Gaussian(Noise):
    """True values are X ~ N(mu, sigma**2); the paper's theory assumes sigma <= 1."""

    name: ClassVar[str] = "gaussian"
    mechanisms: ClassVar[tuple[str, ...]] = ("shifted", "scaled", "gated")
    keeps_range: ClassVar[bool] = False
    sigma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, low=0.0))

    @property
    def lowest(self) -> float:
        return -math.inf

    @property
    def highest(self) -> float:
        return math.inf

    @property
    def nodes(self) -> tuple[float, ...]:
        return ()

    @property
    def _mean_bounds(self) -> tuple[float, float]:
        # A bound of 1e9 keeps sums over 10**15 pulls far from the edge of floating point.
        return -1e9, 1e9

    def law_code(self, mechanism: str) -> int:
        codes = {"scaled": GAUSSIAN_SCALED, "shifted": GAUSSIAN_SHIFTED, "gated": GAUSSIAN_GATED}
        return codes[mechanism]

    @property
    def parameters(self) -> FloatArray:
        return np.array([self.sigma])

    @property
    def kernel(self) -> Function:
        return no_quantile

    def ends(self, means: FloatArray) -> FloatArray:
        spread = math.inf if self.sigma > 0.0 else 0.0
        return np.array([means - spread, means + spread])

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        if mechanism == "gated":
            furthest = float(np.abs(np.array(means, dtype=np.float64)).max())
            return math.sqrt(gated_normal_proxy(furthest, self.sigma, least, most))
        return most * self.sigma if mechanism == "scaled" else self.sigma

    def law(self, mechanism: str, least: float, most: float) -> str | None:
        untouched = least == most == 1.0
        scaled_evenly = mechanism == "scaled" and least == most
        return "normal" if untouched or scaled_evenly or mechanism == "shifted" else None

    def why_no_rounds(self, mechanism: str) -> str | None:
        return None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "sigma": self.sigma}

    def __str__(self) -> str:
        return f"Gaussian(sigma={self.sigma:g})"
