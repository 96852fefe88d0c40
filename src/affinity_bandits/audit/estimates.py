"""What fits a log best: a bonus, and a power of the share. Points without any promise.

Sets that hold the truth are `strength`, `exponents` and `mean_ratios`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.bonus_set import as_bonus
from affinity_bandits.audit.exponent_set import LARGEST
from affinity_bandits.audit.inversion import Shares
from affinity_bandits.audit.redrawn import coarse
from affinity_bandits.audit.table import Table
from affinity_bandits.kernels import FloatArray

POINTS = 41
ROUNDS = 4


class Estimates(NamedTuple):
    """What fits best, by least squares.

    Attributes:
        bonus: of a weight (1 + bonus x) / (1 + bonus); infinite for x itself.
        exponent: of a weight x^exponent, from 0 to 4.
        means: each group's true mean if the bias is that bonus: its level at a share of 1, which
            may be an extrapolation; nan where a group was never scored.
    """

    bonus: float
    exponent: float
    means: tuple[float, ...]


def estimates(table: Table) -> Estimates:
    """Return the bonus and the exponent that fit best, each group with a level of its own."""
    groups = {
        one: Shares(coarse(table.of(one), 1))
        for one in range(table.groups)
        if (table.group == one).any()
    }
    fits = [_Squares(group) for group in groups.values()]

    def bonus(slope: float) -> float:
        return sum(fit.missed(1.0 - slope + slope * fit.shares) for fit in fits)

    def power(exponent: float) -> float:
        return sum(fit.missed(fit.shares**exponent) for fit in fits)

    slope = _least(bonus, 1.0)
    means = {
        one: fit.level(1.0 - slope + slope * fit.shares)
        for one, fit in zip(groups, fits, strict=True)
    }
    every = tuple(means.get(one, math.nan) for one in range(table.groups))
    return Estimates(as_bonus(slope), _least(power, LARGEST), every)


class _Squares:
    """Squared distances of one group's scores from levels in proportion to weights."""

    def __init__(self, group: Shares) -> None:
        self.shares = group.shares
        self._totals = group.totals
        self._sums = group.cells.counts @ group.cells.nodes
        around = (group.cells.nodes - group.mean) ** 2
        variance = float(group.cells.counts.sum(axis=0) @ around) / float(group.totals.sum())
        self._variance = max(variance, 1e-6)

    def level(self, weights: FloatArray) -> float:
        """Return the level that fits best where the weight is 1."""
        squares = float(self._totals @ weights**2)
        return float(self._sums @ weights) / squares if squares > 0.0 else 0.0

    def missed(self, weights: FloatArray) -> float:
        """Return the sum of squares that remains, in variances, but for what is always the same."""
        return -self.level(weights) * float(self._sums @ weights) / self._variance


def _least(function: Callable[[float], float], top: float) -> float:
    """Return where a function is least on [0, top]: on a grid, and on finer ones around there."""
    low, high = 0.0, top
    for _ in range(ROUNDS):
        points = np.linspace(low, high, POINTS)
        best = int(np.argmin([function(float(point)) for point in points]))
        low = float(points[max(best - 1, 0)])
        high = float(points[min(best + 1, POINTS - 1)])
    return float(points[best])
