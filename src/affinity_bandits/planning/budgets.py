"""Budgets as people write them: "2000", "40 a week until 2027-06-30", "2,000 a year"."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta

from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning.words import read_number, tidied, without_hedges

DAYS = {
    **{"day": 1.0, "week": 7.0, "fortnight": 14.0},
    **{"month": 365.25 / 12.0, "quarter": 365.25 / 4.0, "year": 365.25},
}
PERIOD = rf"(?P<period>{'|'.join(DAYS)})"
EVERY = {
    **{"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter"},
    **{"yearly": "year", "annually": "year", "pa": "year", "p.a": "year"},
}
USUAL_DAYS = DAYS["year"]
"""How long a budget of so many a week lasts if nobody says."""
MONTHS = tuple(name.lower() for name in calendar.month_name)[1:]
RULE = (
    "a number of choices such as 2000, or so many a week, month or year until a date or for a"
    " time: '40 a week until 2027-06-30', '2,000 a year for 2 years'"
)
DATE_RULE = "a date such as 2027-06-30, '30 June 2027' or 'end of 2027'"
END = re.compile(r"(?:(?P<until>until|till|til|by|through|up to)|(?P<long>for|over|in|within)) ")
PACE = re.compile(rf"(?P<amount>.+?) ?(?:/|\b(?:a|an|per|each|every)\b) ?{PERIOD}")
ADVERB = re.compile(rf"(?P<amount>.+?) (?P<period>{'|'.join(map(re.escape, EVERY))})")
NOUN = re.compile(r"(?P<amount>.+?) (?!(?:a|an|per|each|every)\b)(?:[a-z]+ )?[a-z]{3,}")
VERB = re.compile(r"^(?:(?:we|i) )?(?:can |will |could )?[a-z]+ (?=\d)")
TOTAL = re.compile(r"(?P<amount>.+?) (?:in all|in total|altogether|all in all|total|overall)")


@dataclass(frozen=True)
class Budget:
    """How many choices there are, and how fast they come.

    Attributes:
        choices: in all.
        pace: a week; None if nobody said.
        assumed: whether it is for a year because no end was given.
    """

    choices: int
    pace: float | None = None
    assumed: bool = False


def budget(parameter: str, text: str, today: date) -> Budget:
    """Return the budget that a text spells.

    >>> budget("budget", "2,000", date(2027, 1, 1))
    Budget(choices=2000, pace=None, assumed=False)
    >>> budget("budget", "40/week until 2027-06-30", date(2027, 1, 1)).choices
    1028
    """
    plain = without_hedges(tidied(parameter, text, RULE))
    plain, days = _without_end(parameter, plain, text, today)
    plain = VERB.sub("", plain)
    found = PACE.fullmatch(plain) or ADVERB.fullmatch(plain)
    if found is not None:
        period = DAYS[EVERY.get(found["period"], found["period"])]
        amount = _amount(parameter, found["amount"], text)
        lasts = USUAL_DAYS if days is None else days
        # A hair more, so that what is whole stays so.
        choices = int(amount * lasts / period * (1.0 + 1e-12))
        return Budget(_some(parameter, choices, text), 7.0 * amount / period, days is None)
    total = TOTAL.fullmatch(plain)
    amount = _amount(parameter, plain if total is None else total["amount"], text)
    if not amount.is_integer():
        raise InvalidInput(parameter, RULE, text)
    return Budget(_some(parameter, int(amount), text), None if days is None else 7 * amount / days)


def _without_end(parameter: str, plain: str, text: str, today: date) -> tuple[str, float | None]:
    """Return a text without its end, and how many days there are until then."""
    for found in END.finditer(plain):
        before, after = plain[: found.start()].rstrip(" ,"), plain[found.end() :]
        if found["long"]:
            days = _duration(after)
            if days is None:
                continue  # "in all", "in total"
        else:
            until = _date(parameter, after, text)
            days = float((until - today).days)
            if days < 1.0:
                raise InvalidInput(parameter, f"until a day after today ({today})", text)
        if not before:
            rule = f"complete, with a number as well: '40 a week {found[0]}{after}'"
            raise InvalidInput(parameter, rule, text)
        return before, days
    if re.search(r"\b(until|till|by)$", plain):
        raise InvalidInput(parameter, f"complete, with {DATE_RULE} at its end", text)
    return plain, None


def _amount(parameter: str, plain: str, text: str) -> float:
    """Return how many choices are meant; what they are called is left out."""
    value = read_number(without_hedges(plain))
    while value is None and (found := NOUN.fullmatch(plain)) is not None:
        plain = found["amount"]  # "2,000 people", "40 interviews"
        value = read_number(without_hedges(plain))
    if value is None or value <= 0.0 or re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+", plain):
        raise InvalidInput(parameter, RULE, text)
    return value


def _some(parameter: str, choices: int, text: str) -> int:
    if choices < 1:
        raise InvalidInput(parameter, "at least one choice in all", text)
    return choices


def _duration(plain: str) -> float | None:
    """Return how many days "2 years", "a year", "half a year" or "18 months" are."""
    found = re.fullmatch(
        rf"(?:the next |the coming |the )?(?:(?P<n>.+?) )??{PERIOD}s?",
        plain,
    )
    if found is None:
        return None
    words = found["n"] or "1"
    halves = {"half a": 0.5, "a half": 0.5, "half": 0.5, "a": 1.0, "an": 1.0, "one and a half": 1.5}
    value = halves.get(words, read_number(words))
    return None if value is None or value <= 0.0 else value * DAYS[found["period"]]


def _date(parameter: str, plain: str, text: str) -> date:
    """Return the day that a text names, the last one of a month or a year."""
    plain = plain.removeprefix("the ").strip()
    plain = re.sub(r"^end of (?:the year )?", "", plain).replace(",", " ")
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", " ".join(plain.split()))
    try:
        if re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", plain):
            return date(*map(int, plain.split("-")))
        if re.fullmatch(r"\d{4}", plain):
            return date(int(plain), 12, 31)
        if re.fullmatch(r"\d{4}-\d{1,2}", plain):
            year, month = map(int, plain.split("-"))
            return _month_end(year, month)
        words = plain.replace(" of ", " ").split()
        months = [1 + MONTHS.index(one) for word in words for one in MONTHS if _is_month(word, one)]
        numbers = [int(word) for word in words if word.isdecimal()]
        if len(months) == 1 and len(months) + len(numbers) == len(words):
            if len(numbers) == 1 and numbers[0] > 31:
                return _month_end(numbers[0], months[0])
            if len(numbers) == 2:
                return date(max(numbers), months[0], min(numbers))
    except ValueError:  # the 31st of June
        pass
    raise InvalidInput(parameter, f"complete, with {DATE_RULE} at its end", text)


def _is_month(word: str, month: str) -> bool:
    short = word.removesuffix(".")
    return len(short) >= 3 and month.startswith(short)


def _month_end(year: int, month: int) -> date:
    first = date(year, month, 1)
    return (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
