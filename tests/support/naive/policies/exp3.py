"""EXP3 on losses (Bubeck and Cesa-Bianchi 2012), on gains, and EXP3-IX."""

import math

import numpy as np

from .base import NaivePolicy


def sample(p: list[float], rng: np.random.Generator) -> int:
    """Return the first arm whose running sum of p exceeds one uniform, else the last arm."""
    u = rng.random()
    running = 0.0
    for i, p_i in enumerate(p):
        running += p_i
        if running > u:
            return i
    return len(p) - 1


class EXP3(NaivePolicy):
    """p_i proportional to exp(-eta_t L_i); L_arm += (1 - Y) / (p_arm + gamma_t)."""

    def __init__(self, K: int, n: int, rate: float | str | None = None) -> None:
        super().__init__(K, n)
        self.given = rate
        self.t = 1
        self.L = [0.0] * K

    def eta(self) -> float:
        if self.given == "anytime":
            return math.sqrt(math.log(self.K) / self.K) * (1.0 / math.sqrt(self.t))
        if self.given is None:
            return math.sqrt(2.0 * math.log(self.K) / (self.n * self.K))
        return float(self.given)

    def gamma(self) -> float:
        return 0.0

    def probabilities(self) -> list[float]:
        smallest = min(self.L)
        weights = [math.exp(-self.eta() * (L_i - smallest)) for L_i in self.L]
        total = sum(weights)
        return [w / total for w in weights]

    def select(self, rng: np.random.Generator) -> int:
        return sample(self.probabilities(), rng)

    def update(self, arm: int, y: float) -> None:
        p = self.probabilities()  # L has not moved since the choice
        super().update(arm, y)
        self.L[arm] += (1.0 - y) / (p[arm] + self.gamma())
        self.t += 1


class EXP3IX(EXP3):
    """Neu 2015."""

    def __init__(
        self, K: int, n: int, rate: float | str | None = None, implicit: float | None = None
    ) -> None:
        super().__init__(K, n, rate)
        self.implicit = implicit

    def gamma(self) -> float:
        return 0.5 * self.eta() if self.implicit is None else self.implicit


class EXP3Gains(NaivePolicy):
    """p_i = (1 - g) w_i / sum w + g / K with w_i = exp(g G_i / K); G_arm += Y / p_arm.

    Auer, Cesa-Bianchi, Freund and Schapire 2002.
    """

    def __init__(self, K: int, n: int, mixing: float | None = None) -> None:
        super().__init__(K, n)
        if mixing is None:
            mixing = min(1.0, math.sqrt(K * math.log(K) / ((math.e - 1.0) * n)))
        self.mixing = mixing
        self.G = [0.0] * K

    def probabilities(self) -> list[float]:
        g = self.mixing
        largest = max(self.G)  # a common factor of the weights, taken out against overflow
        weights = [math.exp(g * (G_i - largest) / self.K) for G_i in self.G]
        total = sum(weights)
        return [(1.0 - g) * w / total + g / self.K for w in weights]

    def select(self, rng: np.random.Generator) -> int:
        return sample(self.probabilities(), rng)

    def update(self, arm: int, y: float) -> None:
        p = self.probabilities()  # G has not moved since the choice
        super().update(arm, y)
        self.G[arm] += y / p[arm]
