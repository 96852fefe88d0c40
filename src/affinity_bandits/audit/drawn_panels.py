"""The test that holds whatever drifts, for panels that were drawn at random.

The theorem, its proof and its limits are in docs/audit.md, "Panels drawn at random".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.log import DecisionLog
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, IntArray

STAKES = np.array([0.0, 0.35, 0.7, 1.4, 2.8, 5.6, 11.2])
WEIGHTS = np.array([0.15, 0.17, 0.255, 0.2125, 0.1275, 0.0595, 0.0255])
"""Of the stakes: bonuses of 10 to 100 per cent call for those up to 3. Some is never bet: what is
used is the largest wealth that there ever was, whose bound is nearly reached."""
EDGE = 0.95
MEMORY = 0.995


class Path(NamedTuple):
    """Logarithms of a wealth: in the end, and the largest that it ever was."""

    last: float
    peak: float


def panels_at_random(log: DecisionLog) -> Path:
    """Return the wealth of bets against "scores do not depend on who sits on the panel".

    The wealth in the end is an e-value. The largest that it ever was is not, but by Ville's
    inequality it reaches 20 with probability at most 1/20 all the same.
    """
    if log.panel is None:
        raise InvalidInput("panel", "given: this test is of who sat on the panels", None)
    bets = RandomPanels(len(log.groups))
    bets.add(log.group, log.score, log.panel, log.drawn_from)
    return bets.path()


class RandomPanels:
    """The wealth of such bets, from rows that come in parts of any length.

    Args:
        groups: how many there are.
    """

    def __init__(self, groups: int) -> None:
        wealth = np.log(WEIGHTS / WEIGHTS.sum())
        self._state = (wealth, np.full(groups, 0.5), np.ones(groups), np.zeros(2))

    def add(
        self, group: IntArray, score: FloatArray, panel: FloatArray, drawn_from: FloatArray
    ) -> None:
        """Bet on rows that follow those before."""
        code_for_rows(bet_at_random)((group, score, panel, drawn_from), STAKES, self._state)

    def path(self) -> Path:
        """Return the wealth after all rows so far."""
        last, peak = self._state[-1].tolist()
        return Path(last, peak)


def bet_at_random(
    log: tuple[IntArray, FloatArray, FloatArray, FloatArray],
    stakes: FloatArray,
    state: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
) -> None:
    """Add to the logarithms of wealth; a kernel.

    The state is each stake's wealth, each group's decayed sum and number of scores, and the last
    and the largest wealth in all.
    """
    group, score, panel, drawn_from = log
    wealth, sums, rows, found = state
    for row in range(len(group)):
        one = group[row]
        centre = min(max(sums[one] / rows[one], 0.02), 0.98)
        expected = drawn_from[row]
        reach = max(expected, 1.0 - expected) * max(centre, 1.0 - centre)
        product = (panel[row] - expected) * (score[row] - centre)
        top = -math.inf
        for k in range(len(stakes)):
            wealth[k] += math.log(1.0 + min(stakes[k], EDGE / reach) * product)
            top = max(top, wealth[k])
        total = 0.0
        for k in range(len(stakes)):
            total += math.exp(wealth[k] - top)
        found[0] = top + math.log(total)
        found[1] = max(found[1], found[0])
        sums[one] = MEMORY * sums[one] + score[row]
        rows[one] = MEMORY * rows[one] + 1.0
