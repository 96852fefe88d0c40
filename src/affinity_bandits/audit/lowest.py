"""The least that bets have come to, over all levels that a group may have: a bound from below.

For one group let N_c be the rows of cell c, rho_c a known factor of its mean and k_rc the bet of
strategy r there. If the level is m the strategies together have come to

    f(m) = log sum_r exp(a_r - sum_c N_c log(1 + k_rc rho_c m)).

-log(1 + k rho m) is convex in m, sums and logarithms of sums of exponentials keep that, so f is
convex, and lies above each of its tangents. What is returned is where two of them meet, on either
side of the lowest point, so never above the true minimum, and by no more than `TOLERANCE` below a
value that f takes.

Each strategy's own logarithm is convex, too: between two levels it is nowhere above the larger of
those at both. Strategies that are far below the bound at both are left out of what is worked out
between them. That can only lower f, and by no more than their number times exp(-FAR).
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.kernels import FloatArray

TOLERANCE = 1e-3
MOST_STEPS = 60
FAR = 18.0
"""Logarithms so far below the bound add at most 1e-5 to it, were there a thousand of them."""


def lowest(
    gains: FloatArray,
    bets: FloatArray,
    totals: FloatArray,
    raised: FloatArray,
    lowered: FloatArray,
    start: float,
    top: float,
) -> float:
    """Return a lower bound of f on [0, top]."""
    search = machine_code(lowest_and_where)
    return float(search(gains, bets, totals, raised, lowered, start, top)[0])


def lowest_and_where(
    gains: FloatArray,
    bets: FloatArray,
    totals: FloatArray,
    raised: FloatArray,
    lowered: FloatArray,
    start: float,
    top: float,
) -> tuple[float, float]:
    """Return a lower bound of f on [0, top], and where f is about as low; a kernel.

    Args:
        gains: a_r.
        bets: k_rc.
        totals: N_c.
        raised: rho_c where the bet is above 0.
        lowered: rho_c where it is not.
        start: where to begin.
        top: the largest level.
    """
    # What is worked with stands in front, and is moved by loops: numba takes seconds to compile
    # that arrays are assigned, or picked from, as a whole.
    gains, bets = gains.copy(), bets.copy()
    count, cells = bets.shape
    logs = np.empty(len(gains))
    logs_low = np.empty(len(gains))
    logs_high = np.empty(len(gains))
    slopes = np.empty(len(gains))
    bends = np.empty(len(gains))
    low, f_low, d_low, has_low = 0.0, 0.0, 0.0, False
    high, f_high, d_high, has_high = top, 0.0, 0.0, False
    best = math.inf
    where = start
    bound = -math.inf
    m = min(max(start, 1e-3 * top), 0.999 * top)
    for step in range(MOST_STEPS):
        f, d, bend = value(
            m, gains[:count], bets[:count], totals, raised, lowered, logs, slopes, bends
        )
        if f < best:
            best, where = f, m
        if d < 0.0:
            low, f_low, d_low, has_low = m, f, d, True
            for r in range(count):
                logs_low[r] = logs[r]
        else:
            high, f_high, d_high, has_high = m, f, d, True
            for r in range(count):
                logs_high[r] = logs[r]
        if has_low and has_high:
            gap = high - low
            steep = d_high - d_low
            # Where the tangents meet, and how high.
            at = (f_low - f_high + d_high * gap) / steep if steep > 0.0 else 0.0
            bound = f_low + d_low * min(max(at, 0.0), gap)
            near = 0
            for r in range(count):
                near += 1 if max(logs_low[r], logs_high[r]) >= bound - FAR else 0
            if 0 < near < count:
                near = 0
                for r in range(count):
                    if max(logs_low[r], logs_high[r]) >= bound - FAR:
                        gains[near] = gains[r]
                        logs_low[near], logs_high[near] = logs_low[r], logs_high[r]
                        for c in range(cells):
                            bets[near, c] = bets[r, c]
                        near += 1
                count = near
        elif has_low:
            bound = f_low + d_low * (top - low)
        else:
            bound = f_high - d_high * high
        if best - bound <= TOLERANCE:
            break
        if has_low and has_high:
            m = low - d_low * (high - low) / (d_high - d_low)
            if step % 4 == 3 or not low < m < high:
                m = 0.5 * (low + high)
        else:
            # A little further than where a parabola has its minimum, to come to its other side.
            m = m - 1.3 * d / bend if bend > 0.0 else (top if d < 0.0 else 0.0)
            if not low < m < high:
                m = top if d < 0.0 else 0.0
    return bound, where


def value(
    m: float,
    gains: FloatArray,
    bets: FloatArray,
    totals: FloatArray,
    raised: FloatArray,
    lowered: FloatArray,
    logs: FloatArray,
    slopes: FloatArray,
    bends: FloatArray,
) -> tuple[float, float, float]:
    """Return f and its first two derivatives at m; a kernel."""
    most = -math.inf
    for r in range(len(gains)):
        total = gains[r]
        slope = 0.0
        bend = 0.0
        for c in range(len(totals)):
            bet = bets[r, c]
            per_level = bet * (raised[c] if bet > 0.0 else lowered[c])
            factor = 1.0 + per_level * m
            part = per_level / factor
            total -= totals[c] * math.log(factor)
            slope -= totals[c] * part
            bend += totals[c] * part * part
        logs[r] = total
        slopes[r] = slope
        bends[r] = bend
        most = max(most, total)
    weight = 0.0
    mean = 0.0
    square = 0.0
    for r in range(len(gains)):
        w = math.exp(logs[r] - most)
        weight += w
        mean += w * slopes[r]
        square += w * (slopes[r] * slopes[r] + bends[r])
    mean /= weight
    return most + math.log(weight), mean, square / weight - mean * mean


def log_gains(
    weights: FloatArray,
    tilts: FloatArray,
    leans: FloatArray,
    theta: float,
    cap: float,
    counts: FloatArray,
    nodes: FloatArray,
    gains: FloatArray,
    bets: FloatArray,
) -> None:
    """Fill in k_rc and a_r, the log of a weight and the sum of log(1 + k y); a kernel.

    Log odds are theta times a tilt, and a lean that does not depend on the reference.
    """
    for r in range(len(weights)):
        total = weights[r]
        for c in range(len(counts)):
            bet = math.exp(min(max(theta * tilts[r, c] + leans[c], -cap), cap)) - 1.0
            bets[r, c] = bet
            for v in range(len(nodes)):
                if counts[c, v] > 0.0:
                    total += counts[c, v] * math.log(1.0 + bet * nodes[v])
        gains[r] = total
