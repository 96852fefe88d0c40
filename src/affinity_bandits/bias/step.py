"""A jump at one share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.kernels import FloatArray, Function


def step_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return the lower weight below the share of the step, the higher from there on."""
    return float(parameters[3]) if share < parameters[2] else float(parameters[4])


@dataclass(frozen=True)
class Step(Bias):
    """f(x) = low if x < at, else high: a majority counts.

    It has no Lipschitz constant, because it jumps. The paper's guarantees ask for one
    (`assump:multBias`), so none covers it, and the functions of `theory` refuse it. A step that is
    steep and not a jump is a `PiecewisePower`.
    """

    name: ClassVar[str] = "step"
    smooth: ClassVar[bool] = False
    at: float = 0.5
    low: float = 0.5
    high: float = 1.0

    def __post_init__(self) -> None:
        inside = {"open_low": True, "open_high": True}
        low = checks.number("low", self.low, low=0.0)
        for name, value in (
            ("at", checks.number("at", self.at, low=0.0, high=1.0, **inside)),
            ("low", low),
            ("high", checks.number("high", self.high, low=low)),
        ):
            object.__setattr__(self, name, value)

    @property
    def lipschitz(self) -> float:
        return math.inf if self.high > self.low else 0.0

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.at,)

    @property
    def kernel(self) -> Function:
        return step_weight

    def __str__(self) -> str:
        return f"{self.low:g} below {self.at:g}, then {self.high:g}"
