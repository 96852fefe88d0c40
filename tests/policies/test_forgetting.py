"""Eliminations for committees that forget: who waits, and whose answers come in turn."""

from __future__ import annotations

import pytest

from affinity_bandits import (
    policy_from_json,
)
from affinity_bandits.policies import (
    HeadStartElimination,
    MemoryElimination,
)
from tests.policies.test_head_start import Play

# A memory.


@pytest.mark.parametrize(("arms", "memory", "passes"), [(2, 8, 4), (3, 8, 3), (5, 3, 1)])
def test_the_wait_is_as_long_as_the_memory_and_rounds_begin_with_the_leader(
    arms: int, memory: int, passes: int
) -> None:
    play = Play(MemoryElimination(memory=memory), arms)
    everyone = list(range(arms))
    assert play.planned == (everyone, passes)
    play.absorb(*[0.5] * (arms - 1), 0.9)
    assert play.planned == (everyone, 4)  # what was seen in the wait counts for nothing
    play.absorb(0.5, 0.6, *[0.5] * (arms - 2))
    assert play.planned == ([0], 1)  # whose turn comes before that of group 1
    play.absorb(1.0)
    assert play.planned == ([*everyone[1:], 0], 1)


def test_answers_of_a_committee_that_forgets_come_in_turn() -> None:
    policy = MemoryElimination(memory=8)
    assert policy.order_window == 1
    assert policy.with_order_window(100) is policy
    for described in (policy, HeadStartElimination(initial_pulls=[[3, 5], 7], bounded=True)):
        assert policy_from_json(described.to_json()) == described
