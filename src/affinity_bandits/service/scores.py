"""Scores as whole numbers of 1e-9, so that sums are exact and their order does not matter."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput

UNITS_PER_ONE = 10**9
LARGEST_SCORE = 10**5
"""Largest score in size: the sum of a whole lease still fits eight bytes."""


def to_units(score: float) -> int:
    """Return a score in units; up to nine decimals are kept exactly, more are rounded.

    >>> to_units(0.1), to_units(-2), to_units(1e-10)
    (100000000, -2000000000, 0)
    """
    value = checks.number("score", score, low=-LARGEST_SCORE, high=LARGEST_SCORE)
    # The product is below 1e14 and off by less than 0.01, so nine decimals come out exactly.
    return round(value * UNITS_PER_ONE)


def total_to_units(total: float | str, answers: int) -> int:
    """Return the sum of so many scores in units; a decimal string is exact at any size.

    >>> total_to_units("12345678.000000001", 1000), total_to_units(0.3, 3)
    (12345678000000001, 300000000)
    """
    rule = f"a decimal number of at most {LARGEST_SCORE:,} an answer in size"
    if isinstance(total, bool) or (isinstance(total, str) and len(total) > 40):
        raise InvalidInput("sum", rule, total)
    try:
        exact = Decimal(total if isinstance(total, str) else repr(total))
        if not exact.is_finite() or exact.copy_abs() > LARGEST_SCORE * answers:
            raise InvalidInput("sum", rule, total)
        units = (exact * UNITS_PER_ONE).to_integral_value(ROUND_HALF_EVEN)
    except InvalidOperation:
        raise InvalidInput("sum", rule, total) from None
    return int(units)


def from_units(units: int) -> float:
    """Return the float nearest to a whole number of units.

    >>> from_units(100000000)
    0.1
    """
    return units / UNITS_PER_ONE  # of two ints: rounded once


def units_to_text(units: int) -> str:
    """Return a number of units as an exact decimal.

    >>> units_to_text(-1500000000), units_to_text(1)
    ('-1.5', '0.000000001')
    """
    sign = "-" if units < 0 else ""
    whole, rest = divmod(abs(units), UNITS_PER_ONE)
    decimals = f"{rest:09d}".rstrip("0")
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"
