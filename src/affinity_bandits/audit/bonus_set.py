"""How strong a bonus can be, given a log: all that the log does not speak against.

The theorem, its proof and its limits are in docs/audit.md, "How strong".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.lowest import lowest
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.strategies import (
    ALTERNATIVES,
    gains_and_bets,
    reference_weights,
    tilts_of,
)
from affinity_bandits.audit.table import Table
from affinity_bandits.kernels import FloatArray

PIECES = 40
EVERY = 2
"""Of the references of `odds`, every other one."""
LEVEL = 0.05


class Strength(NamedTuple):
    """The least and the largest bonus that a log leaves possible; `least` 0 is no bias at all.

    A bonus is infinite where a group without a member among the judges gets the lowest score.
    """

    least: float
    largest: float


def strength(table: Table, level: float = LEVEL) -> Strength | None:
    """Return bonuses that a log leaves possible, or None if it speaks against every one.

    If the bias is a bonus, and nothing drifts, the true one is among them with probability at
    least 1 - level.
    """
    ends = np.linspace(0.0, 1.0, PIECES + 1)
    enough = math.log(1.0 / level)
    groups = [
        _Group(table.of(group)) for group in range(table.groups) if (table.group == group).any()
    ]
    weights = reference_weights(table.groups, EVERY)
    open_ones = [
        place
        for place in range(PIECES)
        if not _excluded(groups, weights, float(ends[place]), float(ends[place + 1]), enough)
    ]
    if not open_ones:
        return None
    return Strength(as_bonus(float(ends[open_ones[0]])), as_bonus(float(ends[open_ones[-1] + 1])))


def as_bonus(slope: float) -> float:
    """Return the bonus of a weight that is 1 - slope at share 0 and 1 at share 1."""
    return slope / (1.0 - slope) if slope < 1.0 else math.inf


class _Group:
    """Cells of one group, their mean shares, and tilts of bets on them."""

    def __init__(self, cells: Table) -> None:
        self.cells = cells
        self.totals = cells.totals()
        self.shares = cells.shares / self.totals
        self.middle = float(self.totals @ self.shares / self.totals.sum())
        self.mean = float((cells.counts @ cells.nodes).sum() / self.totals.sum())
        self.tilts = {shape: tilts_of(cells, shape, EVERY) for shape in ("share", "log")}
        self.made: dict[tuple[str, float], tuple[FloatArray, FloatArray]] = {}

    def bets(self, bet: tuple[str, float], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what an alternative gained, and its bets."""
        if bet not in self.made:
            upright = np.zeros(len(self.totals))
            tilts, theta = self.tilts[bet[0]], bet[1]
            self.made[bet] = gains_and_bets(self.cells, weights, tilts, upright, theta)
        return self.made[bet]

    def least(self, bet: tuple[str, float], weights: FloatArray, low: float, high: float) -> float:
        """Return a lower bound of a wealth for all slopes from low to high, and all levels."""
        gains, bets = self.bets(bet, weights)
        factors = [
            (1.0 - slope + slope * self.shares) / (1.0 - slope + slope * self.middle)
            for slope in (low, high)
        ]
        raised, lowered = np.maximum(*factors), np.minimum(*factors)
        found = machine_code(lowest)(
            gains, bets, self.totals, raised, lowered, self.mean, 1.0 / float(lowered.max())
        )
        return float(found)


def _excluded(
    groups: list[_Group], weights: FloatArray, low: float, high: float, enough: float
) -> bool:
    """Return whether the evidence against every slope from low to high is enough."""
    total = -math.inf
    for shape, theta in ALTERNATIVES:
        for sign in (1.0, -1.0):
            logs = [group.least((shape, sign * theta), weights, low, high) for group in groups]
            part = float(with_cash(np.array(logs)).sum()) - math.log(2 * len(ALTERNATIVES))
            total = float(np.logaddexp(total, part))
            if total >= enough:
                return True
    return False
