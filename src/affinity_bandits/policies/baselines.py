"""Baselines: round-robin, epsilon-greedy, and an oracle that is told the best arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.policies.contracts import FOREVER, Round, RoundPolicy, StepPolicy, check_size
from affinity_bandits.policies.state import SumsState, add_feedback, counts, reals


class UniformState(NamedTuple):
    """All arms."""

    arms: IntArray


@dataclass(frozen=True)
class Uniform(RoundPolicy):
    """Every arm in turn, forever."""

    name: ClassVar[str] = "uniform"
    rule: ClassVar[str] = "Groups take turns in equal numbers, and none is ever dropped."

    def start(self, arms: int, horizon: int) -> UniformState:
        check_size(arms, horizon)
        return UniformState(np.arange(arms, dtype=np.int64))

    @staticmethod
    def plan(state: UniformState) -> Round:
        return Round(state.arms, FOREVER)

    @staticmethod
    def absorb(state: UniformState, sums: FloatArray) -> None:
        return


@dataclass(frozen=True)
class EpsilonGreedy(StepPolicy):
    """The largest mean, and sometimes any arm.

    Each arm once; then any arm with probability epsilon, otherwise the largest mean. A choice
    draws one uniform number u; if u < epsilon, a second one, v, gives arm floor(v K).

    Args:
        epsilon: the probability of a random arm.
    """

    name: ClassVar[str] = "epsilon-greedy"
    randomized: ClassVar[bool] = True
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        self._check(checks.number, "epsilon", low=0.0, high=1.0)

    def start(self, arms: int, horizon: int) -> SumsState:
        check_size(arms, horizon)
        return SumsState(self.epsilon, counts(1), counts(arms), reals(arms))

    @staticmethod
    def select(state: SumsState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.sums)
        if made < arms:
            return int(made)
        if rng.random() < state.setting:
            return int(rng.random() * arms)
        best = 0
        for arm in range(1, arms):
            if state.sums[arm] / state.pulls[arm] > state.sums[best] / state.pulls[best]:
                best = arm
        return best

    update = staticmethod(add_feedback)


class OracleState(NamedTuple):
    """The arm it was told."""

    arm: int


@dataclass(frozen=True)
class Oracle(StepPolicy):
    """Always the same arm.

    Args:
        arm: the arm to play.
    """

    name: ClassVar[str] = "oracle"
    eliminates: ClassVar[bool] = True
    information: ClassVar[str] = "the best arm"
    told: ClassVar[Mapping[str, str]] = {"arm": "best arm"}
    arm: int = 0

    def __post_init__(self) -> None:
        self._check(checks.integer, "arm", low=0, high=10**6)

    def start(self, arms: int, horizon: int) -> OracleState:
        check_size(arms, horizon)
        if self.arm >= arms:
            raise InvalidInput("arm", f"one of the {arms} arms, counted from 0", self.arm)
        return OracleState(self.arm)

    @staticmethod
    def select(state: OracleState, rng: np.random.Generator) -> int:
        return state.arm

    @staticmethod
    def update(state: OracleState, arm: int, feedback: float) -> None:
        return

    @staticmethod
    def candidate(state: OracleState, arm: int) -> bool:
        return arm == state.arm
