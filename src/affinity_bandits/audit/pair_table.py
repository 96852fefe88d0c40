"""Pairs of scores of two groups, one soon after the other, counted in one pass over a log.

Of two groups g and h, whoever is scored next opens a pair, and the next score of the other closes
it; what comes in between is left out. Groups are matched, each with one other, in a few ways.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.log import BoolArray, DecisionLog
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.table import (
    BINS,
    Cells,
    add_score,
    bin_of,
    block_edges,
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
    matchings, couples = matched(log.initial)
    nodes = nodes_of(log.score)
    edges = block_edges(len(log))
    store = Cells(2 * len(nodes))
    seen = np.empty((len(couples), BINS), dtype=np.int64)
    members = log.initial.astype(np.int64)
    seated = np.zeros(1, dtype=np.int64)
    open_cell = np.full(len(couples), -1, dtype=np.int64)
    open_first = np.zeros(len(couples), dtype=np.bool_)
    sums = np.zeros((len(edges) - 1, len(members)))
    rows = np.zeros_like(sums)
    own = own_couples(couples, len(members))
    add = machine_code(add_pairs)
    for block in range(len(edges) - 1):
        start, stop = int(edges[block]), int(edges[block + 1])
        store.reserve(min((stop - start) * own.shape[1], seen.size))
        seen.fill(-1)
        store.used = add(
            (log.group, log.score, log.chosen, log.before),
            (start, stop, block, store.used),
            (couples, own, nodes, seen),
            (members, seated, open_cell, open_first, sums[block], rows[block]),
            tuple(store),
        )
    couple, in_block, place, counts, opened = (array[: store.used] for array in store)
    cells = (couple, in_block, place, counts, opened)
    ends = (open_cell, open_first, sums, rows)
    return PairTable(matchings, couples, nodes, edges, *cells, *ends)


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
    log: tuple[IntArray, FloatArray, BoolArray, IntArray],
    where: tuple[int, int, int, int],
    fixed: tuple[IntArray, IntArray, FloatArray, IntArray],
    state: tuple[IntArray, IntArray, IntArray, BoolArray, FloatArray, FloatArray],
    cells: tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray],
) -> int:
    """Count the pairs that a block opens or closes; return how many cells there are; a kernel."""
    group, score, chosen, before = log
    start, stop, block, used = where
    couples, own, nodes, seen = fixed
    members, seated, open_cell, open_first, sums, rows = state
    cell_couple, cell_block, cell_bin, counts, opened = cells
    for row in range(start, stop):
        while seated[0] < before[row]:
            if chosen[seated[0]]:
                members[group[seated[0]]] += 1
            seated[0] += 1
        one = group[row]
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
                part = members[couples[couple, 0]] / both if both > 0 else 0.5
                at = bin_of(part)
                cell = seen[couple, at]
                if cell < 0:
                    cell = used
                    used += 1
                    seen[couple, at] = cell
                    cell_couple[cell] = couple
                    cell_block[cell] = block
                    cell_bin[cell] = at
                opened[cell] += 1.0
                open_cell[couple] = cell
                open_first[couple] = first
            elif first != open_first[couple]:
                open_cell[couple] = -1
            else:
                continue
            shift = 0 if first else len(nodes)
            add_score(score[row], nodes, counts[cell, shift : shift + len(nodes)])
    return used
