"""The test for panels that are recorded, however they came about.

The theorem, its proof and its limits are in docs/audit.md, "Panels that are recorded".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.drawn_panels import EDGE, MEMORY, STAKES, WEIGHTS
from affinity_bandits.audit.log import DecisionLog
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, IntArray

RETURN = 0.2
"""The part of what is open that each score takes back."""
SHARE_MEMORY = 0.98
DRIFT = 0.25
"""How far each group's level may go up and down in all, unless told otherwise."""


def panels_on_record(log: DecisionLog, drift: float = DRIFT) -> float:
    """Return the logarithm of an e-value of "at no time does the score depend on the panel".

    Args:
        log: with panels.
        drift: how far each group's level may go up and down in all. It may do so by itself.
    """
    if log.panel is None:
        raise InvalidInput("panel", "given: this test is of who sat on the panels", None)
    bets = RecordedPanels(len(log.groups))
    bets.add(log.group, log.score, log.panel)
    return bets.evidence(drift)


class RecordState(NamedTuple):
    """What is known of bets on recorded panels between the rows of a log.

    Attributes:
        wealth: of each stake, as a logarithm, before it pays what it owes.
        opened: groups by stakes, the sum of what was staked.
        largest: the same, the largest size that it ever had.
        sums: of each group's scores, decayed.
        rows: their number, decayed.
        seats: the sum of each group's shares of panels, decayed.
        weight: their number, decayed.
    """

    wealth: FloatArray
    opened: FloatArray
    largest: FloatArray
    sums: FloatArray
    rows: FloatArray
    seats: FloatArray
    weight: FloatArray


class RecordedPanels:
    """The wealth of such bets, from rows that come in parts of any length.

    Args:
        groups: how many there are.
    """

    def __init__(self, groups: int) -> None:
        self._state = RecordState(
            wealth=np.log(WEIGHTS / WEIGHTS.sum()),
            opened=np.zeros((groups, len(STAKES))),
            largest=np.zeros((groups, len(STAKES))),
            sums=np.full(groups, 0.5),
            rows=np.ones(groups),
            seats=np.zeros(groups),
            weight=np.zeros(groups),
        )

    def add(self, group: IntArray, score: FloatArray, panel: FloatArray) -> None:
        """Bet on rows that follow those before."""
        code_for_rows(bet_on_record)((group, score, panel), STAKES, self._state)

    def evidence(self, drift: float = DRIFT) -> float:
        """Return the logarithm of the wealth after all rows so far, less the most that it owes."""
        state = self._state
        owed = np.maximum(state.opened, 0.0) + drift * state.largest
        return float(np.logaddexp.reduce(state.wealth - owed.sum(axis=0)))


def bet_on_record(
    log: tuple[IntArray, FloatArray, FloatArray], stakes: FloatArray, state: RecordState
) -> None:
    """Add to the logarithm of each stake's wealth; a kernel."""
    group, score, panel = log
    wealth, opened, largest, sums, rows, seats, weight = state
    for row in range(len(group)):
        one = group[row]
        centre = min(max(sums[one] / rows[one], 0.05), 0.95)
        if weight[one] == 0.0:
            seats[one], weight[one] = panel[row], 1.0
        usual = seats[one] / weight[one]
        most = EDGE / max(centre, 1.0 - centre)
        for k in range(len(stakes)):
            stake = stakes[k] * (panel[row] - usual) - RETURN * opened[one, k]
            stake = min(max(stake, -most), most)
            # What the sum of stake times (level - centre) is to be charged is told apart: here the
            # centre's part, in the end that of the level.
            wealth[k] += math.log(1.0 + stake * (score[row] - centre)) + stake * centre
            opened[one, k] += stake
            largest[one, k] = max(largest[one, k], abs(opened[one, k]))
        sums[one] = MEMORY * sums[one] + score[row]
        rows[one] = MEMORY * rows[one] + 1.0
        seats[one] = SHARE_MEMORY * seats[one] + panel[row]
        weight[one] = SHARE_MEMORY * weight[one] + 1.0
