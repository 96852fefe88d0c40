"""Which power of the share levels can be in proportion to, given a log.

The theorem, its proof and its limits are in docs/audit.md, "How strong".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.inversion import Levels, Shares, groups_of, possible
from affinity_bandits.audit.table import BINS, Table
from affinity_bandits.kernels import FloatArray

LARGEST = 4.0
PIECES = 40
LEVEL = 0.05


class Exponents(NamedTuple):
    """The least and the largest exponent that a log leaves possible; 0 is no bias at all.

    Exponents above 4 are not looked at: if 4 is possible, the largest is infinite.
    """

    least: float
    largest: float

    @property
    def full(self) -> bool:
        """Whether the log says nothing: every exponent is possible."""
        return self.least == 0.0 and math.isinf(self.largest)


def exponents(table: Table, level: float = LEVEL) -> Exponents | None:
    """Return exponents a of f(x) = x^a that a log leaves possible, or None if there are none.

    If the bias is of this kind, and nothing drifts, the true one is among them with probability at
    least 1 - level.
    """
    ends = np.linspace(0.0, LARGEST, PIECES + 1)
    found = possible(groups_of(table), power_levels, ends, math.log(1.0 / level))
    if found is None:
        return None
    first, last = found
    largest = math.inf if last == PIECES - 1 else float(ends[last + 1])
    return Exponents(float(ends[first]), largest)


def power_levels(group: Shares, low: float, high: float) -> Levels:
    """Return bounds of the levels of a group's cells, for all exponents from low to high."""
    edges = np.sin(np.arange(BINS + 1) * (0.5 * math.pi / BINS)) ** 2
    # An edge of bins, so that all shares of a cell are on the same side of it.
    middle = float(edges[1:][np.argmin(np.abs(edges[1:] - group.middle))])
    shares = group.shares / middle
    below = np.minimum(edges[group.cells.bin] / middle, shares)
    above = np.maximum(edges[group.cells.bin + 1] / middle, shares)
    bounds = [_mean_power(shares, below, above, exponent) for exponent in (low, high)]
    return Levels(
        np.maximum(bounds[0].raised, bounds[1].raised),
        np.minimum(bounds[0].lowered, bounds[1].lowered),
    )


def _mean_power(
    shares: FloatArray, below: FloatArray, above: FloatArray, exponent: float
) -> Levels:
    """Return bounds of the mean of a power of numbers, given their mean and their range."""
    at_mean = shares**exponent
    part = (shares - below) / (above - below)
    chord = (1.0 - part) * below**exponent + part * above**exponent
    return Levels(np.maximum(at_mean, chord), np.minimum(at_mean, chord))
