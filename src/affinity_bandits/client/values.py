"""Checks of what a caller gives, without the library's own, which need numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from affinity_bandits.errors import InvalidInput


def number(parameter: str, value: Any, *, low: float, high: float) -> float:
    """Return a float from low to high.

    >>> number("score", 1, low=0, high=1)
    1.0
    """
    # Not a number is in no range either.
    if not _is_real(value) or not low <= value <= high:
        raise InvalidInput(parameter, f"a number from {low:,} to {high:,}", value)
    return float(value)


def whole(parameter: str, value: Any, *, low: int, high: int) -> int:
    """Return an int from low to high; a float such as 1e6 is taken if it is whole.

    >>> whole("horizon", 1e6, low=1, high=10**15)
    1000000
    """
    if not _is_real(value) or not low <= value <= high or int(value) != value:
        raise InvalidInput(parameter, f"a whole number from {low:,} to {high:,}", value)
    return int(value)


def listed(parameter: str, value: object, rule: str) -> list[Any]:
    """Return the items of a sequence."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(parameter, rule, value)
    return list(value)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
