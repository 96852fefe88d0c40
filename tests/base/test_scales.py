"""Scales and points on them are read as they are meant, or refused with the rule and an example."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.base import scales
from affinity_bandits.base.scales import ScoreScale
from tests.support.parsing import TEXTS, Reader, check_any, check_refused, rows

STARS, YES_NO = ScoreScale(1.0, 5.0), ScoreScale(0.0, 1.0, two_scores=True)
scale = partial(scales.parse_scale, "answer")


def stars(text: str) -> float:
    return scales.parse_points("answer", text, STARS, "a difference such as 0.3")


def parts_of_yes(text: str) -> float:
    return scales.parse_points("answer", text, YES_NO, "a difference such as 5%")


UNDERSTOOD: list[tuple[Reader, dict[str, Any]]] = [
    (scale, {"1..5": STARS, "1 to 5": STARS, "yes/no": YES_NO, "-5..5": ScoreScale(-5.0, 5.0)}),
    (
        scale,
        {"a score from one to ten": ScoreScale(1.0, 10.0), "1-5": STARS, "1 to 5 stars": STARS},
    ),
    (stars, {"0.3": 0.3, "4": 4.0, "0.3 points": 0.3}),
    (parts_of_yes, {"5%": 0.05, "0.05": 0.05}),
]

REFUSED: list[tuple[Reader, dict[str, str]]] = [
    (scale, {"5..1": "lowest first", "A-F": "1..5", "5 stars": "1..5", "1,5": "1 to 5"}),
    (stars, {"5%": "0.3", "5": "at most 4", "0": "above 0", "0,3": "0.3"}),
    (parts_of_yes, {"5": "5%", "0%": "above 0"}),
]


@pytest.mark.parametrize(("read", "text", "meant"), rows(UNDERSTOOD))
def test_is_understood(read: Reader, text: str, meant: Any) -> None:
    assert read(text) == (pytest.approx(meant) if isinstance(meant, float) else meant)


@pytest.mark.parametrize(("read", "text", "says"), rows(REFUSED))
def test_is_refused_with_the_rule_and_an_example(read: Reader, text: str, says: str) -> None:
    check_refused(read, text, says)


@given(text=TEXTS, read=st.sampled_from([reader for reader, _ in UNDERSTOOD]))
def test_every_text_is_understood_or_refused(text: str, read: Reader) -> None:
    check_any(read, text)
