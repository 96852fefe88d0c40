"""Only the last who were chosen judge: a betting elimination that goes round in a circle."""

from __future__ import annotations

import math

from affinity_bandits.kernels import kernel
from affinity_bandits.policies.leading import WhoJudges
from affinity_bandits.policies.wealth import BettingState, place_of_leader


def wait_until_forgotten(state: BettingState, memory: int) -> None:
    """Plan to begin with passes until all initial members have left."""
    state.movers[:] = state.active
    state.moving[0] = len(state.active)
    state.moves[0] = -(-memory // len(state.active))


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


FORGETTING = WhoJudges(
    "The last {memory:,} who were chosen are taken to judge. Whoever judged before counts no more"
    " once so many have been chosen, and the groups are compared from then on.",
    {"go_on": go_on_to_leader, "joined_part": no_members},
)
