"""The oracle: one fixed arm."""

import numpy as np

from .base import NaivePolicy


class Oracle(NaivePolicy):
    """A_t = arm for every t."""

    def __init__(self, K: int, n: int, arm: int = 0) -> None:
        super().__init__(K, n)
        self.arm = arm

    def select(self, rng: np.random.Generator) -> int:
        return self.arm

    def candidates(self) -> set[int]:
        return {self.arm}
