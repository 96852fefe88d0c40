"""A panel that is fixed during a round judges, or only members of other groups do."""

from __future__ import annotations

from affinity_bandits.kernels import IntArray, bind, kernel
from affinity_bandits.policies.leading import WhoJudges, stay
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


PANEL = WhoJudges(
    "A panel judges, which stays the same for a round. The group that leads is compared only with"
    " those that have at least as many seats.",
    {"go_on": stay, "bet_on_leader": bind(bet_on_leader, may_bet=seats_in_order)},
    meet_panel,
    leader_of,
    told="panel",
)
STRANGERS = WhoJudges(
    "Nobody judges their own group, so no comparison can favor one.", {"go_on": stay}
)
