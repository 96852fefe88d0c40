"""Random numbers as a pure function of (key, replicate, position), compiled.

`philox` is numpy's Philox 4x64-10: position p of replicate r under a key is word p of
`numpy.random.Philox(key=key, counter=[0, 0, r, 0])`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from affinity_bandits.kernels.compile import COMPILED_AS, runs_interpreted
from affinity_bandits.kernels.kernel import FloatArray, Function, bind
from affinity_bandits.model.round_sums import weight_at

Words = npt.NDArray[np.uint64]

ROUNDS = 10
MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
UNIFORM_SHIFT, CENTERED_SHIFT = np.uint64(11), np.uint64(12)


class Stream(NamedTuple):
    """One replicate's stream and how much of it has been read."""

    key: Words
    replicate: np.uint64
    read: Words  # [0]: words read so far; [1:]: room for places, where successes are counted


def high_product(left: np.uint64, right: np.uint64) -> Any:
    """Return the upper 64 bits of a 64 by 64 bit product, by Python's own whole numbers."""
    return np.uint64((int(left) * int(right)) >> 64)


if not runs_interpreted():
    import numba
    from numba.extending import intrinsic

    @intrinsic
    def compiled_high_product(typing_context: Any, left: Any, right: Any) -> Any:
        """Return the same by LLVM instructions."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = arguments[0].type
            wide = type(word)(2 * word.width)
            product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
            return builder.trunc(builder.lshr(product, wide(word.width)), word)

        return numba.uint64(numba.uint64, numba.uint64), generate

    COMPILED_AS[high_product] = compiled_high_product


def philox(key: Words, replicate: np.uint64, block: np.uint64) -> tuple[Any, Any, Any, Any]:
    """Return the four words of a block of a replicate's stream; blocks count from 0."""
    # numpy steps the counter before it draws, so its first block has the counter 1.
    c0, c1, c2, c3 = block + ONE, ZERO, replicate, ZERO
    k0, k1 = key[0], key[1]
    for _ in range(ROUNDS):
        high_0: Any = high_product(MULTIPLIER_0, c0)
        low_0 = MULTIPLIER_0 * c0
        high_1: Any = high_product(MULTIPLIER_1, c2)
        low_1 = MULTIPLIER_1 * c2
        c0, c1, c2, c3 = high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0
        k0 += WEYL_0
        k1 += WEYL_1
    return c0, c1, c2, c3


def as_uniform(word: np.uint64) -> float:
    """Return a number in [0, 1) with 53 random bits, as numpy's `random` does."""
    return np.float64(word >> UNIFORM_SHIFT) * 1.1102230246251565e-16


def as_centered(word: np.uint64) -> float:
    """Return a number strictly inside (0, 1) with 52 random bits, symmetric about 1/2."""
    return (np.float64(word >> CENTERED_SHIFT) + 0.5) * 2.220446049250313e-16


from_word: Function = as_uniform


def fill_uniform(out: FloatArray, key: Words, replicate: np.uint64, first: int) -> None:
    """Fill `out` with the stream's numbers from position `first` on, uniform in [0, 1)."""
    for i in range(0, len(out) + first % 4, 4):
        words = philox(key, replicate, np.uint64((first + i) // 4))
        place = i - first % 4
        if place >= 0 and place + 4 <= len(out):
            out[place] = from_word(words[0])
            out[place + 1] = from_word(words[1])
            out[place + 2] = from_word(words[2])
            out[place + 3] = from_word(words[3])
        else:
            for j in range(4):
                if 0 <= place + j < len(out):
                    out[place + j] = from_word(words[j])


fill_centered = bind(fill_uniform, from_word=as_centered)


def fill_normal(out: FloatArray, key: Words, replicate: np.uint64, first: int) -> None:
    """Fill `out` with the stream's standard normal numbers from position `first` on.

    The first pass is free of branches, so it is vectorized; the second corrects the tails.
    """
    fill_centered(out, key, replicate, first)
    central = np.empty(len(out))
    for i in range(len(out)):
        central[i] = central_quantile(out[i] - 0.5)
    for i in range(len(out)):
        if abs(out[i] - 0.5) <= 0.425:
            out[i] = central[i]
        else:
            out[i] = tail_quantile(out[i])


def next_word(stream: Stream) -> Any:
    """Read one word of a stream."""
    position = stream.read[0]
    stream.read[0] = position + ONE
    return philox(stream.key, stream.replicate, position >> TWO)[position & np.uint64(3)]


def next_uniform(stream: Stream) -> float:
    """Read a number uniform in [0, 1)."""
    return as_uniform(next_word(stream))


def next_normal(stream: Stream) -> float:
    """Read a standard normal number."""
    return normal_quantile(as_centered(next_word(stream)))


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of p in (0, 1) (Wichura 1988, AS 241, 16 digits)."""
    if abs(p - 0.5) <= 0.425:
        return central_quantile(p - 0.5)
    return tail_quantile(p)


def central_quantile(q: float) -> float:
    """Return the quantile of 1/2 + q for abs(q) <= 0.425."""
    r = 0.180625 - q * q
    upper = polynomial(
        r,
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    )
    lower = polynomial(
        r,
        5226.495278852854561,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    )
    return q * upper / lower


def polynomial(
    r: float,
    a: float,
    b: float,
    c: float,
    d: float,
    e: float,
    f: float,
    g: float,
    h: float,
) -> float:
    """Return a polynomial of degree 7 by Horner's rule, from its coefficients, highest first."""
    return ((((((a * r + b) * r + c) * r + d) * r + e) * r + f) * r + g) * r + h


def tail_quantile(p: float) -> float:
    """Return the quantile of p for abs(p - 1/2) > 0.425."""
    r = math.sqrt(-math.log(min(p, 1.0 - p)))
    if r <= 5.0:
        r -= 1.6
        upper = polynomial(
            r,
            7.7454501427834140764e-4,
            0.0227238449892691845833,
            0.24178072517745061177,
            1.27045825245236838258,
            3.64784832476320460504,
            5.7694972214606914055,
            4.6303378461565452959,
            1.42343711074968357734,
        )
        lower = polynomial(
            r,
            1.05075007164441684324e-9,
            5.475938084995344946e-4,
            0.0151986665636164571966,
            0.14810397642748007459,
            0.68976733498510000455,
            1.6763848301838038494,
            2.05319162663775882187,
            1.0,
        )
    else:
        r -= 5.0
        upper = polynomial(
            r,
            2.01033439929228813265e-7,
            2.71155556874348757815e-5,
            0.0012426609473880784386,
            0.026532189526576123093,
            0.29656057182850489123,
            1.7848265399172913358,
            5.4637849111641143699,
            6.6579046435011037772,
        )
        lower = polynomial(
            r,
            2.04426310338993978564e-15,
            1.4215117583164458887e-7,
            1.8463183175100546818e-5,
            7.868691311456132591e-4,
            0.0148753612908506148525,
            0.13692988092273580531,
            0.59983220655588793769,
            1.0,
        )
    return -upper / lower if p < 0.5 else upper / lower


SMALL_MEAN = 12.0
"""Below this many expected successes, inversion is faster than rejection."""


def next_binomial(stream: Stream, trials: int, p: float) -> int:
    """Read a Binomial(trials, p) number."""
    if trials <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return trials
    less = min(p, 1.0 - p)
    if trials * less < SMALL_MEAN:
        successes = by_inversion(stream, trials, less)
    else:
        successes = by_rejection(stream, trials, less)
    return trials - successes if p > 0.5 else successes


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


def stirling_error(n: float) -> float:
    """Return log(n!) - log(sqrt(2 pi n) (n/e)**n)."""
    if n < 16.0:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.9189385332046727
    square = n * n
    return (
        1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0) / square) / square) / square
    ) / n


def deviance(x: float, mean: float) -> float:
    """Return x log(x / mean) + mean - x, accurate also where terms cancel."""
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


SHORT = 16
"""Blocks of up to this many pulls are drawn pull by pull."""
UNDECIDED = 12.0
"""Expected undecided pulls beyond which a block is halved; its two binomials cost as much."""
PLACES = 512
"""Room for undecided pulls. That a block has more has a probability of less than 1e-600."""


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
            undecided = min(undecided, len(stream.read) - 1)
            choose_places(stream, length, undecided)
            for i in range(undecided):
                place = float(start + int(stream.read[1 + i]))
                p = scale * weight_at(code, parameters, a, b, k, place)
                if next_uniform(stream) * spread < p - low:
                    successes += 1
        start += length
        length *= 4
    return successes


def choose_places(stream: Stream, length: int, count: int) -> None:
    """Put a uniformly random subset of 0, ..., length - 1 into the room (Floyd's algorithm)."""
    for i in range(count):
        last = length - count + i
        place = np.uint64(next_uniform(stream) * (last + 1))
        for j in range(i):
            if stream.read[1 + j] == place:
                place = np.uint64(last)
                break
        stream.read[1 + i] = place


def new_read() -> Words:
    """Return the counter and the room of a stream of which successes are counted."""
    return np.zeros(1 + PLACES, dtype=np.uint64)


def bound_successes(bias_kernel: Function) -> Function:
    """Return `count_successes` for a bias, as a kernel."""
    return bind(count_successes, weight_at=bind(weight_at, weight=bias_kernel))
