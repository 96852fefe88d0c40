"""Round policies as a user would write them: one that explains nothing, and one that does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.policies import FOREVER, PlayedRound, Round, RoundExplanation, RoundPolicy
from affinity_bandits.policies.explaining import LEADER
from affinity_bandits.policies.state import counts


class DropLowestState(NamedTuple):
    repetitions: int
    set_aside: IntArray  # [0]: rounds to come whose feedback is not looked at
    left: IntArray  # [0]
    active: IntArray  # in the first `left` places
    out: IntArray  # per arm


@dataclass(frozen=True)
class DropLowest(RoundPolicy):
    """The lowest sum is dropped after each round, unless all are equal."""

    name: ClassVar[str] = "drop-lowest"
    eliminates: ClassVar[bool] = True
    set_aside: ClassVar[int] = 0
    repetitions: int = 4

    def start(self, arms: int, horizon: int) -> DropLowestState:
        return DropLowestState(
            repetitions=self.repetitions,
            set_aside=counts(1, self.set_aside),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            out=counts(arms),
        )

    @staticmethod
    def plan(state: DropLowestState) -> Round:
        left = state.left[0]
        return Round(state.active[:left], FOREVER if left == 1 else state.repetitions)

    @staticmethod
    def absorb(state: DropLowestState, sums: FloatArray) -> None:
        if state.set_aside[0] > 0:
            state.set_aside[0] -= 1
            return
        lowest, highest = 0, 0
        for position in range(state.left[0]):
            if sums[position] < sums[lowest]:
                lowest = position
            if sums[position] > sums[highest]:
                highest = position
        if sums[lowest] == sums[highest]:
            return
        state.out[state.active[lowest]] = 1
        for position in range(lowest, state.left[0] - 1):
            state.active[position] = state.active[position + 1]
        state.left[0] -= 1

    @staticmethod
    def candidate(state: DropLowestState, arm: int) -> bool:
        return bool(state.out[arm] == 0)


@dataclass(frozen=True)
class DropLowestInWords(DropLowest):
    """The same after a warm-up, and it says so."""

    name: ClassVar[str] = "drop-lowest-in-words"
    set_aside: ClassVar[int] = 1
    rule: ClassVar[str] = "Whoever comes in last leaves the <island>."

    @property
    def warm_up_rounds(self) -> int:
        return self.set_aside

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        if played.number < self.warm_up_rounds:
            return RoundExplanation(
                compares=False, purpose=f"they get used to <raters> and to {LEADER}"
            )
        return RoundExplanation(
            leader=min(played.candidates),
            dropped_because="The tribe & the <sea> have spoken",
            none_dropped_because="Nobody was last of all.",
        )
