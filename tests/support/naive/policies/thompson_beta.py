"""Thompson sampling with Beta posteriors (Thompson 1933; Agrawal and Goyal 2012)."""

import numpy as np

from .base import NaivePolicy


class ThompsonBeta(NaivePolicy):
    """Play the largest draw of Beta(a_i, b_i); a += Y and b += 1 - Y, Y cut to [0, 1]."""

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
