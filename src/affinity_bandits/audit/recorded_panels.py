"""The test for panels that are recorded, however they came about.

The theorem, its proof and its limits are in docs/audit.md, "Panels that are recorded".
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit.drawn_panels import EDGE, MEMORY, STAKES, WEIGHTS
from affinity_bandits.audit.log import DecisionLog
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, IntArray

RETURN = 0.2
"""The part of what is open that each score takes back."""
SHARE_MEMORY = 0.98


def panels_on_record(log: DecisionLog, drift: float = 0.25) -> float:
    """Return the logarithm of an e-value of "at no time does the score depend on the panel".

    Args:
        log: with panels.
        drift: how far each group's level may go up and down in all. It may do so by itself.
    """
    if log.panel is None:
        raise InvalidInput("panel", "given: this test is of who sat on the panels", None)
    wealth = np.log(WEIGHTS / WEIGHTS.sum())
    rows = (log.group, log.score, log.panel)
    machine_code(wealth_on_record)(*rows, len(log.groups), STAKES, drift, wealth)
    return float(np.logaddexp.reduce(wealth))


def wealth_on_record(
    group: IntArray,
    score: FloatArray,
    panel: FloatArray,
    groups: int,
    stakes: FloatArray,
    drift: float,
    wealth: FloatArray,
) -> None:
    """Add up the logarithm of each stake's wealth, less the most that it owes; a kernel."""
    opened = np.zeros((groups, len(stakes)))
    largest = np.zeros((groups, len(stakes)))
    sums = np.full(groups, 0.5)
    rows = np.ones(groups)
    seats = np.zeros(groups)
    weight = np.zeros(groups)
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
    for one in range(groups):
        for k in range(len(stakes)):
            wealth[k] -= max(opened[one, k], 0.0) + drift * largest[one, k]
