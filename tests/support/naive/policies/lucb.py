"""LUCB (Kalyanakrishnan, Tewari, Auer and Stone 2012)."""

import math

import numpy as np

from .base import NaivePolicy


class LUCB(NaivePolicy):
    """Pull leader h and challenger l in pairs until mean_h - U_h > mean_l + U_l.

    U_i = sqrt(2 sigma**2 log(5 K t**4 / (4 delta)) / T_i), t the number of pulls made so far.
    """

    def __init__(self, K: int, n: int, delta: float = 0.05, sigma: float = 1.0) -> None:
        super().__init__(K, n)
        self.delta = delta
        self.sigma = sigma
        self.committed: int | None = 0 if K == 1 else None
        self.challenger: int | None = None

    def U(self, i: int) -> float:
        level = math.log(5.0 * self.K * float(self.made) ** 4 / (4.0 * self.delta))
        return math.sqrt(2.0 * self.sigma**2 * level / self.T[i])

    def select(self, rng: np.random.Generator) -> int:
        if self.committed is not None:
            return self.committed
        if self.made < self.K:
            return self.made
        if self.challenger is not None:
            second, self.challenger = self.challenger, None
            return second
        h = max(range(self.K), key=self.mean)
        others = [i for i in range(self.K) if i != h]
        challenger = self.highest(others, lambda i: self.mean(i) + self.U(i))
        if self.mean(h) - self.U(h) > self.mean(challenger) + self.U(challenger):
            self.committed = h
        else:
            self.challenger = challenger
        return h

    def candidates(self) -> set[int]:
        return set(range(self.K)) if self.committed is None else {self.committed}
