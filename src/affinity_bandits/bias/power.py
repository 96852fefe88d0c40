"""Powers of the share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import CUBE, IDENTITY, POWER, SQUARE


@dataclass(frozen=True)
class Power(Bias):
    """f(x) = x**alpha, alpha >= 1.

    It is alpha-Lipschitz (Section 2, feature (ii)).
    """

    name: ClassVar[str] = "power"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        # Below 1 the slope at 0 is infinite, so the Lipschitz condition fails.
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, low=1.0))

    @property
    def code(self) -> int:
        return {1.0: IDENTITY, 2.0: SQUARE, 3.0: CUBE}.get(self.alpha, POWER)

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return (self.alpha,)

    @property
    def lipschitz(self) -> float:
        return self.alpha

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "alpha": self.alpha}

    def __str__(self) -> str:
        return "x" if self.alpha == 1.0 else f"x^{self.alpha:g}"
