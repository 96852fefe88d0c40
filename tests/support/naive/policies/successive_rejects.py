"""Successive rejects (Audibert, Bubeck and Munos 2010), then the winner for ever."""

import math

from .base import RoundPolicy


class SuccessiveRejects(RoundPolicy):
    """Phase k of K - 1: n_k - n_{k-1} pulls of each active arm, then drop the lowest mean.

    n_k = ceil((B - K) / (logbar (K + 1 - k))), logbar = 1/2 + sum_{i=2}^K 1/i; means over all
    phases; of equal lowest means the highest index goes.
    """

    def __init__(self, K: int, n: int, budget: float = 0.5) -> None:
        super().__init__(K, n)
        self.spare = max(0, math.floor(budget * n) - K)
        self.logbar = 0.5
        for i in range(2, K + 1):
            self.logbar += 1.0 / i
        self.k = 0
        self.next_phase(list(range(K)))

    def n_k(self, k: int) -> int:
        if k == 0:
            return 0
        return math.ceil(self.spare / (self.logbar * (self.K + 1 - k)))

    def next_phase(self, active: list[int]) -> None:
        self.k += 1
        if len(active) == 1:
            self.start_round(active, math.inf)
        else:
            self.start_round(active, max(1, self.n_k(self.k) - self.n_k(self.k - 1)))

    def end_round(self) -> None:
        worst = min(self.active, key=lambda i: (self.mean(i), -i))
        self.next_phase([i for i in self.active if i != worst])
