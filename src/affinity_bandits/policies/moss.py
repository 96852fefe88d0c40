"""MOSS."""

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


class MOSSState(NamedTuple):
    """An arm's index changes only when it is pulled, so indices are kept."""

    scale: float
    share_of_horizon: float  # n / K
    clock: IntArray
    pulls: IntArray
    sums: FloatArray
    indices: FloatArray


@dataclass(frozen=True)
class MOSS(StepPolicy):
    """Minimax-optimal bounds for a known horizon.

    After each arm once, the largest mean_i + sqrt(c max(0, log(n / (K T_i))) / T_i) (Audibert,
    Bubeck 2009).

    Args:
        scale: the constant c: 1 in the original, for values in [0, 1].
    """

    name: ClassVar[str] = "moss"
    scale: float = 1.0

    def __post_init__(self) -> None:
        self._set(scale=checks.number("scale", self.scale, low=0.0))

    @property
    def assumes(self) -> Feedback:
        """The source, for [0, 1] and c = 1.

        Its proof needs Hoeffding's maximal inequality alone, which asks for c >= 4 sigma**2.
        """
        return Feedback(sigma=0.5 * math.sqrt(self.scale))

    def start(self, arms: int, horizon: int) -> MOSSState:
        check_size(arms, horizon)
        return MOSSState(
            self.scale, horizon / arms, counts(1), counts(arms), reals(arms), reals(arms)
        )

    @staticmethod
    def select(state: MOSSState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        if made < len(state.indices):
            return int(made)
        best = 0
        for arm in range(1, len(state.indices)):
            if state.indices[arm] > state.indices[best]:
                best = arm
        return best

    @staticmethod
    def update(state: MOSSState, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += feedback
        pulls = float(state.pulls[arm])
        surplus = max(0.0, math.log(state.share_of_horizon / pulls))
        state.indices[arm] = state.sums[arm] / pulls + math.sqrt(state.scale * surplus / pulls)
