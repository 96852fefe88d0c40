"""The test that holds if all groups drift alike and at a steady rate.

The theorem, its proof and its limits are in docs/audit.md, "If all drift alike at a steady rate".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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

LARGEST_RATE = 3.0
"""The logarithm of the largest factor by which levels change from a log's beginning to its end."""
EVERY = 2
"""Of the references of `odds`, every other one."""
LEANS = (-0.5, 0.0, 0.5)
"""Bets lean against time by these, in log odds for each unit of log(100 + row)."""
WORTHLESS = math.log(2.0)
"""Evidence that is not worth a search: what is no more than this somewhere counts as none."""
ABSOLUTE, RELATIVE = 0.2, 0.05
"""By how much the infimum may be understated, in logarithms and as a part of it."""
FIRST_WIDTH = 0.25
SMALLEST_WIDTH = 1e-4


@dataclass(frozen=True)
class Group:
    """Cells of one group, and bets on them that are made once they are asked for."""

    cells: Table
    totals: FloatArray
    level: float
    times: FloatArray
    middle: float
    unevenness: float
    tilts: dict[str, FloatArray]
    leaning: FloatArray
    made: dict[tuple[str, float, float], tuple[FloatArray, FloatArray]]

    @classmethod
    def of(cls, cells: Table) -> Group:
        """Prepare the cells of one group."""
        totals = cells.totals()
        times = cells.times / totals / cells.rows
        lengths = np.diff(cells.edges)[cells.block] / cells.rows
        return cls(
            cells,
            totals,
            float((cells.counts @ cells.nodes).sum() / totals.sum()),
            times,
            float(totals @ times / totals.sum()),
            float(totals @ lengths**2) / 32.0,
            {shape: tilts_of(cells, shape, EVERY) for shape in ("share", "log")},
            np.log(100.0 + cells.edges[cells.block]),
            {},
        )

    def bets(self, bet: tuple[str, float, float], weights: FloatArray) -> tuple[FloatArray, ...]:
        """Return what an alternative gained, and its bets."""
        if bet not in self.made:
            shape, theta, lean = bet
            # By the block's first row, and never by how long the log is.
            leans = -lean * (self.leaning - math.log(100.0))
            self.made[bet] = gains_and_bets(self.cells, weights, self.tilts[shape], leans, theta)
        return self.made[bet]

    def least(
        self, bet: tuple[str, float, float], weights: FloatArray, rate: float, half: float
    ) -> float:
        """Return a lower bound of an alternative's wealth for rates within `half` of `rate`."""
        gains, bets = self.bets(bet, weights)
        spread = half * np.abs(self.times - self.middle)
        raised = np.exp(rate * self.times + spread)
        lowered = np.exp(rate * self.times - spread)
        start = self.level / float(self.totals @ raised) * float(self.totals.sum())
        found = machine_code(lowest)(
            gains, bets, self.totals, raised, lowered, start, 1.0 / float(lowered.max())
        )
        return float(found) - (abs(rate) + half) ** 2 * self.unevenness


def odds_with_drift(table: Table) -> float:
    """Return the logarithm of an e-value of "all levels change by one factor, at a steady rate".

    What is no more than 2 for some rate counts as nothing, that is as minus infinity.
    """
    groups = [Group.of(table.of(one)) for one in range(table.groups) if (table.group == one).any()]
    return Search(groups, reference_weights(table.groups, EVERY)).lowest()


class Search:
    """A search for the rate of drift at which the evidence is least."""

    def __init__(self, groups: list[Group], weights: FloatArray) -> None:
        self.groups = groups
        self.weights = weights
        self.bets = [(*alternative, lean) for alternative in ALTERNATIVES for lean in LEANS]

    def lowest(self) -> float:
        """Return a lower bound of the infimum of the evidence over all rates."""
        order = list(range(len(self.bets)))
        least, order = self._evidence(0.0, 0.0, order, math.inf)
        if least <= WORTHLESS:
            return -math.inf
        width = FIRST_WIDTH
        number = round(2.0 * LARGEST_RATE / width)
        starts = sorted((-LARGEST_RATE + i * width for i in range(number)), key=abs)
        todo = [(start, width, order) for start in reversed(starts)]
        proven = math.inf
        while todo:
            start, width, order = todo.pop()
            half = 0.5 * width
            enough = least - max(ABSOLUTE, RELATIVE * least)
            bound, order = self._evidence(start + half, half, order, enough)
            if bound >= enough or width <= SMALLEST_WIDTH:
                proven = min(proven, bound)
                continue
            here, order = self._evidence(start + half, 0.0, order, least)
            least = min(least, here)
            if least <= WORTHLESS:
                return -math.inf
            todo += [(start, half, order), (start + half, half, order)]
        return min(proven, least)

    def _evidence(
        self, rate: float, half: float, order: list[int], enough: float
    ) -> tuple[float, list[int]]:
        """Return a lower bound of the evidence for rates within `half` of `rate`.

        Alternatives are taken in the given order until they add up to enough: all are at least 0,
        so what is left out makes the bound smaller. Also returns the order that is best here.
        """
        found: dict[int, float] = {}
        total = -math.inf
        for number in order:
            logs = [
                group.least(self.bets[number], self.weights, rate, half) for group in self.groups
            ]
            found[number] = float(with_cash(np.array(logs)).sum()) - math.log(len(self.bets))
            total = float(np.logaddexp(total, found[number]))
            if total >= enough:
                return total, order
        return total, sorted(found, key=lambda number: -found[number])
