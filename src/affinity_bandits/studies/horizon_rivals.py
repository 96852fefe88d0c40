"""Policies without a horizon that the study of the horizon sees fail."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, IntArray, bind
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import Round, RoundKernels, RoundPolicy
from affinity_bandits.policies.schedule import PublishedSchedule, Schedule
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.weighted_ucb import WeightedUCB, round_length
from affinity_bandits.round_sums import bound_sums

STAGES = 44
"""From a first horizon of 32 these reach 10**14."""
ROUNDS = 40
"""Laid out for each stage; its horizon ends before, whatever the schedule."""


class DoublingState(NamedTuple):
    """The schedule of every stage, and where the present one is."""

    repetitions: IntArray  # [stage * ROUNDS + r]: pulls of each arm in round r
    thresholds: FloatArray  # [r]
    horizons: IntArray  # [stage]
    stage: IntArray  # [0]
    spent: IntArray  # [0]: pulls of the stage so far
    round: IntArray  # [0]: the round to be played
    left: IntArray  # [0]: how many are active
    active: IntArray  # in increasing order, in the first `left` places
    means: FloatArray


@dataclass(frozen=True)
class Doubling(RoundPolicy):
    """Algorithm 1 for a horizon of h, begun anew with 2 h when it is over, and so on.

    The committee stays as it is, so that whoever won has nearly every seat when the next stage
    begins. A round that does not fit into its stage is cut short and not looked at.

    Args:
        schedule: of Algorithm 1.
        first: h.
    """

    name: ClassVar[str] = "doubling"
    schedule: Schedule = field(default=PublishedSchedule())
    first: int = 32

    def start(self, arms: int, horizon: int) -> DoublingState:
        check_size(arms, horizon)
        horizons = [self.first * 2**stage for stage in range(STAGES)]
        lengths = [
            min(self.schedule.repetitions(number, arms, one), one)
            for one in horizons
            for number in range(1, ROUNDS + 1)
        ]
        return DoublingState(
            repetitions=np.array(lengths, dtype=np.int64),
            thresholds=np.array([self.schedule.threshold(r) for r in range(1, ROUNDS + 1)]),
            horizons=np.array(horizons, dtype=np.int64),
            stage=counts(1),
            spent=counts(1),
            round=counts(1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            means=reals(arms),
        )

    @staticmethod
    def plan(state: DoublingState) -> Round:
        left = state.left[0]
        rest = state.horizons[state.stage[0]] - state.spent[0]
        if left == 1:
            return Round(state.active[:1], rest)
        wanted = state.repetitions[state.stage[0] * ROUNDS + state.round[0]]
        if wanted * left <= rest:
            return Round(state.active[:left], wanted)
        if rest >= left:
            return Round(state.active[:left], rest // left)
        return Round(state.active[:1], rest)

    @staticmethod
    def absorb(state: DoublingState, sums: FloatArray) -> None:
        left = state.left[0]
        rest = state.horizons[state.stage[0]] - state.spent[0]
        wanted = state.repetitions[state.stage[0] * ROUNDS + state.round[0]]
        if left > 1 and wanted * left <= rest:
            state.spent[0] += wanted * left
            highest = sums[0] / wanted
            for position in range(left):
                mean = sums[position] / wanted
                state.means[state.active[position]] = mean
                highest = max(highest, mean)
            kept = 0
            for position in range(left):
                arm = state.active[position]
                if highest - state.means[arm] <= state.thresholds[state.round[0]]:
                    state.active[kept] = arm
                    kept += 1
            state.left[0] = kept
            state.round[0] = min(state.round[0] + 1, ROUNDS - 1)
        elif left > 1 and rest >= left:
            state.spent[0] += rest // left * left
        else:
            state.spent[0] += rest
        if state.spent[0] == state.horizons[state.stage[0]]:
            state.stage[0] = min(state.stage[0] + 1, STAGES - 1)
            state.spent[0] = 0
            state.round[0] = 0
            state.left[0] = len(state.active)
            for arm in range(len(state.active)):
                state.active[arm] = arm


class ForcedRateState(NamedTuple):
    """That of `WeightedUCB`, and the rate."""

    rate: float
    growth: float
    code: int
    parameters: FloatArray
    breakpoints: FloatArray
    smooth: int
    initial: int
    arms: IntArray
    committee: IntArray
    total: IntArray
    information: FloatArray
    sums: FloatArray


@dataclass(frozen=True)
class ForcedRate(WeightedUCB):
    """After t pulls an arm with fewer than t**rate of them, else the one with the best estimate.

    Estimates and rounds are those of `WeightedUCB`.

    Args:
        rate: the exponent.
    """

    name: ClassVar[str] = "forced-rate"
    rate: float = 0.5

    def start(self, arms: int, horizon: int) -> Any:
        given = super().start(arms, horizon)._asdict()
        del given["sigma"]
        return ForcedRateState(rate=self.rate, **given)

    @staticmethod
    def plan(state: Any) -> Round:
        arm = forced(state)
        return Round(state.arms[arm : arm + 1], round_length(state, arm))

    def kernels(self) -> RoundKernels:
        absorb = bind(
            WeightedUCB.absorb, round_weights=bound_sums(self.bias.kernel), highest=forced
        )
        return RoundKernels(self.plan, absorb, self.candidate)


def forced(state: Any) -> int:
    """Return the arm to pull, from a `ForcedRateState`; a kernel."""
    made = max(1, state.total[0] - state.initial)
    best = 0
    largest = -math.inf
    for arm in range(len(state.arms)):
        known = state.information[arm]
        if known <= 0.0 or state.committee[arm] < made**state.rate:
            return arm
        if state.sums[arm] / known > largest:
            best = arm
            largest = state.sums[arm] / known
    return best
