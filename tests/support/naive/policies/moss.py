"""MOSS (Audibert and Bubeck 2009)."""

import math

import numpy as np

from .base import NaivePolicy


class MOSS(NaivePolicy):
    """Index mean_i + sqrt(scale max(0, log(n / (K T_i))) / T_i)."""

    def __init__(self, K: int, n: int, scale: float = 1.0) -> None:
        super().__init__(K, n)
        self.scale = scale

    def index(self, i: int) -> float:
        surplus = max(0.0, math.log(self.n / (self.K * self.T[i])))
        return self.mean(i) + math.sqrt(self.scale * surplus / self.T[i])

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        return self.highest(range(self.K), self.index)
