"""EXP3 on gains (Auer, Cesa-Bianchi, Freund and Schapire 2002)."""

import math

import numpy as np

from .base import NaivePolicy
from .exp3 import sample


class EXP3Gains(NaivePolicy):
    """p_i = (1 - g) w_i / sum w + g / K with w_i = exp(g G_i / K); G_arm += Y / p_arm."""

    def __init__(self, K: int, n: int, mixing: float | None = None) -> None:
        super().__init__(K, n)
        if mixing is None:
            mixing = min(1.0, math.sqrt(K * math.log(K) / ((math.e - 1.0) * n)))
        self.mixing = mixing
        self.G = [0.0] * K

    def probabilities(self) -> list[float]:
        g = self.mixing
        largest = max(self.G)  # a common factor of the weights, taken out against overflow
        weights = [math.exp(g * (G_i - largest) / self.K) for G_i in self.G]
        total = sum(weights)
        return [(1.0 - g) * w / total + g / self.K for w in weights]

    def select(self, rng: np.random.Generator) -> int:
        return sample(self.probabilities(), rng)

    def update(self, arm: int, y: float) -> None:
        p = self.probabilities()  # G has not moved since the choice
        super().update(arm, y)
        self.G[arm] += y / p[arm]
