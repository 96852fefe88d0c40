"""LUCB, then commit."""

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


class LUCBState(NamedTuple):
    """Sums and counts, the arm that waits for its turn, and the arm committed to."""

    delta: float
    sigma: float
    clock: IntArray
    pulls: IntArray
    sums: FloatArray
    waiting: IntArray  # [0]: the second arm of the pair under way, or -1
    chosen: IntArray  # [0]: the arm committed to, or -1


@dataclass(frozen=True)
class LUCB(StepPolicy):
    """Leader against closest rival, then the winner.

    Fixed-confidence LUCB, then commit (as surveyed by Jamieson, Nowak 2014).

    After each arm once, in pairs: the arm h with the largest mean, then the arm l that has the
    largest mean_i + U_i among the others, with
    U_i = sqrt(2 sigma**2 log(5 K t**4 / (4 delta)) / T_i) at the t pulls made before the pair
    (the rate of Kalyanakrishnan et al. 2012). Once mean_h - U_h > mean_l + U_l, arm h for good.

    Args:
        delta: the allowed probability of a wrong winner.
        sigma: the subGaussian constant of the feedback; 1/2 for values in [0, 1].
    """

    name: ClassVar[str] = "lucb"
    eliminates: ClassVar[bool] = True
    delta: float = 0.05
    sigma: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            delta=checks.number(
                "delta", self.delta, low=0.0, high=1.0, open_low=True, open_high=True
            ),
            sigma=checks.number("sigma", self.sigma, low=0.0, open_low=True),
        )

    @property
    def assumes(self) -> Feedback:
        """Kalyanakrishnan et al. 2012, for [0, 1] and sigma = 1/2.

        Its proof needs Hoeffding's inequality alone.
        """
        return Feedback(sigma=self.sigma)

    def start(self, arms: int, horizon: int) -> LUCBState:
        check_size(arms, horizon)
        return LUCBState(
            delta=self.delta,
            sigma=self.sigma,
            clock=counts(1),
            pulls=counts(arms),
            sums=reals(arms),
            waiting=counts(1, -1),
            chosen=counts(1, 0 if arms == 1 else -1),
        )

    @staticmethod
    def select(state: LUCBState, rng: np.random.Generator) -> int:
        if state.chosen[0] >= 0:
            return int(state.chosen[0])
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        if state.waiting[0] >= 0:
            return int(state.waiting[0])
        leader = 0
        leader_mean = state.sums[0] / state.pulls[0]
        for arm in range(1, arms):
            mean = state.sums[arm] / state.pulls[arm]
            if mean > leader_mean:
                leader_mean = mean
                leader = arm
        time = float(made)
        level = math.log(1.25 * arms * time * time * time * time / state.delta)
        scale = 2.0 * state.sigma * state.sigma * level
        rival = -1
        rival_index = -math.inf
        for arm in range(arms):
            if arm != leader:
                index = state.sums[arm] / state.pulls[arm] + math.sqrt(scale / state.pulls[arm])
                if index > rival_index:
                    rival_index = index
                    rival = arm
        if leader_mean - math.sqrt(scale / state.pulls[leader]) > rival_index:
            state.chosen[0] = leader
        else:
            state.waiting[0] = rival
        return leader

    @staticmethod
    def update(state: LUCBState, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += feedback
        if arm == state.waiting[0]:
            state.waiting[0] = -1

    @staticmethod
    def candidate(state: LUCBState, arm: int) -> bool:
        return bool(state.chosen[0] == -1 or state.chosen[0] == arm)
