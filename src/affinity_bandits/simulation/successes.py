"""The number of successes in a round of Bernoulli pulls whose probability drifts, exactly.

The probability p(l) = scale * W(share(l)) is monotone in l, so in a block of pulls it lies between
its values lo and hi at the ends. Each pull succeeds for certain with probability lo, and is
undecided with probability hi - lo, in which case it succeeds with probability
(p(l) - lo) / (hi - lo). The certain ones are one binomial number, the undecided ones are few, and
their positions are a uniformly random subset of the block. Blocks are grown and shrunk so that a
handful of pulls is undecided in each.
"""

from __future__ import annotations

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind
from affinity_bandits.round_sums import weight_at
from affinity_bandits.simulation.binomial import next_binomial
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, next_uniform

SHORT = 16
"""Blocks of up to this many pulls are drawn pull by pull."""
UNDECIDED = 12.0
"""Expected undecided pulls beyond which a block is halved; its two binomials cost as much."""


def count_successes(
    stream: Stream,
    code: int,
    parameters: FloatArray,
    scale: float,
    a: float,
    b: float,
    k: float,
    pulls: int,
) -> int:
    """Return how many of the pulls l = 0, ..., pulls - 1 succeed."""
    successes = 0
    start = 0
    length = pulls
    while start < pulls:
        length = min(length, pulls - start)
        if length <= SHORT:
            for at in range(start, start + length):
                if next_uniform(stream) < scale * weight_at(code, parameters, a, b, k, float(at)):
                    successes += 1
            start += length
            length = 4 * SHORT
            continue
        first = scale * weight_at(code, parameters, a, b, k, float(start))
        last = scale * weight_at(code, parameters, a, b, k, float(start + length - 1))
        low = min(first, last)
        spread = max(first, last) - low
        if length * spread > UNDECIDED:
            length = max(SHORT, length // 2)
            continue
        certain = next_binomial(stream, length, low)
        successes += certain
        if spread > 0.0:
            undecided = next_binomial(stream, length - certain, spread / (1.0 - low))
            for place in distinct_places(stream, length, undecided):
                p = scale * weight_at(code, parameters, a, b, k, float(start + place))
                if next_uniform(stream) * spread < p - low:
                    successes += 1
        start += length
        length *= 4
    return successes


def distinct_places(stream: Stream, length: int, count: int) -> IntArray:
    """Return a uniformly random subset of 0, ..., length - 1 (Floyd's algorithm)."""
    places = np.empty(count, dtype=np.int64)
    for i in range(count):
        last = length - count + i
        place = int(next_uniform(stream) * (last + 1))
        for j in range(i):
            if places[j] == place:
                place = last
                break
        places[i] = place
    return places


def bound_successes(bias_kernel: Function) -> Function:
    """Return `count_successes` for a bias, as a kernel."""
    return bind(count_successes, weight_at=bind(weight_at, weight=bias_kernel))


def compiled_successes(bias_kernel: Function) -> Function:
    """Return `count_successes` for a bias and other kernels, which need not allocate as it does."""
    return compiled(bound_successes(bias_kernel), allocates=True, called=False)
