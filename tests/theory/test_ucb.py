"""Linear regret of UCB, and the partial-monitoring game."""

from __future__ import annotations

import math

import numpy as np
import pytest

from affinity_bandits.theory import (
    OUTCOME_1,
    OUTCOME_2,
    OUTCOMES,
    feedback_matrix,
    indistinguishable,
    loss_difference,
    loss_matrix,
    outcome_index,
    ucb_linear_regret,
    ucb_linear_regret_bandit,
)


def test_the_papers_numbers() -> None:
    found = ucb_linear_regret()
    assert found.eps == pytest.approx(1 / (1 + math.sqrt(16216)))
    assert found.first_time == 16207
    assert found.biased_means == pytest.approx((4.358e-6, 0.799996), rel=1e-3)
    assert found.static_means == pytest.approx((0.0070125, 0.7937667), rel=1e-4)
    assert found.static_gap == pytest.approx(0.7867541, rel=1e-6)


def test_both_conditions_hold_the_first_one_barely() -> None:
    found = ucb_linear_regret()
    eps, gap, t = found.eps, found.static_gap, 16207
    assert found.condition_one[0] == pytest.approx(eps * t)
    assert found.condition_one[1] == pytest.approx(max(8, gap**2 + 8 * math.log(t)) / gap**2)
    assert 0 < found.condition_one[0] - found.condition_one[1] < 0.001
    assert found.condition_two == pytest.approx((2 * 0.01 * 16206**2, 1 + 1 / (3 * eps**3)))
    assert found.holds


def test_16216_is_the_smallest_that_holds_and_16126_does_not() -> None:
    assert next(n for n in range(16000, 16230) if ucb_linear_regret(n).holds) == 16216
    misprint = ucb_linear_regret(16126)
    assert misprint.condition_one == pytest.approx((125.926, 126.219), abs=1e-3)
    assert not misprint.holds
    assert misprint.regret_rate == 0.0


@pytest.mark.slow
def test_the_theorems_claims_follow() -> None:
    found = ucb_linear_regret()
    assert found.probability == pytest.approx(0.99866, abs=1e-5)
    assert found.probability >= 0.99
    assert 1 - found.eps >= 0.99
    assert 0.098 <= found.regret_rate <= 0.1
    # The union bound behind the probability, summed to where 1e-7 or so is left.
    eps, gap = found.eps, found.static_gap
    t = np.arange(16207.0, 4_000_000.0)
    tail = t ** (-4 * eps * t / (1 + 8 * np.log(t) / gap**2) + 1) + t**-3 / (3 * eps**3)
    lost = float(tail.sum())
    assert lost <= 1 - found.probability


def test_condition_two_as_printed_is_too_weak() -> None:
    """With 1 - delta for delta it lets pass what leaves a probability of .985 for .99."""
    found = ucb_linear_regret(400_000, (10, 400_000 / 4.1e-4), delta=0.01)
    assert found.condition_one[0] >= found.condition_one[1]
    printed = 2 * (1 - 0.01) * (found.first_time - 1) ** 2
    assert printed > found.condition_two[1]
    assert found.probability < 0.99
    assert not found.holds


@pytest.mark.parametrize("rounded", [math.floor, math.ceil, round])
def test_the_rounded_committee_will_do(rounded: type[int]) -> None:
    found = ucb_linear_regret(16216, (10, rounded(16216**1.5)))
    assert found.holds
    assert found.regret_rate > 0.099


def test_the_instance_is_the_theorems() -> None:
    bandit = ucb_linear_regret_bandit()
    assert tuple(bandit.true_means) == (0.9, 0.8)
    assert bandit.initial_pulls == (10, 2_064_979)
    assert bandit.expected_feedback(1, 0.5) == 0.4


def test_a_static_environment_in_the_wrong_order_proves_nothing() -> None:
    found = ucb_linear_regret(1000, (10, 500))
    assert found.static_gap < 0
    assert found.condition_one[1] == math.inf
    assert not found.holds


def test_the_matrices_are_the_papers() -> None:
    loss, feedback = loss_matrix(), feedback_matrix()
    assert loss.shape == feedback.shape == (2, 16)
    assert len(set(OUTCOMES)) == 16
    for column, outcome in enumerate(OUTCOMES):
        assert outcome_index(outcome) == column
        x, f = outcome[:2], outcome[2:]
        for i in (0, 1):
            assert loss[i, column] == 1 - x[i]
            assert feedback[i, column] == 1 - x[i] * f[i]


def test_the_two_outcomes_cannot_be_told_apart() -> None:
    assert indistinguishable(OUTCOME_1, OUTCOME_2)
    assert loss_difference(OUTCOME_1, OUTCOME_2).tolist() == [1.0, -1.0]
    loss = loss_matrix()
    assert loss[:, outcome_index(OUTCOME_1)].tolist() == [1.0, 0.0]
    assert loss[:, outcome_index(OUTCOME_2)].tolist() == [0.0, 1.0]


def test_their_feedback_is_one_not_zero() -> None:
    """The text says 0; its own definition, 1 - X F, says 1."""
    feedback = feedback_matrix()
    for outcome in (OUTCOME_1, OUTCOME_2):
        assert feedback[:, outcome_index(outcome)].tolist() == [1.0, 1.0]


def test_open_gates_tell_them_apart() -> None:
    assert not indistinguishable((0, 1, 1, 1), (1, 0, 1, 1))
    assert indistinguishable((0, 1, 1, 1), (0, 1, 1, 1))
