"""EXP3-IX (Neu 2015)."""

import math

import numpy as np

from .base import NaivePolicy
from .exp3 import sample


class EXP3IX(NaivePolicy):
    """p_i proportional to exp(-rate L_i); L_arm += (1 - Y) / (p_arm + implicit)."""

    def __init__(
        self, K: int, n: int, rate: float | None = None, implicit: float | None = None
    ) -> None:
        super().__init__(K, n)
        self.rate = math.sqrt(2.0 * math.log(K) / (n * K)) if rate is None else rate
        self.implicit = self.rate / 2.0 if implicit is None else implicit
        self.L = [0.0] * K

    def probabilities(self) -> list[float]:
        smallest = min(self.L)
        weights = [math.exp(-self.rate * (L_i - smallest)) for L_i in self.L]
        total = sum(weights)
        return [w / total for w in weights]

    def select(self, rng: np.random.Generator) -> int:
        return sample(self.probabilities(), rng)

    def update(self, arm: int, y: float) -> None:
        p = self.probabilities()  # L has not moved since the choice
        super().update(arm, y)
        self.L[arm] += (1.0 - y) / (p[arm] + self.implicit)
