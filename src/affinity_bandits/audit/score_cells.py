"""From the cells of a column to scores: numbers as people write them, or yes and no."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from affinity_bandits.audit.remarks import PROBLEM
from affinity_bandits.audit.tables import label

NO_SCORE = frozenset({"-", "--", "\N{EN DASH}", "\N{EM DASH}", "?", "n/a", "#n/a", "na", "nan",
    "none", "null", "k.a.", "k. a.", "missing", "no show", "absent"})  # fmt: skip
YES_WORDS = """yes y true 1 x ja j wahr oui o vrai si sí s verdadero sim tak da kyllä evet hired
    chosen accepted joined eingestellt \N{CHECK MARK} \N{HEAVY CHECK MARK}"""
NO_WORDS = """no n false 0 nein falsch non faux falso não nao nie nee nej nei ei rejected declined
    abgelehnt - \N{EN DASH}"""
YES, NO = frozenset(YES_WORDS.split()), frozenset(NO_WORDS.split())
WORDS = YES | NO
CHOSEN, NOT_CHOSEN = YES | {"t"}, NO | {"f"}
"""Answers in a column of who was chosen; PostgreSQL writes t and f."""
NUMBER = re.compile(
    r"([+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?)"
    r"\s*(/\s*\d+|stars?|points?|pts?|sterne?|punkte?)?"
)


class Finding(NamedTuple):
    """What some cells of a column have in common.

    Attributes:
        what: it is, in words.
        done: about it; `PROBLEM` if these cells cannot be scores.
        places: the numbers of the cells.
        unit: what is counted.
    """

    what: str
    done: str
    places: list[int]
    unit: str = "row"


def read_cells(
    name: str, cells: Sequence[Any], scale: tuple[float, float]
) -> tuple[list[float], list[Finding]]:
    """Return the score of each cell, NaN if missing or refused, and what was found.

    Args:
        name: of the column.
        cells: distinct; None if empty.
        scale: both ends of the scale, in either order.
    """
    low, high = min(scale), max(scale)
    texts = ["" if cell is None else label(cell).casefold() for cell in cells]
    scores = [parse_score(cell) for cell in cells]
    words = [place for place, score in enumerate(scores) if score is None and texts[place] in WORDS]
    found: list[Finding] = []
    if is_yes_or_no(cells) and (low, high) == (0.0, 1.0):
        for place in words:
            scores[place] = float(texts[place] in YES)
        found.append(Finding("yes counts as 1 and no as 0", "converted", words, "score"))
    rule = (
        "is yes or no; give the scale yes/no, or write numbers"
        if is_yes_or_no(cells)
        else "is a word beside other scores; write the number that it stands for, or leave the cell"
        " empty"
    )
    behind = {}
    for place, text in enumerate(texts):
        number = NUMBER.fullmatch(text)
        if number is not None and number[2]:
            behind[place] = number[2]
    refused: set[int] = set()
    for what, places in (
        (rule, [place for place in words if scores[place] is None]),
        (
            "cannot be read as a score; write a number, or leave the cell empty",
            [place for place, score in enumerate(scores) if score is None],
        ),
        (
            f"is not between {low:g} and {high:g}",
            [p for p, one in enumerate(scores) if one is not None and (one < low or one > high)],
        ),
        (
            f"is not out of {high:g}",
            [p for p, unit in behind.items() if unit[0] == "/" and float(unit[1:]) != high],
        ),
    ):
        left = [place for place in places if place not in refused]
        found.append(Finding(f"{name} {what}", PROBLEM, left))
        refused.update(left)
    plain = [place for place in behind if place not in refused]
    found.append(Finding("only the number counts", "converted", plain, "score"))
    commas = [place for place, text in enumerate(texts) if "," in text and place not in refused]
    if all(re.search(r",\d{3}$", texts[place]) for place in commas):
        found.append(Finding("decimals or thousands? write 1.234", PROBLEM, commas))
    else:
        found.append(Finding("decimal comma", "converted", commas, "score"))
    return [math.nan if score is None else score for score in scores], found


def parse_score(cell: Any) -> float | None:
    """Return a score: NaN if it is missing, None if it is not a number.

    >>> [parse_score(cell) for cell in (4, "4,5", "4/5", "4 stars", "n/a", "good", "yes")]
    [4.0, 4.5, 4.0, 4.0, nan, None, None]
    """
    if cell is None:
        return math.nan
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(cell)
    text = label(cell).casefold()
    if text in NO_SCORE:
        return math.nan
    found = NUMBER.fullmatch(text)
    return None if found is None else float(found[1].replace(",", "."))


def is_yes_or_no(cells: Sequence[Any]) -> bool:
    """Return whether a column has yes and no, or 1 and 0 for some of them, and no other score.

    >>> is_yes_or_no(["Yes", "n/a", None, 1]), is_yes_or_no([1, 0]), is_yes_or_no(["Yes", 3])
    (True, False, False)
    """
    texts = {label(cell).casefold() for cell in cells if cell is not None} - NO_SCORE
    return texts <= WORDS and not texts <= {"1", "0"}
