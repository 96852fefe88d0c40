"""Thompson sampling with Beta and with Gaussian posteriors."""

import math

import numpy as np

from .base import NaivePolicy


class ThompsonBeta(NaivePolicy):
    """Play the largest draw of Beta(a_i, b_i); a += Y and b += 1 - Y, Y cut to [0, 1].

    Thompson 1933; Agrawal and Goyal 2012.
    """

    def __init__(
        self, K: int, n: int, prior_successes: float = 1.0, prior_failures: float = 1.0
    ) -> None:
        super().__init__(K, n)
        self.a = [prior_successes] * K
        self.b = [prior_failures] * K

    def select(self, rng: np.random.Generator) -> int:
        draws = [rng.beta(self.a[i], self.b[i]) for i in range(self.K)]
        return max(range(self.K), key=lambda i: draws[i])

    def update(self, arm: int, y: float) -> None:
        super().update(arm, y)
        cut = max(0.0, min(1.0, y))
        self.a[arm] += cut
        self.b[arm] += 1.0 - cut


class ThompsonGaussian(NaivePolicy):
    """Play the largest draw of Normal(mean_i, sigma**2 / T_i) (Agrawal and Goyal 2013)."""

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
