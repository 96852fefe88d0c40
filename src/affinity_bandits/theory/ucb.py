"""The instance on which UCB1 has linear regret, and the arithmetic of the proof.

The proof compares the biased environment with a static one, in which the better arm a looks as with
a larger initial committee S_a. While a is pulled there at most eps t times by every t >= t_1, the
biased environment stays worse for it.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Power

STATIC_PULLS = 16216
"""S_a of the paper's arithmetic; Lemma E.6 also prints 16126."""


class UCBLinearRegret(NamedTuple):
    """Every number in the proof of Lemma E.6."""

    #: mu_a > mu_b.
    means: tuple[float, float]
    #: T0_a and T0_b.
    initial_pulls: tuple[float, float]
    #: S_a.
    static_pulls: int
    #: S_a / (S_a + T0_b).
    eps: float
    #: t_1 = S_a - T0_a + 1; the bounds hold for every horizon n >= t_1.
    first_time: int
    #: mu_i T0_i / (T0_a + T0_b): the means at the first pull.
    biased_means: tuple[float, float]
    #: mu_a eps and mu_b (1 - eps).
    static_means: tuple[float, float]
    static_gap: float
    #: Both sides of the first condition, which are eps t_1 and what it must reach. See
    #: Equation (46).
    condition_one: tuple[float, float]
    #: Both sides of the second condition, with delta where 1 - delta is printed. See
    #: Equation (47).
    condition_two: tuple[float, float]
    #: Whether both conditions do; the first fails if the static gap is not positive.
    holds: bool
    #: P(T_b(n) >= (1 - eps) n) is at least this; 0 if the first condition fails.
    probability: float
    #: Regret is at least this times n.
    regret_rate: float


def ucb_linear_regret_bandit() -> AffinityBandit:
    """Return the instance of Theorem E.1.

    Bernoulli means (.9, .8), f(x) = x, T0 = (10, 16216**1.5), rounded to a whole number.
    """
    return AffinityBandit(
        true_means=[0.9, 0.8],
        bias=Power(1.0),
        initial_pulls=[10, round(STATIC_PULLS**1.5)],
    )


def ucb_linear_regret(
    static_pulls: int = STATIC_PULLS,
    initial_pulls: tuple[float, float | None] = (10, None),
    means: tuple[float, float] = (0.9, 0.8),
    *,
    delta: float = 0.01,
) -> UCBLinearRegret:
    """P(T_b(n) >= (1 - eps) n) >= 1 - (1 + 1/(3 eps**3)) / (2 (t_1 - 1)**2) for every n >= t_1.

    Lemma E.6, and from it Theorem E.1: the regret of UCB1 is at least (mu_a - mu_b) (1 - eps) n
    times that probability. Sufficient are

        eps t_1 >= max{8/gap**2, 1 + 8 log(t_1)/gap**2}      Equation (46)
        2 delta (t_1 - 1)**2 > 1 + 1/(3 eps**3)              Equation (47)

    with eps = S_a / (S_a + T0_b), t_1 = S_a - T0_a + 1 and the static gap mu_b (1 - eps) - mu_a
    eps. The paper prints 1 - delta for delta in the second; the line before it needs delta.

    Args:
        static_pulls: S_a.
        initial_pulls: T0_a and T0_b; for the latter, None stands for S_a**1.5, unrounded.
        means: mu_a > mu_b, both in (0, 1).
        delta: the allowed probability that the good event fails.

    Returns:
        All numbers; whether they suffice is in `holds`.

    >>> ucb_linear_regret().holds, ucb_linear_regret(16126).holds
    (True, False)
    """
    better = checks.number("means[0]", means[0], low=0.0, high=1.0, open_low=True, open_high=True)
    worse = checks.number("means[1]", means[1], low=0.0, high=better, open_low=True, open_high=True)
    few = checks.number("initial_pulls[0]", initial_pulls[0], low=1.0)
    static = checks.integer("static_pulls", static_pulls, low=2)
    if few != int(few) or few >= static:
        raise InvalidInput(
            "initial_pulls[0]", f"a whole number below static_pulls ({static})", initial_pulls[0]
        )
    given = initial_pulls[1]
    many = static**1.5 if given is None else checks.number("initial_pulls[1]", given, low=1.0)
    failure = checks.number("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)

    eps = static / (static + many)
    first_time = static - int(few) + 1
    biased_means = (better * few / (few + many), worse * many / (few + many))
    static_means = (better * eps, worse * (1.0 - eps))
    gap = static_means[1] - static_means[0]
    ordered = gap > 0.0
    needed = max(8.0 / gap**2, 1.0 + 8.0 * math.log(first_time) / gap**2) if ordered else math.inf
    condition_one = (eps * first_time, needed)
    lost = 1.0 + 1.0 / (3.0 * eps**3)
    condition_two = (2.0 * failure * (first_time - 1) ** 2, lost)
    first = condition_one[0] >= condition_one[1]
    probability = max(0.0, 1.0 - lost / (2.0 * (first_time - 1) ** 2)) if first else 0.0
    return UCBLinearRegret(
        means=(better, worse),
        initial_pulls=(few, many),
        static_pulls=static,
        eps=eps,
        first_time=first_time,
        biased_means=biased_means,
        static_means=static_means,
        static_gap=gap,
        condition_one=condition_one,
        condition_two=condition_two,
        holds=first and condition_two[0] > condition_two[1],
        probability=probability,
        regret_rate=(better - worse) * (1.0 - eps) * probability,
    )


Outcome = tuple[int, int, int, int]
"""(X_1, X_2, F_1, F_2), each 0 or 1."""

OUTCOMES: tuple[Outcome, ...] = tuple(itertools.product((0, 1), (0, 1), (0, 1), (0, 1)))
"""The 16 columns of both matrices, in the order of the binary numbers they spell."""

OUTCOME_1: Outcome = (0, 1, 0, 0)
"""O_1: the second arm is better, and nothing is seen of it."""

OUTCOME_2: Outcome = (1, 0, 0, 0)
"""O_2: the first arm is better, and nothing is seen of it."""


def loss_matrix() -> FloatArray:
    """L[i, (X_1, X_2, F_1, F_2)] = 1 - X_i.

    Appendix B; two rows, one an arm, and 16 columns, see `OUTCOMES`.
    """
    values = np.array(OUTCOMES, dtype=np.float64).T
    loss: FloatArray = 1.0 - values[:2]
    return loss


def feedback_matrix() -> FloatArray:
    """Phi[i, (X_1, X_2, F_1, F_2)] = 1 - X_i F_i.

    Appendix B; two rows, one an arm, and 16 columns, see `OUTCOMES`. At O_1 and O_2 it is 1 in both
    rows, where the text says 0; the argument needs only that they agree.
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

    Whether the two outcomes look the same to every policy (Appendix B). If also their losses favor
    different arms, as for `OUTCOME_1` and `OUTCOME_2`, then every policy has regret of at least n/2
    against one of the two adversaries that always choose one of them.

    >>> indistinguishable(OUTCOME_1, OUTCOME_2), loss_difference(OUTCOME_1, OUTCOME_2).tolist()
    (True, [1.0, -1.0])
    """
    feedback = feedback_matrix()
    a, b = outcome_index(outcome_a), outcome_index(outcome_b)
    return bool(np.array_equal(feedback[:, a], feedback[:, b]))


def loss_difference(outcome_a: Outcome, outcome_b: Outcome) -> FloatArray:
    """L[i, a] - L[i, b] for both arms i.

    By Appendix B; for O_1 and O_2 it is (1, -1).
    """
    loss = loss_matrix()
    difference: FloatArray = loss[:, outcome_index(outcome_a)] - loss[:, outcome_index(outcome_b)]
    return difference
