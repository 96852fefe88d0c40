"""Uniform round-robin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import FOREVER, Round, RoundPolicy


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
