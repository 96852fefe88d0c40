"""What the tests need to know of a log, counted in one pass over its rows.

A test bets before each score, and what it bets depends on the share then, on the group and on what
came before. Shares are gathered in bins, and what came before is looked at only when a block
ends; blocks grow with the log, so there are some two hundred of them in ten million rows. All rows
of one group, block and bin are bet on alike, and it is enough to know how often each score came.

A score between two nodes counts as both, in the parts that have it as their mean. All wealth is a
product of factors that are linear in the score, and the logarithm is concave, so this can only
make evidence smaller.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.log import DecisionLog
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.kernels import FloatArray, IntArray

BINS = 192
"""Of shares: equally wide in the angle whose squared sine is the share, so narrow at both ends."""
FIRST_BLOCK = 4
GROWTH = 0.06
MOST_NODES = 20
"""Scores up to which each is a node of its own."""
GRID = 17


class Table(NamedTuple):
    """How often each score came, by group, block and bin of shares.

    Attributes:
        groups: how many there are.
        nodes: the scores that are counted.
        edges: the first row of each block, and the number of rows.
        group: of each cell.
        block: of each cell; cells are in the order of blocks.
        bin: of each cell.
        counts: cells by nodes.
        times: the sum of the numbers of its rows, of each cell.
        shares: the sum of their shares, of each cell.
    """

    groups: int
    nodes: FloatArray
    edges: IntArray
    group: IntArray
    block: IntArray
    bin: IntArray
    counts: FloatArray
    times: FloatArray
    shares: FloatArray

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.edges[-1])

    def totals(self) -> FloatArray:
        """Return the number of rows in each cell."""
        return np.asarray(self.counts.sum(axis=1))

    def of(self, group: int) -> Table:
        """Return the cells of one group."""
        own = self.group == group
        cells = (self.group, self.block, self.bin, self.counts, self.times, self.shares)
        return Table(self.groups, self.nodes, self.edges, *(array[own] for array in cells))


def table_of(log: DecisionLog) -> Table:
    """Return the table of a log, by the shares of those who judged."""
    nodes = nodes_of(log.score)
    edges = block_edges(len(log))
    store = Cells(len(nodes), 2)
    seen = np.empty((len(log.groups), BINS), dtype=np.int64)
    add = machine_code(add_block)
    for block in range(len(edges) - 1):
        start, stop = int(edges[block]), int(edges[block + 1])
        store.reserve(min(stop - start, seen.size))
        seen.fill(-1)
        store.used = add(
            log.group, log.score, log.judging, start, stop, block, nodes, seen, store.used, *store
        )
    kept = [array[: store.used] for array in store]
    return Table(len(log.groups), nodes, edges, *kept)


class Cells:
    """Cells of a table that is being made, with room for more."""

    def __init__(self, nodes: int, sums: int = 1) -> None:
        self.used = 0
        self._arrays = [
            *(np.zeros(64, dtype=np.int64) for _ in range(3)),
            np.zeros((64, nodes)),
            *(np.zeros(64) for _ in range(sums)),
        ]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._arrays)

    def reserve(self, more: int) -> None:
        """Make room for so many more cells."""
        room = len(self._arrays[0])
        if self.used + more > room:
            size = max(2 * room, self.used + more)
            self._arrays = [
                np.concatenate((array, np.zeros((size - room, *array.shape[1:]), array.dtype)))
                for array in self._arrays
            ]


def add_block(
    group: IntArray,
    score: FloatArray,
    share: FloatArray,
    start: int,
    stop: int,
    block: int,
    nodes: FloatArray,
    seen: IntArray,
    used: int,
    cell_group: IntArray,
    cell_block: IntArray,
    cell_bin: IntArray,
    counts: FloatArray,
    times: FloatArray,
    shares: FloatArray,
) -> int:
    """Count the rows of one block and return how many cells there are; a kernel."""
    for row in range(start, stop):
        place = bin_of(share[row])
        cell = seen[group[row], place]
        if cell < 0:
            cell = used
            used += 1
            seen[group[row], place] = cell
            cell_group[cell] = group[row]
            cell_block[cell] = block
            cell_bin[cell] = place
        add_score(score[row], nodes, counts[cell])
        times[cell] += row
        shares[cell] += share[row]
    return used


def add_score(score: float, nodes: FloatArray, counts: FloatArray) -> None:
    """Count a score at its node, or in parts at the two around it; a kernel."""
    low, high = 0, len(nodes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= score:
            low = middle
        else:
            high = middle
    part = (score - nodes[low]) / (nodes[high] - nodes[low])
    counts[low] += 1.0 - part
    counts[high] += part


def bin_of(share: float) -> int:
    """Return the bin that a share is in; a kernel."""
    place = int(math.asin(math.sqrt(share)) * (2.0 * BINS / math.pi))
    return min(place, BINS - 1)


@lru_cache(maxsize=1)
def bin_shares() -> FloatArray:
    """Return the share that stands for each bin."""
    return np.asarray(np.sin((np.arange(BINS) + 0.5) * (math.pi / (2 * BINS))) ** 2)


def block_edges(rows: int) -> IntArray:
    """Return the first row of each block, and the number of rows.

    >>> block_edges(10).tolist()
    [0, 4, 8, 10]
    """
    edges = [0]
    while edges[-1] < rows:
        edges.append(edges[-1] + max(FIRST_BLOCK, int(GROWTH * edges[-1])))
    edges[-1] = rows
    return np.array(edges, dtype=np.int64)


def nodes_of(score: FloatArray) -> FloatArray:
    """Return the scores that are counted: all that came, or a grid if they are too many."""
    few = np.unique(score[:1_000])
    if len(few) <= MOST_NODES:
        few = np.unique(score)
    if len(few) > MOST_NODES:
        return np.linspace(0.0, 1.0, GRID)
    return np.union1d(few, [0.0, 1.0])
