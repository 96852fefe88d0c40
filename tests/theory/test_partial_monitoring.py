"""The partial-monitoring matrices, entry by entry."""

from __future__ import annotations

import pytest

from affinity_bandits.errors import InvalidInput
from affinity_bandits.theory import (
    OUTCOME_1,
    OUTCOME_2,
    OUTCOMES,
    feedback_matrix,
    indistinguishable,
    loss_difference,
    loss_matrix,
    outcome_index,
)


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


@pytest.mark.parametrize("outcome", [(0, 1, 0), (0, 1, 0, 2), "0100"])
def test_outcomes_are_four_bits(outcome: object) -> None:
    with pytest.raises(InvalidInput, match="outcome"):
        outcome_index(outcome)  # type: ignore[arg-type]
