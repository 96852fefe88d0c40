"""Schedules of eliminations: the published numbers, lists, and ties at the threshold."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

from affinity_bandits.policies import (
    Elimination,
    ListedSchedule,
    PublishedSchedule,
)
from affinity_bandits.policies.elimination import schedule_from_json


@pytest.mark.parametrize("horizon", [1, 1000, 10**6, 10**15])
@pytest.mark.parametrize("arms", [2, 3, 64, 10_000])
@pytest.mark.parametrize("offset", [5, 6, 0, -3])
def test_pulls_of_a_round_are_the_formula_rounded_up(horizon: int, arms: int, offset: int) -> None:
    """Equation (10), against 50 digits."""
    getcontext().prec = 50
    pi = Decimal("3.14159265358979323846264338327950288419716939937510")
    for r in range(1, 12):
        inside = Decimal(12) / pi**2 * arms**2 * r**2 * horizon
        exact = Decimal(2) ** (2 * r + offset) * inside.ln()
        found = PublishedSchedule(offset).repetitions(r, arms, horizon)
        assert found == max(1, math.ceil(exact))


def test_the_published_numbers_on_the_papers_instance() -> None:
    """195,448 suboptimal pulls at n = 10**6: one discarded and rounds 1 to 4."""
    schedule = PublishedSchedule()
    assert 1 + sum(schedule.repetitions(r, 2, 10**6) for r in range(1, 5)) == 195_448


def test_listed_rounds_repeat_the_last() -> None:
    schedule = ListedSchedule([(5, 0.5), (9, 0.25)])
    assert [schedule.repetitions(r, 2, 100) for r in (1, 2, 3)] == [5, 9, 9]
    assert [schedule.threshold(r) for r in (1, 2, 3)] == [0.5, 0.25, 0.25]
    assert schedule_from_json(schedule.to_json()) == schedule


def test_a_tie_at_the_threshold_keeps_the_arm() -> None:
    """The paper keeps arm i iff the lag is at most the threshold."""
    policy = Elimination(ListedSchedule([(4, 0.25)]), discard_first=False)
    state = policy.start(3, 100)

    after = policy.absorbed(state, np.array([4.0, 3.0, 2.9]))
    assert after.dropped_in.tolist() == [0, 0, 1]
    assert policy.plan(after).arms.tolist() == [0, 1]
