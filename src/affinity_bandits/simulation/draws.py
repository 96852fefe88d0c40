"""Random numbers as a pure function of (key, replicate, position), compiled.

`philox` is numpy's Philox 4x64-10, word for word: position p of replicate r under a key is word p
of `numpy.random.Philox(key=key, counter=[0, 0, r, 0])`. Being a function of the position, a
stream needs no state but a count, and any part of it can be had without what comes before.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.extending import intrinsic

from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.simulation.code_cache import interpreted, kept

Words = npt.NDArray[np.uint64]

ROUNDS = 10
MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
UNIFORM_SHIFT, CENTRED_SHIFT = np.uint64(11), np.uint64(12)


class Stream(NamedTuple):
    """One replicate's stream and how much of it has been read."""

    key: Words
    replicate: np.uint64
    read: Words  # [0]: words read so far


@intrinsic
def compiled_high_product(typing_context: Any, left: Any, right: Any) -> Any:
    """Return the upper 64 bits of a 64 by 64 bit product, which Python arithmetic cannot name."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(
            builder.zext(arguments[0], wide), builder.zext(arguments[1], wide), name="product"
        )
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return numba.uint64(numba.uint64, numba.uint64), generate


def plain_high_product(left: np.uint64, right: np.uint64) -> np.uint64:
    """Return the same by Python's own whole numbers."""
    return np.uint64((int(left) * int(right)) >> 64)


high_product: Function = plain_high_product if interpreted() else compiled_high_product


@intrinsic
def compiled_as_real(typing_context: Any, word: Any) -> Any:
    """Return the real number that has the bits of a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return numba.float64(numba.uint64), generate


@intrinsic
def compiled_as_word(typing_context: Any, number: Any) -> Any:
    """Return the word that has the bits of a real number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return numba.uint64(numba.float64), generate


def plain_as_real(word: np.uint64) -> np.float64:
    """Return the same by numpy."""
    return np.uint64(word).view(np.float64)


def plain_as_word(number: float) -> np.uint64:
    """Return the same by numpy."""
    return np.float64(number).view(np.uint64)


as_real: Function = plain_as_real if interpreted() else compiled_as_real
as_word: Function = plain_as_word if interpreted() else compiled_as_word


@kept(nogil=True, inline="always")
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


@kept(nogil=True, inline="always")
def as_uniform(word: np.uint64) -> float:
    """Return a number in [0, 1) with 53 random bits, as numpy's `random` does."""
    return np.float64(word >> UNIFORM_SHIFT) * 1.1102230246251565e-16


@kept(nogil=True, inline="always")
def as_centred(word: np.uint64) -> float:
    """Return a number strictly inside (0, 1) with 52 random bits, symmetric about 1/2."""
    return (np.float64(word >> CENTRED_SHIFT) + 0.5) * 2.220446049250313e-16


@kept(nogil=True, _nrt=False)
def fill_words(out: FloatArray, key: Words, replicate: np.uint64, first: int) -> None:
    """Fill `out` with the stream's words from position `first` on, as the bits of its numbers."""
    for i in range(0, len(out) + first % 4, 4):
        words = philox(key, replicate, np.uint64((first + i) // 4))
        place = i - first % 4
        if place >= 0 and place + 4 <= len(out):
            out[place] = as_real(words[0])
            out[place + 1] = as_real(words[1])
            out[place + 2] = as_real(words[2])
            out[place + 3] = as_real(words[3])
        else:
            for j in range(4):
                if 0 <= place + j < len(out):
                    out[place + j] = as_real(words[j])


@kept(nogil=True, _nrt=False)
def fill_uniform(out: FloatArray, key: Words, replicate: np.uint64, first: int) -> None:
    """Fill `out` with the stream's numbers from position `first` on, uniform in [0, 1)."""
    fill_words(out, key, replicate, first)  # the same room, so that a run needs no other
    for i in range(len(out)):
        out[i] = as_uniform(as_word(out[i]))


@kept(nogil=True)
def fill_normal(out: FloatArray, key: Words, replicate: np.uint64, first: int) -> None:
    """Fill `out` with the stream's numbers from position `first` on, standard normal."""
    fill_words(out, key, replicate, first)
    for i in range(len(out)):
        out[i] = as_centred(as_word(out[i]))
    to_normal(out)


@kept(nogil=True)
def to_normal(numbers: FloatArray) -> None:
    """Turn numbers inside (0, 1) into normal quantiles, in place.

    In two passes, because the first has no branch and so runs on vectors; it is wrong in the
    tails, which the second mends.
    """
    central = np.empty(len(numbers))
    for i in range(len(numbers)):
        central[i] = central_quantile(numbers[i] - 0.5)
    for i in range(len(numbers)):
        if abs(numbers[i] - 0.5) <= 0.425:
            numbers[i] = central[i]
        else:
            numbers[i] = tail_quantile(numbers[i])


@kept(nogil=True)
def next_word(stream: Stream) -> Any:
    """Read one word of a stream."""
    position = stream.read[0]
    stream.read[0] = position + ONE
    w0, w1, w2, w3 = philox(stream.key, stream.replicate, position >> TWO)
    return (w0, w1, w2, w3)[position & np.uint64(3)]


@kept(nogil=True)
def next_uniform(stream: Stream) -> float:
    """Read a number uniform in [0, 1)."""
    return as_uniform(next_word(stream))


@kept(nogil=True)
def next_normal(stream: Stream) -> float:
    """Read a standard normal number."""
    return normal_quantile(as_centred(next_word(stream)))


@kept(nogil=True)
def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of p in (0, 1) (Wichura 1988, AS 241, 16 digits)."""
    if abs(p - 0.5) <= 0.425:
        return central_quantile(p - 0.5)
    return tail_quantile(p)


@kept(nogil=True, inline="always")
def central_quantile(q: float) -> float:
    """Return the quantile of 1/2 + q for abs(q) <= 0.425."""
    r = 0.180625 - q * q
    upper = 2509.0809287301226727
    upper = upper * r + 33430.575583588128105
    upper = upper * r + 67265.770927008700853
    upper = upper * r + 45921.953931549871457
    upper = upper * r + 13731.693765509461125
    upper = upper * r + 1971.5909503065514427
    upper = upper * r + 133.14166789178437745
    upper = upper * r + 3.387132872796366608
    lower = 5226.495278852854561
    lower = lower * r + 28729.085735721942674
    lower = lower * r + 39307.89580009271061
    lower = lower * r + 21213.794301586595867
    lower = lower * r + 5394.1960214247511077
    lower = lower * r + 687.1870074920579083
    lower = lower * r + 42.313330701600911252
    lower = lower * r + 1.0
    return q * upper / lower


@kept(nogil=True)
def tail_quantile(p: float) -> float:
    """Return the quantile of p for abs(p - 1/2) > 0.425."""
    r = math.sqrt(-math.log(min(p, 1.0 - p)))
    if r <= 5.0:
        r -= 1.6
        upper = 7.7454501427834140764e-4
        upper = upper * r + 0.0227238449892691845833
        upper = upper * r + 0.24178072517745061177
        upper = upper * r + 1.27045825245236838258
        upper = upper * r + 3.64784832476320460504
        upper = upper * r + 5.7694972214606914055
        upper = upper * r + 4.6303378461565452959
        upper = upper * r + 1.42343711074968357734
        lower = 1.05075007164441684324e-9
        lower = lower * r + 5.475938084995344946e-4
        lower = lower * r + 0.0151986665636164571966
        lower = lower * r + 0.14810397642748007459
        lower = lower * r + 0.68976733498510000455
        lower = lower * r + 1.6763848301838038494
        lower = lower * r + 2.05319162663775882187
        lower = lower * r + 1.0
    else:
        r -= 5.0
        upper = 2.01033439929228813265e-7
        upper = upper * r + 2.71155556874348757815e-5
        upper = upper * r + 0.0012426609473880784386
        upper = upper * r + 0.026532189526576123093
        upper = upper * r + 0.29656057182850489123
        upper = upper * r + 1.7848265399172913358
        upper = upper * r + 5.4637849111641143699
        upper = upper * r + 6.6579046435011037772
        lower = 2.04426310338993978564e-15
        lower = lower * r + 1.4215117583164458887e-7
        lower = lower * r + 1.8463183175100546818e-5
        lower = lower * r + 7.868691311456132591e-4
        lower = lower * r + 0.0148753612908506148525
        lower = lower * r + 0.13692988092273580531
        lower = lower * r + 0.59983220655588793769
        lower = lower * r + 1.0
    return -upper / lower if p < 0.5 else upper / lower
