"""Who leads an elimination with a handicap, and the shares that it is then put at."""

from __future__ import annotations

import math

from affinity_bandits.policies.bets import BettingState, estimated_variance, return_to_prior
from affinity_bandits.policies.round import FOREVER

CLEARLY = 0.25
"""An arm takes the lead when it is ahead by this part of (1 + sqrt(2 log k)) standard deviations,
about what the best of k reaches by chance."""
CATCHING_UP = 3.0
"""How much the pulls that a new leader would cost count against it, beside the passes so far."""


def lacking(state: BettingState, leader: int, arm: int) -> int:
    """Return how many more pulls an arm needs, so that it has more members than the leader."""
    leading = state.pulls[leader] + state.most[leader]
    # One more: a later place within a pass costs less than one member.
    return int(leading + state.order + 1 - state.pulls[arm] - state.fewest[arm])


def takes_the_lead(state: BettingState, price: float) -> bool:
    """Let the arm that did best of late lead, if it is clearly ahead; return whether one did.

    `price` is the pulls that it takes until one more of an arm is a member.
    """
    leader = state.leader[0]
    best = state.active[0]
    for position in range(state.left[0]):
        arm = state.active[position]
        if state.sums[arm] > state.sums[best]:
            best = arm
    if best == leader:
        return False
    if leader >= 0:
        cost = 0.0
        for position in range(state.left[0]):
            if state.active[position] != best:
                cost += price * max(0, lacking(state, best, state.active[position]))
        left = state.left[0]
        noise = estimated_variance(state, best) + estimated_variance(state, leader)
        # A wrong leader costs those pulls; a right one that comes late, the passes until then.
        noise *= state.recent[0] * (1.0 + CATCHING_UP * cost / (left * state.passes[0]))
        clearly = CLEARLY * (1.0 + math.sqrt(2.0 * math.log(left)))
        if state.sums[best] - state.sums[leader] <= clearly * math.sqrt(noise):
            return False
    if leader < 0 and state.variance > 0.0:
        forget_sums(state)
    state.leader[0] = best
    for position in range(state.left[0]):
        return_to_prior(state, state.active[position], 1.0)
    return True


def forget_sums(state: BettingState) -> None:
    """Forget the first round: before shares are in order, means without a bound may be anything."""
    state.recent[0] = 0.0
    for arm in range(len(state.sums)):
        state.sums[arm] = 0.0


def put_in_order(state: BettingState) -> None:
    """Have the others pulled until they are ahead of the leader, then the leader until it is near.

    Nearer shares are better: the handicap is then no larger than it must be.
    """
    leader = state.leader[0]
    moving = 0
    least = FOREVER
    room = FOREVER
    for position in range(state.left[0]):
        arm = state.active[position]
        if arm == leader:
            continue
        lack = lacking(state, leader, arm)
        if lack > 0:
            state.movers[moving] = arm
            moving += 1
            least = min(least, lack)
        room = min(room, -lack)
    if moving == 0 and room > 0:
        state.movers[0] = leader
        moving, least = 1, room
    state.moving[0] = moving
    state.moves[0] = least
