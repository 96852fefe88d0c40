"""Budgets and beginnings are read as they are meant, or refused with the rule and an example."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.planning import budgets
from affinity_bandits.planning.budgets import DAYS, Budget
from tests.support.parsing import TEXTS, Reader, check_any, check_refused, rows

TODAY = date(2027, 1, 1)
WEEKS = DAYS["year"] / 7.0


def begins(text: str) -> int:
    return budgets.parse_begins("answer", text, 40.0)


def budget(text: str) -> Budget:
    return budgets.parse_budget("answer", text, TODAY)


UNDERSTOOD: list[tuple[Reader, dict[str, Any]]] = [
    (begins, {"at once": 0, "100": 100, "after 100 interviews": 100, "two weeks later": 80}),
    (
        budget,
        {
            "2k": Budget(2000),
            "2000 interviews": Budget(2000),
            "40 interviews a week": Budget(2087, 40.0, assumed=True),
            "2,000 a year": Budget(2000, 2000 / WEEKS, assumed=True),
            "40 per week": Budget(2087, 40.0, assumed=True),
            "40 a week until 2027-06-30": Budget(1028, 40.0),
            "100 a month for 2 years": Budget(2400, 1200 / WEEKS),
            "10 a day for a week": Budget(70, 70.0),
        },
    ),
]

REFUSED: list[tuple[Reader, dict[str, str]]] = [
    (
        budget,
        {
            **dict.fromkeys(("for 2 years", "some", "2.5", "2.000 a year", "2000 in 2027"), "2000"),
            **dict.fromkeys(("-1 a week", "nan a week", "1 a week for -1 years"), "40 a week"),
            **dict.fromkeys(("40 a week until 30.6.2027", "40 a week until 2027-06-31"), "a date"),
            "40 a week until 2026-12-31": "after today (2027-01-01)",
        },
    ),
]


@pytest.mark.parametrize(("read", "text", "meant"), rows(UNDERSTOOD))
def test_is_understood(read: Reader, text: str, meant: Any) -> None:
    found = read(text)
    if isinstance(found, Budget):
        assert (found.choices, found.assumed) == (meant.choices, meant.assumed)
        assert found.pace == pytest.approx(meant.pace)
    else:
        assert found == meant


@pytest.mark.parametrize(("read", "text", "says"), rows(REFUSED))
def test_is_refused_with_the_rule_and_an_example(read: Reader, text: str, says: str) -> None:
    check_refused(read, text, says)


@given(text=TEXTS, read=st.sampled_from([reader for reader, _ in UNDERSTOOD]))
def test_every_text_is_understood_or_refused(text: str, read: Reader) -> None:
    check_any(read, text)
