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
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.log import DecisionLog
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.kernels import FloatArray, IntArray

BINS = 192
"""Of shares: equally wide in the angle whose squared sine is the share, so narrow at both ends."""
FIRST_BLOCK = 4
GROWTH = 0.06
MOST_NODES = 20
"""Scores up to which each is a node of its own."""
GRID = 17
LOOKED_AT = 100_000
"""Rows whose scores say what the nodes are: those of a log that is still being read, too."""


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
    counted = TableCount(len(log.groups), nodes_of(log.score))
    counted.add(log.group, log.score, log.judging)
    return counted.table()


class TableCount:
    """A table that is being counted, from rows that come in parts of any length.

    Args:
        groups: how many there are.
        nodes: the scores that are counted.
    """

    def __init__(self, groups: int, nodes: FloatArray) -> None:
        self._groups = groups
        self._nodes = nodes
        self._blocks = Blocks()
        self._store = Cells(len(nodes), 2)
        self._seen = np.empty((groups, BINS), dtype=np.int64)

    def add(self, group: IntArray, score: FloatArray, share: FloatArray) -> None:
        """Count rows that follow those before."""
        count, store, seen = code_for_rows(add_rows), self._store, self._seen
        for part in self._blocks.parts(len(group)):
            if part.opens:
                seen.fill(-1)
            store.reserve(min(part.stop - part.start, seen.size))
            store.used = count(
                (group, score, share), part, store.used, self._nodes, seen, tuple(store)
            )

    def table(self) -> Table:
        """Return the table of all rows so far."""
        store = self._store
        kept = (array[: store.used].copy() for array in store)
        return Table(self._groups, self._nodes, self._blocks.edges(), *kept)


class Part(NamedTuple):
    """Rows that came together and are of one block.

    Attributes:
        start: the first, by its place among those that came together.
        stop: after the last.
        first: the number of the first in the log.
        block: the number of the block.
        opens: whether the block begins with it.
    """

    start: int
    stop: int
    first: int
    block: int
    opens: bool


class Blocks:
    """The blocks of a log whose rows come in parts; they do not depend on how long it gets."""

    def __init__(self) -> None:
        self._edges = [0]
        self._rows = 0

    def parts(self, rows: int) -> Iterator[Part]:
        """Yield what each block has of so many more rows."""
        start = 0
        while start < rows:
            opens = self._rows == self._edges[-1]
            if opens:
                self._edges.append(block_end(self._rows))
            stop = min(rows, start + self._edges[-1] - self._rows)
            yield Part(start, stop, self._rows, len(self._edges) - 2, opens)
            self._rows += stop - start
            start = stop

    def edges(self) -> IntArray:
        """Return the first row of each block, and the number of rows."""
        return np.array([*self._edges[:-1], self._rows], dtype=np.int64)


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


def add_rows(
    rows: tuple[IntArray, FloatArray, FloatArray],
    part: Part,
    used: int,
    nodes: FloatArray,
    seen: IntArray,
    cells: tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray, FloatArray],
) -> int:
    """Count rows of one block and return how many cells there are; a kernel."""
    group, score, share = rows
    cell_group, cell_block, cell_bin, counts, times, shares = cells
    for row in range(part.start, part.stop):
        place = bin_of(share[row])
        cell = seen[group[row], place]
        if cell < 0:
            cell = used
            used += 1
            seen[group[row], place] = cell
            cell_group[cell] = group[row]
            cell_block[cell] = part.block
            cell_bin[cell] = place
        add_score(score[row], nodes, counts, cell, 0)
        times[cell] += part.first + row - part.start
        shares[cell] += share[row]
    return used


def add_score(score: float, nodes: FloatArray, counts: FloatArray, cell: int, shift: int) -> None:
    """Count a score at its node, or in parts at the two around it; a kernel."""
    low, high = 0, len(nodes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= score:
            low = middle
        else:
            high = middle
    part = (score - nodes[low]) / (nodes[high] - nodes[low])
    counts[cell, shift + low] += 1.0 - part
    counts[cell, shift + high] += part


def bin_of(share: float) -> int:
    """Return the bin that a share is in; a kernel."""
    place = int(math.asin(math.sqrt(share)) * (2.0 * BINS / math.pi))
    return min(place, BINS - 1)


@lru_cache(maxsize=1)
def bin_shares() -> FloatArray:
    """Return the share that stands for each bin."""
    return np.asarray(np.sin((np.arange(BINS) + 0.5) * (math.pi / (2 * BINS))) ** 2)


def block_end(start: int) -> int:
    """Return the first row after the block that begins with a row."""
    return start + max(FIRST_BLOCK, int(GROWTH * start))


def nodes_of(score: FloatArray) -> FloatArray:
    """Return the scores that are counted: all that came first, or a grid if they are too many."""
    few = np.unique(score[:1_000])
    if len(few) <= MOST_NODES:
        few = np.unique(score[:LOOKED_AT])
    if len(few) > MOST_NODES:
        return np.linspace(0.0, 1.0, GRID)
    return np.union1d(few, [0.0, 1.0])
