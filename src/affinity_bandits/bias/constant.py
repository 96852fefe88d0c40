"""The constant bias: no affinity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import CONSTANT


@dataclass(frozen=True)
class Constant(Bias):
    """f(x) = value: no affinity.

    `Constant()` is the ordinary bandit (Section 2, feature (i)).
    """

    name: ClassVar[str] = "constant"
    value: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", checks.number("value", self.value, low=0.0))

    @property
    def code(self) -> int:
        return CONSTANT

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return (self.value,)

    @property
    def lipschitz(self) -> float:
        return 0.0

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value}

    def __str__(self) -> str:
        return f"{self.value:g}"
