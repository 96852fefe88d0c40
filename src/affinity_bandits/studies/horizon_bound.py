"""The constants of the theorem on unknown horizons (docs/studies/horizon.md)."""

from __future__ import annotations

import math

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput


def smallest_exponent(exponent: float) -> float:
    """Return 2e/(2e+1), below which no policy without a horizon can be consistent if f = x**e."""
    exponent = checks.number("exponent", exponent, low=0.0, open_low=True)
    return 2.0 * exponent / (2.0 * exponent + 1.0)


def information_bound(rate: float, exponent: float, members: int, free: int) -> float:
    """Return B of Lemma 1: no path gathers more information on an arm while its pulls are few.

    Information is the sum of share**(2 exponent) over the pulls of the arm, up to and with the
    one by which it first has more than t**rate pulls at a time t >= free.

    Args:
        rate: below `smallest_exponent`.
        exponent: e, of f = x**e.
        members: of the arm, before the first pull.
        free: n_0, until which it may be pulled at will.
    """
    limit = smallest_exponent(exponent)
    rate = checks.number("rate", rate, low=0.0, open_low=True)
    if rate >= limit:
        raise InvalidInput("rate", f"below 2e/(2e+1) = {limit:.4g}: no bound exists", rate)
    members = checks.integer("members", members, low=1)
    decay = 2.0 * exponent * (1.0 / rate - 1.0)
    series = decay / (decay - 1.0)
    free = checks.integer("free", free, low=1)
    return float(free + 1.0 + (members + 1.0) ** (2.0 * exponent) * series)


def settled_after(constant: float, consistent: float, rate: float) -> float:
    """Return n_0 of Lemma 2: with probability 1/2 the arm's pulls never exceed t**rate after it.

    Args:
        constant: C, where the expected pulls of the arm are at most C t**consistent for all t.
        consistent: the exponent a.
        rate: the exponent a' above it.
    """
    slack = rate - consistent
    if slack <= 0.0:
        raise InvalidInput("rate", f"above the exponent {consistent:g}", rate)
    smallest = (2.0 * constant * 2.0**consistent / (1.0 - 2.0**-slack)) ** (1.0 / slack)
    # The union is over doublings, so it begins at a power of two.
    return 2.0 ** math.ceil(math.log2(max(1.0, smallest)))


def fewest_failures(information: float, difference: float, settled: float) -> float:
    """Return the least probability, in the second world, of what has probability p in the first.

    Args:
        information: expected in the first world, the sum of share**(2e) over the arm's pulls.
        difference: between the arm's true means in the two worlds.
        settled: p.
    """
    return math.exp(-(0.5 * difference**2 * information + math.log(2.0)) / settled)
