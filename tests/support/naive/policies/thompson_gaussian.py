"""Thompson sampling with Gaussian posteriors and a flat prior (Agrawal and Goyal 2013)."""

import math

import numpy as np

from .base import NaivePolicy


class ThompsonGaussian(NaivePolicy):
    """Play the largest draw of Normal(mean_i, sigma**2 / T_i)."""

    def __init__(self, K: int, n: int, sigma: float = 1.0) -> None:
        super().__init__(K, n)
        self.sigma = sigma

    def draw(self, i: int, rng: np.random.Generator) -> float:
        return self.mean(i) + (self.sigma / math.sqrt(self.T[i])) * rng.standard_normal()

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        draws = [self.draw(i, rng) for i in range(self.K)]
        return max(range(self.K), key=lambda i: draws[i])
