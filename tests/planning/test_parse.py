"""Answers are parsed as they are meant, or refused with the rule and an example."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits.base import amounts, scales
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.scales import ScoreScale
from affinity_bandits.planning import budgets, people
from affinity_bandits.planning.budgets import DAYS, Budget
from affinity_bandits.planning.questions import QUESTIONS
from affinity_bandits.planning.situation import Situation

Reader = Callable[[str], Any]
TODAY = date(2027, 1, 1)
STARS, YES_NO = ScoreScale(1.0, 5.0), ScoreScale(0.0, 1.0, two_scores=True)
NAMES = ("referrals", "agencies", "open call")
WEEKS = DAYS["year"] / 7.0
count, number, part, groups, scale, bonus, judges = (
    partial(function, "answer")
    for function in (
        amounts.parse_count,
        amounts.parse_number,
        amounts.parse_part,
        people.parse_groups,
        scales.parse_scale,
        people.parse_bonus,
        people.parse_judges,
    )
)


joining = partial(people.parse_joining, "answer")


def begins(text: str) -> int:
    return budgets.parse_begins("answer", text, 40.0)


def committee(text: str) -> tuple[int, ...] | None:
    return people.parse_committee("answer", text, 3)


def stars(text: str) -> float:
    return scales.parse_points("answer", text, STARS, "a difference such as 0.3")


def parts_of_yes(text: str) -> float:
    return scales.parse_points("answer", text, YES_NO, "a difference such as 5%")


def budget(text: str) -> Budget:
    return budgets.parse_budget("answer", text, TODAY)


UNDERSTOOD: list[tuple[Reader, dict[str, Any]]] = [
    (count, {"2000": 2000, "2,000": 2000, "2k": 2000, " 2E3 ": 2000, "1.5m": 1_500_000}),
    (number, {"1.5": 1.5, ".5": 0.5, "-2": -2.0, "1,234.5": 1234.5, "three": 3.0}),
    (part, {"10%": 0.1, "10 %": 0.1, "0.1": 0.1, "1 in 10": 0.1, "All": 1.0, "none": 0.0}),
    (scale, {"1..5": STARS, "1 to 5": STARS, "yes/no": YES_NO, "-5..5": ScoreScale(-5.0, 5.0)}),
    (
        scale,
        {"a score from one to ten": ScoreScale(1.0, 10.0), "1-5": STARS, "1 to 5 stars": STARS},
    ),
    (part, {"about 1 in 10": 0.1, "~10%": 0.1, "roughly 10%": 0.1, "about one in ten": 0.1}),
    (bonus, {"10-30%": 0.3, "10% to 30%": 0.3, "about 20%": 0.2, "up to 20%": 0.2}),
    (joining, {"10-30%": 0.1, "about 1 in 8": 0.125, "all": 1.0}),
    (begins, {"at once": 0, "100": 100, "after 100 interviews": 100, "two weeks later": 80}),
    (committee, {"30,10,10": (30, 10, 10), "0, 4, 5": (0, 4, 5), "Do not know": None, "?": None}),
    (bonus, {"20%": 0.2, "0.2": 0.2, "150%": 1.5, "none": 0.0, "no idea": None}),
    (groups, {"3": (3, None), " referrals,agencies,  open  call": (3, NAMES)}),
    (stars, {"0.3": 0.3, "4": 4.0, "0.3 points": 0.3}),
    (parts_of_yes, {"5%": 0.05, "0.05": 0.05}),
    (judges, {"committee": "committee", "panels": "panel", "recused": "recused", "all": None}),
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
    (count, dict.fromkeys(("", "many", "2.5", "2.000", "1,00", "inf", "nan", "1e999"), "2000")),
    (number, dict.fromkeys(("0,3", "a few", "1 2"), "0.5")),
    (part, dict.fromkeys(("10", "120%", "5 in 2", "1 in 0", "-3%", "a few"), "'1 in 10'")),
    (scale, {"5..1": "lowest first", "A-F": "1..5", "5 stars": "1..5", "1,5": "1 to 5"}),
    (committee, dict.fromkeys(("30,10", "30,10,10,10", "some", "-1,2,3", "1.5,2,3"), "30,10,10")),
    (committee, {"0,0,0": "at least one member"}),
    (bonus, dict.fromkeys(("20", "1.2", "1", "-3%", "a lot"), "20%")),
    (groups, {"1": "2 to 1,000", "referrals": "referrals, ", "a,A": "differ", "a,": "1 to 40"}),
    (stars, {"5%": "0.3", "5": "at most 4", "0": "above 0", "0,3": "0.3"}),
    (parts_of_yes, {"5": "5%", "0%": "above 0"}),
    (judges, {"me": "recused"}),
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


def rows(table: list[tuple[Reader, dict[str, Any]]]) -> list[Any]:
    return [
        pytest.param(function, text, said, id=f"{place}-{text}")
        for place, (function, texts) in enumerate(table)
        for text, said in texts.items()
    ]


@pytest.mark.parametrize(("read", "text", "meant"), rows(UNDERSTOOD))
def test_is_understood(read: Reader, text: str, meant: Any) -> None:
    found = read(text)
    if isinstance(found, Budget):
        assert (found.choices, found.assumed) == (meant.choices, meant.assumed)
        assert found.pace == pytest.approx(meant.pace)
    else:
        assert found == (pytest.approx(meant) if isinstance(meant, float) else meant)


@pytest.mark.parametrize(("read", "text", "says"), rows(REFUSED))
def test_is_refused_with_the_rule_and_an_example(read: Reader, text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(text)
    assert caught.value.parameter == "answer"
    assert caught.value.value == text
    assert says in caught.value.rule
    assert len(str(caught.value).splitlines()) == 1


READERS = st.sampled_from([function for function, _ in UNDERSTOOD])
PIECES = st.sampled_from(
    [
        *("2", "10", "0.5", "1,000", "k", "%", "in", "a", "per", "week", "year", "until", "for"),
        *("2027-06-30", "1e999", "31", "2027", "/", "-", "..", "to", ",", "no idea", "all"),
    ]
)
TEXTS = st.text(max_size=40) | st.lists(PIECES, max_size=8).map(" ".join)


@given(text=TEXTS, read=READERS)
def test_every_text_is_understood_or_refused(text: str, read: Reader) -> None:
    with suppress(InvalidInput):
        read(text)


@given(value=st.integers(1, 10**15))
def test_numbers_are_read_as_they_are_printed(value: int) -> None:
    assert count(f"{value}") == count(f"{value:,}") == value
    assert part(f"1 in {value}") == pytest.approx(1.0 / value)


@settings(max_examples=60)
@given(
    said=st.dictionaries(
        st.sampled_from([question.name for question in QUESTIONS]),
        st.one_of(
            st.text(max_size=12),
            st.sampled_from(
                ["no idea", "do not know", "yes/no", "1..5", "0..0.1", "recused", "panels", "9"]
            ),
        ),
    )
)
def test_whatever_is_said_in_a_form_the_rest_is_checked(said: dict[str, str]) -> None:
    told = Situation(TODAY)
    wrong = told.answer_some(said)
    for name, error in wrong.items():
        assert error.parameter == name
    missing = {name for name in ("groups", "scale", "difference", "budget") if not said.get(name)}
    assert missing - set(told.said) == set()  # an example stands for it
    assert missing <= set(wrong)
    alone = Situation(TODAY)
    if not wrong:  # the command line takes the same answers
        alone.answer_all({name: said[name] for name in told.said if said.get(name, "").strip()})
        assert alone.said == told.said
