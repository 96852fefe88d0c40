"""UCB-V (Audibert, Munos and Szepesvari 2007) and its variants."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from .base import IndexPolicy, NaivePolicy


class Spread(NaivePolicy):
    """Sums of squares, and from them the variances V_i."""

    def __init__(self, K: int, n: int) -> None:
        super().__init__(K, n)
        self.squares = [0.0] * K

    def seen(self, i: int) -> tuple[float, ...]:
        return *super().seen(i), self.squares[i]

    def variance(self, i: int) -> float:
        return max(0.0, self.squares[i] / self.T[i] - self.mean(i) * self.mean(i))

    def update(self, arm: int, y: float) -> None:
        super().update(arm, y)
        self.squares[arm] += y * y


class UCBV(Spread, IndexPolicy):
    """Index mean_i + sqrt(2 V_i E / T_i) + 3 c b E / T_i with E = zeta log t; b_i is b."""

    def __init__(
        self, K: int, n: int, c: float = 1.0, zeta: float = 1.2, bound: float = 1.0
    ) -> None:
        super().__init__(K, n)
        self.c = c
        self.zeta = zeta
        self.largest = [bound] * K

    def index(self, i: int, t: int) -> float:
        T = self.T[i]
        E = self.zeta * math.log(t)
        spread = math.sqrt(2.0 * self.variance(i) * E / T)
        return self.mean(i) + spread + 3.0 * self.c * self.largest[i] * E / T


class DebiasedUCBV(UCBV):
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
        super().__init__(K, n, c, zeta, smallest_bound)
        self.bias = bias
        self.T0 = [1] * K if initial_pulls is None else list(initial_pulls)
        self.t0 = sum(self.T0)

    def seen(self, i: int) -> tuple[float, ...]:
        return *super().seen(i), self.largest[i]

    def update(self, arm: int, y: float) -> None:
        W = self.bias((self.T0[arm] + self.T[arm]) / (self.t0 + self.made))
        z = 0.0 if W == 0.0 else y / W
        super().update(arm, z)
        self.largest[arm] = max(self.largest[arm], abs(z))


class EfficientUCBV(Spread):
    """Phases with eps_m = 2**-m: pull the largest mean_i + s_i, drop by confidence intervals.

    Mukherjee, Naveen, Sudarsanam and Ravindran 2018.
    s_i = sqrt(rho (V_i + 2) max(0, log(psi n eps_m)) / (4 T_i)).
    """

    def __init__(self, K: int, n: int, rho: float = 0.5, psi: float | None = None) -> None:
        super().__init__(K, n)
        self.rho = rho
        self.psi = n / K**2 if psi is None else psi
        self.active = list(range(K))
        self.m = 0
        self.M = math.floor(0.5 * math.log2(max(1.0, n / math.e)))
        self.N = K * self.phase_pulls()

    def phase_pulls(self) -> int:
        """n_m = ceil(max(0, log(psi n eps_m**2)) / (2 eps_m))."""
        eps = 2.0**-self.m
        return math.ceil(max(0.0, math.log(self.psi * self.n * eps**2)) / (2.0 * eps))

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
        if self.made <= self.K or len(self.active) == 1:
            return
        bar = max(self.mean(j) - self.s(j) for j in self.active)
        self.active = [i for i in self.active if not self.mean(i) + self.s(i) < bar]
        if self.made >= self.N and self.m <= self.M:
            self.m += 1
            self.N = self.made + len(self.active) * self.phase_pulls()

    def candidates(self) -> set[int]:
        return set(self.active)
