"""Checks of user input: each returns the value in its canonical type or raises InvalidInput."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from affinity_bandits.errors import InvalidInput, UnknownName

LARGEST_COUNT = 10**15
"""Largest horizon and initial pull count: below 2**53, so that every share is exact to rounding."""

_LARGEST_FLOAT = sys.float_info.max


def number(
    parameter: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return a finite float inside the interval."""
    rule = _interval_rule(low, high, open_low, open_high)
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidInput(parameter, rule, value)
    real: Any = value
    if not -_LARGEST_FLOAT <= real <= _LARGEST_FLOAT:  # infinities, nan, 10**400
        raise InvalidInput(parameter, rule, value)
    result = float(real)
    below = result <= low if open_low else result < low
    above = result >= high if open_high else result > high
    if below or above:
        raise InvalidInput(parameter, rule, value)
    return result


def integer(parameter: str, value: object, *, low: int = 0, high: int = LARGEST_COUNT) -> int:
    """Return an int in [low, high]; a float such as 1e6 is taken if it is whole."""
    rule = f"a whole number from {low:,} to {high:,}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidInput(parameter, rule, value)
    real: Any = value
    # Ranges first: they also catch infinities, nan and whole numbers too large for a float.
    if not low <= real <= high or real != int(real):
        raise InvalidInput(parameter, rule, value)
    return int(real)


def flag(parameter: str, value: object) -> bool:
    """Return a bool; nothing else is taken for one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(parameter, "true or false", value)
    return bool(value)


def choice(parameter: str, value: object, allowed: Sequence[str]) -> str:
    """Return one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise UnknownName(parameter, value, allowed)
    return value


def sequence(parameter: str, value: object, rule: str) -> list[Any]:
    """Return the items of a one-dimensional sequence."""
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise InvalidInput(parameter, rule, value)
    return list(value)


def numbers_list(parameter: str, value: object, *, low: float, high: float) -> tuple[float, ...]:
    """Return a tuple of finite floats, each in [low, high]."""
    items = sequence(parameter, value, "a list of numbers")
    return tuple(
        number(f"{parameter}[{i}]", item, low=low, high=high) for i, item in enumerate(items)
    )


def integers_list(
    parameter: str, value: object, *, low: int = 0, high: int = LARGEST_COUNT
) -> tuple[int, ...]:
    """Return a tuple of ints, each in [low, high]."""
    items = sequence(parameter, value, "a list of whole numbers")
    return tuple(
        integer(f"{parameter}[{i}]", item, low=low, high=high) for i, item in enumerate(items)
    )


def _interval_rule(low: float, high: float, open_low: bool, open_high: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "a finite number"
    if high == math.inf:
        return f"a finite number {'above' if open_low else 'of at least'} {low:g}"
    if low == -math.inf:
        return f"a finite number {'below' if open_high else 'of at most'} {high:g}"
    return f"a number in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
