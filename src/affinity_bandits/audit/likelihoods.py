"""The likelihood test that holds if nothing drifts; for scores of 0 and 1.

The theorem, its proof and its limits are in docs/audit.md, "The same, by likelihood_ratios".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from affinity_bandits.audit.table import BINS, Table, bin_shares
from affinity_bandits.kernels import FloatArray

Averaged: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], float]

EXPONENTS = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0)
HALVINGS = 60
POINTS = 97
REACH = 6.0
"""Of the grid that is summed over, in standard deviations on either side of the mode."""


def log_likelihood_of_the_mean(total: float, rows: float) -> float:
    """Return the largest log likelihood of coins that are all alike."""
    return sum(
        part * math.log(part / rows) if part > 0.0 else 0.0 for part in (total, rows - total)
    )


def log_mean_likelihood(weights: FloatArray, sums: FloatArray, rows: FloatArray) -> float:
    """Return a lower bound of the log of the likelihood of m times weights, averaged over m.

    The log likelihood is concave in m, so the least of an interval is at one of its ends, and a
    sum of those is never above the integral over m from 0 to 1, wherever the points are.
    """
    misses = np.maximum(rows - sums, 0.0)
    total = float(sums.sum())

    def slope(m: float) -> float:
        return total / m - float(np.sum(misses * weights / (1.0 - weights * m)))

    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    mode = 0.5 * (low + high)
    bend = total / mode**2 + float(np.sum(misses * (weights / (1.0 - weights * mode)) ** 2))
    deviation = 1.0 / math.sqrt(max(bend, 1.0))
    grid = np.clip(mode + deviation * np.linspace(-REACH, REACH, POINTS), 1e-300, 1.0 - 1e-12)
    chances = weights[:, None] * grid
    logs = total * np.log(grid) + sums @ np.log(weights) + misses @ np.log1p(-chances)
    least = np.minimum(logs[1:], logs[:-1])
    widths = np.diff(grid)
    kept = widths > 0.0
    return float(np.logaddexp.reduce(least[kept] + np.log(widths[kept])))


def likelihood_ratios(table: Table, averaged: Averaged = log_mean_likelihood) -> float:
    """Return the logarithm of an e-value of "every group's mean score is the same throughout".

    It takes every score for a coin, which is right for 0 and 1 and weak for scores in between.

    Args:
        table: of the log.
        averaged: what averages a likelihood over levels.
    """
    totals = np.zeros(len(EXPONENTS))
    for group in range(table.groups):
        cells = table.of(group)
        if len(cells.group) == 0:
            continue
        rows = np.zeros(BINS)
        sums = np.zeros(BINS)
        np.add.at(rows, cells.bin, cells.totals())
        np.add.at(sums, cells.bin, cells.counts @ cells.nodes)
        used = rows > 0
        null = log_likelihood_of_the_mean(float(sums.sum()), float(rows.sum()))
        for place, exponent in enumerate(EXPONENTS):
            weights = bin_shares()[used] ** exponent
            totals[place] += averaged(weights, sums[used], rows[used]) - null
    return float(np.logaddexp.reduce(totals) - math.log(len(EXPONENTS)))
