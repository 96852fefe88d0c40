"""How strong a bonus can be, given a log: all that the log does not speak against.

The theorem, its proof and its limits are in docs/audit.md, "How strong".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.inversion import TINY, Levels, Shares, groups_of, possible
from affinity_bandits.audit.table import Table

PIECES = 40
LEVEL = 0.05


class Strength(NamedTuple):
    """The least and the largest bonus that a log leaves possible; `least` 0 is no bias at all.

    A bonus is infinite where a group without a member among the judges gets the lowest score.
    """

    least: float
    largest: float

    @property
    def full(self) -> bool:
        """Whether the log says nothing: every bonus is possible."""
        return self.least == 0.0 and math.isinf(self.largest)


def strength(table: Table, level: float = LEVEL) -> Strength | None:
    """Return bonuses that a log leaves possible, or None if it speaks against every one.

    If the bias is a bonus, and nothing drifts, the true one is among them with probability at
    least 1 - level.
    """
    ends = np.linspace(0.0, 1.0, PIECES + 1)
    found = possible(groups_of(table), bonus_levels, ends, math.log(1.0 / level))
    if found is None:
        return None
    first, last = found
    return Strength(as_bonus(float(ends[first])), as_bonus(float(ends[last + 1])))


def as_bonus(slope: float) -> float:
    """Return the bonus of a weight that is 1 - slope at share 0 and 1 at share 1."""
    return slope / (1.0 - slope) if slope < 1.0 else math.inf


def bonus_levels(group: Shares, low: float, high: float) -> Levels:
    """Return bounds of the levels of a group's cells, for all slopes from low to high."""
    factors = [
        (1.0 - slope + slope * group.shares) / max(1.0 - slope + slope * group.middle, TINY)
        for slope in (low, high)
    ]
    return Levels(np.maximum(*factors), np.minimum(*factors))
