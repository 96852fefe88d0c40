"""Sums of weights over a round, in time that does not grow with the round.

In a round with k arms, the l-th pull (from 0) of the arm at position j finds the share
(a + l) / (b + k l), with a its members and b all members before the round, plus j
(`lem:eliminationFracDecomp`). Its weights are summed by the midpoint form of the Euler-Maclaurin
formula: an integral, which Gauss-Legendre nodes give on panels that grow with the distance to the
nearest singularity of the summand, and end corrections by differences. What would be added too
near to that singularity is added term by term.

`weight` is bound to a bias's kernel; `power` 1 sums W, 2 sums W**2.
"""

from __future__ import annotations

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, unbound

weight: Function = unbound

NODES, NODE_WEIGHTS = (array.copy() for array in np.polynomial.legendre.leggauss(16))
PLAIN = 48
"""Terms closer than this to a singularity are added one by one: the next end correction is then
below 1e-13 of a term."""
GROWTH = 3.0
"""Ratio of a panel's far end to its near end, seen from the singularity: 16 nodes give 1e-15."""


def term(
    code: int, parameters: FloatArray, a: float, b: float, k: float, at: float, power: int
) -> float:
    """Return W**power at the (possibly fractional) pull `at`."""
    share = (a + at) / (b + k * at)
    value = weight(code, parameters, share)
    return float(value if power == 1 else value * value)


def sum_of_weights(
    code: int,
    parameters: FloatArray,
    breakpoints: FloatArray,
    smooth: bool,
    a: float,
    b: float,
    k: float,
    pulls: int,
    power: int,
) -> float:
    """Return the sum over l = 0, ..., pulls - 1 of W(share(l))**power."""
    total = 0.0
    start = 0.0
    end = float(pulls)
    rising = b > k * a  # the share moves from a/b towards 1/k
    for i in range(len(breakpoints)):
        # Shares are passed in ascending order if they rise, in descending order if they fall.
        mark = breakpoints[i] if rising else breakpoints[len(breakpoints) - 1 - i]
        slope = 1.0 - k * mark
        if slope != 0.0:
            crossing = (mark * b - a) / slope
            if start < crossing < end:
                cut = np.ceil(crossing)
                total += smooth_sum(code, parameters, smooth, a, b, k, start, cut, power)
                start = cut
    return total + smooth_sum(code, parameters, smooth, a, b, k, start, end, power)


def smooth_sum(
    code: int,
    parameters: FloatArray,
    smooth: bool,
    a: float,
    b: float,
    k: float,
    start: float,
    end: float,
    power: int,
) -> float:
    """Return the sum over whole l in [start, end), where W is smooth in between."""
    nearest = min(a, b / k)  # the summand can be singular at -a and at -b/k
    # Differences reach two terms beyond a panel's ends, where there may be a kink.
    panels_start = max(start + 3.0, np.ceil(PLAIN - nearest))
    panels_end = end - 3.0
    if panels_end - panels_start <= PLAIN:
        return plain_sum(code, parameters, a, b, k, start, end, power)
    total = plain_sum(code, parameters, a, b, k, start, panels_start, power)
    at = panels_start
    while at < panels_end:
        # Whole ends, so that panels meet between two terms.
        stop = min(panels_end, np.ceil((at + nearest) * GROWTH - nearest))
        if smooth:
            total += quadrature(code, parameters, a, b, k, at, stop, power)
        else:
            total += halved(code, parameters, a, b, k, at, stop, power)
        at = stop
    return total + plain_sum(code, parameters, a, b, k, panels_end, end, power)


def plain_sum(
    code: int,
    parameters: FloatArray,
    a: float,
    b: float,
    k: float,
    start: float,
    end: float,
    power: int,
) -> float:
    """Return the sum over whole l in [start, end), term by term."""
    total = 0.0
    at = start
    while at < end:
        total += term(code, parameters, a, b, k, at, power)
        at += 1.0
    return total


def halved(
    code: int,
    parameters: FloatArray,
    a: float,
    b: float,
    k: float,
    start: float,
    end: float,
    power: int,
) -> float:
    """Return the sum over whole l in [start, end) of a function not known to be smooth.

    A panel is halved until its halves agree with the whole; around a kink that ends in plain
    addition.
    """
    total = 0.0
    at = start
    length = end - start
    while at < end:
        stop = min(end, at + length)
        if stop - at <= PLAIN:
            total += plain_sum(code, parameters, a, b, k, at, stop, power)
            at = stop
            length = 2.0 * PLAIN
            continue
        middle = np.floor(0.5 * (at + stop))
        whole = quadrature(code, parameters, a, b, k, at, stop, power)
        halves = quadrature(code, parameters, a, b, k, at, middle, power) + quadrature(
            code, parameters, a, b, k, middle, stop, power
        )
        if abs(halves - whole) <= 1e-12 * (1.0 + abs(whole)):
            total += halves
            length = 2.0 * (stop - at)
            at = stop
        else:
            length = middle - at
    return total


def quadrature(
    code: int,
    parameters: FloatArray,
    a: float,
    b: float,
    k: float,
    start: float,
    end: float,
    power: int,
) -> float:
    """Return the Euler-Maclaurin value of one panel."""
    left = start - 0.5
    half = 0.5 * (end - start)
    integral = 0.0
    for i in range(len(NODES)):
        at = left + half * (1.0 + NODES[i])
        integral += NODE_WEIGHTS[i] * term(code, parameters, a, b, k, at, power)
    # sum = integral - (g'(right) - g'(left)) / 24 + 7 (g'''(right) - g'''(left)) / 5760, with the
    # derivatives at half-whole points taken from differences of terms around them: the third
    # difference D3 and the first D1 give g''' = D3 and g' = D1 - D3 / 24.
    return half * integral - (
        correction(code, parameters, a, b, k, end, power)
        - correction(code, parameters, a, b, k, start, power)
    )


def correction(
    code: int, parameters: FloatArray, a: float, b: float, k: float, at: float, power: int
) -> float:
    """Return g'/24 - 7 g'''/5760 at the point half a pull before `at`."""
    before_last = term(code, parameters, a, b, k, at - 2.0, power)
    last = term(code, parameters, a, b, k, at - 1.0, power)
    first = term(code, parameters, a, b, k, at, power)
    second = term(code, parameters, a, b, k, at + 1.0, power)
    third = second - 3.0 * first + 3.0 * last - before_last
    return (first - last - third / 24.0) / 24.0 - 7.0 * third / 5760.0
