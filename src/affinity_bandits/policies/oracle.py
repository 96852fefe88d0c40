"""An oracle: a policy that is told the best arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.policies.policy import check_size, require
from affinity_bandits.policies.step import StepPolicy


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
        self._set(arm=checks.integer("arm", self.arm, low=0, high=10**6))

    def start(self, arms: int, horizon: int) -> OracleState:
        check_size(arms, horizon)
        require(self.arm < arms, "arm", f"one of the {arms} arms, counted from 0", self.arm)
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
