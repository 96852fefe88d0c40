"""Scales of scores and points on them, as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from affinity_bandits.base.amounts import DIGITS, plain_text, read_amount, read_part
from affinity_bandits.base.errors import InvalidInput

SCALE_RULE = "the lowest and the highest score such as 1..5, '1 to 5' or 0..100, or yes/no"
_RANGE = re.compile(
    r"(?:(?:an? )?(?:scores?|grades?|marks?|points?|stars?) )?(?:from )?"
    rf"([+-]?{DIGITS}) ?(?:\.\.|to|-|\u2013) ?([+-]?{DIGITS})(?: (?:points?|stars?))?"
)


@dataclass(frozen=True)
class ScoreScale:
    """The ends of a scale of scores; `two_scores` if only the ends are scores."""

    lowest: float
    highest: float
    two_scores: bool = False


def parse_scale(parameter: str, text: str) -> ScoreScale:
    """Return a scale of scores.

    >>> parse_scale("scale", "1..5"), parse_scale("scale", "yes/no").two_scores
    (ScoreScale(lowest=1.0, highest=5.0, two_scores=False), True)
    >>> parse_scale("scale", "a score from one to ten").highest
    10.0
    """
    low, high = parse_ends(parameter, text)
    if not low < high:
        raise InvalidInput(parameter, f"{SCALE_RULE}, the lowest first", text)
    return ScoreScale(low, high, two_scores=plain_text(text) == "yes/no")


def parse_ends(parameter: str, text: str) -> tuple[float, float]:
    """Return both ends of a scale of scores in the order in which they are written.

    >>> parse_ends("scale", "5..1"), parse_ends("scale", "yes/no")
    ((5.0, 1.0), (0.0, 1.0))
    """
    plain = plain_text(text)
    if plain == "yes/no":
        return 0.0, 1.0
    found = _RANGE.fullmatch(plain)
    if found is None:
        raise InvalidInput(parameter, SCALE_RULE, text)
    return float(found[1]), float(found[2])


def parse_points(parameter: str, text: str, on: ScoreScale, rule: str) -> float:
    """Return an amount in points of a scale; for yes/no, a part of all answers."""
    value, rule = (
        (read_part(text)[1], "a part of all answers such as 5% or 0.05")
        if on.two_scores
        else (read_amount(re.sub(" ?(points?|stars?)$", "", plain_text(text))), rule)
    )
    limit = on.highest - on.lowest
    if not 0.0 < value <= limit:
        raise InvalidInput(parameter, f"{rule}, above 0 and at most {limit:g}", text)
    return value


def parse_favor(parameter: str, text: str, ends: tuple[float, float]) -> float:
    """Return a favor in points of a scale with these ends.

    >>> parse_favor("matters", "0.3", (5, 1)), parse_favor("matters", "5%", (0, 1))
    (0.3, 0.05)
    """
    low, high = min(ends), max(ends)
    on = ScoreScale(low, high, two_scores=(low, high) == (0.0, 1.0))
    return parse_points(parameter, text, on, "a number of points such as 0.3")
