"""The paper's counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import PLATEAU


@dataclass(frozen=True)
class Plateau(Bias):
    """Nearly 0 up to a share of beta/K, then a steep rise.

    The counterexample of `rem:comparisonUpperLowerBound`:

    f(x) = K**-100 for x <= beta/K, and (x - beta/K + K**-10)**10 beyond: 10-Lipschitz and
    nondecreasing, yet f(mu x) <= mu**L' f(x) fails for every constant L', so the upper and lower
    bounds of the paper part.
    """

    name: ClassVar[str] = "plateau"
    arms: int = 2
    beta: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", checks.integer("arms", self.arms, low=2, high=10**6))
        object.__setattr__(
            self,
            "beta",
            checks.number("beta", self.beta, low=0.0, high=float(self.arms), open_low=True),
        )

    @property
    def code(self) -> int:
        return PLATEAU

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return (self.beta / self.arms, float(self.arms) ** -10.0)

    @property
    def lipschitz(self) -> float:
        # The slope is 10 (x - beta/K + K**-10)**9, largest at x = 1, where the bracket can pass
        # 1 only if beta < K**-9.
        return 10.0 * max(1.0, (1.0 - self.own_parameters[0] + self.own_parameters[1]) ** 9)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.own_parameters[0],) if self.own_parameters[0] < 1.0 else ()

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "arms": self.arms, "beta": self.beta}

    def __str__(self) -> str:
        return f"plateau to {self.own_parameters[0]:g}"
