"""Sums of weights over a round, as the engine takes them and by plain addition."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from affinity_bandits import Custom
from affinity_bandits.kernels.compile import compile_kernel, compiled_part
from affinity_bandits.model.bias import Bias, weight
from affinity_bandits.model.round_sums import bound_sums


@cache
def compiled_sums(kernel: Any) -> Any:
    return compile_kernel(bound_sums(kernel), allocates=True)


def quick_sums(bias: Bias, a: int, b: float, k: int, pulls: int) -> tuple[float, float]:
    marks = np.array(bias.breakpoints, dtype=np.float64)
    sums = compiled_sums(bias.kernel if isinstance(bias, Custom) else weight)
    result: tuple[float, float] = sums(
        bias.code, bias.parameters, marks, bool(bias.smooth), float(a), float(b), float(k), pulls
    )
    return result


@numba.njit
def plain_weights(function, code, parameters, a, b, k, out):  # type: ignore[no-untyped-def]
    for ell in range(len(out)):
        out[ell] = function(code, parameters, (a + ell) / (b + k * ell))


def plain_sums(bias: Bias, a: int, b: float, k: int, pulls: int) -> tuple[float, float]:
    out = np.empty(pulls)
    kernel = compiled_part(bias.kernel)
    plain_weights(kernel, bias.code, bias.parameters, float(a), float(b), float(k), out)
    return float(np.sum(out)), float(np.sum(out * out))


@numba.njit
def many_counts(count, stream, code, parameters, scale, a, b, k, pulls, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = count(stream, code, parameters, scale, a, b, k, pulls)
