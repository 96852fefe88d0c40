"""Sequential halving (Karnin, Koren and Somekh 2013), then the winner for ever."""

import math

from .base import RoundPolicy


class SequentialHalving(RoundPolicy):
    """Phase with k arms left: floor(B / (k ceil(log2 K))) pulls each, keep the ceil(k/2) best."""

    def __init__(self, K: int, n: int, budget: float = 0.5) -> None:
        super().__init__(K, n)
        self.B = math.floor(budget * n)
        self.R = math.ceil(math.log2(K))
        self.next_phase(list(range(K)))

    def next_phase(self, active: list[int]) -> None:
        if len(active) == 1:
            self.start_round(active, math.inf)
        else:
            self.start_round(active, max(1, self.B // (len(active) * self.R)))

    def end_round(self) -> None:
        best_first = sorted(self.active, key=lambda i: (-self.round_mean(i), i))
        self.next_phase(best_first[: math.ceil(len(self.active) / 2)])
