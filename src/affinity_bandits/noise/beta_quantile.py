"""Quantiles of the Beta distribution, as plain kernels.

A quantile makes one number of a stream one score, whatever its law: a run can then be cut, saved
and resumed anywhere. Rejection would read as many as it happens to need.
"""

from __future__ import annotations

import math

TINY = 1e-300
"""Stands for 0 where a number is divided by."""
SMALLEST_EXPONENT = -745.0
"""The logarithm of the smallest float; plain Python refuses what lies far below."""
CLOSE = 1e-8
"""Relative length of a step after which another would change nothing: errors go with its cube."""
NEGLIGIBLE = -38.0
"""The logarithm of what no float is told from 1 by."""
ROUNDING = 2.220446049250313e-16


def beta_quantile(a: float, b: float, p: float) -> float:
    """Return x with I_x(a, b) = p, for a, b > 0 and p in [0, 1).

    Halley's steps from a first guess (Press et al., Numerical Recipes, 6.14), held between two
    numbers that x is known to lie between, and these are halved where a step does not halve what
    is missing, so that the steps end whatever a and b are.
    """
    if p <= 0.0:
        return 0.0
    norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    # Near 0 I_x is x**a / (a B(a, b)) (1 + r) with |r| < (1 + b) x.
    near_zero = (math.log(p) + math.log(a) - norm) / a
    if near_zero < NEGLIGIBLE - math.log(1.0 + b):
        return math.exp(near_zero) if near_zero > SMALLEST_EXPONENT else 0.0
    x = min(max(first_guess(a, b, p), 1e-18), 1.0 - ROUNDING)
    low, high, before = 0.0, 1.0, 2.0
    for _ in range(200):
        error = beta_part(a, b, norm, x) - p
        if error == 0.0:
            return x
        if error > 0.0:
            high = x
        else:
            low = x
        closer = 0.5 * (low + high)
        exponent = (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) + norm
        if abs(error) < 0.5 * before and abs(exponent) < 600.0:
            newton = error / math.exp(exponent)
            curve = newton * ((a - 1.0) / x - (b - 1.0) / (1.0 - x))
            step = x - newton / (1.0 - 0.5 * min(1.0, max(-1.0, curve)))
            if low < step < high:
                if abs(step - x) <= CLOSE * min(x, 1.0 - x):
                    return step
                closer = step
        if abs(closer - x) <= ROUNDING * x or closer <= low or closer >= high:
            return x
        before = abs(error)
        x = closer
    return x


def first_guess(a: float, b: float, p: float) -> float:
    """Return about where the quantile lies."""
    if a >= 1.0 and b >= 1.0:
        tail = math.sqrt(-2.0 * math.log(p if p < 0.5 else 1.0 - p))
        z = (2.30753 + tail * 0.27061) / (1.0 + tail * (0.99229 + tail * 0.04481)) - tail
        if p < 0.5:
            z = -z
        curve = (z * z - 3.0) / 6.0
        mean = 2.0 / (1.0 / (2.0 * a - 1.0) + 1.0 / (2.0 * b - 1.0))
        w = z * math.sqrt(curve + mean) / mean if curve + mean > 0.0 else 0.0
        w -= (1.0 / (2.0 * b - 1.0) - 1.0 / (2.0 * a - 1.0)) * (
            curve + 5.0 / 6.0 - 2.0 / (3.0 * mean)
        )
        return a / (a + b * math.exp(min(600.0, max(-600.0, 2.0 * w))))
    left = math.exp(a * math.log(a / (a + b))) / a
    right = math.exp(b * math.log(b / (a + b))) / b
    both = left + right
    if p < left / both:
        return math.exp(max(SMALLEST_EXPONENT, math.log(a * both * p) / a))
    return 1.0 - math.exp(max(SMALLEST_EXPONENT, min(0.0, math.log(b * both * (1.0 - p)) / b)))


def beta_part(a: float, b: float, norm: float, x: float) -> float:
    """Return I_x(a, b), the probability of less than x; `norm` is -log B(a, b)."""
    front = math.exp(max(SMALLEST_EXPONENT, a * math.log(x) + b * math.log1p(-x) + norm))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * fraction(a, b, x) / a
    return 1.0 - front * fraction(b, a, 1.0 - x) / b


def fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b), by Lentz's rule."""
    c = 1.0
    d = apart(1.0 - (a + b) * x / (a + 1.0))
    d = 1.0 / d
    found = d
    for m in range(1, 2000):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 / apart(1.0 + even * d)
        c = apart(1.0 + even / c)
        found *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 / apart(1.0 + odd * d)
        c = apart(1.0 + odd / c)
        change = d * c
        found *= change
        if abs(change - 1.0) <= ROUNDING:
            break
    return found


def apart(value: float) -> float:
    """Return a number that can be divided by."""
    return TINY if abs(value) < TINY else value
