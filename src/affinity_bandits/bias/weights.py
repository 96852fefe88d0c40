"""The weight of a share as a kernel: every built-in formula, chosen by a number."""

from __future__ import annotations

import math

from affinity_bandits.kernels import FloatArray

CONSTANT, IDENTITY, SQUARE, CUBE, POWER, SIGMOID, PLATEAU, CUSTOM = range(8)


def weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return f(share) for the bias model given as numbers.

    `parameters` is (lower clip, upper clip, then the model's own); small whole powers have codes
    of their own because a general power doubles the cost of a simulated pull.
    """
    if code == IDENTITY:
        value = share
    elif code == CONSTANT:
        value = parameters[2]
    elif code == SQUARE:
        value = share * share
    elif code == CUBE:
        value = share * share * share
    elif code == POWER:
        value = share ** parameters[2]
    elif code == SIGMOID:
        value = 1.0 / (1.0 + math.exp(-share))
    elif share <= parameters[2]:
        value = parameters[3] ** 10.0
    else:
        value = (share - parameters[2] + parameters[3]) ** 10.0
    if value < parameters[0]:
        return float(parameters[0])
    if value > parameters[1]:
        return float(parameters[1])
    return value
