"""EXP3 as it was first published, on gains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.policies.exp3 import ExponentialState, draw_exponential
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import reals
from affinity_bandits.policies.step import StepPolicy


@dataclass(frozen=True)
class EXP3Gains(StepPolicy):
    """EXP3 on gains, as first published.

    From Auer, Cesa-Bianchi, Freund, Schapire 1995.

    p_i = (1 - gamma) w_i / sum(w) + gamma / K, with w_i = exp(gamma G_i / K) and G_i the sum of
    Y / p_i over the pulls of arm i.

    Args:
        mixing: gamma; None for min(1, sqrt(K log K / ((e - 1) n))), the authors' choice for
            gains of at most n.
    """

    name: ClassVar[str] = "exp3-gains"
    randomised: ClassVar[bool] = True
    mixing: float | None = None

    def __post_init__(self) -> None:
        if self.mixing is not None:
            self._set(mixing=checks.number("mixing", self.mixing, low=0.0, high=1.0, open_low=True))

    @property
    def assumes(self) -> Feedback:
        """The source: gains in [0, 1]."""
        return UNIT_INTERVAL

    def start(self, arms: int, horizon: int) -> ExponentialState:
        check_size(arms, horizon)
        mixing = self.mixing
        if mixing is None:
            mixing = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * horizon)))
        return ExponentialState(mixing / arms, mixing, 0.0, reals(arms), reals(arms))

    @staticmethod
    def select(state: ExponentialState, rng: np.random.Generator) -> int:
        return draw_exponential(state, rng)

    @staticmethod
    def update(state: ExponentialState, arm: int, feedback: float) -> None:
        state.scores[arm] += feedback / state.probabilities[arm]
