"""Scores of 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from affinity_bandits.kernels import Function
from affinity_bandits.noise.base import Noise, no_quantile
from affinity_bandits.noise.laws import BERNOULLI_GATED, BERNOULLI_SCALED, BERNOULLI_SHIFTED
from affinity_bandits.subgaussian import bernoulli_proxy


@dataclass(frozen=True)
class Bernoulli(Noise):
    """True values are 0 or 1: X ~ Bernoulli(mu)."""

    name: ClassVar[str] = "bernoulli"
    mechanisms: ClassVar[tuple[str, ...]] = ("gated", "scaled", "shifted")
    keeps_range: ClassVar[bool] = False

    @property
    def nodes(self) -> tuple[float, ...]:
        return (0.0, 1.0)

    def law_code(self, mechanism: str) -> int:
        codes = {
            "scaled": BERNOULLI_SCALED,
            "shifted": BERNOULLI_SHIFTED,
            "gated": BERNOULLI_GATED,
        }
        return codes[mechanism]

    @property
    def kernel(self) -> Function:
        return no_quantile

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        # Of all the coins that are thrown, the one that is nearest to a fair one.
        chances = np.array(means, dtype=np.float64)
        if mechanism == "gated":
            chances = np.clip(0.5, chances * least, chances * most)
        fairest = float(chances[np.argmin(np.abs(chances - 0.5))])
        sigma = math.sqrt(bernoulli_proxy(fairest))
        return most * sigma if mechanism == "scaled" else sigma

    def law(self, mechanism: str, least: float, most: float) -> str | None:
        untouched = least == most == 1.0
        return "bernoulli" if untouched or mechanism == "gated" else None

    def why_no_rounds(self, mechanism: str) -> str | None:
        if mechanism == "scaled":
            return "a weighted sum of indicators has no law that can be drawn at once"
        return None

    def __str__(self) -> str:
        return "Bernoulli"
