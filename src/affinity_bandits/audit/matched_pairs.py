"""The test that holds whatever drifts for all groups alike.

The theorem, its proof and its limits are in docs/audit.md, "Whatever drifts for all alike".
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from functools import cache
from itertools import count, product
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.pair_table import PairTable
from affinity_bandits.audit.table import bin_shares
from affinity_bandits.kernels import FloatArray, IntArray

STRENGTHS = {"share": (0.75, 1.5, 3.0, 6.0), "log": (0.4, 0.8, 1.6, 3.2)}
REFERENCES = np.arange(-4.2, 4.21, 0.6)
"""Logarithms of a ratio of shares."""
SPREAD = 1.5
"""Their standard deviation, as they are weighed."""
WORTHS = (math.inf, 50.0)
CAP = 2.5
LARGEST_RATIO = 6.0
"""Logarithm of the largest ratio of two groups' levels."""
WIDTH = 0.05
"""Of the ranges of ratios on which bets are the same, in logarithms."""
MEMORY = 300.0
"""Rows in which a score's part in the centre falls to 1/e."""
TOLERANCE, COARSE = 0.05, 0.3
"""By how much the infimum over ratios may be understated, in logarithms; more where it is not 3."""
MOST_SPLITS = 2_000
EDGE = 0.7
"""Part of the stake at which a factor could become 0."""


class Couple(NamedTuple):
    """What is bet on two groups, by strategies, and what came, by cells.

    Attributes:
        counts: cells by nodes, g's and then h's.
        nodes: the scores.
        block: of each cell.
        tilts: references by cells.
        reference: of each strategy, its row in `tilts`.
        strength: of each strategy.
        weights: logarithms of what each strategy has of the wealth.
        sums: decayed sums of scores of g and h before each block.
        rows: the same of their numbers.
        open_cell: the cell of an open pair, or -1.
        open_first: whether g opened it.
        drift: how far a group's level may go up and down in all.
    """

    counts: FloatArray
    nodes: FloatArray
    block: IntArray
    tilts: FloatArray
    reference: IntArray
    strength: FloatArray
    weights: FloatArray
    sums: FloatArray
    rows: FloatArray
    open_cell: int
    open_first: bool
    drift: float


def pairs(table: PairTable, drift: float = 1.0) -> float:
    """Return the logarithm of an e-value of "levels have fixed ratios, whatever they do together".

    Args:
        table: of the log.
        drift: how far any group's level may go up and down in all while both scores of a pair are
            awaited; whatever only rises or only falls goes no further than 1.
    """
    return together(
        table,
        [couple_evidence(couple_of(table, number, drift)) for number in range(len(table.couples))],
    )


def together(table: PairTable, found: Sequence[float]) -> float:
    """Return what all couples come to: the average, over ways to match groups, of products."""
    each = np.array(found) if len(table.matchings[0]) == 1 else with_cash(found)
    products = [each[numbers].sum() for numbers in table.matchings]
    return float(np.logaddexp.reduce(products) - math.log(len(products)))


def couple_of(table: PairTable, number: int, drift: float) -> Couple:
    """Return bets and scores of two groups."""
    own = np.flatnonzero(table.couple == number)
    block = table.block[own]
    groups = table.couples[number]
    sums, rows = decayed(table.sums[:, groups], table.rows[:, groups], np.diff(table.edges))
    open_cell = int(table.open_cell[number])
    return Couple(
        table.counts[own],
        table.nodes,
        block,
        _tilts(bin_shares()[table.bin[own]], table.opened[own], block, len(table.edges) - 1),
        *_strategies(),
        sums,
        rows,
        int(np.searchsorted(own, open_cell)) if open_cell >= 0 else -1,
        bool(table.open_first[number]),
        drift,
    )


def _tilts(part: FloatArray, opened: FloatArray, block: IntArray, blocks: int) -> FloatArray:
    """Return how far what is seen is above each reference: by shapes, worths and references."""
    tilts = []
    for shape in STRENGTHS:
        seen = 2.0 * part - 1.0 if shape == "share" else np.log(part / (1.0 - part))
        seen = np.clip(seen, -5.0, 5.0)
        number = np.bincount(block, weights=opened, minlength=blocks)
        total = np.bincount(block, weights=opened * seen, minlength=blocks)
        number = (np.cumsum(number) - number)[block]  # of the blocks before
        total = (np.cumsum(total) - total)[block]
        starts = np.tanh(0.5 * REFERENCES) if shape == "share" else REFERENCES
        for worth in WORTHS:
            if math.isinf(worth):
                tilts.append(seen - starts[:, None])
            else:
                tilts.append(seen - (worth * starts[:, None] + total) / (worth + number))
    return np.concatenate(tilts)


@cache
def _strategies() -> tuple[IntArray, FloatArray, FloatArray]:
    """Return reference, strength and weight of every strategy, in the order of `_tilts`."""
    reference: list[int] = []
    strength: list[float] = []
    weights: list[float] = []
    for place, (strengths, _) in enumerate(product(STRENGTHS.values(), WORTHS)):
        prior = np.exp(-0.5 * (REFERENCES / SPREAD) ** 2)
        prior /= prior.sum() * len(STRENGTHS) * len(WORTHS) * len(strengths)
        for number, weight in enumerate(prior):
            reference += [place * len(REFERENCES) + number] * len(strengths)
            strength += strengths
            weights += [math.log(weight)] * len(strengths)
    return np.array(reference, dtype=np.int64), np.array(strength), np.array(weights)


def decayed(sums: FloatArray, rows: FloatArray, lengths: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return sums and numbers of the scores before each block, older ones counting less."""
    kept = [math.exp(-length / MEMORY) for length in lengths.tolist()]
    return _decayed(0.5, sums, kept), _decayed(1.0, rows, kept)


def _decayed(start: float, blocks: FloatArray, kept: list[float]) -> FloatArray:
    """Return what each column has come to before each block."""
    found = np.empty_like(blocks)
    for side in range(blocks.shape[1]):
        total, before = start, []
        for part, added in zip(kept, blocks[:, side].tolist(), strict=True):
            before.append(total)
            total = part * total + added
        found[:, side] = before
    return found


@cache
def ranges() -> FloatArray:
    """Return the ends of the ranges of ratios on which bets are the same, as logarithms."""
    ends = [0.0]
    while ends[-1] < LARGEST_RATIO:
        ends.append(ends[-1] + WIDTH * max(1.0, ends[-1]))
    return np.array([-end for end in ends[:0:-1]] + ends)


def fitting_ratio(couple: Couple) -> float:
    """Return the logarithm of the ratio of both groups' mean scores."""
    g, h = np.split(couple.counts.sum(axis=0), 2)
    means = [max(part @ couple.nodes / max(part.sum(), 1.0), 0.01) for part in (g, h)]
    return math.log(means[0] / means[1])


def couple_evidence(couple: Couple) -> float:
    """Return a lower bound, within a tolerance, of the least wealth over all ratios."""
    if len(couple.block) == 0:
        return 0.0
    ends = ranges()
    wealth = machine_code(log_wealth)
    centre = int(np.searchsorted(ends, fitting_ratio(couple))) - 1
    order = np.arange(len(couple.weights))
    least = math.inf
    tie = count()
    heap: list[tuple[float, int, int, float, float, FloatArray, FloatArray]] = []

    def push(at: int, low: float, high: float, below: FloatArray, above: FloatArray) -> None:
        bound = np.logaddexp.reduce(np.minimum(below, above))
        heapq.heappush(heap, (float(bound), next(tie), at, low, high, below, above))

    for at in sorted(range(len(ends) - 1), key=lambda place: abs(place - centre)):
        low, high = math.exp(ends[at]), math.exp(ends[at + 1])
        found = np.full((2, len(order)), -math.inf)
        enough = wealth(couple, low, high, np.array([low, high]), order, least, found)
        if enough:  # it cannot be lowest here
            continue
        below, above = found
        order = np.argsort(-np.minimum(below, above), kind="stable")
        least = min(least, *(float(np.logaddexp.reduce(values)) for values in found))
        push(at, low, high, below, above)
    for _ in range(MOST_SPLITS):
        bound, _, at, low, high, below, above = heap[0]
        if bound >= least - (TOLERANCE if least > 1.1 else COARSE):
            break
        heapq.heappop(heap)
        middle = math.sqrt(low * high)
        found = np.full((1, len(order)), -math.inf)
        whole = (math.exp(ends[at]), math.exp(ends[at + 1]))
        wealth(couple, *whole, np.array([middle]), order, math.inf, found)
        least = min(least, float(np.logaddexp.reduce(found[0])))
        push(at, low, middle, below, found[0])
        push(at, middle, high, found[0], above)
    return min(heap[0][0], least)


def log_wealth(
    couple: Couple,
    low: float,
    high: float,
    ratios: FloatArray,
    order: IntArray,
    enough: float,
    found: FloatArray,
) -> bool:
    """Fill in what each strategy has come to at ratios of the range from low to high; a kernel.

    Strategies are taken in the given order, until the least of each over the ratios adds up to
    `enough`; returns whether it did.
    """
    cells = len(couple.block)
    nodes = len(couple.nodes)
    middle = math.sqrt(low * high)
    centres = np.empty(cells)
    for c in range(cells):
        b = couple.block[c]
        seen = (couple.sums[b, 0] + couple.sums[b, 1]) / (
            middle * couple.rows[b, 0] + couple.rows[b, 1]
        )
        centres[c] = min(max(seen, 0.02), 0.98, 0.98 / high)
    total = -math.inf
    for place in range(len(order)):
        k = order[place]
        largest = 0.0
        owed = 0.0
        for i in range(len(ratios)):
            found[i, k] = couple.weights[k]
        for c in range(cells):
            centre = centres[c]
            log_odds = couple.strength[k] * couple.tilts[couple.reference[k], c]
            bet = math.exp(min(max(log_odds, -CAP), CAP)) - 1.0
            stake = bet / (1.0 + bet * middle * centre)
            if stake > 0.0:
                stake = min(stake, EDGE / (high * max(centre, 1.0 - centre)))
            else:
                stake = -min(-stake, EDGE / max(high * centre, 1.0 - low * centre))
            largest = max(largest, abs(stake))
            for i in range(len(ratios)):
                ratio = ratios[i]
                for v in range(nodes):
                    if couple.counts[c, v] > 0.0:
                        factor = 1.0 + stake * (couple.nodes[v] - ratio * centre)
                        found[i, k] += couple.counts[c, v] * math.log(factor)
                    if couple.counts[c, nodes + v] > 0.0:
                        factor = 1.0 - ratio * stake * (couple.nodes[v] - centre)
                        found[i, k] += couple.counts[c, nodes + v] * math.log(factor)
            if c == couple.open_cell:
                # The most that the first score's factor can be on average.
                if couple.open_first == (stake > 0.0):
                    owed = math.log(1.0 + abs(stake) * (min(high, 1.0) - low * centre))
                else:
                    owed = math.log(1.0 + abs(stake) * high * centre)
        owed += couple.drift * largest * min(high, 1.0)
        worst = math.inf
        for i in range(len(ratios)):
            found[i, k] -= owed
            worst = min(worst, found[i, k])
        top = max(total, worst)
        total = top + math.log(math.exp(total - top) + math.exp(worst - top))
        if total >= enough:
            return True
    return False
