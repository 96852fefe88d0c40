"""The leader: who it is, and the head start that the others get."""

from __future__ import annotations

import pytest

from affinity_bandits.policies import (
    HeadStartElimination,
)
from tests.policies.test_head_start import HORIZON, Play, rounds


@pytest.mark.parametrize("arms", [2, 5])
@pytest.mark.parametrize("initial_lead", [0, 5, 32, 33, 100])
def test_after_the_first_round_all_but_the_leader_get_their_head_start(
    initial_lead: int, arms: int
) -> None:
    passes = rounds(initial_lead, HORIZON)
    for leader in range(arms):
        play = Play(HeadStartElimination(initial_lead), arms)
        everyone = list(range(arms))
        assert play.planned == (everyone, passes[0])
        play.absorb(*(0.6 if arm == leader else 0.5 for arm in everyone))
        others = [arm for arm in everyone if arm != leader]
        assert play.planned == (others, initial_lead + 1)
        play.absorb(*[1.0] * arms)
        assert play.planned == (everyone, passes[1])


def test_the_lowest_number_leads_among_equals() -> None:
    play = Play(HeadStartElimination(5), 4)
    play.absorb(0.2, 0.7, 0.1, 0.7)
    assert play.planned == ([0, 2, 3], 6)


def test_a_new_leader_is_given_a_head_start_in_turn() -> None:
    """The old leader lacks its own head start and the new one's, a third arm only the latter's."""
    play = Play(HeadStartElimination(5), 3)
    play.absorb(1.0, 0.0, 0.0)
    assert play.planned == ([1, 2], 6)
    play.absorb(0.0, 0.0, 0.0)
    while play.planned[0] == [0, 1, 2]:
        play.absorb(0.0, 2.0, 0.0)
    assert play.planned == ([0, 2], 6)
    play.absorb(0.0, 0.0, 0.0)
    assert play.planned == ([0], 6)
    play.absorb(0.0, 0.0, 0.0)
    assert play.planned[0] == [0, 1, 2]
