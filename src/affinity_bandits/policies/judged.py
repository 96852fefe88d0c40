"""Kernels of betting eliminations that know the leader, the judges or a committee's memory."""

from __future__ import annotations

import math

from affinity_bandits.kernels import FloatArray, IntArray, kernel
from affinity_bandits.policies.contracts import FOREVER
from affinity_bandits.policies.wealth import (
    FIRST_PART,
    FIRST_PASSES,
    ROUND_PART,
    BettingState,
    bet_against,
    bet_on_leader,
    end_round,
    estimated_variance,
    passes_to_come,
    place_of_leader,
    return_to_prior,
)

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
def takes_the_lead(state: BettingState, price: float) -> bool:
    """Let the arm that did best of late lead if it is clearly ahead; return whether one did.

    `price` is the expected number of pulls per new member of an arm.
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

    The leader is pulled until it is nearly even: nearer shares make the handicap smaller.
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


MEMBERS_PART = 20
"""A round has at most the smallest group's members divided by this in passes. All of the leader's
may join in it and none of another's, so the handicap is as large as the round is long."""


# A panel does not change during a round.


@kernel
def leader_of(state: BettingState) -> int:
    """Return the leader, which should have the fewest seats."""
    return int(state.leader[0]) if state.left[0] > 1 else -1


@kernel
def meet_panel(state: BettingState, judges: IntArray) -> None:
    """Store who judges the round."""
    for arm in range(len(state.judges)):
        state.judges[arm] = judges[arm]


@kernel
def absorb_from_panel(state: BettingState, seen: FloatArray) -> None:
    """Bet on the leader against the arms with no fewer seats than it has."""
    passes = passes_to_come(state)
    if state.leader[0] >= 0:
        lead = place_of_leader(state)
        for position in range(state.left[0]):
            if position != lead and seats_in_order(state, state.active[position]):
                bet_against(state, position, lead, passes, seen)
    if end_round(state, passes, seen):
        takes_the_lead(state, 0.0)


@kernel
def seats_in_order(state: BettingState, arm: int) -> bool:
    """Return whether the leader has no more seats than an arm, so that it cannot be favored."""
    return bool(state.judges[state.leader[0]] <= state.judges[arm])


# The whole committee grows during a round by some of those who are chosen in it, and by others who
# were chosen earlier and begin in it.


@kernel
def meet_members(state: BettingState, judges: IntArray) -> None:
    """Store the members and those on their way, and plan to get more of a group that has too few.

    Elsewhere all pulls count as members; `fewest` corrects for those who do not join.
    """
    arms = len(state.judges)
    for arm in range(arms):
        state.judges[arm] = coming = judges[arm]
        state.soon[arm] = 0
        if len(judges) > arms:
            state.soon[arm] = judges[arms + arm]
            coming += judges[arms + arm] + judges[2 * arms + arm]
        if state.passes[0] == 0:
            state.first_judges[arm] = coming
        state.fewest[arm] = coming - state.pulls[arm]
        state.most[arm] = state.fewest[arm]
    state.moving[0] = 0
    if state.leader[0] >= 0 and state.left[0] > 1:
        order_members(state)


@kernel
def absorb_from_members(state: BettingState, seen: FloatArray) -> None:
    """Bet on the leader against the arms whose share cannot be smaller at any time of the round."""
    if state.moving[0] > 0:
        for position in range(state.moving[0]):
            state.pulls[state.movers[position]] += state.moves[0]
        return
    passes = passes_among_members(state)
    if state.leader[0] >= 0:
        lead = place_of_leader(state)
        for position in range(state.left[0]):
            arm = state.active[position]
            if position != lead and members_in_order(state, arm, passes):
                bet_against(state, position, lead, passes, seen)
    if end_round(state, passes, seen):
        takes_the_lead(state, 1.0 / joined_part(state))


@kernel
def passes_among_members(state: BettingState) -> int:
    """Return the number of passes of the next round of all active arms.

    These are the usual ones or, if fewer are enough for all arms to be in order, those.
    """
    usual = usual_passes(state)
    for passes in range(usual, max(1, state.shortest) - 1, -1):
        in_order = True
        for position in range(state.left[0]):
            in_order = in_order and members_in_order(state, state.active[position], passes)
        if in_order:
            return passes
    return usual


@kernel
def usual_passes(state: BettingState) -> int:
    """Return the number of passes of the next round, wherever members are."""
    fewest, most = state.judges[state.active[0]], state.judges[state.active[0]]
    for position in range(state.left[0]):
        fewest = min(fewest, state.judges[state.active[position]])
        most = max(most, state.judges[state.active[position]])
    if state.passes[0] == 0:
        return int(max(FIRST_PASSES, state.shortest, (most - fewest) // FIRST_PART))
    return int(max(1, state.shortest, min(state.passes[0] // ROUND_PART, fewest // MEMBERS_PART)))


@kernel
def members_in_order(state: BettingState, arm: int, passes: int) -> bool:
    """Return whether an arm's share is never below the leader's during a round."""
    if state.leader[0] < 0 or arm == state.leader[0]:
        return True
    return bool(members_needed(state, arm, passes, False) <= state.judges[arm])


@kernel
def joined_part(state: BettingState) -> float:
    """Estimate the part of those chosen who join, some of them later."""
    joined, pulls = 1, 1
    for arm in range(len(state.judges)):
        joined += state.fewest[arm] + state.pulls[arm] - state.first_judges[arm]
        pulls += state.pulls[arm]
    return float(min(1.0, max(1, joined) / pulls))


@kernel
def members_needed(state: BettingState, arm: int, passes: int, in_the_end: bool) -> int:
    """Return with how many members an arm's share is never below the leader's during a round.

    The leader's share is largest if all of its own who may begin have begun, all but the last of
    the round included, and nobody else. The arm's is smallest if all others have begun.

    Args:
        state: with a leader.
        arm: another active one.
        passes: of the round.
        in_the_end: whether those on their way to begin later are counted as members.
    """
    leader = state.leader[0]
    now, soon = 0, 0
    for other in range(len(state.judges)):
        now += state.judges[other]
        if in_the_end:
            now += state.fewest[other] + state.pulls[other] - state.judges[other]
        soon += state.soon[other]
    leading = state.judges[leader]
    if in_the_end:
        leading = state.fewest[leader] + state.pulls[leader]
    own = leading + state.soon[leader] + passes - 1
    everybody = now + soon - state.soon[arm] + (state.left[0] - 1) * passes
    smallest = now + state.soon[leader] + passes - 1
    return int(-(-own * everybody // max(1, smallest)))


@kernel
def order_members(state: BettingState) -> None:
    """Plan pulls after which, once all have begun, no arm has a smaller share than the leader.

    If all have more than twice the head start that they need, the leader is pulled alone.
    """
    leader = state.leader[0]
    part = joined_part(state)
    passes = usual_passes(state)
    moving = 0
    least = FOREVER
    room = FOREVER
    chosen = 0
    for position in range(state.left[0]):
        arm = state.active[position]
        chosen += state.pulls[arm]
        if arm == leader:
            continue
        lack = members_needed(state, arm, passes, True) - state.fewest[arm] - state.pulls[arm]
        if lack > 0:
            state.movers[moving] = arm
            moving += 1
            least = min(least, lack)
        room = min(room, -lack)
    wanted = 1.0 * least
    if moving == 0:
        if room <= passes:
            return
        state.movers[0] = leader
        moving = 1
        least = room
        wanted = 0.5 * room  # too many would have to be made good by all others
    state.moving[0] = moving
    # If nobody seems to join, somebody still may: pulls at most double before the next count.
    state.moves[0] = max(1, int(min(math.ceil(wanted / part), max(least, chosen))))


def wait_until_forgotten(state: BettingState, memory: int) -> None:
    """Plan to begin with passes until all initial members have left."""
    arms = len(state.movers)
    for arm in range(arms):
        state.movers[arm] = arm
    state.moving[0] = arms
    state.moves[0] = -(-memory // arms)


@kernel
def absorb_forgetting(state: BettingState, seen: FloatArray) -> None:
    """Settle the bets on the leader, unless the round was only a wait."""
    if state.moving[0] > 0:
        for position in range(state.moving[0]):
            state.pulls[state.movers[position]] += state.moves[0]
        state.moving[0] = 0
        return
    passes = passes_to_come(state)
    if state.leader[0] >= 0:
        bet_on_leader(state, passes, seen)
    # A new leader costs less than a pass, so its price is 0.
    if end_round(state, passes, seen) and takes_the_lead(state, 0.0):
        go_on_to_leader(state)


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
