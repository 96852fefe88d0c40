"""Numbers and parts are read as they are meant, or refused with the rule and an example."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.base import amounts
from tests.support.parsing import TEXTS, Reader, check_any, check_refused, rows

count, number, part = (
    partial(read, "answer")
    for read in (amounts.parse_count, amounts.parse_number, amounts.parse_part)
)

UNDERSTOOD: list[tuple[Reader, dict[str, Any]]] = [
    (count, {"2000": 2000, "2,000": 2000, "2k": 2000, " 2E3 ": 2000, "1.5m": 1_500_000}),
    (number, {"1.5": 1.5, ".5": 0.5, "-2": -2.0, "1,234.5": 1234.5, "three": 3.0}),
    (part, {"10%": 0.1, "10 %": 0.1, "0.1": 0.1, "1 in 10": 0.1, "All": 1.0, "none": 0.0}),
    (part, {"about 1 in 10": 0.1, "~10%": 0.1, "roughly 10%": 0.1, "about one in ten": 0.1}),
]

REFUSED: list[tuple[Reader, dict[str, str]]] = [
    (count, dict.fromkeys(("", "many", "2.5", "2.000", "1,00", "inf", "nan", "1e999"), "2000")),
    (number, dict.fromkeys(("0,3", "a few", "1 2"), "0.5")),
    (part, dict.fromkeys(("10", "120%", "5 in 2", "1 in 0", "-3%", "a few"), "'1 in 10'")),
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


@given(value=st.integers(1, 10**15))
def test_numbers_are_read_as_they_are_printed(value: int) -> None:
    assert count(f"{value}") == count(f"{value:,}") == value
    assert part(f"1 in {value}") == pytest.approx(1.0 / value)
