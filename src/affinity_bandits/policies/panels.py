"""A betting elimination for panels, each of which stays the same for a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits.kernels.kernel import IntArray, bind, kernel
from affinity_bandits.policies.betting import ParallelBettingElimination
from affinity_bandits.policies.contracts import RoundKernels
from affinity_bandits.policies.leading import stay
from affinity_bandits.policies.wealth import BettingState, bet_on_leader


@kernel
def meet_panel(state: BettingState, judges: IntArray) -> None:
    """Store who judges the round."""
    for arm in range(len(state.judges)):
        state.judges[arm] = judges[arm]


@kernel
def leader_of(state: BettingState) -> int:
    """Return the leader, which should have the fewest seats."""
    return int(state.leader[0]) if state.left[0] > 1 else -1


@kernel
def seats_in_order(state: BettingState, arm: int, passes: int) -> bool:
    """Return whether an arm has at least as many seats as the leader, so that bias favors it."""
    return bool(state.judges[state.leader[0]] <= state.judges[arm])


@dataclass(frozen=True, kw_only=True)
class PanelElimination(ParallelBettingElimination):
    """Every arm in turn, with bets on the leader; a panel judges, fixed during a round.

    The policy is told the seats of each group before each round. It bets only against groups with
    at least as many seats as the leader, so no head start is needed. The bias must not change while
    a round is open, and who of the panel scores which slot must be decided by lot, without regard
    to the group. The settings are those of
    `HeadStartElimination` without `initial_lead` and `initial_pulls`.
    """

    name: ClassVar[str] = "panel-elimination"
    judged_by: ClassVar[str] = "panel"
    meet = staticmethod(meet_panel)
    fewest_seats = staticmethod(leader_of)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(bounded=True, failure=0.05)]

    @property
    def told_judges(self) -> bool:
        return True

    @property
    def judging(self) -> str:
        return (
            "A panel judges, which stays the same for a round. Lots must decide who of the panel"
            " scores which candidate. The group that leads is compared only with those that have"
            " at least as many seats."
        )

    def kernels(self) -> RoundKernels:
        return self._bind(go_on=stay, bet_on_leader=bind(bet_on_leader, may_bet=seats_in_order))
