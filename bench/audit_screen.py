"""Bounds from above of what the tests of an audit can find, for logs that show nothing.

Evidence is an infimum: over the levels that a group may have, over the ratios of two groups. Its
value at one of them, the one that fits best, is never below it and takes no search. If even that is
too little for a verdict, the verdict is not "shown", and nothing else has to be worked out.
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit import Summary
from affinity_bandits.audit.betting_odds import over_groups
from affinity_bandits.audit.likelihoods import HALVINGS, POINTS, REACH, likelihood_ratios
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.matched_pairs import (
    couple_of,
    fitting_ratio,
    log_wealth,
    ranges,
    together,
)
from affinity_bandits.audit.pair_table import PairTable
from affinity_bandits.audit.strategies import ALTERNATIVES, CAP, tilts_of
from affinity_bandits.audit.table import Table
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
    return over_groups(summary.table, _at_the_mean)


def most_of_pairs(summary: Summary) -> float:
    """Return a bound from above of `pairs`: its bets at the ratio of two groups' mean scores."""
    table = summary.pair_table
    return together(table, [_at_the_ratio(table, number) for number in range(len(table.couples))])


def same_likelihood_ratios(summary: Summary) -> float:
    """Return what `likelihood_ratios` does, which has no infimum, by machine code."""
    return likelihood_ratios(summary.table, machine_code(log_mean_likelihood))


BOUNDS = {
    "pairs": most_of_pairs,
    "odds": most_of_odds,
    "likelihood_ratios": same_likelihood_ratios,
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
    couple = couple_of(table, number, 1.0)
    if len(couple.block) == 0:
        return 0.0
    ratio = math.exp(fitting_ratio(couple))
    ends = np.exp(ranges())
    at = int(np.searchsorted(ends, ratio)) - 1
    order = np.arange(len(couple.weights))
    found = np.full((1, len(order)), -math.inf)
    low, high = ends[at], ends[at + 1]
    machine_code(log_wealth)(couple, low, high, np.array([ratio]), order, math.inf, found)
    return float(np.logaddexp.reduce(found[0]))
