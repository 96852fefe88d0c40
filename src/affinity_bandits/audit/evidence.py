"""Test 1: bets on double differences, an e-process that is valid whenever one looks.

Under the null hypothesis of zero favor, a double difference T has mean 0 given everything before
it. The wealth `prod (1 + l_i T_i)` with stakes fixed before the scores is then a nonnegative
martingale, so it ever reaches 20 with probability at most 1/20 (Ville's inequality).
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from affinity_bandits.audit.differences import Differences
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray

THRESHOLD = math.log(20.0)
STAKES = np.array([0.08, 0.2, 0.5, 1.2])
"""Kelly stakes for favors of so many standard deviations of a score."""
CLIP = 4.0
"""Standard deviations at which a difference is cut off; the scale alone bounds it if infinite."""
LARGEST_STAKE = 0.9
"""Fraction of the wealth that is staked at most."""
RATIO = 1.5
"""How many times as much a point of strictness may count with one group's candidates as with
another's, which happens near the ends of a scale."""
STEPS = 12
"""Halvings of an end of the interval."""


def log_evidence(
    differences: list[Differences], *, ratio: float = 1.0, clip: float = CLIP
) -> float:
    """Return the logarithm of the largest wealth against the hypothesis of zero favor.

    Args:
        differences: one list per order of each session's performances; their mean wealth counts.
        ratio: how unevenly strictness may count, see `RATIO`.
        clip: where differences are cut off, in standard deviations.
    """
    paths = [
        _path(one, stretch_differences(one.x, one.z, one.kind, ratio), 0.0, clip, two_sided=False)
        for one in differences
    ]
    return _largest_mean(paths)


def favor_interval(
    differences: list[Differences], *, level: float = 0.05, ratio: float = 1.0, clip: float = CLIP
) -> tuple[float, float]:
    """Return the favors, as fractions of the scale, that two-sided bets leave possible.

    The interval contains the true favor with probability 1 - level at every moment at once. With a
    ratio above 1 it is the hull of the intervals for uneven strictness in both directions. If the
    favor changed over time, so that every constant is ruled out, both ends are the estimate.
    """
    if ratio != 1.0:
        scaled = (2.0 * ratio / (1.0 + ratio), 2.0 / (1.0 + ratio))
        ends = []
        for a, b in (scaled, scaled[::-1]):
            stretched = [replace(one, x=a * one.x, z=b * one.z) for one in differences]
            ends.append(favor_interval(stretched, level=level, clip=clip))
        return min(low for low, _ in ends), max(high for _, high in ends)
    weight = sum(one.information.sum() for one in differences)
    if not weight:
        return -1.0, 1.0
    point = sum(one.t.sum() for one in differences) / weight

    def excluded(favor: float) -> bool:
        paths = [_path(one, one.t, favor, clip, two_sided=True) for one in differences]
        return _largest_mean(paths) >= -math.log(level)

    found = []
    for end in (-1.0, 1.0):
        near, far = point, end
        if excluded(far):
            for _ in range(STEPS):
                middle = (near + far) / 2.0
                near, far = (near, middle) if excluded(middle) else (middle, far)
        found.append(far)
    low, high = found
    if high - low < 3.0 / 2**STEPS and excluded(point):  # the halvings found nothing
        return point, point
    return low, high


def stretch_differences(x: FloatArray, z: FloatArray, kind: IntArray, ratio: float) -> FloatArray:
    """Return differences that stay fair if strictness counts unevenly, up to `ratio` times.

    The bet is on `x - ratio z` or `ratio x - z`, against the direction in which judges of the two
    groups have differed so far.
    """
    if ratio == 1.0:
        return x - z
    seen = np.zeros(len(x))
    for number in np.unique(kind):
        rows = kind == number
        seen[rows] = np.concatenate([[0.0], np.cumsum(x[rows] + z[rows])[:-1]])
    first = np.where(seen > 0.0, 1.0, ratio)
    second = np.where(seen > 0.0, ratio, 1.0)
    stretched: FloatArray = (first * x - second * z) * 2.0 / (1.0 + ratio)
    return stretched


def _path(
    one: Differences, t: FloatArray, favor: float, clip: float, *, two_sided: bool
) -> tuple[IntArray, FloatArray]:
    """Return the sessions with differences, and the log wealth at the end of each."""
    stakes = np.concatenate([STAKES, -STAKES]) if two_sided else STAKES
    wealth = bet(t, one.information, one.bound, favor, stakes, clip)
    if not len(wealth):
        return one.session, wealth
    last = np.append(np.flatnonzero(np.diff(one.session)), len(wealth) - 1)
    return one.session[last], wealth[last]


def _largest_mean(paths: list[tuple[IntArray, FloatArray]]) -> float:
    """Return the log of the largest mean wealth over the ends of sessions; at least 0."""
    if len(paths) == 1:
        return float(paths[0][1].max(initial=0.0))
    ends = np.unique(np.concatenate([sessions for sessions, _ in paths] or [np.array([])]))
    if not len(ends):
        return 0.0
    rows = []
    for sessions, wealth in paths:
        known = np.searchsorted(sessions, ends, side="right")
        rows.append(np.concatenate([[0.0], wealth])[known])
    table = np.array(rows)
    top = table.max(axis=0)
    return max(0.0, float((top + np.log(np.exp(table - top).mean(axis=0))).max()))


def bet(
    t: FloatArray,
    information: FloatArray,
    bound: FloatArray,
    favor: float = 0.0,
    stakes: FloatArray = STAKES,
    clip: float = CLIP,
) -> FloatArray:
    """Return the log wealth after each difference; see `bet_on_differences`."""
    path: FloatArray = _compiled_bets()(t, information, bound, favor, stakes, clip, LARGEST_STAKE)
    return path


@cache
def _compiled_bets() -> Function:
    return compile_kernel(bet_on_differences, allocates=True)


def bet_on_differences(
    t: FloatArray,
    information: FloatArray,
    bound: FloatArray,
    favor: float,
    stakes: FloatArray,
    clip: float,
    largest: float,
) -> FloatArray:
    """Bet on differences one after the other and return the log wealth after each; a kernel.

    The wealth is a mixture over stakes. The variance of a single score is estimated from earlier
    differences; it starts at a standard deviation of 0.2 of the scale, worth one difference.
    """
    logs = np.full(len(stakes), -math.log(len(stakes)))
    path = np.empty(len(t))
    squares = 0.04
    seen = 1.0
    for i in range(len(t)):
        deviation = math.sqrt(squares / seen)
        excess = t[i] - favor * information[i]
        most = bound[i] + abs(favor) * information[i]
        if seen >= 8.0:
            most = min(most, clip * deviation * math.sqrt(information[i]))
        excess = min(max(excess, -most), most)
        best = -math.inf
        for k in range(len(stakes)):
            stake = stakes[k] / deviation
            stake = min(max(stake, -largest / most), largest / most)
            logs[k] += math.log1p(stake * excess)
            best = max(best, logs[k])
        total = 0.0
        for k in range(len(stakes)):
            total += math.exp(logs[k] - best)
        path[i] = best + math.log(total)
        squares += t[i] * t[i] / information[i]
        seen += 1.0
    return path
