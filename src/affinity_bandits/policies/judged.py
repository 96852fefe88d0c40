"""An elimination that bets and is told, before each round, who judges it: kernels."""

from __future__ import annotations

import math
from typing import NamedTuple

from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.bets import (
    BettingState,
    bet_against,
    bet_on_leader,
    place_of_leader,
)
from affinity_bandits.policies.betting_rounds import (
    FIRST_PART,
    FIRST_PASSES,
    ROUND_PART,
    end_round,
    passes_to_come,
)
from affinity_bandits.policies.leading import lacking, takes_the_lead
from affinity_bandits.policies.round import FOREVER, Round

MEMBERS_PART = 20
"""A round has at most this part of the smallest group's members in passes. All of the leader's may
join in it and none of another's, so the handicap is as large as the round is long."""


class JudgedState(NamedTuple):
    """The bets, and who judges."""

    bets: BettingState
    judges: IntArray  # per arm: of those who judge the round
    first: IntArray  # per arm: of those who judged the first round; -1 before


def judged_candidate(state: JudgedState, arm: int) -> bool:
    """Return whether an arm has not been dropped; a kernel."""
    return bool(state.bets.dropped_in[arm] == 0)


def leader_of(state: JudgedState) -> int:
    """Return the leader, which should have the fewest seats; a kernel."""
    return int(state.bets.leader[0]) if state.bets.left[0] > 1 else -1


# A panel does not change during a round.


def meet_panel(state: JudgedState, judges: IntArray) -> None:
    """Remember who judges the round; a kernel."""
    for arm in range(len(judges)):
        state.judges[arm] = judges[arm]


def plan_for_panel(state: JudgedState) -> Round:
    """Return a round of all active arms; a kernel."""
    bets = state.bets
    left = bets.left[0]
    return Round(bets.active[:left], FOREVER if left == 1 else passes_to_come(bets))


def seats_in_order(state: JudgedState, leader: int, arm: int) -> bool:
    """Return whether an arm has no fewer seats than the leader, so that it may be bet against."""
    return bool(state.judges[leader] <= state.judges[arm])


def absorb_from_panel(state: JudgedState, seen: FloatArray) -> None:
    """Bet on the leader against those with no fewer seats than it has; a kernel."""
    bets = state.bets
    leader = bets.leader[0]
    passes = passes_to_come(bets)
    if leader >= 0:
        lead = place_of_leader(bets)
        for position in range(bets.left[0]):
            if position != lead and seats_in_order(state, leader, bets.active[position]):
                bet_against(bets, position, lead, passes, seen)
    if end_round(bets, passes, seen):
        takes_the_lead(bets, 0.0)


# The whole committee grows during a round by some of those who are chosen in it.


def meet_members(state: JudgedState, judges: IntArray) -> None:
    """Count members anew and, if some group has too few, plan to have more of it; a kernel."""
    bets = state.bets
    if state.first[0] < 0:
        for arm in range(len(judges)):
            state.first[arm] = judges[arm]
    for arm in range(len(judges)):
        state.judges[arm] = judges[arm]
        # Whoever was chosen counts as a member there, so what is told is put right here.
        bets.fewest[arm] = judges[arm] - bets.pulls[arm]
        bets.most[arm] = bets.fewest[arm]
    bets.moving[0] = 0
    if bets.leader[0] >= 0 and bets.left[0] > 1:
        order_members(state)


def plan_for_members(state: JudgedState) -> Round:
    """Return a round of all active arms, or of those that need more members; a kernel."""
    bets = state.bets
    left = bets.left[0]
    if left == 1:
        return Round(bets.active[:left], FOREVER)
    if bets.moving[0] > 0:
        return Round(bets.movers[: bets.moving[0]], bets.moves[0])
    return Round(bets.active[:left], passes_among_members(state))


def absorb_from_members(state: JudgedState, seen: FloatArray) -> None:
    """Bet on the leader against all, unless the round only put shares in order; a kernel."""
    bets = state.bets
    if bets.moving[0] > 0:
        for position in range(bets.moving[0]):
            bets.pulls[bets.movers[position]] += bets.moves[0]
        return
    passes = passes_among_members(state)
    if bets.leader[0] >= 0:
        bet_on_leader(bets, passes, seen)
    if end_round(bets, passes, seen):
        takes_the_lead(bets, 1.0 / joined_part(state))


def passes_among_members(state: JudgedState) -> int:
    """Return how many passes the next round of all active arms has."""
    bets = state.bets
    fewest, most = state.judges[bets.active[0]], state.judges[bets.active[0]]
    for position in range(bets.left[0]):
        fewest = min(fewest, state.judges[bets.active[position]])
        most = max(most, state.judges[bets.active[position]])
    if bets.passes[0] == 0:
        return int(max(FIRST_PASSES, bets.shortest, (most - fewest) // FIRST_PART))
    return int(max(1, bets.shortest, min(bets.passes[0] // ROUND_PART, fewest // MEMBERS_PART)))


def joined_part(state: JudgedState) -> float:
    """Return about which part of those chosen has joined."""
    joined, pulls = 1, 1
    for arm in range(len(state.judges)):
        joined += state.judges[arm] - state.first[arm]
        pulls += state.bets.pulls[arm]
    return float(min(1.0, max(1, joined) / pulls))


def order_members(state: JudgedState) -> None:
    """Plan for the others to be ahead of the leader by what can join of it alone in a round.

    If they are ahead by more than twice as much as they must, the leader is pulled alone.
    """
    bets = state.bets
    leader = bets.leader[0]
    part = joined_part(state)
    beyond = passes_among_members(state) - 1
    moving = 0
    least = FOREVER
    room = FOREVER
    chosen = 0
    for position in range(bets.left[0]):
        arm = bets.active[position]
        chosen += bets.pulls[arm]
        if arm == leader:
            continue
        lack = lacking(bets, leader, arm) + beyond
        if lack > 0:
            bets.movers[moving] = arm
            moving += 1
            least = min(least, lack)
        room = min(room, -lack)
    wanted = 1.0 * least
    if moving == 0:
        if room <= beyond + bets.order + 1:
            bets.moving[0] = 0
            return
        bets.movers[0] = leader
        moving = 1
        least = room
        wanted = 0.5 * room  # too many would have to be made good by all others
    bets.moving[0] = moving
    # Where nobody seems to join, one may yet: pulls are no more than doubled before asking again.
    bets.moves[0] = max(1, int(min(math.ceil(wanted / part), max(least, chosen))))
