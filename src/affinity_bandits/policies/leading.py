"""The leader of a betting elimination: how it is chosen, and its head start."""

from __future__ import annotations

import math

from affinity_bandits.kernels.kernel import kernel
from affinity_bandits.policies.contracts import FOREVER
from affinity_bandits.policies.wealth import BettingState, estimated_variance, return_to_prior

CLEARLY = 0.25
"""An arm takes the lead when it is ahead by this part of (1 + sqrt(2 log k)) standard deviations,
about what the best of k reaches by chance."""
CATCHING_UP = 3.0
"""Weight of the pulls that a new leader would cost, relative to the passes so far."""


@kernel
def lacking(state: BettingState, leader: int, arm: int) -> int:
    """Return how many more pulls an arm needs to have more members than the leader."""
    leading = state.pulls[leader] + state.most[leader]
    # One more: a later place within a pass costs less than one member.
    return int(leading + state.order + 1 - state.pulls[arm] - state.fewest[arm])


@kernel
def takes_the_lead(state: BettingState, part: float) -> bool:
    """Let the arm that did best of late lead if it is clearly ahead; return whether one did.

    `part` of those chosen become members; infinity if members are irrelevant.
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
                cost += max(0, lacking(state, best, state.active[position])) / part
        noise = estimated_variance(state, best) + estimated_variance(state, leader)
        # A wrong leader costs those pulls; a right one that comes late, the passes until then.
        noise *= state.recent[0] * (1.0 + CATCHING_UP * cost / (state.left[0] * state.passes[0]))
        clearly = CLEARLY * (1.0 + math.sqrt(2.0 * math.log(state.left[0])))
        if state.sums[best] - state.sums[leader] <= clearly * math.sqrt(noise):
            return False
    elif state.variance > 0.0:
        # Before shares are in order, means without a bound may be anything: forget them.
        state.recent[0] = 0.0
        for arm in range(len(state.sums)):
            state.sums[arm] = 0.0
    state.leader[0] = best
    for position in range(state.left[0]):
        return_to_prior(state, state.active[position], 1.0)
    return True


@kernel
def put_in_order(state: BettingState) -> None:
    """Plan pulls of the others until they are ahead of the leader, then of the leader.

    The leader is pulled until it is nearly even: nearer shares make the head start smaller.
    """
    leader = state.leader[0]
    moving = 0
    least, room = FOREVER, FOREVER
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


@kernel
def all_of_them(state: BettingState) -> float:
    """Return the part of those chosen who become members: all."""
    return 1.0


@kernel
def stay(state: BettingState) -> None:
    """Leave the plan empty: shares are in order, or are put in order once the judges are told."""


INITIAL_LEAD = (
    "The other groups get a head start over the one that leads, so that a bias that all groups"
    " share cannot favor it."
)
