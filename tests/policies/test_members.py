"""Eliminations told the members: when a bet is placed, whoever is on their way."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from affinity_bandits import (
    Live,
    MembersElimination,
)
from affinity_bandits.policies.members import (
    members_in_order,
    passes_among_members,
    usual_passes,
)
from research.judges import FAILURE
from tests.support.naive.policies.head_start_elimination import MembersElimination as NaiveTwin

# Every state of a round. Answers come in any order, each of somebody who then joins or does not,
# and people who were chosen earlier begin whenever they like.


def favored(members: Sequence[int], soon: Sequence[int], passes: int) -> bool:
    """Whether group 0 can ever have a larger share at one of its answers than the last at one."""
    groups = len(members)
    largest, smallest = Fraction(0), Fraction(1)
    for answered in product(range(passes + 1), repeat=groups):
        more = [range(a + late + 1) for a, late in zip(answered, soon, strict=True)]
        for begun in product(*more):
            sitting = [a + b for a, b in zip(members, begun, strict=True)]
            shares = [Fraction(one, max(1, sum(sitting))) for one in sitting]
            if answered[0] < passes:
                largest = max(largest, shares[0])
            if answered[-1] < passes:
                smallest = min(smallest, shares[-1])
    return largest > smallest


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
def test_a_bet_is_placed_just_where_the_leader_cannot_be_favored(groups: int, passes: int) -> None:
    policy = MembersElimination(bounded=True)
    found = set()
    for members in product((0, 1, 4), *[(0, 3)] * (groups - 2), range(12)):
        for soon in product((0, 2), repeat=groups):
            state = policy.start(groups, 100)
            state = policy.met(state, [*members, *soon, *[7] * groups])
            state.leader[0] = 0
            in_order = members_in_order(state, groups - 1, passes)
            assert in_order is not favored(members, soon, passes)
            found.add(in_order)
    assert found == {False, True}


def test_a_judge_without_a_group_who_begins_in_a_round_can_favor_the_leader() -> None:
    """Theorem 5 assumes that their number stays the same; a policy is not told of them."""
    policy = MembersElimination(bounded=True)
    state = policy.met(policy.start(2, 100), [10, 12])
    state.leader[0] = 0
    assert members_in_order(state, 1, 1)
    others = Fraction(12, 22 + 1)  # of the other group, once the leader's candidate has joined
    assert Fraction(10, 22) < others
    assert Fraction(10, 22) > Fraction(12, 22 + 1 + 4)  # four judges without a group have begun


@pytest.mark.parametrize("seed", range(8))
def test_the_twin_agrees_whoever_is_on_their_way(seed: int) -> None:
    """Told numbers are random: of whom nobody ever hears again, and who join out of nowhere."""
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(2, 5))
    live = Live(MembersElimination(bounded=True), arms, 10**4)
    twin = NaiveTwin(arms, 10**4, bounded=True)
    members = rng.integers(1, 40, arms)
    for _ in range(2_000):
        if live.awaits_judges:
            members += rng.integers(0, 3, arms)
            told = [members.tolist(), *rng.integers(0, 3, (2, arms)).tolist()]
            live.meet(*told)
            twin.meet([one for row in told for one in row])
        arm, score = live.ask(), float(rng.integers(2))
        assert arm == twin.select(rng)
        live.tell(arm, score)
        twin.update(arm, score)
    assert set(live.candidates()) == twin.candidates()


@pytest.mark.parametrize("shortest", [1, 3])
def test_a_round_has_no_more_passes_than_keep_all_in_order_if_any_number_does(
    shortest: int,
) -> None:
    """Of two groups, the other needs one member more than the leader for each pass.

    Twenty passes are usual with so many members. If not even the shortest round is in order, the
    round is as long as usual, and the leader is not bet on.
    """
    policy = MembersElimination(bounded=True, failure=FAILURE)
    state = policy.start(2, 10_000)._replace(shortest=shortest)
    state.leader[0], state.passes[0] = 0, 1_000
    for lead in range(-1, 25):
        state.judges[:] = 400, 400 + lead
        usual = usual_passes(state)
        assert usual == (20 if lead >= 0 else 19)
        fits = shortest <= lead <= usual
        assert passes_among_members(state) == (lead if fits else usual)
        assert members_in_order(state, 1, passes_among_members(state)) == (lead >= shortest)
