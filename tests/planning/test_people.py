"""Groups, committees and who judges are read as they are meant, or refused with an example."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.planning import people
from tests.support.parsing import TEXTS, Reader, check_any, check_refused, rows

NAMES = ("referrals", "agencies", "open call")
groups, bonus, judges, joining = (
    partial(read, "answer")
    for read in (people.parse_groups, people.parse_bonus, people.parse_judges, people.parse_joining)
)


def committee(text: str) -> tuple[int, ...] | None:
    return people.parse_committee("answer", text, 3)


UNDERSTOOD: list[tuple[Reader, dict[str, Any]]] = [
    (groups, {"3": (3, None), " referrals,agencies,  open  call": (3, NAMES)}),
    (bonus, {"20%": 0.2, "0.2": 0.2, "150%": 1.5, "none": 0.0, "no idea": None}),
    (bonus, {"10-30%": 0.3, "10% to 30%": 0.3, "about 20%": 0.2, "up to 20%": 0.2}),
    (joining, {"10-30%": 0.1, "about 1 in 8": 0.125, "all": 1.0}),
    (committee, {"30,10,10": (30, 10, 10), "0, 4, 5": (0, 4, 5), "Do not know": None, "?": None}),
    (judges, {"committee": "committee", "panels": "panel", "recused": "recused", "all": None}),
]

REFUSED: list[tuple[Reader, dict[str, str]]] = [
    (committee, dict.fromkeys(("30,10", "30,10,10,10", "some", "-1,2,3", "1.5,2,3"), "30,10,10")),
    (committee, {"0,0,0": "at least one member"}),
    (bonus, dict.fromkeys(("20", "1.2", "1", "-3%", "a lot"), "20%")),
    (groups, {"1": "2 to 1,000", "referrals": "referrals, ", "a,A": "differ", "a,": "1 to 40"}),
    (judges, {"me": "recused"}),
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
