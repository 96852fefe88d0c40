"""Scores without bounds, normally distributed."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.noise.base import Noise, no_quantile
from affinity_bandits.noise.laws import GAUSSIAN_GATED, GAUSSIAN_SCALED, GAUSSIAN_SHIFTED
from affinity_bandits.subgaussian import gated_normal_proxy


@dataclass(frozen=True)
class Gaussian(Noise):
    """True values are X ~ N(mu, sigma**2); the paper's theory assumes sigma <= 1.

    Args:
        sigma: the standard deviation of all arms, or a list with one for each arm.
    """

    name: ClassVar[str] = "gaussian"
    mechanisms: ClassVar[tuple[str, ...]] = ("shifted", "scaled", "gated")
    keeps_range: ClassVar[bool] = False
    sigma: float | tuple[float, ...] = 1.0

    if TYPE_CHECKING:

        def __init__(self, sigma: float | Sequence[float] = 1.0) -> None: ...

    def __post_init__(self) -> None:
        given = self.sigma
        sigma: float | tuple[float, ...]
        if isinstance(given, numbers.Real | str) or not isinstance(given, Iterable):
            sigma = checks.number("sigma", given, low=0.0)
        else:
            sigma = checks.numbers_list("sigma", given, low=0.0, high=1e9)
            if not sigma:
                raise InvalidInput("sigma", "a number, or a list with one for each arm", given)
        object.__setattr__(self, "sigma", sigma)

    @property
    def largest_sigma(self) -> float:
        """The largest standard deviation of an arm."""
        return self.sigma if isinstance(self.sigma, float) else max(self.sigma)

    def check_means(self, means: Sequence[float]) -> None:
        super().check_means(means)
        if isinstance(self.sigma, tuple) and len(self.sigma) != len(means):
            raise InvalidInput("sigma", f"as long as true_means ({len(means)})", self.sigma)

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
        return np.atleast_1d(np.array(self.sigma, dtype=np.float64))

    @property
    def kernel(self) -> Function:
        return no_quantile

    def ends(self, means: FloatArray) -> FloatArray:
        spread = np.where(np.broadcast_to(self.parameters, np.shape(means)) > 0.0, math.inf, 0.0)
        return np.array([means - spread, means + spread])

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        if mechanism == "gated":
            furthest = float(np.abs(np.array(means, dtype=np.float64)).max())
            # It rises with either, so what holds for the largest of both holds for every arm.
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

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "sigma": self.sigma if isinstance(self.sigma, float) else list(self.sigma),
        }

    def __str__(self) -> str:
        if isinstance(self.sigma, float):
            return f"Gaussian(sigma={self.sigma:g})"
        shown = ", ".join(f"{one:g}" for one in self.sigma[:6])
        return f"Gaussian(sigma={shown}{', ...' if len(self.sigma) > 6 else ''})"
