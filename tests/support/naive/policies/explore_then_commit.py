"""Explore then commit (Lattimore and Szepesvari 2020, chapter 6)."""

import math

from .base import RoundPolicy


class ExploreThenCommit(RoundPolicy):
    """Each arm m = ceil(n**(2/3) / K) times in turn, then the largest mean for ever."""

    def __init__(self, K: int, n: int, pulls_per_arm: int | None = None) -> None:
        super().__init__(K, n)
        m = math.ceil(n ** (2 / 3) / K) if pulls_per_arm is None else pulls_per_arm
        self.start_round(list(range(K)), m)

    def end_round(self) -> None:
        self.start_round([max(self.active, key=self.mean)], math.inf)
