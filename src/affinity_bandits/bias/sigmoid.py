"""The sigmoid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import SIGMOID


@dataclass(frozen=True)
class Sigmoid(Bias):
    """f(x) = 1 / (1 + exp(-x)).

    It is 1/4-Lipschitz (Section 2, feature (iii)).
    """

    name: ClassVar[str] = "sigmoid"

    @property
    def code(self) -> int:
        return SIGMOID

    @property
    def lipschitz(self) -> float:
        return 0.25

    def __str__(self) -> str:
        return "1/(1+e^-x)"
