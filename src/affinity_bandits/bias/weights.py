"""The weight of a share as a kernel: every built-in formula, chosen by a number."""

from __future__ import annotations

import math

from affinity_bandits.kernels import FloatArray

CONSTANT, IDENTITY, SQUARE, CUBE, POWER, SIGMOID, PLATEAU, CUSTOM = range(8)
CLIPPED = 16
"""Added to a code whose value is clipped."""


def weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return f(share) for the bias model given as numbers.

    `parameters` is (lower clip, upper clip, then the model's own). Small whole powers have codes
    of their own, because a general power doubles the cost of a simulated pull.
    """
    if code == IDENTITY:
        return share
    formula = code % CLIPPED
    if formula == IDENTITY:
        value = share
    elif formula == CONSTANT:
        value = parameters[2]
    elif formula == SQUARE:
        value = share * share
    elif formula == CUBE:
        value = share * share * share
    elif formula == POWER:
        value = share ** parameters[2]
    elif formula == SIGMOID:
        value = 1.0 / (1.0 + math.exp(-share))
    elif share <= parameters[2]:
        value = parameters[3] ** 10.0
    else:
        value = (share - parameters[2] + parameters[3]) ** 10.0
    return clipped(parameters, value) if code >= CLIPPED else float(value)


def clipped(parameters: FloatArray, value: float) -> float:
    """Return the value between the two clips."""
    if value < parameters[0]:
        return float(parameters[0])
    if value > parameters[1]:
        return float(parameters[1])
    return float(value)
