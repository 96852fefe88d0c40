"""A sharper look that may say "indicated", and never "shown".

It is a Bayes factor: how much better scores fit levels that rise with the share than levels that
stay, on average over levels and over a common drift. It is not an e-value: the average is over
levels that might have been, not over the worst of them, and how much scores vary is estimated from
the log. What was measured of it is in docs/audit.md, "Indicated".
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.strategies import SMALLEST
from affinity_bandits.audit.table import Table
from affinity_bandits.kernels import FloatArray

EXPONENTS = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0)
"""Levels that rise with the share are in proportion to one of these powers of it."""
LARGEST_RATE = 3.0
USUAL_RATE = 0.5
"""Standard deviation of the logarithm of how far all levels drift, as it is weighed."""
PRICE = 0.4
"""What each group beyond the second costs. Levels are estimated from the same scores, and a rule
that leaves a group after a success makes them look as if they rose, a little in each group."""
COARSE = 17
FINE = 9
ROUNDS = 5
POINTS = 25
REACH = 6.0
STEPS = 40


def indicated(table: Table, *, drift: bool = True) -> float:
    """Return the logarithm of a Bayes factor of "levels rise with the share" against "they stay".

    At 20 or more it is an indication. It proves nothing: nobody has shown that without a bias this
    happens with a probability of at most 5% under every rule of choice.

    Args:
        table: of the log.
        drift: whether all levels may change by one factor that grows or shrinks at a steady rate,
            with a bias and without.
    """
    groups = [Fit(table.of(one)) for one in range(table.groups) if (table.group == one).any()]
    stays = _averaged(groups, 0.0, drift=drift)
    rises = [_averaged(groups, exponent, drift=drift) for exponent in EXPONENTS]
    price = PRICE * max(len(groups) - 2, 0) + math.log(len(EXPONENTS))
    return float(np.logaddexp.reduce(rises)) - price - stays


class Fit:
    """What scores of one group say of its level, by the logarithm of the share and by time."""

    def __init__(self, cells: Table) -> None:
        rows = cells.totals()
        total = float(rows.sum())
        scores = cells.counts @ cells.nodes
        mean = float(scores.sum()) / total
        squares = float(cells.counts.sum(axis=0) @ (cells.nodes - mean) ** 2)
        coin = mean * (1.0 - mean)
        # As a part of what coins vary; one more row, a coin, where there are few.
        scale = (squares + coin) / (total * coin) if coin > 0.0 else 1.0
        logs = np.log(np.maximum(cells.shares / rows, SMALLEST))
        times = cells.times / rows / cells.rows
        # Around their means, so that a level means the same whatever exponent and rate are tried.
        self.logs = logs - rows @ logs / total
        self.times = times - rows @ times / total
        self.hits = scores / scale
        self.misses = np.maximum(rows - scores, 0.0) / scale

    def averaged(self, exponent: float, rates: FloatArray) -> FloatArray:
        """Return logarithms of the likelihood, averaged over levels, at each rate."""
        found = np.empty(len(rates))
        machine_code(averaged_over_levels)(
            self.logs, self.times, self.hits, self.misses, exponent, rates, found
        )
        return found


def _averaged(groups: list[Fit], exponent: float, *, drift: bool) -> float:
    """Return the logarithm of the likelihood, averaged over levels and rates of drift."""

    def at(rates: FloatArray) -> FloatArray:
        prior = -0.5 * (rates / USUAL_RATE) ** 2
        return np.asarray(sum((group.averaged(exponent, rates) for group in groups), prior))

    if not drift:
        return float(at(np.zeros(1))[0])
    # Where it is most likely, looked for ever more closely, and then a sum around there.
    rates = np.linspace(-LARGEST_RATE, LARGEST_RATE, COARSE)
    for _ in range(ROUNDS):
        logs = at(rates)
        best = int(np.clip(np.argmax(logs), 1, len(rates) - 2))
        if logs[best] - min(logs[best - 1], logs[best + 1]) < 1.0:
            break
        rates = np.linspace(rates[best - 1], rates[best + 1], FINE)
    step = rates[1] - rates[0]
    bend = (2.0 * logs[best] - logs[best - 1] - logs[best + 1]) / step**2
    half = REACH / math.sqrt(max(bend, (REACH / LARGEST_RATE) ** 2))
    rates = np.linspace(rates[best] - half, rates[best] + half, POINTS)
    logs = at(rates)
    return float(np.logaddexp.reduce(logs)) + math.log(rates[1] - rates[0])


def averaged_over_levels(
    logs: FloatArray,
    times: FloatArray,
    hits: FloatArray,
    misses: FloatArray,
    exponent: float,
    rates: FloatArray,
    found: FloatArray,
) -> None:
    """Fill in the logarithm of the likelihood, averaged over levels, for each rate; a kernel.

    Levels are m times a factor of each cell, and m has the same weight everywhere. The likelihood
    has one mode, which is found by halving; the sum is over points around it.
    """
    cells = len(logs)
    factors = np.empty(cells)
    total = 0.0
    for c in range(cells):
        total += hits[c]
    for i in range(len(rates)):
        largest = 0.0
        constant = 0.0
        for c in range(cells):
            tilt = exponent * logs[c] + rates[i] * times[c]
            factors[c] = math.exp(tilt)
            constant += hits[c] * tilt
            largest = max(largest, factors[c])
        low = 0.0
        high = 1.0 / largest
        top = high
        for _ in range(STEPS):
            m = 0.5 * (low + high)
            slope = total
            for c in range(cells):
                slope -= misses[c] * factors[c] * m / (1.0 - factors[c] * m)
            if slope > 0.0:
                low = m
            else:
                high = m
        m = 0.5 * (low + high)
        bend = total / (m * m)
        for c in range(cells):
            part = factors[c] / (1.0 - factors[c] * m)
            bend += misses[c] * part * part
        width = 1.0 / math.sqrt(bend) if bend > 1.0 else 1.0
        start = max(m - REACH * width, 0.0)
        step = (min(m + REACH * width, top) - start) / POINTS
        most = -math.inf
        weight = 0.0
        for k in range(POINTS):
            m = start + (k + 0.5) * step
            value = constant + total * math.log(m)
            for c in range(cells):
                value += misses[c] * math.log(1.0 - factors[c] * m)
            if value > most:
                weight = weight * math.exp(most - value) + 1.0
                most = value
            else:
                weight += math.exp(value - most)
        found[i] = most + math.log(weight * step)
