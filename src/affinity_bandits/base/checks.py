"""Checks of user input: each returns the value in its canonical type or raises InvalidInput."""

from __future__ import annotations

import dataclasses
import math
import numbers
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits.base.errors import InvalidInput, UnknownName

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
    real = _real(parameter, rule, value)
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
    real = _real(parameter, rule, value)
    # Ranges first: they also catch infinities, nan and whole numbers too large for a float.
    if not low <= real <= high or real != int(real):
        raise InvalidInput(parameter, rule, value)
    return int(real)


def toml_file(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # RecursionError: deeply nested arrays
        raise InvalidInput(str(path), "a TOML file", str(error)) from None


def flag(parameter: str, value: object) -> bool:
    """Return a bool; a value of any other type is refused."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(parameter, "true or false", value)
    return bool(value)


def choice(parameter: str, value: object, allowed: Sequence[str]) -> str:
    """Return one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise UnknownName(parameter, value, allowed)
    return value


def known_keys(what: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Check that every key is one of the allowed ones; `what` names the owner in errors."""
    names = list(allowed)
    for key in given:
        if key not in names:
            raise UnknownName(what, key, names or ["(none)"])


def settings(what: str, description: type[Any], given: Iterable[str]) -> None:
    """Check that only fields of a dataclass are given, and all required ones."""
    names = list(given)
    fields = [item for item in dataclasses.fields(description) if item.init]
    known_keys(what, names, [item.name for item in fields])
    for item in fields:
        open_ended = item.default is dataclasses.MISSING
        if open_ended and item.default_factory is dataclasses.MISSING and item.name not in names:
            raise InvalidInput(item.name, "given", None)


def table(parameter: str, value: object) -> dict[str, Any]:
    """Return a copy of a mapping that has a string under "name"."""
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        raise InvalidInput(parameter, "a table with a 'name'", value)
    return dict(value)


def sequence(parameter: str, value: object, rule: str) -> list[Any]:
    """Return the items of a one-dimensional sequence."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(parameter, rule, value)
    if isinstance(value, np.ndarray) and value.ndim != 1:
        raise InvalidInput(parameter, rule, value)
    return list(value)


def ordered(parameter: str, value: object, rule: str) -> list[Any]:
    """Return the items of a sequence whose order means something, which a set does not have."""
    if isinstance(value, set | frozenset):
        raise InvalidInput(parameter, rule, value)
    return sequence(parameter, value, rule)


def numbers_list(parameter: str, value: object, *, low: float, high: float) -> tuple[float, ...]:
    """Return a tuple of finite floats, each in [low, high]."""
    items = ordered(parameter, value, "a list of numbers")
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


def _real(parameter: str, rule: str, value: object) -> Any:
    """Return a real number as Python's own type, so that comparisons do not cast the bounds."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidInput(parameter, rule, value)
    return value.item() if isinstance(value, np.generic) else value


def _interval_rule(low: float, high: float, open_low: bool, open_high: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "a finite number"
    if high == math.inf:
        return f"a finite number {'above' if open_low else 'of at least'} {low:g}"
    if low == -math.inf:
        return f"a finite number {'below' if open_high else 'of at most'} {high:g}"
    return f"a number in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
