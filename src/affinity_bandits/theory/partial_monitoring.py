"""The model as a partial-monitoring game, and why that view loses it.

`sec:partialMonitoringAppendix`: with two arms, Bernoulli values X_1, X_2 and gates F_1, F_2 (the
gated mechanism), a pull has 2**4 outcomes (X_1, X_2, F_1, F_2). An adversary that may choose the
outcomes can hide which arm is better, so any guarantee against adversaries is linear in n.
"""

from __future__ import annotations

import itertools

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray

Outcome = tuple[int, int, int, int]
"""(X_1, X_2, F_1, F_2), each 0 or 1."""

OUTCOMES: tuple[Outcome, ...] = tuple(
    (first, second, gate_one, gate_two)
    for first, second, gate_one, gate_two in itertools.product((0, 1), repeat=4)
)
"""The 16 columns of both matrices, in the order of the binary numbers they spell."""

OUTCOME_1: Outcome = (0, 1, 0, 0)
"""O_1: the second arm is better, and nothing is seen of it."""

OUTCOME_2: Outcome = (1, 0, 0, 0)
"""O_2: the first arm is better, and nothing is seen of it."""


def loss_matrix() -> FloatArray:
    """L[i, (X_1, X_2, F_1, F_2)] = 1 - X_i.

    `sec:partialMonitoringAppendix`; two rows, one an arm, and 16 columns, see `OUTCOMES`.
    """
    values = np.array(OUTCOMES, dtype=np.float64).T
    loss: FloatArray = 1.0 - values[:2]
    return loss


def feedback_matrix() -> FloatArray:
    """Phi[i, (X_1, X_2, F_1, F_2)] = 1 - X_i F_i.

    `sec:partialMonitoringAppendix`; two rows, one an arm, and 16 columns, see `OUTCOMES`. At O_1
    and O_2 it is 1 in both rows, not 0 as the text says; that they agree is what counts.
    """
    values = np.array(OUTCOMES, dtype=np.float64).T
    feedback: FloatArray = 1.0 - values[:2] * values[2:]
    return feedback


def outcome_index(outcome: Outcome) -> int:
    """Return the column of an outcome (X_1, X_2, F_1, F_2)."""
    bits = checks.integers_list("outcome", outcome, low=0, high=1)
    if len(bits) != 4:
        raise InvalidInput("outcome", "four numbers (X_1, X_2, F_1, F_2), each 0 or 1", outcome)
    return 8 * bits[0] + 4 * bits[1] + 2 * bits[2] + bits[3]


def indistinguishable(outcome_a: Outcome, outcome_b: Outcome) -> bool:
    """Phi[i, a] = Phi[i, b] for both arms i.

    Whether no policy can tell the two outcomes apart (`sec:partialMonitoringAppendix`). If also
    their losses favour different arms, as for `OUTCOME_1` and `OUTCOME_2`, then every policy has
    regret of at least n/2 against one of the two adversaries that always choose one of them.

    Args:
        outcome_a: (X_1, X_2, F_1, F_2).
        outcome_b: another.

    >>> indistinguishable(OUTCOME_1, OUTCOME_2), loss_difference(OUTCOME_1, OUTCOME_2).tolist()
    (True, [1.0, -1.0])
    """
    feedback = feedback_matrix()
    a, b = outcome_index(outcome_a), outcome_index(outcome_b)
    return bool(np.array_equal(feedback[:, a], feedback[:, b]))


def loss_difference(outcome_a: Outcome, outcome_b: Outcome) -> FloatArray:
    """L[i, a] - L[i, b] for both arms i.

    By `sec:partialMonitoringAppendix`; for O_1 and O_2 it is (1, -1).

    Args:
        outcome_a: (X_1, X_2, F_1, F_2).
        outcome_b: another.
    """
    loss = loss_matrix()
    difference: FloatArray = loss[:, outcome_index(outcome_a)] - loss[:, outcome_index(outcome_b)]
    return difference
