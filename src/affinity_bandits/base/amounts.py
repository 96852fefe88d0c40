"""Numbers and parts of a whole, as people write them."""

from __future__ import annotations

import math
import re

from affinity_bandits.base.errors import InvalidInput

NUMBER_RULE = "a number such as 3 or 0.5"
PART_RULE = "a part such as 10%, 0.1 or '1 in 10'"
UNKNOWN = ("do not know", "no idea", "unknown", "?")
_SUFFIXES = {"k": 1e3, "m": 1e6}
DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_NUMBER = re.compile(rf"([+-]?{DIGITS})([km]?)")
_BETWEEN = re.compile(rf"({DIGITS})%? ?(?:\.\.|to|-|\u2013) ?({DIGITS})%")
_ABOUT = re.compile(r"(?:about|around|roughly|approximately|up to|at most|ca\.?|~) ?")
_WORDS = (
    *("zero", "one", "two", "three", "four", "five"),
    *("six", "seven", "eight", "nine", "ten"),
)


def is_unknown(text: str) -> bool:
    """Return whether an answer is "no idea" or the like."""
    return plain_text(text) in UNKNOWN


def parse_number(parameter: str, text: str) -> float:
    """Return a number.

    >>> parse_number("spread", "1.5"), parse_number("spread", "2k")
    (1.5, 2000.0)
    """
    value = read_amount(text)
    if math.isnan(value):
        raise InvalidInput(parameter, NUMBER_RULE, text)
    return value


def parse_count(
    parameter: str, text: str, rule: str = "a whole number such as 2000, 2,000 or 2k"
) -> int:
    """Return a whole number.

    >>> parse_count("budget", "2,000"), parse_count("budget", "2k"), parse_count("budget", "1e6")
    (2000, 2000, 1000000)
    """
    value = read_amount(text)
    if is_ambiguous(text):
        raise InvalidInput(parameter, f"{rule}; a point may be decimal or separate thousands", text)
    if not value.is_integer():
        raise InvalidInput(parameter, rule, text)
    return int(value)


def parse_part(parameter: str, text: str, rule: str = PART_RULE) -> float:
    """Return a part of a whole, from 0 to 1.

    >>> parse_part("joining", "1 in 10"), parse_part("joining", "10%"), parse_part("joining", "all")
    (0.1, 0.1, 1.0)
    """
    low, high = read_part(text)
    if not 0.0 <= low == high <= 1.0:
        raise InvalidInput(parameter, rule, text)
    return low


def plain_text(text: str) -> str:
    """Return a text in lower case, without "about" and the like, with figures for small numbers."""
    plain = _ABOUT.sub("", " ".join(text.lower().split()), count=1)
    for number, word in enumerate(_WORDS):
        plain = re.sub(rf"\b{word}\b", str(number), plain)
    return plain


def is_ambiguous(text: str) -> bool:
    """Return whether a point may separate thousands: 2.000 is 2 or 2000."""
    return re.fullmatch(r"[+-]?\d+\.\d{3}", text.strip()) is not None


def read_amount(text: str) -> float:
    """Return the number that a text stands for, or NaN."""
    plain = plain_text(text)
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    found = _NUMBER.fullmatch(plain)
    if found is None:
        return math.nan
    value = float(found[1])
    if found[2]:
        value = round(value * _SUFFIXES[found[2]], 9)
    return value if math.isfinite(value) else math.nan


def read_part(text: str) -> tuple[float, float]:
    """Return the ends of the part that a text stands for, or NaN."""
    plain = re.sub(r" ?per ?cent$", "%", plain_text(text))
    between = _BETWEEN.fullmatch(plain)
    if between is not None:
        return float(between[1]) / 100.0, float(between[2]) / 100.0
    above, _, below = plain.partition(" in ")
    if plain in ("all", "none"):
        value = float(plain == "all")
    elif plain.endswith("%"):
        value = read_amount(plain[:-1]) / 100.0
    elif below:
        value = read_amount(above) / (read_amount(below) or math.nan)
    else:
        value = read_amount(plain)
    return value, value
