"""UCB-V (Audibert, Munos and Szepesvari 2007)."""

import math

import numpy as np

from .base import NaivePolicy


class UCBV(NaivePolicy):
    """Index mean_i + sqrt(2 V_i E / T_i) + 3 c b E / T_i with E = zeta log t."""

    def __init__(
        self, K: int, n: int, c: float = 1.0, zeta: float = 1.2, bound: float = 1.0
    ) -> None:
        super().__init__(K, n)
        self.c = c
        self.zeta = zeta
        self.bound = bound
        self.squares = [0.0] * K

    def seen(self, i: int) -> tuple[float, ...]:
        return *super().seen(i), self.squares[i]

    def variance(self, i: int) -> float:
        return max(0.0, self.squares[i] / self.T[i] - self.mean(i) * self.mean(i))

    def index(self, i: int, t: int) -> float:
        T = self.T[i]
        E = self.zeta * math.log(t)
        spread = math.sqrt(2.0 * self.variance(i) * E / T)
        return self.mean(i) + spread + 3.0 * self.c * self.bound * E / T

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        t = self.made + 1
        return self.highest(range(self.K), lambda i: self.index(i, t))

    def update(self, arm: int, y: float) -> None:
        super().update(arm, y)
        self.squares[arm] += y * y
