"""The instance on which UCB1 has linear regret, and the arithmetic that shows it.

The proof compares the biased environment with a static one, in which the better arm a looks as it
would with a larger initial committee S_a. While a is pulled in the static environment at most
eps t times by every time t >= t_1, the biased one stays worse for it, and UCB1 keeps away from it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Power
from affinity_bandits.errors import InvalidInput

STATIC_PULLS = 16216
"""S_a of the paper's arithmetic; `lem:ucbParameterChoicesAppendix` also prints 16126."""


class UCBLinearRegret(NamedTuple):
    """Every number in the proof of `lem:ucbParameterChoicesAppendix`."""

    means: tuple[float, float]
    """mu_a > mu_b."""
    initial_pulls: tuple[float, float]
    """T0_a and T0_b."""
    static_pulls: int
    """S_a."""
    eps: float
    """S_a / (S_a + T0_b)."""
    first_time: int
    """t_1 = S_a - T0_a + 1; the bounds hold for every horizon n >= t_1."""
    biased_means: tuple[float, float]
    """mu_i T0_i / (T0_a + T0_b): the means at the first pull."""
    static_means: tuple[float, float]
    """mu_a eps and mu_b (1 - eps)."""
    static_gap: float
    condition_one: tuple[float, float]
    """Both sides of the first condition, which are eps t_1 and what it must reach.

    See `eq:ucbNegResultConditionOne`.
    """
    condition_two: tuple[float, float]
    """Both sides of the second condition, with delta where 1 - delta is printed.

    See `eq:ucbNegResultConditionTwo`.
    """
    holds: bool
    """Whether both conditions do; the first fails if the static gap is not positive."""
    probability: float
    """P(T_b(n) >= (1 - eps) n) is at least this; 0 if the first condition fails."""
    regret_rate: float
    """Regret is at least this times n."""


def ucb_linear_regret_bandit() -> AffinityBandit:
    """Return the instance of `thm:ucbLinearRegretAppendix`.

    Bernoulli means (.9, .8), f(x) = x, T0 = (10, 16216**1.5). The latter is 2,064,978.83; it is
    rounded to the nearest whole number, and the conditions hold for both neighbours.
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

    `lem:ucbParameterChoicesAppendix`, and from it `thm:ucbLinearRegretAppendix`: the regret of
    UCB1 is at least (mu_a - mu_b) (1 - eps) n times that probability. Sufficient are

        eps t_1 >= max{8/gap**2, 1 + 8 log(t_1)/gap**2}      `eq:ucbNegResultConditionOne`
        2 delta (t_1 - 1)**2 > 1 + 1/(3 eps**3)              `eq:ucbNegResultConditionTwo`

    with eps = S_a / (S_a + T0_b), t_1 = S_a - T0_a + 1 and the static gap mu_b (1 - eps) - mu_a
    eps. The paper prints 1 - delta for delta in the second; the line before it needs delta.

    Args:
        static_pulls: S_a.
        initial_pulls: T0_a and T0_b; for the latter, None stands for S_a**1.5, not rounded.
        means: mu_a > mu_b, both in (0, 1).
        delta: how unlikely the good event may be not to happen.

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
