"""What people write is understood as they mean it, or refused with the rule and an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning import answers, words
from affinity_bandits.planning.answers import Scale
from affinity_bandits.planning.budgets import DAYS, Budget, budget

TODAY = date(2027, 1, 1)
STARS, YES_NO = Scale(1.0, 5.0), Scale(0.0, 1.0, two_scores=True)
NAMES = ("referrals", "agencies", "open call")
WEEKS = DAYS["year"] / 7.0


def committee(text: str) -> tuple[int, ...] | None:
    return answers.committee("answer", text, 3, NAMES)


def stars(text: str) -> float:
    return answers.points("answer", text, STARS, "a difference such as 0.3")


def parts_of_yes(text: str) -> float:
    return answers.points("answer", text, YES_NO, "a difference such as 5%")


def until(text: str) -> Budget:
    return budget("answer", text, TODAY)


def named(function: Callable[[str, str], Any]) -> Callable[[str], Any]:
    return lambda text: function("answer", text)


count, number, part = named(words.count), named(words.number), named(words.part)
groups, scale, bonus = named(answers.groups), named(answers.scale), named(answers.bonus)
judges = named(answers.judges)

UNDERSTOOD: list[tuple[Callable[[str], Any], dict[str, Any]]] = [
    (
        count,
        {
            **dict.fromkeys(("2000", "2,000", "2 000", "2'000", "2_000", "2k", "2 k", "2e3"), 2000),
            **dict.fromkeys(("two thousand", " About 2000. ", "~2000", "2 thousand"), 2000),
            "2.5k": 2500,
            "1m": 10**6,
            "1.5 million": 1_500_000,
            "a hundred": 100,
            "one hundred and five": 105,
            "twenty-five": 25,
            "a dozen": 12,
            "1,234,567": 1_234_567,
        },
    ),
    (number, {"1.5": 1.5, ".5": 0.5, "3": 3.0, "ten": 10.0, "-2": -2.0, "about 0.3": 0.3}),
    (
        part,
        {
            **dict.fromkeys(("10%", "10 %", "0.1", ".1", "1 in 10", "one in ten", "1 of 10"), 0.1),
            **dict.fromkeys(("1 out of 10", "1/10", "a tenth", "every tenth", "10 percent"), 0.1),
            **dict.fromkeys(("ten per cent", "about 10%", "one in every ten"), 0.1),
            **dict.fromkeys(("half", "a half", "50%", "every other one", "every second"), 0.5),
            **dict.fromkeys(("all", "everyone", "Everybody", "100%", "1"), 1.0),
            "two thirds": 2.0 / 3.0,
            "three quarters": 0.75,
            "3 in 100": 0.03,
            "nobody": 0.0,
        },
    ),
    (
        scale,
        {
            **dict.fromkeys(("1-5", "1..5", "1..5 stars", "1 to 5", "1\u20135", "1 - 5"), STARS),
            **dict.fromkeys(("from 1 to 5", "1...5", "1-5 points"), STARS),
            **dict.fromkeys(("yes/no", "Yes / No", "no/yes", "0/1", "pass/fail"), YES_NO),
            **dict.fromkeys(("0..100", "0-100", "0 to 100 points", "percent"), Scale(0.0, 100.0)),
            "-5..5": Scale(-5.0, 5.0),
            "0.5 to 1": Scale(0.5, 1.0),
        },
    ),
    (
        committee,
        {
            **dict.fromkeys(("30,10,10", "30/10/10", "30, 10, 10", "30 10 10"), (30, 10, 10)),
            **dict.fromkeys(("30; 10; 10", "30, 10 and 10", "thirty, ten, ten"), (30, 10, 10)),
            **dict.fromkeys(
                (
                    "Referrals are 30 of our team of 50, the others 10 each",
                    "30 of 50, the others 10 each",
                    "open call: 10, referrals: 30, agencies: 10",
                    "referrals 30, the rest 10",
                    "60%, 20%, 20% of 50",
                ),
                (30, 10, 10),
            ),
            "10 each": (10, 10, 10),
            "none, 4, 5": (0, 4, 5),
            **dict.fromkeys(("do not know", "Don't know.", "?", "we do not know"), None),
        },
    ),
    (
        bonus,
        {
            **dict.fromkeys(("20%", "0.2", "up to 20%", "20% higher", "20 percent more"), 0.2),
            **dict.fromkeys(("1.2 times", "1.2x", "a fifth", "at most 20 %", "1 in 5"), 0.2),
            **dict.fromkeys(("none", "0", "0%", "no", "not at all"), 0.0),
            **dict.fromkeys(("no idea", "unknown", "I don't know", "We have no idea."), None),
            "150%": 1.5,
        },
    ),
    (
        groups,
        {
            "3": (3, None),
            "three": (3, None),
            "We have three sources of candidates.": (3, None),
            "two groups": (2, None),
            "referrals, agencies, open call": (3, NAMES),
            "referrals, agencies and open call": (3, NAMES),
            "A/B": (2, ("A", "B")),
            "Oslo vs. Bergen": (2, ("Oslo", "Bergen")),
            "research and development, sales": (2, ("research and development", "sales")),
        },
    ),
    (stars, {"0.3": 0.3, "0.3 stars": 0.3, "half a star": 0.5, "a third of a point": 1.0 / 3.0}),
    (parts_of_yes, {"5%": 0.05, "0.05": 0.05, "5 percentage points": 0.05, "1 in 20": 0.05}),
    (
        judges,
        {
            **dict.fromkeys(("committee", "the whole committee", "Everybody"), "committee"),
            **dict.fromkeys(("panels", "panel", "equal panels"), "panel"),
            **dict.fromkeys(("strangers", "strangers only", "recusal"), "strangers"),
            **dict.fromkeys(("all", "all three", "do not know"), None),
        },
    ),
    (
        until,
        {
            **dict.fromkeys(("2000", "2k", "2,000 in all", "2,000 people"), Budget(2000)),
            **dict.fromkeys(
                ("2,000 a year", "2000 per year", "2k/year", "2000 interviews a year"),
                Budget(2000, 2000 / WEEKS, assumed=True),
            ),
            "we interview 2,000 people a year": Budget(2000, 2000 / WEEKS, assumed=True),
            "40 a week": Budget(2087, 40.0, assumed=True),
            "40 weekly": Budget(2087, 40.0, assumed=True),
            **dict.fromkeys(
                (
                    "40/week until 2027-06-30",
                    "40 a week until 30 June 2027",
                    "40 each week till June 30th, 2027",
                    "40 a week until the end of June 2027",
                    "40 a week until June 2027",
                ),
                Budget(1028, 40.0),
            ),
            "40 a week until end of 2027": Budget(2080, 40.0),
            "40 a week until 2027": Budget(2080, 40.0),
            "100 a month for 2 years": Budget(2400, 1200 / WEEKS),
            "10 a day for half a year": Budget(1826, 70.0),
            "26 a fortnight for a year": Budget(678, 13.0),
            "2000 over 2 years": Budget(2000, 1000 / WEEKS),
            "360 by 2027-12-27": Budget(360, 7.0),
        },
    ),
]

REFUSED: list[tuple[Callable[[str], Any], dict[str, str]]] = [
    (
        count,
        {
            **{"": "2000", "many": "2,000", "2.5": "2k", "ten five": "two thousand"},
            **{"2.000": "2,000", "1,00": "2000", "inf": "2000", "nan": "2000", "1e999": "2000"},
        },
    ),
    (number, {"0,3": "0.3", "three stars or so": "ten", "1 2": "0.5"}),
    (part, {"10": "10%", "120%": "1 in 10", "5 in 2": "10%", "1:10": "1 in 10", "few": "a tenth"}),
    (
        scale,
        {"5-1": "lowest first", "A-F": "1..5", "5 stars": "1..5", "1,5": "1 to 5", "3": "1..5"},
    ),
    (
        committee,
        {
            **{"30,10": "30,10,10", "30,10,10,10": "30,10,10", "some": "do not know"},
            **{"30,10,20 of 50": "add up to 50, not 60", "60%,20%,20%": "20% of 50"},
            **{"referrals 30, referrals 10, 10": "30,10,10", "-1,2,3": "30,10,10"},
            "strangers 30, agencies 10, open call 10": "30,10,10",
        },
    ),
    (bonus, {"20": "20%", "1.2": "1.2 times", "0.5 times": "20%", "-3%": "20%", "a lot": "20%"}),
    (
        groups,
        {"1": "2 to 1,000", "one": "2", "referrals": "referrals, ", "a,a": "differ", "a,": "1"},
    ),
    (stars, {"5%": "0.3", "5": "at most 4", "0": "above 0", "-1": "above 0", "0,3": "0.3"}),
    (parts_of_yes, {"5": "5%", "2 stars": "5%", "0%": "above 0"}),
    (judges, {"me": "strangers", "judges": "panels"}),
    (
        until,
        {
            **{"for 2 years": "40 a week for 2 years", "until 2027": "40 a week until 2027"},
            **{"40 a week until": "2027-06-30", "40 a week until 30.6.2027": "30 June 2027"},
            **{"40 a week until 2026-12-31": "after today (2027-01-01)", "0": "2000"},
            **{"40 a week until 31 June 2027": "2027-06-30", "2.000 a year": "2,000 a year"},
            **{"0.1 a year": "at least one", "some": "2000", "2000 in 2027": "for 2 years"},
            **{"2000 every 3 weeks": "40 a week", "2.5": "2000"},
        },
    ),
]


def rows(table: list[tuple[Callable[[str], Any], dict[str, Any]]]) -> list[Any]:
    return [
        pytest.param(function, text, said, id=f"{place}-{text}")
        for place, (function, texts) in enumerate(table)
        for text, said in texts.items()
    ]


@pytest.mark.parametrize(("read", "text", "meant"), rows(UNDERSTOOD))
def test_is_understood(read: Callable[[str], Any], text: str, meant: Any) -> None:
    found = read(text)
    if isinstance(found, Budget):
        assert (found.choices, found.assumed) == (meant.choices, meant.assumed)
        assert found.pace == (None if meant.pace is None else pytest.approx(meant.pace))
    else:
        assert found == (pytest.approx(meant) if isinstance(meant, float) else meant)


@pytest.mark.parametrize(("read", "text", "says"), rows(REFUSED))
def test_is_refused_with_the_rule_and_an_example(
    read: Callable[[str], Any], text: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith("answer must be ")
    assert says in caught.value.rule
    assert len(message.splitlines()) == 1


READERS = [function for function, _ in UNDERSTOOD]


@given(text=st.text(max_size=40), place=st.integers(0, len(READERS) - 1))
def test_whatever_is_written_is_understood_or_refused(text: str, place: int) -> None:
    """No text ends in a traceback: what is no answer is an `InvalidInput`."""
    assert len(complaint(READERS[place], text).splitlines()) <= 1


def complaint(read: Callable[[str], Any], text: str) -> str:
    """What is said against a text, nothing if it is understood."""
    try:
        read(text)
    except InvalidInput as error:
        return str(error)
    return ""


PIECES = st.sampled_from(
    [
        *("2", "10", "0.5", "1,000", "k", "%", "in", "of", "a", "week", "year", "until", "for"),
        *("2027-06-30", "June", "31", "2027", "/", "-", "..", "to", "one", "ten", "each", "and"),
        *("the others", "referrals", ":", ",", "times", "half", "every", "no idea", "about"),
    ]
)


@given(pieces=st.lists(PIECES, max_size=8), place=st.integers(0, len(READERS) - 1))
def test_words_of_answers_in_any_order_are_understood_or_refused(
    pieces: list[str], place: int
) -> None:
    for text in (" ".join(pieces), "".join(pieces)):
        assert re.match("answer |$", complaint(READERS[place], text))


@given(value=st.integers(0, 10**15))
def test_every_whole_number_is_read_however_its_thousands_are_marked(value: int) -> None:
    for text in (f"{value}", f"{value:,}", f"{value:_}", f"{value:,}".replace(",", " ")):
        assert count(text) == value


@given(value=st.integers(1, 999))
def test_parts_are_read_as_they_are_printed(value: int) -> None:
    assert part(f"1 in {value}") == pytest.approx(1.0 / value)
    assert part(f"{value / 10:g}%") == pytest.approx(value / 1000)
