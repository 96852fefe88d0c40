"""KL-UCB (Garivier and Cappe 2011), Bernoulli divergence."""

import math
from math import log

import numpy as np

from .base import NaivePolicy


def kl(p: float, q: float) -> float:
    """kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)) for p and q strictly inside (0, 1)."""
    return p * log(p / q) + (1.0 - p) * log((1.0 - p) / (1.0 - q))


def upper_bound(p: float, T: int, level: float) -> float:
    """Return the largest q in [p, 1] with T kl(p, q) <= level, by bisection to the last bit."""
    if p >= 1.0:
        return 1.0
    if p <= 0.0:
        return 1.0 - math.exp(-level / T)
    low, high = p, 1.0
    while True:
        q = (low + high) / 2.0
        if q in (low, high):
            return low
        if T * kl(p, q) <= level:
            low = q
        else:
            high = q


class KLUCB(NaivePolicy):
    """Index max{q : T_i kl(mean_i, q) <= log t + c log log t}."""

    def __init__(self, K: int, n: int, log_log_factor: float = 0.0) -> None:
        super().__init__(K, n)
        self.log_log_factor = log_log_factor

    def level(self, t: int) -> float:
        level = log(t)
        if self.log_log_factor > 0.0 and level > 1.0:
            return level + self.log_log_factor * log(level)
        return level

    def index_data(self, i: int) -> tuple[float, int]:
        """All that arm i's index depends on; where it is equal, so are the indices."""
        return min(1.0, max(0.0, self.mean(i))), self.T[i]

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        level = self.level(self.made + 1)
        indices = [upper_bound(self.mean(i), self.T[i], level) for i in range(self.K)]
        best = max(range(self.K), key=lambda i: indices[i])
        # An equation solved in floating point: two solvers agree to about 1e-12, so a choice
        # between closer indices of different arms is rounding's, not the policy's.
        for i in range(self.K):
            same = self.index_data(i) == self.index_data(best)
            close = indices[best] - indices[i] < 1e-11 and indices[i] < 1.0
            if close and not same:
                self.decided_by_rounding = True
        return best
