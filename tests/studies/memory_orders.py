"""Every order of choices that the elimination can come to before a committee that forgets.

The scores are left to an adversary: after every pass it may drop any of the others and name any
leader. What follows is settled by the policy's own kernel, or by one that is wrong on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

from affinity_bandits.policies import HandicapElimination
from affinity_bandits.policies.bets import BettingState
from affinity_bandits.policies.forgetting import go_on_to_leader

Order = Callable[[BettingState], None]


class Place(NamedTuple):
    """Where a comparison can be: the last choices, the newest last, and whose turns come."""

    last: tuple[int, ...]
    turns: tuple[int, ...]
    leader: int


class Found(NamedTuple):
    """What a search came to.

    Attributes:
        places: how many were visited.
        worst: by memory, the most members that a leader had more in its turn than another in its.
    """

    places: int
    worst: dict[int, int]


def appointed(place: Place, leader: int, arms: int, order: Order) -> Place:
    """Return where passes of a new leader begin."""
    bets: BettingState = HandicapElimination(memory=len(place.last)).start(arms, 10**6)
    bets.moving[0] = 0
    bets.active[: len(place.turns)] = place.turns
    bets.left[0] = len(place.turns)
    bets.leader[0] = leader
    order(bets)
    pulled = tuple(bets.movers[: bets.moving[0]].tolist()) * int(bets.moves[0])
    turns = tuple(bets.active[: bets.left[0]].tolist())
    return Place(newest(place.last, pulled), turns, leader)


def newest(last: tuple[int, ...], pulled: tuple[int, ...]) -> tuple[int, ...]:
    return (*last, *pulled)[len(pulled) :]


def ahead_in_turn(place: Place, memory: int) -> int:
    """Return the most members that the leader has more in its turn than another has in its."""
    members = {}
    for turn, arm in enumerate(place.turns):
        before = (*place.last, *place.turns[:turn])
        members[arm] = before[len(before) - memory :].count(arm)
    own = members.pop(place.leader)
    return own - min(members.values())


def after_a_pass(place: Place) -> Place:
    return place._replace(last=newest(place.last, place.turns))


def without_some(place: Place) -> Iterator[Place]:
    """Give the places with none or any of the others dropped, as long as two are left."""
    others = [arm for arm in place.turns if arm != place.leader]
    for count in range(1, len(others) + 1):
        for kept in combinations(others, count):
            turns = tuple(arm for arm in place.turns if arm == place.leader or arm in kept)
            yield place._replace(turns=turns)


def searched(
    arms: int, memory: int, order: Order = go_on_to_leader, waits: bool = True, drops: bool = True
) -> Found:
    """Visit every place that the adversary can bring a comparison to.

    Args:
        arms: how many.
        memory: as the policy is told.
        order: what follows when a leader is named.
        waits: whether nobody is left of the initial members, -1, when it begins.
        drops: whether the adversary may drop any.
    """
    circle = tuple(range(arms))
    # Of the initial members all that are left may be of the leader.
    start = Place((-1,) * memory, circle, -1)
    passes = -(-memory // arms) if waits else 0
    for _ in range(passes + 1):
        start = after_a_pass(start)
    waiting = []
    for leader in circle:
        met = tuple(leader if one == -1 else one for one in start.last)
        waiting.append(appointed(start._replace(last=met), leader, arms, order))
    seen = set(waiting)
    worst = dict.fromkeys(range(1, memory + 1), -memory)
    while waiting:
        place = waiting.pop()
        for width in worst:
            worst[width] = max(worst[width], ahead_in_turn(place, width))
        passed = after_a_pass(place)
        following = {passed}
        for left in without_some(passed) if drops else (passed,):
            following.add(left)
            for leader in left.turns:
                if leader != left.leader:
                    following.add(appointed(left, leader, arms, order))
        waiting.extend(following - seen)
        seen |= following
    return Found(len(seen), worst)
