"""How much better one group is than another for one type than for another type, whatever f is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.simulation.intervals import proportion_interval


class CrossRatio(NamedTuple):
    """An estimate and the ends of its confidence interval; nan where nothing was seen."""

    estimate: float
    low: float
    high: float


def cross_ratio(successes: Sequence[Sequence[int]], level: float = 0.95) -> CrossRatio:
    """Return (mu_ic / mu_jc) / (mu_ic' / mu_jc') from scores of 1.

    Of a group's scores of 1 for two types, the part that came for the first has an expectation in
    which f cancels, if types are drawn and nobody looked at an arrival's type before choosing. The
    interval joins the exact ones of the two groups' parts; it covers with probability `level` at
    least, after a number of arrivals that was settled by choices and scores alone.

    Args:
        successes: scores of 1 of group i for the types c and c', and those of group j.
        level: of the interval.

    >>> ratio = cross_ratio([[60, 20], [50, 50]])
    >>> ratio.estimate, round(ratio.low, 2), round(ratio.high, 2)
    (3.0, 1.04, 9.11)
    """
    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    table = [checks.integers_list("successes", row, low=0) for row in successes]
    if len(table) != 2 or any(len(row) != 2 for row in table):
        raise InvalidInput("successes", "two rows of two numbers", table)
    each = 0.5 * (1.0 + level)  # so that both hold with the probability `level`
    (low_i, high_i), (low_j, high_j) = (_odds(row, each) for row in table)
    (one, two), (three, four) = table
    across = two * three
    estimate = one * four / across if across else math.inf if one * four else math.nan
    low = 0.0 if low_i == 0.0 or high_j == math.inf else low_i / high_j
    high = math.inf if low_j == 0.0 or high_i == math.inf else high_i / low_j
    return CrossRatio(estimate, low, high)


def _odds(row: Sequence[int], level: float) -> tuple[float, float]:
    """Return the ends of an interval of the odds of the first of two types."""
    if sum(row) == 0:
        return 0.0, math.inf
    _, low, high = proportion_interval(row[0], sum(row), level)
    return float(low) / (1.0 - float(low)), math.inf if high == 1.0 else float(high / (1.0 - high))
