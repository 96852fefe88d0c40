"""Elimination with a burn-in and padded rounds, as the guide to planning defines it."""

import math

from .elimination import Elimination


class CalibratedElimination(Elimination):
    """First ``burn_in`` pulls of each arm, discarded; then the rounds of ``Elimination``.

    With ``padding``, round r has at least padding * 2**r pulls of each arm, rounded up.
    """

    def __init__(
        self,
        K: int,
        n: int,
        offset: float = 5.0,
        discard_first: bool = True,
        burn_in: int = 1,
        padding: float = 0.0,
        assumptions: None = None,
    ) -> None:
        self.padding = padding
        super().__init__(K, n, offset, discard_first)
        if discard_first:
            self.start_round(list(range(K)), burn_in)

    def repetitions(self, r: int) -> int:
        return max(super().repetitions(r), math.ceil(self.padding * 2.0**r))
