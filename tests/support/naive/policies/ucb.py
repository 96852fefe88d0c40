"""UCB1, KL-UCB, MOSS, LUCB, and UCB on weighted feedback."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from .base import IndexPolicy, NaivePolicy, RoundPolicy


class UCB1(IndexPolicy):
    """Auer, Cesa-Bianchi and Fischer 2002: index mean_i + sqrt(exploration log(t) / T_i)."""

    def __init__(self, K: int, n: int, exploration: float = 2.0) -> None:
        super().__init__(K, n)
        self.exploration = exploration

    def index(self, i: int, t: int) -> float:
        return self.mean(i) + math.sqrt(self.exploration * math.log(t) / self.T[i])


def kl(p: float, q: float) -> float:
    """kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)) for p and q strictly inside (0, 1)."""
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


def upper_bound(p: float, T: int, level: float) -> float:
    """Return the largest q in [p, 1] with T kl(p, q) <= level, by bisection to the last bit."""
    if p >= 1.0:
        return 1.0
    if p <= 0.0:
        return 1.0 - math.exp(-level / T)
    low, high = p, 1.0
    while True:
        q = (low + high) / 2.0
        if q in (low, high):
            return low
        if T * kl(p, q) <= level:
            low = q
        else:
            high = q


class KLUCB(NaivePolicy):
    """Garivier and Cappe 2011: index max{q : T_i kl(mean_i, q) <= log t + c log log t}."""

    def __init__(self, K: int, n: int, log_log_factor: float = 0.0) -> None:
        super().__init__(K, n)
        self.log_log_factor = log_log_factor

    def level(self, t: int) -> float:
        level = math.log(t)
        if self.log_log_factor > 0.0 and level > 1.0:
            return level + self.log_log_factor * math.log(level)
        return level

    def index_data(self, i: int) -> tuple[float, int]:
        """All that arm i's index depends on; where it is equal, so are the indices."""
        return min(1.0, max(0.0, self.mean(i))), self.T[i]

    def select(self, rng: np.random.Generator) -> int:
        if self.made < self.K:
            return self.made
        level = self.level(self.made + 1)
        indices = [upper_bound(self.mean(i), self.T[i], level) for i in range(self.K)]
        best = max(range(self.K), key=lambda i: indices[i])
        # An equation solved in floating point: two solvers agree to about 1e-12, so a choice
        # between closer indices of different arms is rounding's, not the policy's.
        for i in range(self.K):
            same = self.index_data(i) == self.index_data(best)
            close = indices[best] - indices[i] < 1e-11 and indices[i] < 1.0
            if close and not same:
                self.decided_by_rounding = True
        return best


class MOSS(IndexPolicy):
    """Audibert and Bubeck 2009: index mean_i + sqrt(scale max(0, log(n / (K T_i))) / T_i)."""

    def __init__(self, K: int, n: int, scale: float = 1.0) -> None:
        super().__init__(K, n)
        self.scale = scale

    def index(self, i: int, t: int) -> float:
        surplus = max(0.0, math.log(self.n / (self.K * self.T[i])))
        return self.mean(i) + math.sqrt(self.scale * surplus / self.T[i])


class LUCB(NaivePolicy):
    """Pull leader h and challenger l in pairs until mean_h - U_h > mean_l + U_l.

    Kalyanakrishnan, Tewari, Auer and Stone 2012.
    U_i = sqrt(2 sigma**2 log(5 K t**4 / (4 delta)) / T_i), t the number of pulls made so far.
    """

    def __init__(self, K: int, n: int, delta: float = 0.05, sigma: float = 1.0) -> None:
        super().__init__(K, n)
        self.delta = delta
        self.sigma = sigma
        self.committed: int | None = 0 if K == 1 else None
        self.challenger: int | None = None

    def U(self, i: int) -> float:
        level = math.log(5.0 * self.K * float(self.made) ** 4 / (4.0 * self.delta))
        return math.sqrt(2.0 * self.sigma**2 * level / self.T[i])

    def select(self, rng: np.random.Generator) -> int:
        if self.committed is not None:
            return self.committed
        if self.made < self.K:
            return self.made
        if self.challenger is not None:
            second, self.challenger = self.challenger, None
            return second
        h = max(range(self.K), key=self.mean)
        others = [i for i in range(self.K) if i != h]
        challenger = self.highest(others, lambda i: self.mean(i) + self.U(i))
        if self.mean(h) - self.U(h) > self.mean(challenger) + self.U(challenger):
            self.committed = h
        else:
            self.challenger = challenger
        return h

    def candidates(self) -> set[int]:
        return set(range(self.K)) if self.committed is None else {self.committed}


class WeightedUCB(RoundPolicy):
    """UCB on feedback weighted by its known bias, an arm a round (docs/study/studies/horizon.md).

    V_i = sum over rounds of (sum of W)**2 / m, U_i of (sum of Y) (sum of W) / m.
    """

    def __init__(
        self,
        K: int,
        n: int,
        *,
        bias: Callable[[float], float],
        initial_pulls: Sequence[int] | None = None,
        sigma: float = 1.0,
        growth: float = 0.05,
    ) -> None:
        super().__init__(K, n)
        self.bias = bias
        self.T0 = [1] * K if initial_pulls is None else list(initial_pulls)
        self.sigma = sigma
        self.growth = growth
        self.V = [0.0] * K
        self.U = [0.0] * K
        self.weights = 0.0
        self.next_round()

    def seen(self, i: int) -> tuple[float, ...]:
        return self.V[i], self.U[i]

    def index(self, i: int) -> float:
        V = self.V[i]
        if V == 0.0:
            return math.inf
        t = max(1, self.made)
        radius = self.sigma * math.sqrt((V + 1.0) * (2.0 * math.log(t) + math.log(1.0 + V))) / V
        return self.U[i] / V + radius

    def next_round(self) -> None:
        unseen = [i for i in range(self.K) if self.V[i] == 0.0]
        arm = unseen[0] if unseen else self.highest(range(self.K), self.index)
        self.start_round([arm], max(1, math.floor(self.growth * (self.T0[arm] + self.T[arm]))))
        self.weights = 0.0

    def update(self, arm: int, y: float) -> None:
        self.weights += self.bias((self.T0[arm] + self.T[arm]) / (sum(self.T0) + self.made))
        super().update(arm, y)

    def end_round(self) -> None:
        (arm,) = self.active
        m = self.round_T[arm]
        self.V[arm] += self.weights**2 / m
        self.U[arm] += self.round_S[arm] * self.weights / m
        self.next_round()

    def candidates(self) -> set[int]:
        return set(range(self.K))
