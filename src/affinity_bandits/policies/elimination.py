"""Algorithm 1 of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.feedback import ANYTHING, Feedback
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.explaining import PlayedRound, RoundExplanation
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import FOREVER, Round, RoundPolicy
from affinity_bandits.policies.schedule import PublishedSchedule, Schedule, schedule_from_json
from affinity_bandits.policies.state import counts, reals

MOST_ROUNDS = 1000
"""Rounds laid out in a state; the horizon ends long before, but for listed schedules."""


class EliminationState(NamedTuple):
    """Who is active, in which round, and the schedule laid out as numbers."""

    repetitions: IntArray  # [r]: pulls of each arm in round r; round 0 is the discarded one
    thresholds: FloatArray  # [r]
    round: IntArray  # [0]: the round to be played
    left: IntArray  # [0]: how many are active
    active: IntArray  # the active arms in increasing order, in the first `left` places
    dropped_in: IntArray  # per arm: the round after which it was dropped, 0 if it is active
    means: FloatArray  # per arm: its mean feedback in the last round it took part in


@dataclass(frozen=True)
class Elimination(RoundPolicy):
    """Algorithm 1: every arm in turn until one can drop.

    `alg:eliminationUnknownBias`, with the details of `alg:eliminationUnknownBiasAppendix`.

    Pull each arm once and discard. Then, in round r = 1, 2, ..., pull each active arm m_r times
    in turn, in increasing order, and keep arm i iff max_j mean_j(r) - mean_i(r) <= 2**-r, with
    means over this round alone. The last arm left is played to the end.

    Args:
        schedule: m_r and the threshold; `PublishedSchedule()` is the paper's.
        discard_first: whether to begin with the discarded pull of each arm, as the appendix
            does to make every T0_i at least 1.
    """

    name: ClassVar[str] = "elimination"
    eliminates: ClassVar[bool] = True
    rule: ClassVar[str] = (
        "Groups take turns in equal numbers. At the end of each round, every group that is"
        " further behind the best than the round tolerates is dropped; rounds get longer and"
        " tolerate less, until one group is left."
    )
    schedule: Schedule = field(default=PublishedSchedule())
    discard_first: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.schedule, Schedule):
            raise InvalidInput("schedule", "a schedule such as PublishedSchedule()", self.schedule)
        self._set(discard_first=checks.flag("discard_first", self.discard_first))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        given = dict(data)
        if "offset" in given and "schedule" not in given:
            # The short form of the command line: elimination:offset=3.
            given["schedule"] = {"name": "published", "offset": given.pop("offset")}
        if isinstance(given.get("schedule"), Mapping | str):
            given["schedule"] = schedule_from_json(given["schedule"])
        return super().from_json(given)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(PublishedSchedule(-2.0)), cls(PublishedSchedule(-4.0), discard_first=False)]

    @property
    def assumes(self) -> Feedback:
        """1-subGaussian noise (`assump:multBias`), for rounds no shorter than published."""
        plan = self.schedule
        proven = isinstance(plan, PublishedSchedule) and plan.offset >= PublishedSchedule().offset
        return Feedback(sigma=1.0) if proven else ANYTHING

    @property
    def warm_up_rounds(self) -> int:
        return 1 if self.discard_first else 0

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        if played.number < self.warm_up_rounds:
            return RoundExplanation(
                compares=False, purpose="they even out what raters had seen before"
            )
        number = min(played.number + 1 - self.warm_up_rounds, MOST_ROUNDS - 1)
        return RoundExplanation(tolerance=float(self.schedule.threshold(number)))

    def start(self, arms: int, horizon: int) -> EliminationState:
        check_size(arms, horizon)
        repetitions, thresholds = [1], [np.inf]
        planned = 0
        while planned <= horizon and len(repetitions) < MOST_ROUNDS:
            number = len(repetitions)
            repetitions.append(self.schedule.repetitions(number, arms, horizon))
            thresholds.append(self.schedule.threshold(number))
            # Two arms at least are in every round that matters.
            planned += 2 * repetitions[-1]
        thresholds[0] = np.finfo(np.float64).max  # finite, so that a saved state is plain JSON
        return EliminationState(
            repetitions=np.array(repetitions, dtype=np.int64),
            thresholds=np.array(thresholds, dtype=np.float64),
            round=counts(1, 0 if self.discard_first else 1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            dropped_in=counts(arms),
            means=reals(arms),
        )

    @staticmethod
    def plan(state: EliminationState) -> Round:
        left = state.left[0]
        if left == 1:
            return Round(state.active[:left], FOREVER)
        last = len(state.repetitions) - 1
        return Round(state.active[:left], state.repetitions[min(state.round[0], last)])

    @staticmethod
    def absorb(state: EliminationState, sums: FloatArray) -> None:
        number = min(state.round[0], len(state.repetitions) - 1)
        repetitions = state.repetitions[number]
        left = state.left[0]
        highest = sums[0] / repetitions
        for position in range(left):
            mean = sums[position] / repetitions
            state.means[state.active[position]] = mean
            highest = max(highest, mean)
        kept = 0
        for position in range(left):
            arm = state.active[position]
            if highest - state.means[arm] <= state.thresholds[number]:
                state.active[kept] = arm
                kept += 1
            else:
                state.dropped_in[arm] = state.round[0]
        state.left[0] = kept
        state.round[0] += 1

    @staticmethod
    def candidate(state: EliminationState, arm: int) -> bool:
        return bool(state.dropped_in[arm] == 0)

    def __str__(self) -> str:
        if isinstance(self.schedule, PublishedSchedule):
            offset = self.schedule.offset
            changed = [] if offset == PublishedSchedule().offset else [f"offset={offset:g}"]
        else:
            changed = [f"schedule={self.schedule}"]
        if not self.discard_first:
            changed.append("discard_first=False")
        return f"{self.name}({', '.join(changed)})" if changed else self.name
