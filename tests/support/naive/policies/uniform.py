"""Uniform play."""

import numpy as np

from .base import NaivePolicy


class Uniform(NaivePolicy):
    """All arms in turn: A_t = (t - 1) mod K. It is one round without end."""

    def opens(self) -> bool:
        return self.made == 0

    def select(self, rng: np.random.Generator) -> int:
        return self.made % self.K
