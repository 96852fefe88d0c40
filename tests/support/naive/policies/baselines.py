"""Uniform play, one fixed arm, epsilon-greedy, and policies that commit to an arm."""

import math

import numpy as np

from .base import NaivePolicy, RoundPolicy


class Uniform(NaivePolicy):
    """All arms in turn: A_t = (t - 1) mod K. It is one round without end."""

    def opens(self) -> bool:
        return self.made == 0

    def select(self, rng: np.random.Generator) -> int:
        return self.made % self.K


class Oracle(NaivePolicy):
    """A_t = arm for every t."""

    def __init__(self, K: int, n: int, arm: int = 0) -> None:
        super().__init__(K, n)
        self.arm = arm

    def select(self, rng: np.random.Generator) -> int:
        return self.arm

    def candidates(self) -> set[int]:
        return {self.arm}


class EpsilonGreedy(NaivePolicy):
    """With probability epsilon a uniform arm, else the largest mean (Sutton, Barto 2018, 2.2)."""

    def __init__(self, K: int, n: int, epsilon: float = 0.1) -> None:
        super().__init__(K, n)
        self.epsilon = epsilon

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        if rng.random() < self.epsilon:
            return int(rng.random() * self.K)
        return max(range(self.K), key=self.mean)


class ExploreThenCommit(RoundPolicy):
    """Each arm m = ceil(n**(2/3) / K) times in turn, then the largest mean for ever.

    Lattimore and Szepesvari 2020, chapter 6.
    """

    def __init__(self, K: int, n: int, pulls_per_arm: int | None = None) -> None:
        super().__init__(K, n)
        m = math.ceil(n ** (2 / 3) / K) if pulls_per_arm is None else pulls_per_arm
        self.start_round(list(range(K)), m)

    def end_round(self) -> None:
        self.start_round([max(self.active, key=self.mean)], math.inf)


class SuccessiveRejects(RoundPolicy):
    """Phase k of K - 1: n_k - n_{k-1} pulls of each active arm, then drop the lowest mean.

    Audibert, Bubeck and Munos 2010, then the winner for ever.
    n_k = ceil((B - K) / (logbar (K + 1 - k))), logbar = 1/2 + sum_{i=2}^K 1/i; means over all
    phases; of equal lowest means the highest index goes.
    """

    def __init__(self, K: int, n: int, budget: float = 0.5) -> None:
        super().__init__(K, n)
        self.spare = max(0, math.floor(budget * n) - K)
        self.logbar = 0.5
        for i in range(2, K + 1):
            self.logbar += 1.0 / i
        self.k = 0
        self.next_phase(list(range(K)))

    def n_k(self, k: int) -> int:
        if k == 0:
            return 0
        return math.ceil(self.spare / (self.logbar * (self.K + 1 - k)))

    def next_phase(self, active: list[int]) -> None:
        self.k += 1
        if len(active) == 1:
            self.start_round(active, math.inf)
        else:
            self.start_round(active, max(1, self.n_k(self.k) - self.n_k(self.k - 1)))

    def end_round(self) -> None:
        worst = min(self.active, key=lambda i: (self.mean(i), -i))
        self.next_phase([i for i in self.active if i != worst])


class SequentialHalving(RoundPolicy):
    """Phase with k arms left: floor(B / (k ceil(log2 K))) pulls each, keep the ceil(k/2) best.

    Karnin, Koren and Somekh 2013, then the winner for ever.
    """

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
