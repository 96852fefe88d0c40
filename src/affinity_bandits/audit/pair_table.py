"""Pairs of scores of two groups, one soon after the other, counted in one pass over a log.

Of two groups g and h, whoever is scored next opens a pair, and the next score of the other closes
it; what comes in between is left out. Groups are matched, each with one other, in a few ways.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.log import BoolArray, DecisionLog
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.audit.seating import Seats, let_wait, seat_waiting, seats_of
from affinity_bandits.audit.table import (
    BINS,
    Blocks,
    Cells,
    Part,
    add_score,
    bin_of,
    nodes_of,
)
from affinity_bandits.kernels import FloatArray, IntArray

MOST_MATCHINGS = 2
"""Of more than five groups; of fewer, everybody meets everybody."""
EVERYBODY = 5


class PairTable(NamedTuple):
    """How often each score came in pairs, by two groups, block, and bin of their shares.

    Attributes:
        matchings: lists of the numbers of those pairs of groups that make up one matching.
        couples: the two groups g and h of each number.
        nodes: the scores that are counted.
        edges: the first row of each block, and the number of rows.
        couple: of each cell, the number of its two groups.
        block: of each cell, that in which its pairs were opened.
        bin: of each cell, that of g's share in the two groups' shares together, when opened.
        counts: cells by nodes, g's scores first and then h's.
        opened: of each cell, how many pairs were opened.
        open_cell: of each two groups, the cell of a pair that is still open, or -1.
        open_first: whether it was opened by g.
        sums: of each block, the sum of each group's scores.
        rows: of each block, the number of each group's scores.
    """

    matchings: list[list[int]]
    couples: IntArray
    nodes: FloatArray
    edges: IntArray
    couple: IntArray
    block: IntArray
    bin: IntArray
    counts: FloatArray
    opened: FloatArray
    open_cell: IntArray
    open_first: BoolArray
    sums: FloatArray
    rows: FloatArray


def pair_table_of(log: DecisionLog) -> PairTable:
    """Return the table of a log's pairs."""
    counted = PairCount(log.initial, nodes_of(log.score))
    counted.add(log.group, log.score, log.chosen, log.opens)
    return counted.table()


class PairCount:
    """A table of pairs that is being counted, from rows that come in parts of any length.

    Args:
        initial: the initial committee.
        nodes: the scores that are counted.
    """

    def __init__(self, initial: IntArray, nodes: FloatArray) -> None:
        self._matchings, self._couples = matched(initial)
        self._own = own_couples(self._couples, len(initial))
        self._nodes = nodes
        self._blocks = Blocks()
        self._store = Cells(2 * len(nodes))
        self._seen = np.empty((len(self._couples), BINS), dtype=np.int64)
        self._seats = seats_of(initial)
        self._open_cell = np.full(len(self._couples), -1, dtype=np.int64)
        self._open_first = np.zeros(len(self._couples), dtype=np.bool_)
        self._sums: list[FloatArray] = []
        self._rows: list[FloatArray] = []

    def add(self, group: IntArray, score: FloatArray, chosen: BoolArray, opens: BoolArray) -> None:
        """Count rows that follow those before."""
        count, store, seen = code_for_rows(add_pairs), self._store, self._seen
        for part in self._blocks.parts(len(group)):
            if part.opens:
                seen.fill(-1)
                self._sums.append(np.zeros(len(self._own)))
                self._rows.append(np.zeros(len(self._own)))
            store.reserve(min((part.stop - part.start) * self._own.shape[1], seen.size))
            store.used = count(
                (group, score, chosen, opens),
                part,
                store.used,
                (self._couples, self._own, self._nodes, seen),
                self._seats,
                (self._open_cell, self._open_first, self._sums[-1], self._rows[-1]),
                tuple(store),
            )

    def table(self) -> PairTable:
        """Return the table of all rows so far."""
        fixed = (self._matchings, self._couples, self._nodes, self._blocks.edges())
        couple, block, place, counts, opened = (
            array[: self._store.used].copy() for array in self._store
        )
        cells = (couple, block, place, counts, opened)
        pairs = (self._open_cell.copy(), self._open_first.copy())
        ends = (*pairs, np.array(self._sums), np.array(self._rows))
        return PairTable(*fixed, *cells, *ends)


def matched(initial: IntArray) -> tuple[list[list[int]], IntArray]:
    """Return matchings of the groups, as numbers of pairs of groups, and those pairs.

    The first one puts the group with the most initial members together with that with the fewest;
    the others turn all groups but one, as tournaments do.

    >>> matched(np.array([5, 1, 9]))[1].tolist()
    [[2, 1], [1, 0], [2, 0]]
    """
    order: list[int] = [int(group) for group in np.argsort(-initial, kind="stable")]
    ring = list(order)
    if len(order) % 2:  # whoever faces nobody waits; at first, the one in the middle
        ring.insert(len(order) // 2 + 1, -1)
    rounds = len(ring) - 1
    matchings: list[list[int]] = []
    couples: list[tuple[int, int]] = []
    for _ in range(rounds if len(order) <= EVERYBODY else min(rounds, MOST_MATCHINGS)):
        facing = zip(ring[: len(ring) // 2], reversed(ring), strict=False)
        pairs = [pair for pair in facing if -1 not in pair]
        matchings.append(list(range(len(couples), len(couples) + len(pairs))))
        couples += pairs
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return matchings, np.array(couples, dtype=np.int64)


def own_couples(couples: IntArray, groups: int) -> IntArray:
    """Return for each group the numbers of the pairs that it is in; -1 where there are fewer."""
    found = [np.flatnonzero((couples == group).any(axis=1)) for group in range(groups)]
    own = np.full((groups, max(len(numbers) for numbers in found)), -1, dtype=np.int64)
    for group, numbers in enumerate(found):
        own[group, : len(numbers)] = numbers
    return own


def add_pairs(
    log: tuple[IntArray, FloatArray, BoolArray, BoolArray],
    part: Part,
    used: int,
    fixed: tuple[IntArray, IntArray, FloatArray, IntArray],
    seats: Seats,
    state: tuple[IntArray, BoolArray, FloatArray, FloatArray],
    cells: tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray],
) -> int:
    """Count the pairs that rows of a block open or close; return how many cells there are.

    A kernel.
    """
    group, score, chosen, opens = log
    couples, own, nodes, seen = fixed
    members = seats.members
    open_cell, open_first, sums, rows = state
    cell_couple, cell_block, cell_bin, counts, opened = cells
    for row in range(part.start, part.stop):
        if opens[row]:
            seat_waiting(seats)
        one = group[row]
        if chosen[row]:
            let_wait(seats, one)
        sums[one] += score[row]
        rows[one] += 1.0
        for place in range(own.shape[1]):
            couple = own[one, place]
            if couple < 0:
                break
            first = couples[couple, 0] == one
            cell = open_cell[couple]
            if cell < 0:
                both = members[couples[couple, 0]] + members[couples[couple, 1]]
                share = members[couples[couple, 0]] / both if both > 0 else 0.5
                at = bin_of(share)
                cell = seen[couple, at]
                if cell < 0:
                    cell = used
                    used += 1
                    seen[couple, at] = cell
                    cell_couple[cell] = couple
                    cell_block[cell] = part.block
                    cell_bin[cell] = at
                opened[cell] += 1.0
                open_cell[couple] = cell
                open_first[couple] = first
            elif first != open_first[couple]:
                open_cell[couple] = -1
            else:
                continue
            add_score(score[row], nodes, counts, cell, 0 if first else len(nodes))
    return used
