"""Algorithm 1 with a schedule fitted to stated assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies.assumptions import Assumptions
from affinity_bandits.policies.elimination import Elimination, EliminationState
from affinity_bandits.policies.schedule import PaddedSchedule, PublishedSchedule


@dataclass(frozen=True)
class CalibratedElimination(Elimination):
    """Algorithm 1 with a burn-in and rounds no longer than stated assumptions ask for.

    The rounds are those of `alg:eliminationUnknownBias` with another offset in
    `eq:eliminationArmPullsInRound`; the one discarded pull of each arm becomes a discarded
    burn-in, during which an initial imbalance fades. `affinity_bandits.planning` chooses both.

    Args:
        schedule: as for `Elimination`.
        discard_first: whether there is a burn-in at all.
        burn_in: discarded pulls of each arm.
        assumptions: what the schedule was calibrated for. Where given, the policy refuses any
            other number of arms.
    """

    name: ClassVar[str] = "calibrated-elimination"
    burn_in: int = 1
    assumptions: Assumptions | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(burn_in=checks.integer("burn_in", self.burn_in, low=1, high=10**12))
        if self.assumptions is not None and not isinstance(self.assumptions, Assumptions):
            raise InvalidInput("assumptions", "assumptions of a plan", self.assumptions)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        given = dict(data)
        if given.get("assumptions") is not None:
            given["assumptions"] = Assumptions.from_json(given["assumptions"])
        return super().from_json(given)

    @classmethod
    def examples(cls) -> list[Self]:
        return [
            cls(PaddedSchedule(-5.0, 1.5), burn_in=3),
            cls(PublishedSchedule(-4.0), burn_in=7),
            cls(PublishedSchedule(-2.0), discard_first=False),
        ]

    def start(self, arms: int, horizon: int) -> EliminationState:
        if self.assumptions is not None and arms != self.assumptions.groups:
            raise InvalidInput(
                "arms", f"{self.assumptions.groups}, for which the policy was calibrated", arms
            )
        state = super().start(arms, horizon)
        state.repetitions[0] = self.burn_in
        return state

    def __str__(self) -> str:
        return f"{self.name}({self.schedule}, burn_in={self.burn_in:,})"
