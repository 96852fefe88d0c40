"""Epsilon-greedy with a constant epsilon (Sutton and Barto 2018, section 2.2)."""

import numpy as np

from .base import NaivePolicy


class EpsilonGreedy(NaivePolicy):
    """With probability epsilon a uniform arm, else the largest mean."""

    def __init__(self, K: int, n: int, epsilon: float = 0.1) -> None:
        super().__init__(K, n)
        self.epsilon = epsilon

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        if rng.random() < self.epsilon:
            return int(rng.random() * self.K)
        return max(range(self.K), key=self.mean)
