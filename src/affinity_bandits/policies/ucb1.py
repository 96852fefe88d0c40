"""UCB1."""

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


class UCB1State(NamedTuple):
    """Means and 1/sqrt(pulls) are kept, so that an index costs one product and one sum."""

    exploration: float
    clock: IntArray  # [0]: pulls made
    leader: IntArray  # [0]: the arm chosen last
    pulls: FloatArray  # whole numbers, but only ever divided by
    sums: FloatArray
    means: FloatArray
    inverse_roots: FloatArray


@dataclass(frozen=True)
class UCB1(StepPolicy):
    """Upper confidence bounds, the classic.

    Each arm once, then the largest mean_i + sqrt(c log t / T_i): `eq:UCB`, with c = 2.

    Args:
        exploration: the constant c.
    """

    name: ClassVar[str] = "ucb1"
    exploration: float = 2.0

    def __post_init__(self) -> None:
        self._set(exploration=checks.number("exploration", self.exploration, low=0.0))

    @property
    def assumes(self) -> Feedback:
        """Theorem 1 of Auer, Cesa-Bianchi, Fischer 2002, for [0, 1] and c = 2.

        Its proof needs that a bound fails with probability t**-4 at most, that is
        c >= 8 sigma**2.
        """
        return Feedback(sigma=math.sqrt(self.exploration / 8.0))

    def start(self, arms: int, horizon: int) -> UCB1State:
        check_size(arms, horizon)
        return UCB1State(
            exploration=self.exploration,
            clock=counts(1),
            leader=counts(1),
            pulls=reals(arms),
            sums=reals(arms),
            means=reals(arms),
            inverse_roots=reals(arms),
        )

    @staticmethod
    def select(state: UCB1State, rng: np.random.Generator) -> int:
        made = state.clock[0]
        means = state.means
        arms = len(means)
        if made < arms:
            return int(made)
        width = math.sqrt(state.exploration * math.log(made + 1.0))
        inverse_roots = state.inverse_roots
        # Most of the time the last choice still leads. Asking only that needs no running maximum:
        # the loop below runs on vectors, and the next pull need not wait for its outcome.
        leader = state.leader[0]
        highest = means[leader] + width * inverse_roots[leader]
        not_below = 0
        for arm in range(arms):
            if means[arm] + width * inverse_roots[arm] >= highest:
                not_below += 1
        if not_below == 1:
            return int(leader)
        best = 0
        highest = means[0] + width * inverse_roots[0]
        for arm in range(1, arms):
            index = means[arm] + width * inverse_roots[arm]
            if index > highest:
                highest = index
                best = arm
        state.leader[0] = best
        return best

    @staticmethod
    def update(state: UCB1State, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        pulls = state.pulls[arm] + 1.0
        total = state.sums[arm] + feedback
        state.pulls[arm] = pulls
        state.sums[arm] = total
        state.means[arm] = total / pulls
        state.inverse_roots[arm] = 1.0 / math.sqrt(pulls)
