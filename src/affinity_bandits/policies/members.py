"""A betting elimination that is told the members of the committee before each round.

The committee grows during a round by some of those who are chosen in it, and by others who were
chosen earlier and begin in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits.kernels.kernel import IntArray, bind, kernel
from affinity_bandits.policies.betting import ParallelBettingElimination
from affinity_bandits.policies.contracts import FOREVER, RoundKernels
from affinity_bandits.policies.leading import INITIAL_LEAD, stay
from affinity_bandits.policies.wealth import (
    FIRST_PART,
    FIRST_PASSES,
    ROUND_PART,
    BettingState,
    bet_on_leader,
)

MEMBERS_PART = 20
"""A round has at most the smallest group's members divided by this in passes. All of the leader's
may join in it and none of another's, so the head start is as large as the round is long."""


@kernel
def meet_members(state: BettingState, judges: IntArray) -> None:
    """Store the members and those on their way, and plan to get more of a group that has too few.

    Elsewhere all pulls count as members; `fewest` corrects for those who stay away.
    """
    arms = len(state.judges)
    for arm in range(arms):
        state.judges[arm] = state.coming[arm] = judges[arm]
        state.soon[arm] = 0
        if len(judges) > arms:
            state.soon[arm] = judges[arms + arm]
            state.coming[arm] += judges[arms + arm] + judges[2 * arms + arm]
        if state.passes[0] == 0:
            state.first[arm] = state.coming[arm]
        state.fewest[arm] = state.most[arm] = state.coming[arm] - state.pulls[arm]
    state.moving[0] = 0
    if state.leader[0] >= 0 and state.left[0] > 1:
        order_members(state)


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
    """Return the number of passes of the next round, before checking which arms are in order."""
    fewest, most = state.judges[state.active[0]], state.judges[state.active[0]]
    for position in range(state.left[0]):
        fewest = min(fewest, state.judges[state.active[position]])
        most = max(most, state.judges[state.active[position]])
    if state.passes[0] == 0:
        return int(max(FIRST_PASSES, state.shortest, (most - fewest) // FIRST_PART))
    return int(max(1, state.shortest, min(state.passes[0] // ROUND_PART, fewest // MEMBERS_PART)))


@kernel
def members_in_order(state: BettingState, arm: int, passes: int) -> bool:
    """Return whether an arm's share is at least the leader's throughout a round."""
    if state.leader[0] < 0 or arm == state.leader[0]:
        return True
    return bool(members_needed(state, state.judges, arm, passes) <= state.judges[arm])


@kernel
def members_needed(state: BettingState, members: IntArray, arm: int, passes: int) -> int:
    """Return the members with which an arm's share is at least the leader's throughout a round.

    The leader's share is largest if only its own have begun: all who may, and all but the last of
    the round. The arm's is smallest if all others have begun.
    """
    leader, total = state.leader[0], members.sum()
    more = state.soon[leader] + passes - 1
    everybody = total + state.soon.sum() - state.soon[arm] + (state.left[0] - 1) * passes
    return int(-(-(members[leader] + more) * everybody // max(1, total + more)))


@kernel
def joined_part(state: BettingState) -> float:
    """Estimate the part of those chosen who join, some of them later."""
    joined = 1 + state.coming.sum() - state.first.sum()
    return float(min(1.0, max(1, joined) / (1 + state.pulls.sum())))


@kernel
def order_members(state: BettingState) -> None:
    """Plan pulls after which, once all have begun, the leader has the smallest share.

    If all have more than twice the head start that they need, the leader is pulled alone.
    """
    passes = usual_passes(state)
    moving, chosen = 0, 0
    least, room = FOREVER, FOREVER
    for position in range(state.left[0]):
        arm = state.active[position]
        chosen += state.pulls[arm]
        if arm == state.leader[0]:
            continue
        lack = members_needed(state, state.coming, arm, passes) - state.coming[arm]
        if lack > 0:
            state.movers[moving] = arm
            moving += 1
            least = min(least, lack)
        room = min(room, -lack)
    wanted = 1.0 * least
    if moving == 0:
        if room <= passes:
            return
        state.movers[0] = state.leader[0]
        moving, least = 1, room
        wanted = 0.5 * room  # too many would have to be made good by all others
    state.moving[0] = moving
    # If nobody seems to join, somebody still may: pulls at most double before the next count.
    expected = math.ceil(wanted / joined_part(state))
    state.moves[0] = max(1, int(min(expected, max(least, chosen))))


@dataclass(frozen=True, kw_only=True)
class MembersElimination(ParallelBettingElimination):
    """Every arm in turn, with bets on the leader; all members judge, and the policy is told them.

    Only some of those chosen join, some of them later. Before each round the policy is told each
    group's members, and how many are on their way. It bets only against groups whose share is
    surely at least the leader's throughout the round. Judges without a group must neither begin nor
    leave during a round. The settings are those of `HeadStartElimination` without `initial_lead`
    and `initial_pulls`.
    """

    name: ClassVar[str] = "members-elimination"
    judged_by: ClassVar[str] = "members"
    meet = staticmethod(meet_members)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(bounded=True, failure=0.05)]

    @property
    def told_judges(self) -> bool:
        return True

    @property
    def judging_body(self) -> str:
        return "committee"

    @property
    def judging(self) -> str:
        return (
            "All members of the committee judge, and the campaign is told who they are before each"
            f" round. {INITIAL_LEAD}"
        )

    def start(self, arms: int, horizon: int) -> BettingState:
        return super().start(arms, horizon)._replace(order=0)

    def kernels(self) -> RoundKernels:
        return self._bind(
            passes_to_come=passes_among_members,
            bet_on_leader=bind(bet_on_leader, may_bet=members_in_order),
            joined_part=joined_part,
            go_on=stay,
        )
