"""Elimination with a handicap, from "The policy, in full" in docs/handicap.md."""

import math
from typing import NamedTuple

from .base import RoundPolicy


class Window(NamedTuple):
    """What a test needs to know about the moment at which a window opened."""

    log_level: float
    rho: float
    passes: int
    sums: list[float]


class HandicapElimination(RoundPolicy):
    """Drop i when the leader beats it over a window in spite of a handicap of G + 1 pulls.

    ``head_start`` is G, ``failure`` is delta. Look c is taken after e_c passes; at every fourth
    the leader may change, the others are pulled up to N_leader + G + 1 and a window opens.
    """

    def __init__(
        self,
        K: int,
        n: int,
        head_start: int | None = None,
        sigma: float = 1.0,
        bounded: bool = False,
        failure: float | None = None,
        in_flight: int | None = None,
    ) -> None:
        super().__init__(K, n)
        self.sigma = sigma
        self.bounded = bounded
        self.failure = failure
        # Pulls are whole numbers, so "at least N_j + G + 1" means the same with G rounded up.
        self.G = (
            math.ceil(2.0**7 * math.log(12.0 * K**2 * n / math.pi**2))
            if head_start is None
            else head_start
        ) + (in_flight or 1) // 2
        self.e = self.looks()
        self.M = (len(self.e) - 1) // 4 + 1
        self.c = 0
        self.left = list(range(K))
        self.leader: int | None = None
        self.windows: list[Window] = []
        self.passes = 0
        self.total = [0.0] * K
        self.handicapping = False
        self.next_round()

    def looks(self) -> list[int]:
        p0 = max(8, math.ceil(self.G / 4))
        e = [p0]
        while 2 * e[-1] < self.n:
            e.append(max(e[-1] + 1, round(p0 * 2.0 ** (len(e) / 4))))
        return e

    def log_level(self, w: int) -> float:
        """Return log(1 / level) of window w."""
        if self.failure is not None:
            return math.log(self.M / self.failure)
        return -math.log(min(0.001 / self.M, self.e[4 * w] / self.n))

    def V(self, Si: float, Sj: float, m: int) -> float:
        return max(0.0, Si + Sj) if self.bounded else 2.0 * self.sigma**2 * m

    def next_round(self) -> None:
        """Start the passes up to the next look."""
        if len(self.left) == 1 or self.c == len(self.e):
            self.start_round(self.left, math.inf)
        else:
            self.start_round(self.left, self.e[self.c] - self.passes)

    def end_round(self) -> None:
        if self.handicapping:  # feedback of these rounds is not used
            self.handicap()
            return
        for i in self.left:
            self.total[i] += self.round_S[i]
        self.passes = self.e[self.c]
        for window in self.windows[-5:]:
            self.left = [i for i in self.left if not self.beaten(i, window)]
        if self.c % 4 == 0 and len(self.left) > 1:
            self.choose_leader()
            self.handicap()
        else:
            self.c += 1
            self.next_round()

    def beaten(self, i: int, window: Window) -> bool:
        Si = self.total[i] - window.sums[i]
        Sj = self.total[self.leader] - window.sums[self.leader]
        V, rho = self.V(Si, Sj, self.passes - window.passes), window.rho
        if Sj <= Si:
            return False
        needed = (V + rho) * (2.0 * window.log_level + math.log((V + rho) / rho))
        return (Sj - Si) ** 2 >= needed

    def choose_leader(self) -> None:
        if self.leader is None:
            self.leader = max(self.left, key=lambda i: self.total[i])
            return
        newest = self.windows[-1]
        S = {i: self.total[i] - newest.sums[i] for i in self.left}
        i, j = max(S, key=lambda i: S[i]), self.leader
        V = self.V(S[i], S[j], self.passes - newest.passes)
        if S[i] - S[j] > 0.5 * (1.0 + math.sqrt(2.0 * math.log(len(S)))) * math.sqrt(V):
            self.leader = i
            self.windows = []

    def handicap(self) -> None:
        """Pull those that lack a head start, or open a window when nobody does."""
        enough = self.T[self.leader] + self.G + 1
        lacking = [i for i in self.left if i != self.leader and self.T[i] < enough]
        self.handicapping = bool(lacking)
        if lacking:
            self.start_round(lacking, min(enough - self.T[i] for i in lacking))
            return
        self.windows.append(
            Window(self.log_level(self.c // 4), self.rho(), self.passes, list(self.total))
        )
        self.c += 1
        self.next_round()

    def rho(self) -> float:
        if self.bounded:
            return max(1.0, 0.25 * (2.0 * max(self.total[i] for i in self.left)))
        return 0.25 * (2.0 * self.sigma**2 * self.passes)

    def candidates(self) -> set[int]:
        return set(self.left)
