"""EXP3-IX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.policies.exp3 import (
    EXP3,
    ExponentialState,
    draw_exponential,
    standard_rate,
)
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import reals
from affinity_bandits.policies.step import StepPolicy


@dataclass(frozen=True)
class EXP3IX(StepPolicy):
    """EXP3 with implicit exploration.

    From Kocak, Neu, Valko, Munos 2014.

    As EXP3 on losses, but L_i sums (1 - Y) / (p_i + gamma).

    Args:
        rate: eta; None for sqrt(2 log K / (n K)).
        implicit: gamma; None for eta / 2.
    """

    name: ClassVar[str] = "exp3-ix"
    randomised: ClassVar[bool] = True
    rate: float | None = None
    implicit: float | None = None

    def __post_init__(self) -> None:
        if self.rate is not None:
            self._set(rate=checks.number("rate", self.rate, low=0.0, open_low=True))
        if self.implicit is not None:
            self._set(implicit=checks.number("implicit", self.implicit, low=0.0))

    @property
    def assumes(self) -> Feedback:
        """The source: losses in [0, 1]."""
        return UNIT_INTERVAL

    def start(self, arms: int, horizon: int) -> ExponentialState:
        check_size(arms, horizon)
        rate = standard_rate(arms, horizon) if self.rate is None else self.rate
        implicit = 0.5 * rate if self.implicit is None else self.implicit
        return ExponentialState(rate, 0.0, implicit, reals(arms), reals(arms))

    @staticmethod
    def select(state: ExponentialState, rng: np.random.Generator) -> int:
        return draw_exponential(state, rng)

    update = staticmethod(EXP3.update)
