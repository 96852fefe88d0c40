"""Bias functions as plain Python callables from share to weight."""

import math
from collections.abc import Callable
from typing import Any

Bias = Callable[[float], float]


def naive_bias(description: dict[str, Any]) -> Bias:
    """Return the bias function f that a description names."""
    name = description["name"]
    if name == "constant":
        return constant(description["value"])
    if name == "power":
        return power(description["alpha"])
    if name == "sigmoid":
        return sigmoid
    if name == "clipped":
        base = naive_bias(description["base"])
        return clipped(base, description.get("low"), description.get("high"))
    if name == "plateau":
        return plateau(description["arms"], description["beta"])
    if name == "in-group-bonus":
        return in_group_bonus(description["bonus"])
    if name == "piecewise-power":
        return piecewise_power(description["shares"], description["weights"])
    raise ValueError(f"no bias is called {name!r}")


def constant(value: float) -> Bias:
    """f(x) = value."""
    return lambda x: value


def in_group_bonus(bonus: float) -> Bias:
    """f(x) = (1 + b x) / (1 + b)."""
    return lambda x: (1.0 + bonus * x) / (1.0 + bonus)


def power(alpha: float) -> Bias:
    """f(x) = x**alpha, by products for the exponents 1, 2 and 3."""
    if alpha == 1:
        return lambda x: x
    if alpha == 2:
        return lambda x: x * x
    if alpha == 3:
        return lambda x: x * x * x
    return lambda x: x**alpha


def sigmoid(x: float) -> float:
    """f(x) = 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + math.exp(-x))


def clipped(base: Bias, low: float | None, high: float | None) -> Bias:
    """f(x) = max(low, min(high, base(x))); a missing bound does not cut."""

    def f(x: float) -> float:
        weight = base(x)
        if high is not None:
            weight = min(high, weight)
        if low is not None:
            weight = max(low, weight)
        return weight

    return f


def plateau(K: int, beta: float) -> Bias:
    """f(x) = K**-100 for x <= beta/K, else (x - beta/K + K**-10)**10."""
    edge = beta / K
    floor = float(K) ** -10

    def f(x: float) -> float:
        if x <= edge:
            return floor**10
        return (x - edge + floor) ** 10

    return f


def piecewise_power(shares: list[float], weights: list[float]) -> Bias:
    """A straight line of log f over log x between points, and flat beyond the ends."""

    def f(x: float) -> float:
        if x <= shares[0]:
            return weights[0]
        for i in range(1, len(shares)):
            if x < shares[i]:
                part = math.log(x / shares[i - 1]) / math.log(shares[i] / shares[i - 1])
                low, high = math.log(weights[i - 1]), math.log(weights[i])
                return math.exp((1.0 - part) * low + part * high)
        return weights[-1]

    return f
