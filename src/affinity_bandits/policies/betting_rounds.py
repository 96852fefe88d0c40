"""Rounds of an elimination that bets: how long they are, and what they end with."""

from __future__ import annotations

import math

from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies.bets import BettingState, reaches, return_to_prior, take_in

FIRST_PASSES = 4
FIRST_PART = 12
"""Passes before a first leader is named: four, or this part of the largest head start, since a
wrong leader costs about the whole of it."""
ROUND_PART = 40
"""A round has this part of the passes before it: more often would gain little, and live campaigns
wait at the end of each round."""
ROUNDS_PER_LEAD = 2
"""Who leads is asked after every second round."""
RETURNED = 0.02
"""The part that returns to the prior whenever the passes have doubled."""


def passes_to_come(state: BettingState) -> int:
    """Return how many passes the next round has."""
    if state.passes[0] == 0:
        return int(max(FIRST_PASSES, state.shortest, state.widest // FIRST_PART))
    return int(max(1, state.shortest, state.passes[0] // ROUND_PART))


def log_worth_needed(state: BettingState) -> float:
    """Return the logarithm of the wealth at which an arm is dropped."""
    if state.horizon > 0.0:
        return float(max(state.log_threshold, math.log(state.horizon / max(1, state.pulls.sum()))))
    return float(state.log_threshold)


def drop_beaten(state: BettingState) -> None:
    """Drop every arm against which so much has been won that chance does not explain it."""
    leader = state.leader[0]
    needed = log_worth_needed(state)
    returns = state.passes[0] >= 2 * state.doubled[0]
    if returns:
        state.doubled[0] = state.passes[0]
    kept = 0
    for position in range(state.left[0]):
        arm = state.active[position]
        if arm != leader and reaches(state, arm, needed):
            state.dropped_in[arm] = state.rounds[0]
            continue
        if returns and arm != leader:
            return_to_prior(state, arm, RETURNED)
        state.active[kept] = arm
        kept += 1
    state.left[0] = kept


def end_round(state: BettingState, passes: int, seen: FloatArray) -> bool:
    """Take in a round whose bets are settled; return whether it is to be asked who leads."""
    led = state.leader[0] >= 0
    take_in(state, passes, seen)
    if led:
        drop_beaten(state)
    return bool(state.left[0] > 1 and (not led or state.rounds[0] % ROUNDS_PER_LEAD == 0))
