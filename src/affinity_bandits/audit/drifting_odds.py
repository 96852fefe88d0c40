"""The test that holds if all groups drift alike and at a steady rate.

The theorem, its proof and its limits are in docs/audit.md, "If all drift alike at a steady rate".
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np

from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.lowest import lowest, lowest_and_where, value
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
NEAR = 8.0
"""Alternatives, and references of one, whose logarithm is not so near to the best are left out."""

Bet: TypeAlias = tuple[str, float, float]
Own: TypeAlias = tuple[FloatArray, FloatArray]
"""Gains and bets of the references that matter, of one alternative and group."""


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
    made: dict[Bet, tuple[FloatArray, FloatArray]]

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

    def bets(self, bet: Bet, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what an alternative gained, and its bets."""
        if bet not in self.made:
            shape, theta, lean = bet
            # By the block's first row, and never by how long the log is.
            leans = -lean * (self.leaning - math.log(100.0))
            self.made[bet] = gains_and_bets(self.cells, weights, self.tilts[shape], leans, theta)
        return self.made[bet]

    def glance(self, bet: Bet, weights: FloatArray, rate: float) -> float:
        """Return an alternative's wealth at the level that fits best: no less than the least."""
        gains, bets = self.bets(bet, weights)
        rho, level, _ = self._levels(rate)
        found = machine_code(value)(
            level, gains, bets, self.totals, rho, rho, *np.empty((3, len(gains)))
        )
        return float(found[0]) - rate**2 * self.unevenness

    def closely(self, bet: Bet, weights: FloatArray, rate: float) -> tuple[float, Own]:
        """Return an alternative's least wealth at a rate, and what made most of it."""
        gains, bets = self.bets(bet, weights)
        rho, level, top = self._levels(rate)
        cells = (gains, bets, self.totals, rho, rho)
        bound, where = machine_code(lowest_and_where)(*cells, level, top)
        logs, slopes, bends = np.empty((3, len(gains)))
        machine_code(value)(where, *cells, logs, slopes, bends)
        near = logs >= logs.max() - NEAR
        return float(bound) - rate**2 * self.unevenness, (gains[near], bets[near])

    def _levels(self, rate: float) -> tuple[FloatArray, float, float]:
        """Return how levels change, the one that fits best, and the largest that there can be."""
        rho = np.exp(rate * self.times)
        top = 1.0 / float(rho.max())
        return rho, min(self.level * float(self.totals.sum()) / float(self.totals @ rho), top), top

    def least(self, own: Own, rate: float, half: float) -> float:
        """Return a lower bound of a wealth for rates within `half` of `rate`, and all levels."""
        spread = half * np.abs(self.times - self.middle)
        raised = np.exp(rate * self.times + spread)
        lowered = np.exp(rate * self.times - spread)
        start = self.level / float(self.totals @ raised) * float(self.totals.sum())
        found = lowest(*own, self.totals, raised, lowered, start, 1.0 / float(lowered.max()))
        return found - (abs(rate) + half) ** 2 * self.unevenness


def bets_made() -> list[Bet]:
    """Return all alternatives, with all leans."""
    return [(*alternative, lean) for alternative in ALTERNATIVES for lean in LEANS]


def odds_with_drift(table: Table, enough: float = math.inf) -> float:
    """Return the logarithm of an e-value of "all levels change by one factor, at a steady rate".

    What is no more than 2 for some rate counts as nothing, that is as minus infinity.

    Args:
        table: of the log.
        enough: evidence of which more need not be told apart, which is sooner found.
    """
    groups = [Group.of(table.of(one)) for one in range(table.groups) if (table.group == one).any()]
    return Search(groups, reference_weights(table.groups, EVERY)).lowest(enough)


class Search:
    """A search for the rate of drift at which the evidence is least.

    Evidence is a sum over alternatives, all at least 0, and so is each of them over references:
    what is left out makes it smaller. So at each rate only those are looked at closely that a
    glance found to matter there.
    """

    def __init__(self, groups: list[Group], weights: FloatArray) -> None:
        self.groups = groups
        self.weights = weights
        self.bets = bets_made()

    def lowest(self, enough: float = math.inf) -> float:
        """Return a lower bound of the infimum of the evidence over all rates."""
        number = round(2.0 * LARGEST_RATE / FIRST_WIDTH)
        middles = sorted(((i + 0.5) * FIRST_WIDTH - LARGEST_RATE for i in range(number)), key=abs)
        least, closely = self._at(0.0)
        # Outwards from no drift: what mattered for the neighbour on that side is tried first.
        sides = {True: closely, False: closely}
        tie = count()
        heap: list[tuple[float, int, float, float, list[list[Own]]]] = []

        def look(rate: float, half: float, closely: list[list[Own]]) -> list[list[Own]]:
            """Bound the evidence near a rate, looking again for what matters if it is too low."""
            nonlocal least
            asked = min(_asked(least), enough)
            bound = self.bound(closely, rate, half, asked)
            if bound < asked and self.bound(closely, rate, 0.0, asked) < asked:
                here, closely = self._at(rate)
                least = min(least, here)
                bound = max(bound, self.bound(closely, rate, half, min(_asked(least), enough)))
            heapq.heappush(heap, (bound, next(tie), rate, half, closely))
            return closely

        for middle in middles:
            if least <= WORTHLESS:
                return -math.inf
            sides[middle > 0.0] = look(middle, 0.5 * FIRST_WIDTH, sides[middle > 0.0])
        while heap[0][0] < min(_asked(least), enough) and heap[0][3] > SMALLEST_WIDTH:
            if least <= WORTHLESS:
                return -math.inf
            _, _, middle, width, closely = heapq.heappop(heap)
            half = 0.5 * width
            look(middle - half, half, closely)
            look(middle + half, half, closely)
        return min(heap[0][0], least) if least > WORTHLESS else -math.inf

    def bound(self, closely: list[list[Own]], rate: float, half: float, enough: float) -> float:
        """Return a lower bound of the evidence for rates within `half` of `rate`.

        Alternatives are taken in the given order until they add up to enough.
        """
        total = -math.inf
        for each in closely:
            logs = [
                group.least(own, rate, half) for group, own in zip(self.groups, each, strict=True)
            ]
            part = float(with_cash(np.array(logs)).sum()) - math.log(len(self.bets))
            total = float(np.logaddexp(total, part))
            if total >= enough:
                break
        return total

    def _at(self, rate: float) -> tuple[float, list[list[Own]]]:
        """Return the evidence at one rate, and the alternatives that matter there, best first.

        What they come to at the levels that fit best is no less than what is looked for, so those
        that are far below what was found already need no closer look.
        """
        fitted = np.array(
            [
                with_cash([group.glance(bet, self.weights, rate) for group in self.groups]).sum()
                for bet in self.bets
            ]
        )
        if np.logaddexp.reduce(fitted) - math.log(len(self.bets)) <= WORTHLESS:
            return -math.inf, []
        most = -math.inf
        found: list[tuple[float, int, list[Own]]] = []
        for place in np.argsort(-fitted, kind="stable"):
            if fitted[place] < most - NEAR:
                break
            seen = [group.closely(self.bets[place], self.weights, rate) for group in self.groups]
            log = float(with_cash([part for part, _ in seen]).sum())
            most = max(most, log)
            found.append((-log, int(place), [own for _, own in seen]))
        total = float(np.logaddexp.reduce([-log for log, _, _ in found])) - math.log(len(self.bets))
        return total, [own for log, _, own in sorted(found) if -log >= most - NEAR]


def _asked(least: float) -> float:
    """Return how high bounds have to be where a value of `least` is taken."""
    return least - max(ABSOLUTE, RELATIVE * least)
