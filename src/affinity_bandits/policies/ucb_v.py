"""UCB-V, on feedback as it comes."""

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


class UCBVState(NamedTuple):
    """Two moments an arm."""

    c: float
    zeta: float
    bounds: FloatArray  # b, per arm
    clock: IntArray
    pulls: IntArray
    sums: FloatArray
    squares: FloatArray


@dataclass(frozen=True)
class UCBV(StepPolicy):
    """Upper confidence bounds with variance estimates.

    UCB-V of Audibert, Munos, Szepesvari 2007.

    After each arm once, the largest mean_i + sqrt(2 V_i E / T_i) + 3 c b E / T_i, with
    E = zeta log t and V_i the empirical variance. Run on a bandit with `Constant()` bias it is
    the "true rewards" configuration of Figure 4.

    Args:
        c: weight of the range term; 1 in Corollary 1 of the source.
        zeta: exploration rate; 1.2 in Corollary 1.
        bound: b, the range of the feedback.
    """

    name: ClassVar[str] = "ucb-v"
    c: float = 1.0
    zeta: float = 1.2
    bound: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            c=checks.number("c", self.c, low=0.0),
            zeta=checks.number("zeta", self.zeta, low=0.0),
            bound=checks.number("bound", self.bound, low=0.0),
        )

    @property
    def assumes(self) -> Feedback:
        """The source: values in [0, b]."""
        return Feedback(low=0.0, high=self.bound)

    def start(self, arms: int, horizon: int) -> UCBVState:
        check_size(arms, horizon)
        return UCBVState(
            c=self.c,
            zeta=self.zeta,
            bounds=reals(arms, self.bound),
            clock=counts(1),
            pulls=counts(arms),
            sums=reals(arms),
            squares=reals(arms),
        )

    @staticmethod
    def select(state: UCBVState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        rate = state.zeta * math.log(made + 1.0)
        best = 0
        best_index = -math.inf
        for arm in range(arms):
            pulls = state.pulls[arm]
            mean = state.sums[arm] / pulls
            variance = max(0.0, state.squares[arm] / pulls - mean * mean)
            spread = math.sqrt(2.0 * variance * rate / pulls)
            index = mean + spread + 3.0 * state.c * state.bounds[arm] * rate / pulls
            if index > best_index:
                best_index = index
                best = arm
        return best

    @staticmethod
    def update(state: UCBVState, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += feedback
        state.squares[arm] += feedback * feedback
