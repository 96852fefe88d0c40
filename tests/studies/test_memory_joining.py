"""Where some of those chosen do not join: what is enough if it is told, and what is not if not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, HandicapElimination, InvalidInput, Joining
from affinity_bandits.policies import Live


def least_lead(members: tuple[int, ...], groups: int, passes: int, other: int) -> int:
    """The least by which a group is ahead of group 0 in a pass, over all ways to join.

    `members` has who sits, the longest there first.
    """
    slots = groups * passes
    least = len(members)
    for joins in product((False, True), repeat=slots):
        sitting = list(members)
        own = []
        for slot, joined in enumerate(joins):
            group = slot % groups
            if group == 0:
                own.append(sitting.count(0))
            if group == other:
                least = min(least, sitting.count(other) - own[-1])
            if joined:
                sitting = [*sitting[1:], group]
    return least


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "passes", "size"), [(2, 2, 7), (2, 3, 7), (3, 2, 6), (2, 1, 6)])
def test_a_head_start_over_all_who_may_leave_and_join_is_enough(
    groups: int, passes: int, size: int
) -> None:
    """Proposition 7, for every committee of that size and everybody who may join."""
    enough, too_few = 0, 0
    for members in product(range(groups), repeat=size):
        old = members[: groups * passes - 1]
        ahead = members.count(1) - members.count(0)
        if ahead >= 0:
            least = least_lead(members, groups, passes, 1)
            if ahead - old.count(1) >= passes - 1:
                enough += 1
                assert least >= 0, members
            too_few += least < 0
    assert enough > 0
    assert too_few > 0  # as many members as the leader has are not enough


def test_by_lot_and_not_told_who_sits_decides() -> None:
    """One member judges, and stays until another joins, which one in a hundred does.

    The group of that member scores 1 and the other 0 throughout; both are equally good.
    """
    policy = HandicapElimination(bounded=True, failure=0.05, memory=1)
    live = Live(policy, 2, 1_000)
    choices = 0
    while len(live.candidates()) > 1:
        arm = live.ask()
        live.tell(arm, float(arm == 1))
        choices += 1
    assert choices == 23
    assert 0.5 * 0.99**choices > 0.39


def test_such_a_bandit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="memory must be left out where some do not join"):
        AffinityBandit([0.4, 0.6], memory=5, joining=Joining(part=0.5))


def test_two_in_flight_can_favour_the_leader() -> None:
    """Group 1 is judged by one of its own in the second pass, and group 0 is not."""
    scored = [0, 1, 1, 0]
    before = np.array([-1, *scored[:-1]])
    own = before == np.array(scored)
    assert own.tolist() == [False, False, True, False]
