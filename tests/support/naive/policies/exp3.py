"""EXP3 on losses (Bubeck and Cesa-Bianchi 2012)."""

import math

import numpy as np

from .base import NaivePolicy


def sample(p: list[float], rng: np.random.Generator) -> int:
    """Return the first arm whose running sum of p exceeds one uniform, else the last arm."""
    u = rng.random()
    running = 0.0
    for i, p_i in enumerate(p):
        running += p_i
        if running > u:
            return i
    return len(p) - 1


class EXP3(NaivePolicy):
    """p_i proportional to exp(-rate L_i); L_arm += (1 - Y) / p_arm."""

    def __init__(self, K: int, n: int, rate: float | None = None) -> None:
        super().__init__(K, n)
        self.rate = math.sqrt(2.0 * math.log(K) / (n * K)) if rate is None else rate
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
        self.L[arm] += (1.0 - y) / p[arm]
