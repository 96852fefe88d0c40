"""What the twins share: bookkeeping, and play in rounds."""

from collections.abc import Callable, Iterable

import numpy as np


class NaivePolicy:
    """Counts T_i, sums S_i in time order, and the number of pulls made so far."""

    decided_by_rounding = False

    def __init__(self, K: int, n: int) -> None:
        self.K = K
        self.n = n
        self.made = 0
        self.T = [0] * K
        self.S = [0.0] * K

    def mean(self, i: int) -> float:
        return self.S[i] / self.T[i]

    def seen(self, i: int) -> tuple[float, ...]:
        """All that an index of arm i depends on, beside the time."""
        return self.T[i], self.S[i]

    def highest(self, arms: Iterable[int], index: Callable[[int], float]) -> int:
        """Return the arm with the largest index, the first of several.

        Arms that got the same feedback in another order have sums that differ in the last bit, if
        at all. Between them it is rounding that chooses, and two ways to write one index differ.
        """
        indices = {i: index(i) for i in arms}
        best = max(indices, key=lambda i: indices[i])
        for i, value in indices.items():
            gap = indices[best] - value
            close = gap < 1e-12 and (gap > 0.0 or self.T[i] == self.T[best])
            if close and self.seen(i) != self.seen(best):
                self.decided_by_rounding = True
        return best

    def opens(self) -> bool:
        """Return whether a round begins with the next pull."""
        return True

    def fewest_seats(self) -> int | None:
        """Return the arm that should have the fewest judges."""
        return None

    def meet(self, judges: list[int]) -> None:
        """Take in how many of each arm judge the round to come."""

    def select(self, rng: np.random.Generator) -> int:
        raise NotImplementedError

    def update(self, arm: int, y: float) -> None:
        self.made += 1
        self.T[arm] += 1
        self.S[arm] += y

    def candidates(self) -> set[int]:
        return set(range(self.K))


class IndexPolicy(NaivePolicy):
    """Pull each arm once, and then the one with the largest index at time t."""

    def index(self, i: int, t: int) -> float:
        raise NotImplementedError

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        t = self.made + 1
        return self.highest(range(self.K), lambda i: self.index(i, t))


class RoundPolicy(NaivePolicy):
    """Pull the active arms in turn, in passes; ``end_round`` decides after the last pass.

    A subclass starts its first round in ``__init__``. A round of infinitely many passes plays the
    active arms for ever.
    """

    def start_round(self, active: list[int], passes: float) -> None:
        self.active = sorted(active)
        self.passes_left = passes
        self.position = 0
        self.round_T = [0] * self.K
        self.round_S = [0.0] * self.K

    def opens(self) -> bool:
        return sum(self.round_T) == 0

    def round_mean(self, i: int) -> float:
        return self.round_S[i] / self.round_T[i]

    def end_round(self) -> None:
        raise NotImplementedError

    def select(self, rng: np.random.Generator) -> int:
        return self.active[self.position]

    def update(self, arm: int, y: float) -> None:
        super().update(arm, y)
        self.round_T[arm] += 1
        self.round_S[arm] += y
        self.position += 1
        if self.position == len(self.active):
            self.position = 0
            self.passes_left -= 1
            if self.passes_left == 0:
                self.end_round()

    def candidates(self) -> set[int]:
        return set(self.active)
