"""Scores drawn anew, for the groups, shares and numbers of rows that a log had.

What is kept of the log is its table without the scores. Every group has the mean score that it had,
and spread around it as its scores were: of a cell's level and the group's scores altogether, the
law is the one closest to the latter that has the former as its mean.
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit.table import Table
from affinity_bandits.kernels import FloatArray, IntArray

HALVINGS = 50
STEEPEST = 200.0
SEEN = 0.1
"""Every score counts as if it had come so often more than it did, so that all are possible."""


def coarse(table: Table, blocks: int) -> Table:
    """Return a table with fewer, longer blocks, for what need not be exact."""
    number = len(table.edges) - 1
    run = -(-number // blocks)
    if run == 1:
        return table
    edges = np.append(table.edges[:-1:run], table.edges[-1])
    keys = np.stack((table.block // run, table.group, table.bin), axis=1)
    found, places = np.unique(keys, axis=0, return_inverse=True)
    places = places.reshape(-1)

    def added(values: FloatArray) -> FloatArray:
        total = np.zeros((len(found), *values.shape[1:]))
        np.add.at(total, places, values)
        return total

    block, group, place = (found[:, i].astype(np.int64) for i in range(3))
    sums = (added(table.counts), added(table.times), added(table.shares))
    return Table(table.groups, table.nodes, edges, group, block, place, *sums)


def laws(table: Table, bonus: float) -> FloatArray:
    """Return the probability of each score in each cell under a bonus, cells by nodes.

    A bonus may be infinite: f(x) = x.
    """
    totals = table.totals()
    weights = weight_of(table.shares / totals, bonus)
    found = np.empty_like(table.counts)
    for group in range(table.groups):
        own = table.group == group
        if not own.any():
            continue
        seen = table.counts[own].sum(axis=0)
        fitted = float(seen @ table.nodes) / max(float(totals[own] @ weights[own]), 1e-300)
        levels = np.clip(fitted * weights[own], 0.0, 1.0)
        found[own] = tilted(seen + SEEN, table.nodes, levels)
    return found


def weight_of(shares: FloatArray, bonus: float) -> FloatArray:
    """Return f of shares: 1 at share 1, and 1 / (1 + bonus) at share 0."""
    slope = 1.0 if math.isinf(bonus) else bonus / (1.0 + bonus)
    return 1.0 - slope + slope * shares


def tilted(law: FloatArray, nodes: FloatArray, levels: FloatArray) -> FloatArray:
    """Return laws in proportion to one law and to an exponential of the score, with given means.

    >>> tilted(np.array([1.0, 1.0]), np.array([0.0, 1.0]), np.array([0.25])).round(6).tolist()
    [[0.75, 0.25]]
    """
    low = np.full(len(levels), -STEEPEST)
    high = -low
    logs = np.log(law)

    def at(tilts: FloatArray) -> FloatArray:
        each = logs + tilts[:, None] * nodes
        weights = np.exp(each - each.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = at(middle) @ nodes < levels
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return at(0.5 * (low + high))


def redrawn(
    table: Table, law: FloatArray, draws: int, times: float, rng: np.random.Generator
) -> IntArray:
    """Return counts drawn anew, draws by cells by nodes, of so many times as many rows."""
    rows = np.rint(times * table.totals()).astype(np.int64)
    return np.asarray(rng.multinomial(rows, law, size=(draws, len(rows))))
