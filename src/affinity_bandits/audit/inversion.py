"""Sets of a parameter that a log leaves possible: all values that bets do not speak against.

A family says how the level of a group depends on the share, up to a factor of each group's own, by
one parameter. For a piece of that parameter's range it bounds, for each cell, what its mean level
is of the level at a share in the middle: from above and from below, for all values of the piece.
The rest is that of `odds`, in both directions. The theorems are in docs/audit.md, "How strong".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.lowest import lowest_and_where, value
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.strategies import (
    ALTERNATIVES,
    gains_and_bets,
    reference_weights,
    tilts_of,
)
from affinity_bandits.audit.table import Table
from affinity_bandits.kernels import FloatArray

EVERY = 2
"""Of the references of `odds`, every other one."""
NEAR = 8.0
"""References whose logarithm is not so near to the best one are left out where others are tried."""
TINY = 1e-9
"""Stands for the level in the middle where all shares are 0, so that nothing is divided by 0."""
BETS = tuple((shape, sign * theta) for shape, theta in ALTERNATIVES for sign in (1.0, -1.0))

Bet: TypeAlias = tuple[str, float]
Own: TypeAlias = tuple[FloatArray, FloatArray]


class Levels(NamedTuple):
    """Bounds of each cell's mean level, as a part of the level in the middle."""

    raised: FloatArray
    lowered: FloatArray


Family: TypeAlias = Callable[["Shares", float, float], Levels]
"""From a group and a piece of the parameter's range to bounds of its cells' levels."""


class Shares:
    """Cells of one group, their mean shares, and the group's."""

    def __init__(self, cells: Table) -> None:
        self.cells = cells
        self.totals = cells.totals()
        self.shares = cells.shares / self.totals
        self.middle = float(self.totals @ self.shares / self.totals.sum())
        self.mean = float((cells.counts @ cells.nodes).sum() / self.totals.sum())

    def fitted(self, levels: Levels) -> float:
        """Return the level in the middle that fits best."""
        return self.mean * float(self.totals.sum()) / max(float(self.totals @ levels.raised), TINY)

    def top(self, levels: Levels) -> float:
        """Return the largest level in the middle: no cell's is above 1."""
        return 1.0 / max(float(levels.lowered.max()), TINY)


class Group(Shares):
    """The same, and bets on them."""

    def __init__(self, cells: Table, weights: FloatArray) -> None:
        super().__init__(cells)
        self._weights = weights
        self._tilts = {shape: tilts_of(cells, shape, EVERY) for shape in ("share", "log")}
        self._made: dict[Bet, Own] = {}

    def bets(self, bet: Bet) -> Own:
        """Return what an alternative gained, and its bets."""
        if bet not in self._made:
            upright = np.zeros(len(self.totals))
            tilts, theta = self._tilts[bet[0]], bet[1]
            self._made[bet] = gains_and_bets(self.cells, self._weights, tilts, upright, theta)
        return self._made[bet]

    def glance(self, bet: Bet, levels: Levels) -> float:
        """Return a wealth at the level that fits best: no less than the least of all levels."""
        gains, bets = self.bets(bet)
        m = min(self.fitted(levels), self.top(levels))
        room = np.empty((3, len(gains)))
        return float(machine_code(value)(m, gains, bets, self.totals, *levels, *room)[0])

    def least(self, own: Own, levels: Levels) -> tuple[float, float]:
        """Return a lower bound of a wealth for all levels, and where it is about as low."""
        top = self.top(levels)
        start = self.fitted(levels)
        found = machine_code(lowest_and_where)(*own, self.totals, *levels, start, top)
        return float(found[0]), float(found[1])

    def near(self, bet: Bet, levels: Levels, m: float) -> Own:
        """Return gains and bets of the references that make most of a wealth at a level."""
        gains, bets = self.bets(bet)
        logs, slopes, bends = np.empty((3, len(gains)))
        machine_code(value)(m, gains, bets, self.totals, *levels, logs, slopes, bends)
        kept = logs >= logs.max() - NEAR
        return gains[kept], bets[kept]


def groups_of(table: Table) -> list[Group]:
    """Return the groups that have been scored."""
    weights = reference_weights(table.groups, EVERY)
    return [
        Group(table.of(one), weights) for one in range(table.groups) if (table.group == one).any()
    ]


def possible(
    groups: list[Group], family: Family, ends: FloatArray, enough: float
) -> tuple[int, int] | None:
    """Return the first and the last piece against which there is not enough evidence.

    What is between them is not looked at: it is the least and the largest value that count.

    Args:
        groups: of the log.
        family: of levels by a parameter.
        ends: of the pieces of its range.
        enough: the logarithm of the evidence that speaks against a piece.
    """
    pieces = len(ends) - 1

    def first(order: range) -> int | None:
        tried: list[Own] = []
        for place in order:
            excluded, tried = _excluded(groups, family, ends[place : place + 2], enough, tried)
            if not excluded:
                return place
        return None

    lowest_one = first(range(pieces))
    if lowest_one is None:
        return None
    highest_one = first(range(pieces - 1, lowest_one, -1))
    return lowest_one, lowest_one if highest_one is None else highest_one


def _excluded(
    groups: list[Group], family: Family, piece: FloatArray, enough: float, tried: list[Own]
) -> tuple[bool, list[Own]]:
    """Return whether there is enough evidence against all of a piece, and what made most of it.

    The latter is one alternative, a few references of it, which is what is tried first.
    """
    low, high = (float(end) for end in piece)
    part = -math.log(len(BETS))
    whole = [family(group, low, high) for group in groups]
    if tried:
        logs = [
            group.least(own, levels)[0]
            for group, own, levels in zip(groups, tried, whole, strict=True)
        ]
        if float(with_cash(logs).sum()) + part >= enough:
            return True, tried
    at = 0.5 * (low + high)
    here = [family(group, at, at) for group in groups]
    pairs = list(zip(groups, here, strict=True))
    fitted = np.array(
        [with_cash([group.glance(bet, levels) for group, levels in pairs]).sum() for bet in BETS]
    )
    # Not less than the evidence at one value of the piece.
    if float(np.logaddexp.reduce(fitted)) + part < enough:
        return False, tried
    total, most = -math.inf, -math.inf
    for place in np.argsort(-fitted, kind="stable"):
        bet = BETS[place]
        seen = [
            group.least(group.bets(bet), levels)
            for group, levels in zip(groups, whole, strict=True)
        ]
        log = float(with_cash([least for least, _ in seen]).sum()) + part
        if log > most:
            most = log
            tried = [
                group.near(bet, levels, m)
                for group, levels, (_, m) in zip(groups, whole, seen, strict=True)
            ]
        total = float(np.logaddexp(total, log))
        if total >= enough:
            return True, tried
    return False, tried
