"""A bandit's bias and noise in loops of single pulls, which are compiled for all of them at once.

A formula that takes less time than a call is in every loop. All others, and values that are not
those of a coin or a normal number, are compiled by themselves, if a run needs them, and called
through their addresses: a loop is compiled once for a policy, whatever it is run on.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numba
import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias.weights import quick_weight
from affinity_bandits.digests import own_code
from affinity_bandits.kernels import FloatArray, Function, bind, unbound
from affinity_bandits.noise.base import no_quantile
from affinity_bandits.noise.laws import GAUSSIAN_GATED, QUANTILE_SCALED
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.environment import (
    NO_FORMULA,
    BanditArrays,
    feedback,
    listed_value,
)
from affinity_bandits.simulation.pointers import Shared, Types, caller, types_of

NUMBER: Any = numba.float64
weight: Function = unbound
quantile: Function = unbound
call_weight: Function = unbound
call_value: Function = unbound


@cache
def weight_types() -> Types:
    """Return the types of the arguments of the kernel of a bias."""
    return types_of(0, np.zeros(1), 0.0)


@cache
def value_types() -> Types:
    """Return the types of the arguments of `value_of_list` and `value_by_quantile`."""
    return types_of(np.zeros(1), np.zeros(1), np.zeros((1, 1)), 0, 0.0, 0.0)


def weight_in_loop(arena: BanditArrays, share: float) -> float:
    """Return the weight of a share; a kernel."""
    if arena.formula != NO_FORMULA:
        return quick_weight(arena.formula, arena.parameters, share)
    return float(call_weight(arena.weight_at, (arena.code, arena.parameters, share)))


def value_in_loop(arena: BanditArrays, arm: int, mean: float, u: float) -> float:
    """Return the value of an arm for a uniform number; a kernel."""
    given = (arena.noise, arena.values, arena.cumulative, arm, mean, u)
    return float(call_value(arena.value_at, given))


def weight_of_share(code: int, parameters: FloatArray, share: float) -> float:
    """Return the weight of a share as a real number, whatever a bias's kernel returns; a kernel."""
    return float(weight(code, parameters, share))


def value_of_list(
    noise: FloatArray, values: FloatArray, cumulative: FloatArray, arm: int, mean: float, u: float
) -> float:
    """Return a score of a list; a kernel."""
    return listed_value(values, cumulative, arm, u)


def value_by_quantile(
    noise: FloatArray, values: FloatArray, cumulative: FloatArray, arm: int, mean: float, u: float
) -> float:
    """Return a value by the quantile of a noise; a kernel."""
    return float(quantile(noise, mean, u))


def loop_models() -> dict[str, Function]:
    """Return the kernels that loops bind: the weight of a share, and the feedback of a pull."""
    value = bind(value_in_loop, call_value=caller(value_types(), NUMBER))
    return {
        "weight": bind(weight_in_loop, call_weight=caller(weight_types(), NUMBER)),
        "feedback": bind(feedback, true_value=value),
    }


def with_addresses(arena: BanditArrays, bandit: AffinityBandit) -> BanditArrays:
    """Return the numbers of a bandit with the addresses that its loop needs, compiled by then."""
    if arena.formula == NO_FORMULA:
        kernel = bandit.bias.kernel
        shared = _shared_weight(kernel, own_code(kernel, strict=False))
        arena = arena._replace(weight_at=shared.address)
    if arena.law > GAUSSIAN_GATED:
        kernel = bandit.noise.kernel if arena.law >= QUANTILE_SCALED else no_quantile
        shared = _shared_value(kernel, own_code(kernel, strict=False))
        arena = arena._replace(value_at=shared.address)
    return arena


@lru_cache(maxsize=256)  # telling kernels apart takes a millisecond or two
def _shared_weight(kernel: Function, own: str | None) -> Shared:
    made = compiled(bind(weight_of_share, weight=kernel), inlined=False, shared=True)
    return Shared(made, weight_types(), NUMBER)


@lru_cache(maxsize=256)
def _shared_value(kernel: Function, own: str | None) -> Shared:
    value = value_of_list if kernel is no_quantile else bind(value_by_quantile, quantile=kernel)
    return Shared(compiled(value, inlined=False, shared=True), value_types(), NUMBER)
