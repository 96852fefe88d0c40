"""A betting elimination for committees that forget, which goes round in a circle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits.base import checks
from affinity_bandits.kernels.kernel import kernel
from affinity_bandits.policies.betting import BettingElimination
from affinity_bandits.policies.contracts import RoundKernels
from affinity_bandits.policies.explaining import PlayedRound, RoundExplanation
from affinity_bandits.policies.wealth import BettingState, place_of_leader


@kernel
def no_members(state: BettingState) -> float:
    """Return infinity: a new leader costs less than a pass."""
    return math.inf


@kernel
def go_on_to_leader(state: BettingState) -> None:
    """Plan the turns of the arms before the leader, so that rounds begin with the leader."""
    turns = place_of_leader(state)
    left = state.left[0]
    for position in range(turns):
        state.movers[position] = state.active[position]
    for position in range(turns, left):
        state.active[position - turns] = state.active[position]
    for position in range(turns):
        state.active[left - turns + position] = state.movers[position]
    state.moving[0] = turns
    state.moves[0] = 1


@dataclass(frozen=True, kw_only=True)
class MemoryElimination(BettingElimination):
    """Every arm in turn, with bets on the leader; only the last `memory` who were chosen judge.

    The policy waits until all earlier members have left, instead of a head start. The other
    settings are those of `HeadStartElimination` without `initial_lead`, `initial_pulls` and
    `in_flight`: answers have to come in order.

    Args:
        memory: so many judge at most: the last who were chosen.
    """

    name: ClassVar[str] = "memory-elimination"
    judged_by: ClassVar[str] = "memory"
    told: ClassVar[Mapping[str, str]] = {"memory": "memory"}
    memory: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(checks.integer, "memory", low=1, high=10**8)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(bounded=True, failure=0.05, memory=30)]

    @property
    def judging(self) -> str:
        return (
            f"The last {self.memory:,} who were chosen are taken to judge. Whoever judged before"
            " counts no more once so many have been chosen, and the groups are compared from then"
            " on."
        )

    @property
    def warm_up_rounds(self) -> int:
        return 1

    @property
    def order_window(self) -> int:
        return 1

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        if played.number < self.warm_up_rounds:
            purpose = "so many are chosen that nobody counts any more who judged before"
            return RoundExplanation(compares=False, purpose=purpose)
        absent = played.candidates - set(played.arms)
        if not absent:
            return super().explain(played, before)
        purpose = "they have their turns, so that rounds begin with the group that leads"
        leader = min(absent) if len(absent) == 1 else None
        return RoundExplanation(compares=False, purpose=purpose, leader=leader)

    def start(self, arms: int, horizon: int) -> BettingState:
        """Return a fresh state that begins with passes until all initial members have left."""
        state = super().start(arms, horizon)._replace(order=0)
        state.movers[:] = state.active
        state.moving[0] = arms
        state.moves[0] = -(-self.memory // arms)
        return state

    def kernels(self) -> RoundKernels:
        return self._bind(go_on=go_on_to_leader, joined_part=no_members)
