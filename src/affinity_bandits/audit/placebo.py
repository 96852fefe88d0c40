"""Evidence for shares that cannot matter, or not as much: another group's, and those of long ago.

What it can tell, and what it cannot, is in docs/audit.md, "Placebos".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.betting_odds import odds
from affinity_bandits.audit.table import Table, bin_of
from affinity_bandits.kernels import FloatArray, IntArray

MOST_SHIFTS = 4


class Placebo(NamedTuple):
    """The logarithm of the evidence of `odds` for other shares than those of the log.

    Attributes:
        others: every group has the share of all others together. A bias makes scores fall with
            it, so that if this is shown, something else than a bias is at work.
        labels: every group has the share of another one; on average over who that is.
        lag: every group has its own share of when the log was half as long.
        own: every group has its own share of the block before, to compare these with.
    """

    others: float
    labels: float
    lag: float
    own: float


def placebo(table: Table) -> Placebo:
    """Return the evidence for other groups' shares, and for shares of long ago.

    Each is the logarithm of an e-value, if nothing drifts and there is no bias.
    """
    shares = _mean_shares(table)
    before = np.arange(len(table.edges) - 1) - 1
    half = np.searchsorted(table.edges, table.edges[:-1] // 2, side="right") - 1
    half = np.minimum(half, before)
    shifts = range(1, min(table.groups, MOST_SHIFTS + 1))
    swapped = [odds(_with(table, np.roll(shares, -shift, axis=0), before)) for shift in shifts]
    labels = float(np.logaddexp.reduce(swapped)) - math.log(len(swapped))
    rest = [
        odds(_with(table, each, known))
        for each, known in ((1.0 - shares, before), (shares, half), (shares, before))
    ]
    return Placebo(rest[0], labels, rest[1], rest[2])


def _mean_shares(table: Table) -> FloatArray:
    """Return the mean share of each group in each block, or its last one; nan before its first."""
    blocks = len(table.edges) - 1
    places = table.group * blocks + table.block
    size = table.groups * blocks
    rows = np.bincount(places, weights=table.totals(), minlength=size)
    sums = np.bincount(places, weights=table.shares, minlength=size)
    means = np.full(size, math.nan)
    np.divide(sums, rows, out=means, where=rows > 0.0)
    found = means.reshape(table.groups, blocks)
    for block in range(1, blocks):
        missing = np.isnan(found[:, block])
        found[missing, block] = found[missing, block - 1]
    return found


def _with(table: Table, shares: FloatArray, known: IntArray) -> Table:
    """Return a table with other shares: of each block, those of an earlier one that is over.

    Rows for which there is none are left out, which is known before their scores are.
    """
    places = table.block * table.groups + table.group
    found, where = np.unique(places, return_inverse=True)
    where = where.reshape(-1)
    block, group = found // table.groups, found % table.groups
    counts = np.zeros((len(found), len(table.nodes)))
    np.add.at(counts, where, table.counts)
    times = np.bincount(where, weights=table.times, minlength=len(found))
    given = np.where(known[block] >= 0, shares[group, known[block]], math.nan)
    kept = ~np.isnan(given)
    bins = np.array([bin_of(share) for share in given[kept]], dtype=np.int64)
    totals = counts.sum(axis=1)
    return table._replace(
        group=group[kept],
        block=block[kept],
        bin=bins,
        counts=counts[kept],
        times=np.asarray(times[kept], dtype=np.float64),
        shares=(totals * given)[kept],
    )
