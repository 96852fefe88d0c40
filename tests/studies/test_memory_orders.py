"""In turns that begin with the leader's no other has fewer members, whatever the memory."""

from __future__ import annotations

from itertools import product

import pytest

from affinity_bandits.policies.bets import BettingState, place_of_leader
from affinity_bandits.policies.forgetting import go_on_to_leader

from .memory_orders import Order, searched


def wrong_turn(state: BettingState) -> None:
    """Planted: rounds begin wherever the circle stands."""
    state.moving[0] = 0


def broken_circle(state: BettingState) -> None:
    """Planted: the leader has the first turn at once, out of the circle."""
    for position in range(place_of_leader(state), 0, -1):
        state.active[position] = state.active[position - 1]
    state.active[0] = state.leader[0]
    state.moving[0] = 0


def turned_without_pulls(state: BettingState) -> None:
    """Planted: rounds begin with the leader, but those whose turn it was never have it."""
    go_on_to_leader(state)
    state.moving[0] = 0


@pytest.mark.parametrize("arms", range(2, 8))
def test_in_turn_everybody_has_the_same_part_of_the_last_choices(arms: int) -> None:
    """Lemma 1: the part of the memory rounded down; those whose turn was last may have one more."""
    for memory in range(1, 41):
        pulled = [slot % arms for slot in range(memory + 3 * arms)]
        for slot in range(memory, len(pulled)):
            window = pulled[slot - memory : slot]
            for after in range(arms):
                members = window.count((pulled[slot] + after) % arms)
                assert members == (memory + after) // arms


SIZES = [
    *((2, memory) for memory in (1, 2, 5, 12)),
    *((3, memory) for memory in (1, 2, 3, 4, 7, 10, 16, 25)),
    *((4, memory) for memory in (1, 3, 5, 9, 14)),
    (5, 6),
]


@pytest.mark.parametrize(("arms", "memory"), SIZES)
def test_no_order_of_leaders_and_drops_favours_the_leader(arms: int, memory: int) -> None:
    """Lemma 2, for all places that can be reached and all memories up to the one told."""
    found = searched(arms, memory)
    assert found.places >= arms
    assert max(found.worst.values()) == 0  # they are equal in some turns, so no more is to be had


@pytest.mark.parametrize("order", [wrong_turn, broken_circle, turned_without_pulls])
def test_other_orders_are_seen_to_favour_it(order: Order) -> None:
    """The negative controls: each is wrong for the very memory that was told."""
    assert max(searched(3, memory, order).worst[memory] for memory in (3, 4, 5, 7)) > 0


def test_so_is_a_comparison_that_does_not_wait() -> None:
    for arms, memory in product((2, 3), (5, 8)):
        assert searched(arms, memory, waits=False).worst[memory] > 1


def test_where_nobody_is_dropped_any_turn_will_do() -> None:
    """It is for drops alone that rounds begin with the leader."""
    assert max(searched(4, 7, wrong_turn, drops=False).worst.values()) == 0
