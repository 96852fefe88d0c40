"""UCB on feedback weighted by its known bias, an arm a round (docs/studies/horizon.md)."""

import math
from collections.abc import Callable, Sequence

from .base import RoundPolicy


class WeightedUCB(RoundPolicy):
    """V_i = sum over rounds of (sum of W)**2 / m, U_i of (sum of Y) (sum of W) / m."""

    def __init__(
        self,
        K: int,
        n: int,
        *,
        bias: Callable[[float], float],
        initial_pulls: Sequence[int] | None = None,
        sigma: float = 1.0,
        growth: float = 0.05,
    ) -> None:
        super().__init__(K, n)
        self.bias = bias
        self.T0 = [1] * K if initial_pulls is None else list(initial_pulls)
        self.sigma = sigma
        self.growth = growth
        self.V = [0.0] * K
        self.U = [0.0] * K
        self.weights = 0.0
        self.next_round()

    def seen(self, i: int) -> tuple[float, ...]:
        return self.V[i], self.U[i]

    def index(self, i: int) -> float:
        V = self.V[i]
        if V == 0.0:
            return math.inf
        t = max(1, self.made)
        radius = self.sigma * math.sqrt((V + 1.0) * (2.0 * math.log(t) + math.log(1.0 + V))) / V
        return self.U[i] / V + radius

    def next_round(self) -> None:
        unseen = [i for i in range(self.K) if self.V[i] == 0.0]
        arm = unseen[0] if unseen else self.highest(range(self.K), self.index)
        self.start_round([arm], max(1, math.floor(self.growth * (self.T0[arm] + self.T[arm]))))
        self.weights = 0.0

    def update(self, arm: int, y: float) -> None:
        self.weights += self.bias((self.T0[arm] + self.T[arm]) / (sum(self.T0) + self.made))
        super().update(arm, y)

    def end_round(self) -> None:
        (arm,) = self.active
        m = self.round_T[arm]
        self.V[arm] += self.weights**2 / m
        self.U[arm] += self.round_S[arm] * self.weights / m
        self.next_round()

    def candidates(self) -> set[int]:
        return set(range(self.K))
