"""Binomial numbers for any number of trials up to 10**15, compiled.

numpy's sampler loses its acceptance test to rounding beyond about 10**12 trials: it takes the
logarithm of numbers that differ from 1 by less than they are rounded. Here the logarithm of the
probability is computed from deviances, which stay accurate (Loader 2000).
"""

from __future__ import annotations

import math

from affinity_bandits.simulation.code_cache import kept
from affinity_bandits.simulation.draws import Stream, next_uniform

SMALL_MEAN = 12.0
"""Below this many expected successes, inversion is faster than rejection."""


@kept(nogil=True)
def next_binomial(stream: Stream, trials: int, p: float) -> int:
    """Read a Binomial(trials, p) number."""
    if trials <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return trials
    if p > 0.5:
        return trials - next_binomial_lower(stream, trials, 1.0 - p)
    return next_binomial_lower(stream, trials, p)


@kept(nogil=True)
def next_binomial_lower(stream: Stream, trials: int, p: float) -> int:
    """Read a Binomial(trials, p) number for 0 < p <= 1/2."""
    if trials * p < SMALL_MEAN:
        return by_inversion(stream, trials, p)
    return by_rejection(stream, trials, p)


@kept(nogil=True)
def by_inversion(stream: Stream, trials: int, p: float) -> int:
    """Walk up from 0 until the probabilities passed exceed a uniform number."""
    odds = p / (1.0 - p)
    probability = math.exp(trials * math.log1p(-p))
    left = next_uniform(stream)
    successes = 0
    while left >= probability and successes < trials:
        left -= probability
        successes += 1
        probability *= odds * (trials - successes + 1) / successes
        # Far in the tail rounding can leave a remainder that no probability reaches.
        if probability < 1e-300:
            break
    return successes


@kept(nogil=True)
def by_rejection(stream: Stream, trials: int, p: float) -> int:
    """Transformed rejection with squeeze (Hoermann 1993, algorithm BTRS)."""
    spread = math.sqrt(trials * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = trials * p + 0.5
    alpha = (2.83 + 5.1 / b) * spread
    squeeze = 0.92 - 4.2 / b
    mode = math.floor((trials + 1) * p)
    at_mode = log_probability(mode, trials, p)
    while True:
        u = next_uniform(stream) - 0.5
        v = next_uniform(stream)
        s = 0.5 - abs(u)
        if s <= 0.0:
            continue
        k = math.floor((2.0 * a / s + b) * u + centre)
        if k < 0.0 or k > trials:
            continue
        if s >= 0.07 and v <= squeeze:
            return int(k)
        if v <= 0.0:
            return int(k)
        accept = math.log(v * alpha / (a / (s * s) + b))
        if accept <= log_probability(k, trials, p) - at_mode:
            return int(k)


@kept(nogil=True)
def log_probability(k: float, trials: int, p: float) -> float:
    """Return log P(Binomial(trials, p) = k), accurate for any number of trials (Loader 2000)."""
    n = float(trials)
    if k <= 0.0:
        return n * math.log1p(-p)
    if k >= n:
        return n * math.log(p)
    rest = n - k
    return (
        stirling_error(n)
        - stirling_error(k)
        - stirling_error(rest)
        - deviance(k, n * p)
        - deviance(rest, n * (1.0 - p))
        + 0.5 * math.log(n / (2.0 * math.pi * k * rest))
    )


@kept(nogil=True)
def stirling_error(n: float) -> float:
    """Return log(n!) - log(sqrt(2 pi n) (n/e)**n)."""
    if n < 16.0:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.9189385332046727
    square = n * n
    return (
        1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0) / square) / square) / square
    ) / n


@kept(nogil=True)
def deviance(x: float, mean: float) -> float:
    """Return x log(x / mean) + mean - x without cancellation."""
    if abs(x - mean) < 0.1 * (x + mean):
        v = (x - mean) / (x + mean)
        total = (x - mean) * v
        term = 2.0 * x * v
        square = v * v
        for j in range(1, 1000):
            term *= square
            closer = total + term / (2 * j + 1)
            if closer == total:
                return closer
            total = closer
    return x * math.log(x / mean) + mean - x
