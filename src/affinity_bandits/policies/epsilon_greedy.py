"""Epsilon-greedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.step import StepPolicy


class EpsilonGreedyState(NamedTuple):
    """Sums, counts and means."""

    epsilon: float
    clock: IntArray
    pulls: IntArray
    sums: FloatArray
    means: FloatArray


@dataclass(frozen=True)
class EpsilonGreedy(StepPolicy):
    """The largest mean, and sometimes any arm.

    Each arm once; then any arm with probability epsilon, otherwise the largest mean.

    Every choice after the first K draws one uniform number u; if u < epsilon a second one, v,
    picks arm floor(v K).

    Args:
        epsilon: the probability of a random arm.
    """

    name: ClassVar[str] = "epsilon-greedy"
    randomised: ClassVar[bool] = True
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        self._set(epsilon=checks.number("epsilon", self.epsilon, low=0.0, high=1.0))

    def start(self, arms: int, horizon: int) -> EpsilonGreedyState:
        check_size(arms, horizon)
        return EpsilonGreedyState(self.epsilon, counts(1), counts(arms), reals(arms), reals(arms))

    @staticmethod
    def select(state: EpsilonGreedyState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.means)
        if made < arms:
            return int(made)
        if rng.random() < state.epsilon:
            return int(rng.random() * arms)
        best = 0
        for arm in range(1, arms):
            if state.means[arm] > state.means[best]:
                best = arm
        return best

    @staticmethod
    def update(state: EpsilonGreedyState, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += feedback
        state.means[arm] = state.sums[arm] / state.pulls[arm]
