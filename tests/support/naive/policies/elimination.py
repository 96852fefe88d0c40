"""Elimination in rounds: Algorithm 1 of the affinity bandits paper."""

import math
from collections.abc import Sequence

from .base import RoundPolicy


class Elimination(RoundPolicy):
    """Round r: m_r pulls of each active arm, keep i iff max_j mean_j - mean_i <= 2**-r.

    m_r = max(1, ceil(2**(2r + offset) log(12/pi**2 K**2 r**2 n))); means over this round only.
    Given ``rounds``, pairs (repetitions, threshold) take the place of (m_r, 2**-r); the last pair
    repeats. With ``discard_first`` each arm is first pulled once and that feedback discarded.
    """

    def __init__(
        self,
        K: int,
        n: int,
        offset: float = 5.0,
        discard_first: bool = True,
        rounds: Sequence[tuple[int, float]] | None = None,
    ) -> None:
        super().__init__(K, n)
        self.offset = offset
        self.rounds = rounds
        self.r = 0
        if discard_first:
            self.start_round(list(range(K)), 1)
        else:
            self.next_round(list(range(K)))

    def repetitions(self, r: int) -> int:
        if self.rounds is not None:
            return self.rounds[min(r, len(self.rounds)) - 1][0]
        log = math.log(12.0 / math.pi**2) + 2.0 * math.log(self.K * r) + math.log(self.n)
        return max(1, math.ceil(2.0 ** (2 * r + self.offset) * log))

    def threshold(self, r: int) -> float:
        if self.rounds is not None:
            return self.rounds[min(r, len(self.rounds)) - 1][1]
        return 2.0**-r

    def next_round(self, active: list[int]) -> None:
        self.r += 1
        self.start_round(active, self.repetitions(self.r) if len(active) > 1 else math.inf)

    def end_round(self) -> None:
        if self.r == 0:  # the discarded first pulls
            self.next_round(self.active)
            return
        best = max(self.round_mean(i) for i in self.active)
        threshold = self.threshold(self.r)
        self.next_round([i for i in self.active if best - self.round_mean(i) <= threshold])
