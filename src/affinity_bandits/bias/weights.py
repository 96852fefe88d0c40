"""The weight of a share as a kernel: every built-in formula, chosen by a number."""

from __future__ import annotations

import math

from affinity_bandits.kernels import FloatArray

CONSTANT, IDENTITY, SQUARE, CUBE, POWER, SIGMOID, PLATEAU, CUSTOM, PIECEWISE_POWER = range(9)
IN_GROUP_BONUS = 9
CLIPPED = 16
"""Added to a code whose value is clipped."""
FORMULAS = (
    CONSTANT,
    IDENTITY,
    SQUARE,
    CUBE,
    POWER,
    SIGMOID,
    PLATEAU,
    PIECEWISE_POWER,
    IN_GROUP_BONUS,
)
QUICK = (CONSTANT, IDENTITY, SQUARE, CUBE, IN_GROUP_BONUS)
"""The formulas of `quick_weight`."""
KNOWN = frozenset((*FORMULAS, *(formula + CLIPPED for formula in FORMULAS)))
"""The codes that `weight` computes; `Bias.kernel` hands it out for no other."""


def weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return f(share) for the bias model given as numbers.

    `parameters` is (lower clip, upper clip, then the model's own). Small whole powers have codes
    of their own, because a general power doubles the cost of a simulated pull. What is no formula
    has no weight: nan.
    """
    if code == IDENTITY:
        return share
    formula = code % CLIPPED
    if formula <= CUBE or formula == IN_GROUP_BONUS:
        value = quick_weight(formula, parameters, share)
    elif formula == POWER:
        value = share ** parameters[2]
    elif formula == SIGMOID:
        value = 1.0 / (1.0 + math.exp(-share))
    elif formula == PIECEWISE_POWER:
        value = piecewise_power(parameters, share)
    elif formula != PLATEAU:
        value = math.nan
    elif share <= parameters[2]:
        value = parameters[3] ** 10.0
    else:
        value = (share - parameters[2] + parameters[3]) ** 10.0
    return clipped(parameters, value) if code >= CLIPPED else float(value)


def quick_weight(formula: int, parameters: FloatArray, share: float) -> float:
    """Return f(share) for one of the formulas that take less time than a call."""
    if formula == IDENTITY:
        return share
    if formula == SQUARE:
        return share * share
    if formula == CUBE:
        return share * share * share
    if formula == IN_GROUP_BONUS:
        return float((1.0 + parameters[2] * share) / (1.0 + parameters[2]))
    return float(parameters[2])


def piecewise_power(parameters: FloatArray, share: float) -> float:
    """Return the value between points laid out as (share, weight, exponent up to the next)."""
    points = int(parameters[2])
    at = 3
    while at < 3 * points and share >= parameters[at + 3]:
        at += 3
    # Beyond the last point the exponent is 0; before the first, f is flat too.
    if share <= parameters[at]:
        return float(parameters[at + 1])
    return float(parameters[at + 1] * (share / parameters[at]) ** parameters[at + 2])


def clipped(parameters: FloatArray, value: float) -> float:
    """Return the value between the two clips."""
    if value < parameters[0]:
        return float(parameters[0])
    if value > parameters[1]:
        return float(parameters[1])
    return float(value)
