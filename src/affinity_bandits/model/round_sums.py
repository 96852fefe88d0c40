"""Sums of weights over a round, in time independent of its length.

In a round with k arms, the l-th pull (from 0) of the arm at position j finds the share
(a + l) / (b + k l), with a its members and b all members before the round, plus j (Lemma C.1). Sums
of W and W**2 use the midpoint form of the Euler-Maclaurin formula: Gauss-Legendre integrals on
panels that grow with the distance to the summand's nearest singularity, and end corrections by
differences. Terms near that singularity are added one by one.

`weight` is bound to a bias's kernel.
"""

from __future__ import annotations

import numpy as np

from affinity_bandits.kernels.kernel import FloatArray, Function, bind, unbound

weight: Function = unbound

NODES, NODE_WEIGHTS = (array.copy() for array in np.polynomial.legendre.leggauss(16))
PLAIN = 64
"""Terms closer than this to a singularity are added one by one: the first end correction that is
left out, 31/967680 of a fifth derivative, is then below 1e-9 for powers up to 10."""
GROWTH = 4.0
"""Ratio of a panel's far end to its near end, seen from the singularity: 16 nodes give 1e-15."""

Sums = tuple[float, float]


def weight_at(code: int, parameters: FloatArray, a: float, b: float, k: float, at: float) -> float:
    """Return W at the (possibly fractional) pull `at` of a round.

    An infinite b means a constant share a.
    """
    share = a if b == np.inf else (a + at) / (b + k * at)
    return float(weight(code, parameters, share))


def sums_of_weights(
    code: int,
    parameters: FloatArray,
    breakpoints: FloatArray,
    smooth: bool,
    a: float,
    b: float,
    k: float,
    pulls: int,
) -> Sums:
    """Return the sums over l = 0, ..., pulls - 1 of W(share(l)) and of its square."""
    if b == np.inf:
        same = weight_at(code, parameters, a, b, k, 0.0)
        return pulls * same, pulls * same * same
    first, second = 0.0, 0.0
    start = 0.0
    end = float(pulls)
    rising = b > k * a  # the share moves from a/b towards 1/k
    for i in range(len(breakpoints)):
        # Passed in ascending order if the share rises, in descending order if it falls.
        mark = breakpoints[i] if rising else breakpoints[len(breakpoints) - 1 - i]
        slope = 1.0 - k * mark
        if slope != 0.0:
            crossing = (mark * b - a) / slope
            if start < crossing < end:
                cut = np.ceil(crossing)
                part = smooth_sums(code, parameters, smooth, a, b, k, start, cut)
                first += part[0]
                second += part[1]
                start = cut
    part = smooth_sums(code, parameters, smooth, a, b, k, start, end)
    return first + part[0], second + part[1]


def smooth_sums(
    code: int,
    parameters: FloatArray,
    smooth: bool,
    a: float,
    b: float,
    k: float,
    start: float,
    end: float,
) -> Sums:
    """Return the sums over whole l in [start, end), between two known kinks of W."""
    nearest = min(a, b / k)  # the summand can be singular at -a and at -b/k
    # Differences reach two terms beyond a panel's ends, where there may be a kink.
    panels_start = max(start + 3.0, np.ceil(PLAIN - nearest))
    panels_end = end - 3.0
    if panels_end - panels_start <= PLAIN:
        return plain_sums(code, parameters, a, b, k, start, end)
    first, second = plain_sums(code, parameters, a, b, k, start, panels_start)
    at = panels_start
    while at < panels_end:
        # Whole ends, so that panels meet between two terms.
        stop = min(panels_end, np.ceil((at + nearest) * GROWTH - nearest))
        if smooth:
            part = quadrature(code, parameters, a, b, k, at, stop)
        else:
            part = sum_by_halving(code, parameters, a, b, k, at, stop)
        first += part[0]
        second += part[1]
        at = stop
    part = plain_sums(code, parameters, a, b, k, panels_end, end)
    return first + part[0], second + part[1]


def plain_sums(
    code: int, parameters: FloatArray, a: float, b: float, k: float, start: float, end: float
) -> Sums:
    """Return the sums over whole l in [start, end), term by term."""
    first, second = 0.0, 0.0
    at = start
    while at < end:
        value = weight_at(code, parameters, a, b, k, at)
        first += value
        second += value * value
        at += 1.0
    return first, second


def sum_by_halving(
    code: int, parameters: FloatArray, a: float, b: float, k: float, start: float, end: float
) -> Sums:
    """Return the sums over whole l in [start, end) of a function that may have kinks.

    A panel is halved until its halves agree with it; around a kink that ends in plain addition.
    """
    first, second = 0.0, 0.0
    at = start
    length = end - start
    while at < end:
        stop = min(end, at + length)
        if stop - at <= PLAIN:
            part = plain_sums(code, parameters, a, b, k, at, stop)
            first += part[0]
            second += part[1]
            at = stop
            length = 2.0 * PLAIN
            continue
        middle = np.floor(0.5 * (at + stop))
        whole = quadrature(code, parameters, a, b, k, at, stop)
        left = quadrature(code, parameters, a, b, k, at, middle)
        right = quadrature(code, parameters, a, b, k, middle, stop)
        halves = left[0] + right[0]
        if abs(halves - whole[0]) <= 1e-12 * (1.0 + abs(halves)):
            first += halves
            second += left[1] + right[1]
            length = 2.0 * (stop - at)
            at = stop
        else:
            length = middle - at
    return first, second


def quadrature(
    code: int, parameters: FloatArray, a: float, b: float, k: float, start: float, end: float
) -> Sums:
    """Return the Euler-Maclaurin values of one panel.

    sum = integral - (g'(right) - g'(left)) / 24 + 7 (g'''(right) - g'''(left)) / 5760, between
    points half a pull before `start` and `end`.
    """
    half = 0.5 * (end - start)
    first, second = 0.0, 0.0
    for i in range(len(NODES)):
        value = weight_at(code, parameters, a, b, k, start - 0.5 + half * (1.0 + NODES[i]))
        first += NODE_WEIGHTS[i] * value
        second += NODE_WEIGHTS[i] * value * value
    left = corrections(code, parameters, a, b, k, start)
    right = corrections(code, parameters, a, b, k, end)
    return half * first - (right[0] - left[0]), half * second - (right[1] - left[1])


def corrections(code: int, parameters: FloatArray, a: float, b: float, k: float, at: float) -> Sums:
    """Return g'/24 - 7 g'''/5760 at the point half a pull before `at`, for W and W**2."""
    w0 = weight_at(code, parameters, a, b, k, at - 2.0)
    w1 = weight_at(code, parameters, a, b, k, at - 1.0)
    w2 = weight_at(code, parameters, a, b, k, at)
    w3 = weight_at(code, parameters, a, b, k, at + 1.0)
    return correction(w0, w1, w2, w3), correction(w0 * w0, w1 * w1, w2 * w2, w3 * w3)


def correction(g0: float, g1: float, g2: float, g3: float) -> float:
    """Return g'/24 - 7 g'''/5760 in the middle of four neighboring values.

    The third difference D3 and the first D1 of the middle pair give g''' = D3, g' = D1 - D3/24.
    """
    third = g3 - 3.0 * g2 + 3.0 * g1 - g0
    return (g2 - g1 - third / 24.0) / 24.0 - 7.0 * third / 5760.0


def bound_sums(bias_kernel: Function) -> Function:
    """Return `sums_of_weights` for a bias, as a kernel."""
    at = bind(weight_at, weight=bias_kernel)
    plain = bind(plain_sums, weight_at=at)
    panel = bind(quadrature, weight_at=at, corrections=bind(corrections, weight_at=at))
    rough = bind(sum_by_halving, plain_sums=plain, quadrature=panel)
    smooth = bind(smooth_sums, plain_sums=plain, quadrature=panel, sum_by_halving=rough)
    return bind(sums_of_weights, smooth_sums=smooth, weight_at=at)
