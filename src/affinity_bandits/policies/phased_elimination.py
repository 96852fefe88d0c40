"""What round policies share that rank their arms after a round and keep the best ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.explaining import PlayedRound, RoundExplanation
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import FOREVER, Round, RoundPolicy
from affinity_bandits.policies.state import counts, reals


class PhasedEliminationState(NamedTuple):
    """The phases, the current one, the arms left, and the sums that rank them."""

    repetitions: IntArray  # [phase]
    keep: IntArray  # [phase]: arms left after it
    cumulative: int  # 1: rank by the means of all phases; 0: of this phase alone
    phase: IntArray  # [0]
    left: IntArray  # [0]
    active: IntArray  # the active arms in increasing order, in the first `left` places
    dropped_in: IntArray  # per arm: the phase (from 1) after which it was dropped, 0 if active
    pulls: IntArray  # per arm: pulls that count for its mean
    sums: FloatArray
    means: FloatArray


class Phase(NamedTuple):
    """How often each arm left is pulled, and how many arms are kept after that."""

    repetitions: int
    keep: int


@dataclass(frozen=True)
class PhasedElimination(RoundPolicy):
    """A fixed list of phases, each of which keeps the best arms; what is left is played forever."""

    eliminates: ClassVar[bool] = True
    rule: ClassVar[str] = (
        "Groups take turns in equal numbers. At the end of each round a fixed number of groups,"
        " those with the lowest scores, is dropped, until one is left."
    )
    cumulative: ClassVar[bool] = False

    def phases(self, arms: int, horizon: int) -> list[Phase]:
        """Return the phases for a number of arms and a declared horizon."""
        raise NotImplementedError

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        kept = len(played.candidates) - len(played.dropped)
        best, stay = (f"best {kept:,}", "stay") if kept > 1 else ("best", "stays")
        ranked = " over all rounds so far" if self.cumulative else ""
        return RoundExplanation(
            dropped_because=f"Only the {best} by score{ranked} {stay} after this round"
        )

    def start(self, arms: int, horizon: int) -> PhasedEliminationState:
        check_size(arms, horizon)
        phases = self.phases(arms, horizon)
        return PhasedEliminationState(
            repetitions=np.array([phase.repetitions for phase in phases], dtype=np.int64),
            keep=np.array([phase.keep for phase in phases], dtype=np.int64),
            cumulative=int(self.cumulative),
            phase=counts(1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            dropped_in=counts(arms),
            pulls=counts(arms),
            sums=reals(arms),
            means=reals(arms),
        )

    @staticmethod
    def plan(state: PhasedEliminationState) -> Round:
        left = state.left[0]
        if state.phase[0] >= len(state.repetitions):
            return Round(state.active[:left], FOREVER)
        return Round(state.active[:left], state.repetitions[state.phase[0]])

    @staticmethod
    def absorb(state: PhasedEliminationState, sums: FloatArray) -> None:
        phase = state.phase[0]
        left = state.left[0]
        for position in range(left):
            arm = state.active[position]
            if state.cumulative == 0:
                state.pulls[arm] = 0
                state.sums[arm] = 0.0
            state.pulls[arm] += state.repetitions[phase]
            state.sums[arm] += sums[position]
            state.means[arm] = state.sums[arm] / state.pulls[arm]
        for _ in range(left - state.keep[phase]):
            worst = -1
            for position in range(left):
                arm = state.active[position]
                # "<=": among equals the lower number is kept.
                if state.dropped_in[arm] == 0 and (
                    worst == -1 or state.means[arm] <= state.means[worst]
                ):
                    worst = arm
            state.dropped_in[worst] = phase + 1
        kept = 0
        for position in range(left):
            arm = state.active[position]
            if state.dropped_in[arm] == 0:
                state.active[kept] = arm
                kept += 1
        state.left[0] = kept
        state.phase[0] += 1

    @staticmethod
    def candidate(state: PhasedEliminationState, arm: int) -> bool:
        return bool(state.dropped_in[arm] == 0)


@dataclass(frozen=True)
class Budgeted(PhasedElimination):
    """Phases that spend a part of the horizon on exploring.

    Args:
        budget: that part.
    """

    budget: float = 0.5

    def __post_init__(self) -> None:
        self._set(budget=checks.number("budget", self.budget, low=0.0, high=1.0, open_low=True))

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(budget=0.1)]
