"""What is bet: the log odds of a higher score, by how far the share is from a reference.

A strategy has a shape phi of shares (the share itself, or its logarithm), a strength theta, and a
reference: a share r that it begins with, and how many scores that is worth. The more it is worth,
the less the reference follows the shares that the group has had; it moves only between blocks.
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit.lowest import log_gains
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.table import Table, bin_shares
from affinity_bandits.kernels import FloatArray

ALTERNATIVES = tuple(
    [("share", theta) for theta in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)]
    + [("log", theta) for theta in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)]
)
"""Shapes and strengths; each has the same part of the wealth."""
REFERENCES = 1.0 / (1.0 + np.exp(-np.arange(-4.5, 4.51, 0.3)))
WORTHS = (math.inf, 1_000.0, 100.0)
SPREAD = 1.5
"""Standard deviation of the log odds of the reference around the equal share, as it is weighed."""
CAP = 3.0
"""Largest log odds that are bet."""
CASH = 0.2
"""The part of a group's wealth that is never bet."""
SMALLEST = 0.01
"""A share below which the logarithm is that of this one."""


def reference_weights(groups: int, every: int = 1) -> FloatArray:
    """Return the logarithm of what each reference has of the wealth; they add up to 1.

    Args:
        groups: how many there are.
        every: take only every so manyth reference.
    """
    references = REFERENCES[::every]
    odds = np.log(references / (1.0 - references)) + math.log(groups - 1)
    weights = np.tile(np.exp(-0.5 * (odds / SPREAD) ** 2), len(WORTHS))
    return np.asarray(np.log(weights / weights.sum()))


def tilts_of(cells: Table, shape: str, every: int = 1) -> FloatArray:
    """Return how far the shape is above each reference, references by cells of one group."""
    seen = bin_shares()[cells.bin]
    starts = REFERENCES[::every]
    if shape == "log":
        seen, starts = np.log(np.maximum(seen, SMALLEST)), np.log(starts)
    blocks = len(cells.edges)
    rows = cells.totals()
    count = np.bincount(cells.block, weights=rows, minlength=blocks)
    total = np.bincount(cells.block, weights=rows * seen, minlength=blocks)
    count = (np.cumsum(count) - count)[cells.block]  # of the blocks before
    total = (np.cumsum(total) - total)[cells.block]
    followed = [
        np.broadcast_to(starts[:, None], (len(starts), len(seen)))
        if math.isinf(worth)
        else (worth * starts[:, None] + total) / (worth + count)
        for worth in WORTHS
    ]
    return np.ascontiguousarray(seen - np.concatenate(followed))


def gains_and_bets(
    cells: Table, weights: FloatArray, tilts: FloatArray, leans: FloatArray, theta: float
) -> tuple[FloatArray, FloatArray]:
    """Return what bets on one group gained by reference, and what was bet by cell."""
    gains, bets = np.empty(len(weights)), np.empty((len(weights), len(leans)))
    machine_code(log_gains)(
        weights, tilts, leans, theta, CAP, cells.counts, cells.nodes, gains, bets
    )
    return gains, bets
