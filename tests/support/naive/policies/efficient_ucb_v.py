"""Efficient-UCB-Variance (Mukherjee, Naveen, Sudarsanam and Ravindran 2018)."""

import math

import numpy as np

from .base import NaivePolicy


class EfficientUCBV(NaivePolicy):
    """Phases with eps_m = 2**-m: pull the largest mean_i + s_i, drop by confidence intervals.

    s_i = sqrt(rho (V_i + 2) max(0, log(psi n eps_m)) / (4 T_i)).
    """

    def __init__(self, K: int, n: int, rho: float = 0.5, psi: float | None = None) -> None:
        super().__init__(K, n)
        self.rho = rho
        self.psi = n / K**2 if psi is None else psi
        self.squares = [0.0] * K
        self.active = list(range(K))
        self.m = 0
        self.M = math.floor(0.5 * math.log2(max(1.0, n / math.e)))
        self.N = K * self.phase_pulls()

    def phase_pulls(self) -> int:
        """n_m = ceil(max(0, log(psi n eps_m**2)) / (2 eps_m))."""
        eps = 2.0**-self.m
        return math.ceil(max(0.0, math.log(self.psi * self.n * eps**2)) / (2.0 * eps))

    def seen(self, i: int) -> tuple[float, ...]:
        return *super().seen(i), self.squares[i]

    def variance(self, i: int) -> float:
        return max(0.0, self.squares[i] / self.T[i] - self.mean(i) * self.mean(i))

    def s(self, i: int) -> float:
        eps = 2.0**-self.m
        level = max(0.0, math.log(self.psi * self.n * eps))
        return math.sqrt(self.rho * (self.variance(i) + 2.0) * level / (4.0 * self.T[i]))

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        return self.highest(self.active, lambda i: self.mean(i) + self.s(i))

    def update(self, arm: int, y: float) -> None:
        super().update(arm, y)
        self.squares[arm] += y * y
        if self.made <= self.K or len(self.active) == 1:
            return
        bar = max(self.mean(j) - self.s(j) for j in self.active)
        self.active = [i for i in self.active if not self.mean(i) + self.s(i) < bar]
        if self.made >= self.N and self.m <= self.M:
            self.m += 1
            self.N = self.made + len(self.active) * self.phase_pulls()

    def candidates(self) -> set[int]:
        return set(self.active)
