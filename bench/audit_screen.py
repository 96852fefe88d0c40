"""Bounds from above of what the tests of an audit can find, for logs that show nothing.

Evidence is an infimum: over the levels that a group may have, over the ratios of two groups. Its
value at one of them, the one that fits best, is never below it and takes no search. If even that is
too little for a verdict, the verdict is not "shown", and nothing else has to be worked out.
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit import Summary
from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.likelihoods import (
    EXPONENTS,
    HALVINGS,
    POINTS,
    REACH,
    log_likelihood_of_the_mean,
)
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.matched_pairs import Couple, couple_of, log_wealth, ranges
from affinity_bandits.audit.pair_table import PairTable
from affinity_bandits.audit.strategies import ALTERNATIVES, CAP, reference_weights, tilts_of
from affinity_bandits.audit.table import BINS, Table, bin_shares
from affinity_bandits.audit.verdict import LEVEL, WEIGHTS
from affinity_bandits.kernels import FloatArray

SLACK = 1e-6
"""For rounding: both sides add up thousands of logarithms."""
SCREENED = frozenset({"nothing", "alike"})
"""Verdicts that there is a bound for."""


def may_be_shown(summary: Summary, assumption: str) -> bool:
    """Return whether a verdict could be "shown"; if not, it is not."""
    return bound_of(summary, assumption) >= math.log(1.0 / LEVEL)


def bound_of(summary: Summary, assumption: str) -> float:
    """Return the logarithm of evidence that the verdict's own is not above."""
    parts = [
        math.log(weight) + BOUNDS[test](summary) for test, weight in WEIGHTS[assumption].items()
    ]
    return float(np.logaddexp.reduce(parts)) + SLACK


def most_of_odds(summary: Summary) -> float:
    """Return a bound from above of `odds`: its bets at each group's mean score."""
    table = summary.table
    weights = reference_weights(table.groups)
    totals = np.zeros(len(ALTERNATIVES))
    for group in range(table.groups):
        cells = table.of(group)
        if len(cells.group):
            totals += with_cash(_at_the_mean(cells, weights))
    return float(np.logaddexp.reduce(totals) - math.log(len(ALTERNATIVES)))


def most_of_pairs(summary: Summary) -> float:
    """Return a bound from above of `pairs`: its bets at the ratio of two groups' mean scores."""
    table = summary.pair_table
    found = np.array([_at_the_ratio(table, number) for number in range(len(table.couples))])
    each = found if len(table.matchings[0]) == 1 else with_cash(found)
    products = [each[numbers].sum() for numbers in table.matchings]
    return float(np.logaddexp.reduce(products) - math.log(len(products)))


def likelihood_ratios(summary: Summary) -> float:
    """Return the test of that name, as machine code: it has no infimum."""
    table = summary.table
    totals = np.zeros(len(EXPONENTS))
    for group in range(table.groups):
        cells = table.of(group)
        if len(cells.group):
            rows = np.bincount(cells.bin, weights=cells.totals(), minlength=BINS)
            sums = np.bincount(cells.bin, weights=cells.counts @ cells.nodes, minlength=BINS)
            used = rows > 0
            null = log_likelihood_of_the_mean(float(sums.sum()), float(rows.sum()))
            for place, exponent in enumerate(EXPONENTS):
                weights = bin_shares()[used] ** exponent
                found = machine_code(log_mean_likelihood)(weights, sums[used], rows[used])
                totals[place] += found - null
    return float(np.logaddexp.reduce(totals) - math.log(len(EXPONENTS)))


BOUNDS = {
    "pairs": most_of_pairs,
    "odds": most_of_odds,
    "likelihood_ratios": likelihood_ratios,
}


def log_mean_likelihood(weights: FloatArray, sums: FloatArray, rows: FloatArray) -> float:
    """Return what the audit's function of that name returns; a kernel."""
    total = sums.sum()
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        m = 0.5 * (low + high)
        slope = total / m
        for b in range(len(rows)):
            slope -= max(rows[b] - sums[b], 0.0) * weights[b] / (1.0 - weights[b] * m)
        if slope > 0.0:
            low = m
        else:
            high = m
    mode = 0.5 * (low + high)
    bend = total / mode**2
    fixed = 0.0
    for b in range(len(rows)):
        bend += max(rows[b] - sums[b], 0.0) * (weights[b] / (1.0 - weights[b] * mode)) ** 2
        fixed += sums[b] * math.log(weights[b])
    step = 2.0 * REACH / (POINTS - 1) / math.sqrt(max(bend, 1.0))
    start = mode - REACH / math.sqrt(max(bend, 1.0))
    result = -math.inf
    before, log_before = 0.0, 0.0
    for point in range(POINTS):
        m = min(max(start + point * step, 1e-300), 1.0 - 1e-12)
        log = total * math.log(m) + fixed
        for b in range(len(rows)):
            log += max(rows[b] - sums[b], 0.0) * math.log1p(-weights[b] * m)
        if point > 0 and m > before:
            part = min(log, log_before) + math.log(m - before)
            top = max(result, part)
            result = top + math.log(math.exp(result - top) + math.exp(part - top))
        before, log_before = m, log
    return result


def _at_the_mean(cells: Table, weights: FloatArray) -> FloatArray:
    totals = cells.totals()
    mean = float(cells.counts.sum(axis=0) @ cells.nodes / totals.sum())
    tilts = {shape: tilts_of(cells, shape) for shape in ("share", "log")}
    logs = np.empty(len(weights))
    found = np.empty(len(ALTERNATIVES))
    for place, (shape, theta) in enumerate(ALTERNATIVES):
        machine_code(logs_at)(mean, theta, weights, tilts[shape], cells.counts, cells.nodes, logs)
        found[place] = np.logaddexp.reduce(logs)
    return found


def logs_at(
    mean: float,
    theta: float,
    weights: FloatArray,
    tilts: FloatArray,
    counts: FloatArray,
    nodes: FloatArray,
    logs: FloatArray,
) -> None:
    """Fill in what the bets of `odds` with each reference have come to at one level; a kernel."""
    for r in range(len(weights)):
        logs[r] = weights[r]
        for c in range(len(counts)):
            log_odds = min(max(theta * tilts[r, c], -CAP), CAP)
            bet = math.exp(log_odds) - 1.0
            rows = 0.0
            for v in range(len(nodes)):
                rows += counts[c, v]
                if nodes[v] == 1.0:
                    logs[r] += counts[c, v] * log_odds
                elif nodes[v] > 0.0 and counts[c, v] > 0.0:
                    logs[r] += counts[c, v] * math.log(1.0 + bet * nodes[v])
            logs[r] -= rows * math.log(1.0 + bet * mean)


def _at_the_ratio(table: PairTable, number: int) -> float:
    couple: Couple = couple_of(table, number, 1.0)
    if len(couple.block) == 0:
        return 0.0
    g, h = np.split(couple.counts.sum(axis=0), 2)
    means = [max(part @ couple.nodes / max(part.sum(), 1.0), 0.01) for part in (g, h)]
    ratio = means[0] / means[1]
    ends = np.exp(ranges())
    at = int(np.searchsorted(ends, ratio)) - 1
    order = np.arange(len(couple.weights))
    found = np.full((1, len(order)), -math.inf)
    low, high = ends[at], ends[at + 1]
    machine_code(log_wealth)(couple, low, high, np.array([ratio]), order, math.inf, found)
    return float(np.logaddexp.reduce(found[0]))
