"""Scores as whole numbers of 1e-9, so that sums are exact and their order does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire.limits import LARGEST_SCORE, UNITS_PER_ONE

FEWEST_UNITS = 1000
"""Narrowest range of scores: units must tell at least a thousandth of it."""


@dataclass(frozen=True)
class Scale:
    """A campaign's range of scores in units, with the mapping to [0, 1] and back.

    A policy is never given a score but on [0, 1]: "bounded" means that to it, and its settings
    (sigma, thresholds) are on that scale.

    Args:
        lowest: the smallest score, in units.
        highest: the largest.
    """

    lowest: int
    highest: int

    @property
    def width(self) -> int:
        """How far the largest score is from the smallest."""
        return self.highest - self.lowest

    def to_policy(self, total: int, answers: int) -> float:
        """Return a sum of scores after each of them is mapped to [0, 1], rounded once.

        A quotient of two ints is the float nearest to it, so scores that are the same part of
        their ranges give the same bits on every scale.

        >>> Scale(to_units(1), to_units(5)).to_policy(to_units(9), 3)
        1.5
        """
        return (total - answers * self.lowest) / self.width

    def to_scores(self, difference: float) -> float:
        """Return a difference of two means on [0, 1] as a difference of scores.

        >>> Scale(to_units(1), to_units(5)).to_scores(0.25)
        1.0
        """
        return difference * from_units(self.width)


def scale_of(lowest: object, highest: object) -> Scale:
    """Return the scale of a range of scores.

    Raises:
        InvalidInput: its ends are no scores, or too close to each other.
    """
    low, high = (
        to_units(checks.number(name, value, low=-LARGEST_SCORE, high=LARGEST_SCORE))
        for name, value in (("lowest", lowest), ("highest", highest))
    )
    if high <= low:
        raise InvalidInput("highest", f"above lowest ({from_units(low):g})", highest)
    if high - low < FEWEST_UNITS:
        raise InvalidInput(
            "highest",
            f"at least {from_units(FEWEST_UNITS):g} above lowest ({units_to_text(low)}), since"
            " scores are kept to nine decimals; multiply all scores by the same number",
            highest,
        )
    return Scale(low, high)


def to_units(score: float) -> int:
    """Return a score in units; up to nine decimals are kept exactly, more are rounded.

    >>> to_units(0.1), to_units(-2), to_units(1e-10)
    (100000000, -2000000000, 0)
    """
    value = checks.number("score", score, low=-LARGEST_SCORE, high=LARGEST_SCORE)
    # The product is below 1e14 and off by less than 0.01, so nine decimals come out exactly.
    return round(value * UNITS_PER_ONE)


def total_to_units(total: float | str, answers: int) -> int:
    """Return a sum of scores in units; a decimal string is exact at any size.

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
