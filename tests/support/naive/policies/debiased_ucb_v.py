"""UCB-V (Audibert, Munos and Szepesvari 2007) on feedback divided by its known weight."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from .base import NaivePolicy


class DebiasedUCBV(NaivePolicy):
    """UCB-V on Z = Y / f(share), or 0 where f is 0; b_i the largest |Z| of arm i, with a floor."""

    def __init__(
        self,
        K: int,
        n: int,
        *,
        bias: Callable[[float], float],
        initial_pulls: Sequence[int] | None = None,
        c: float = 1.0,
        zeta: float = 1.2,
        smallest_bound: float = 1.0,
    ) -> None:
        super().__init__(K, n)
        self.bias = bias
        self.T0 = [1] * K if initial_pulls is None else list(initial_pulls)
        self.t0 = sum(self.T0)
        self.c = c
        self.zeta = zeta
        self.squares = [0.0] * K
        self.largest = [smallest_bound] * K

    def seen(self, i: int) -> tuple[float, ...]:
        return *super().seen(i), self.squares[i], self.largest[i]

    def variance(self, i: int) -> float:
        return max(0.0, self.squares[i] / self.T[i] - self.mean(i) * self.mean(i))

    def index(self, i: int, t: int) -> float:
        T = self.T[i]
        E = self.zeta * math.log(t)
        spread = math.sqrt(2.0 * self.variance(i) * E / T)
        return self.mean(i) + spread + 3.0 * self.c * self.largest[i] * E / T

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        t = self.made + 1
        return self.highest(range(self.K), lambda i: self.index(i, t))

    def update(self, arm: int, y: float) -> None:
        W = self.bias((self.T0[arm] + self.T[arm]) / (self.t0 + self.made))
        z = 0.0 if W == 0.0 else y / W
        super().update(arm, z)
        self.squares[arm] += z * z
        self.largest[arm] = max(self.largest[arm], abs(z))
