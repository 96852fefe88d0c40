"""An elimination that bets, before a committee that remembers its last choices only: kernels.

Whoever was chosen longer ago than the memory reaches counts for nothing, so after as many choices
the committee is what the policy itself has chosen. It keeps all arms in one circle that is never
broken: an arm that is dropped is left out, and the others go on. Then between two turns of any arm
each other one has exactly one, and rounds that begin with the leader's turn cannot favour it.
"""

from __future__ import annotations

from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies.bets import BettingState, bet_on_leader, place_of_leader
from affinity_bandits.policies.betting_rounds import end_round, passes_to_come
from affinity_bandits.policies.leading import takes_the_lead


def wait_until_forgotten(state: BettingState, memory: int) -> None:
    """Plan to begin with passes until nobody counts who was there before."""
    arms = len(state.movers)
    for arm in range(arms):
        state.movers[arm] = arm
    state.moving[0] = arms
    state.moves[0] = -(-memory // arms)


def absorb_forgetting(state: BettingState, seen: FloatArray) -> None:
    """Bet on the leader, unless the round was only to be waited for; a kernel."""
    if state.moving[0] > 0:
        for position in range(state.moving[0]):
            state.pulls[state.movers[position]] += state.moves[0]
        state.moving[0] = 0
        return
    passes = passes_to_come(state)
    if state.leader[0] >= 0:
        bet_on_leader(state, passes, seen)
    # A new leader costs less than a pass: nothing that would speak against one.
    if end_round(state, passes, seen) and takes_the_lead(state, 0.0):
        go_on_to_leader(state)


def go_on_to_leader(state: BettingState) -> None:
    """Plan for the arms whose turn comes before the leader's to have it; rounds begin with it."""
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
