"""Scales of logs: guessed from scores, except for which end is the best, which the user says."""

from __future__ import annotations

import math

from affinity_bandits.audit.columns import may_count_down
from affinity_bandits.audit.score_cells import is_yes_or_no, parse_score
from affinity_bandits.audit.tables import Table
from affinity_bandits.base.errors import InvalidInput

BEST = ("highest", "lowest")
USUAL_SCALES = ((0, 1), (1, 5), (1, 6), (0, 10), (1, 100), (0, 100))
ASK_BEST = "Which score is the best: the highest or the lowest?"


def direct_scale(ends: tuple[float, float], best: str, column: str) -> tuple[float, float] | None:
    """Return the worst and the best score, or None if only the user can know.

    Args:
        ends: of the scale as the user wrote it; 5..1 has its best score at the end.
        best: "highest", "lowest", or empty if the user did not say.
        column: the name of the column of scores, such as "grade", where 1 is often the best.

    Raises:
        InvalidInput: the answer is neither, contradicts the scale, or the scale has one end.

    >>> direct_scale((1, 6), "", "Gesamtnote"), direct_scale((6, 1), "", "Gesamtnote")
    (None, (6, 1))
    >>> direct_scale((1, 5), "", "stars"), direct_scale((1, 5), "lowest", "stars")
    ((1, 5), (5, 1))
    """
    low, high = min(ends), max(ends)
    if low == high:
        raise InvalidInput("scale", "two different scores, such as 1..5", f"{low:g}..{high:g}")
    if ends[0] > ends[1]:
        if best == "highest":
            rule = f"left out or lowest: {ends[0]:g}..{ends[1]:g} ends with the best score"
            raise InvalidInput("best", rule, best)
        return high, low
    if best:
        return choose_best(ends, best)
    return None if may_count_down(column) else (low, high)


def choose_best(ends: tuple[float, float], best: str) -> tuple[float, float]:
    """Return the worst and the best of both ends.

    Raises:
        InvalidInput: the answer is neither "highest" nor "lowest".
    """
    if best not in BEST:
        raise InvalidInput("best", "highest or lowest", best)
    return (min(ends), max(ends)) if best == "highest" else (max(ends), min(ends))


def score_range(table: Table, column: str) -> tuple[float, float] | None:
    """Return the lowest and the highest score in a column, or None if it is empty."""
    cells = table.values(column)[1]
    if is_yes_or_no(cells):
        return 0.0, 1.0
    found = [parse_score(cell) for cell in cells]
    numbers = [number for number in found if number is not None and not math.isnan(number)]
    return (min(numbers), max(numbers)) if numbers else None


def guess_scale(seen: tuple[float, float]) -> str:
    """Return the usual scale, as a user would write it, that holds these scores.

    >>> guess_scale((1.5, 5.0)), guess_scale((0.0, 87.0)), guess_scale((-3.0, 2.5))
    ('1..5', '0..100', '-3..2.5')
    """
    for low, high in USUAL_SCALES:
        if low <= seen[0] and seen[1] <= high:
            return f"{low}..{high}"
    return f"{seen[0]:g}..{seen[1]:g}"
