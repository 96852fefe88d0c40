"""The test that holds if nothing drifts: each group's mean score is the same in every row.

The theorem, its proof and its limits are in docs/audit.md, "If nothing drifts".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from affinity_bandits.audit.lowest import lowest
from affinity_bandits.audit.strategies import (
    ALTERNATIVES,
    CASH,
    gains_and_bets,
    reference_weights,
    tilts_of,
)
from affinity_bandits.audit.table import Table
from affinity_bandits.kernels import FloatArray


def odds(table: Table) -> float:
    """Return the logarithm of an e-value of "every group's mean score is the same throughout".

    It is one for every rule of choice and whenever the log ends, whatever the law of the scores.
    """
    return over_groups(table, _least)


def over_groups(table: Table, of_group: Callable[[Table, FloatArray], FloatArray]) -> float:
    """Return the average over alternatives of what bets on all groups came to.

    Args:
        table: of the log.
        of_group: what they came to on one, by its cells and the weights of references.
    """
    weights = reference_weights(table.groups)
    totals = np.zeros(len(ALTERNATIVES))
    for group in range(table.groups):
        cells = table.of(group)
        if len(cells.group):
            totals += with_cash(of_group(cells, weights))
    return float(np.logaddexp.reduce(totals) - math.log(len(ALTERNATIVES)))


def with_cash(log_e: FloatArray | Sequence[float] | float) -> FloatArray:
    """Return the logarithm of a wealth of which a part was never bet."""
    return np.logaddexp(math.log(CASH), math.log(1.0 - CASH) + np.asarray(log_e))


def _least(cells: Table, weights: FloatArray) -> FloatArray:
    """Return what the bets on one group came to at least, for each alternative."""
    totals = cells.totals()
    start = float(cells.counts.sum(axis=0) @ cells.nodes / totals.sum())
    even, upright = np.ones(len(totals)), np.zeros(len(totals))
    tilts = {shape: tilts_of(cells, shape) for shape in ("share", "log")}
    found = np.empty(len(ALTERNATIVES))
    for place, (shape, theta) in enumerate(ALTERNATIVES):
        gains, bets = gains_and_bets(cells, weights, tilts[shape], upright, theta)
        found[place] = lowest(gains, bets, totals, even, even, start, 1.0)
    return found
