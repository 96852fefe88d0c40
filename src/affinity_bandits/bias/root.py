"""Roots of the share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import POWER


@dataclass(frozen=True)
class Root(Bias):
    """f(x) = x**alpha, 0 < alpha < 1: steep where a group is rare.

    It has no Lipschitz constant, because its slope at 0 is infinite. The paper's guarantees ask for
    one (`assump:multBias`), so none covers it, and the functions of `theory` refuse it.
    """

    name: ClassVar[str] = "root"
    smooth: ClassVar[bool] = False  # no derivative at 0, which series would need
    alpha: float = 0.5

    def __post_init__(self) -> None:
        alpha = checks.number("alpha", self.alpha, low=0.0, high=1.0, open_low=True, open_high=True)
        object.__setattr__(self, "alpha", alpha)

    @property
    def code(self) -> int:
        return POWER

    @property
    def lipschitz(self) -> float:
        return math.inf

    def __str__(self) -> str:
        return f"x^{self.alpha:g}"
