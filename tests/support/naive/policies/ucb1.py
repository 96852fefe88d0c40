"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002)."""

import math

import numpy as np

from .base import NaivePolicy


class UCB1(NaivePolicy):
    """Index mean_i + sqrt(exploration log(t) / T_i)."""

    def __init__(self, K: int, n: int, exploration: float = 2.0) -> None:
        super().__init__(K, n)
        self.exploration = exploration

    def index(self, i: int, t: int) -> float:
        return self.mean(i) + math.sqrt(self.exploration * math.log(t) / self.T[i])

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        t = self.made + 1
        return self.highest(range(self.K), lambda i: self.index(i, t))
