"""Thompson sampling with Gaussian posteriors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import Feedback
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.step import StepPolicy


class ThompsonGaussianState(NamedTuple):
    """Sums and counts."""

    sigma: float
    clock: IntArray
    pulls: IntArray
    sums: FloatArray


@dataclass(frozen=True)
class ThompsonGaussian(StepPolicy):
    """Thompson sampling with Gaussian posteriors.

    Each arm once, then the largest draw from N(mean_i, sigma**2 / T_i): a flat prior.

    Args:
        sigma: the standard deviation the policy believes in.
    """

    name: ClassVar[str] = "thompson-gaussian"
    randomised: ClassVar[bool] = True
    sigma: float = 1.0

    def __post_init__(self) -> None:
        self._set(sigma=checks.number("sigma", self.sigma, low=0.0, open_low=True))

    @property
    def assumes(self) -> Feedback:
        """Korda, Kaufmann, Munos 2013, for normal values of known variance."""
        return Feedback(sigma=self.sigma, law="normal")

    def start(self, arms: int, horizon: int) -> ThompsonGaussianState:
        check_size(arms, horizon)
        return ThompsonGaussianState(self.sigma, counts(1), counts(arms), reals(arms))

    @staticmethod
    def select(state: ThompsonGaussianState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        best = 0
        best_draw = -math.inf
        for arm in range(arms):
            pulls = float(state.pulls[arm])
            spread = state.sigma / math.sqrt(pulls)
            draw = state.sums[arm] / pulls + spread * rng.standard_normal()
            if draw > best_draw:
                best_draw = draw
                best = arm
        return best

    @staticmethod
    def update(state: ThompsonGaussianState, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += feedback
