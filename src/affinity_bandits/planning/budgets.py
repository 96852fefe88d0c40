"""Numbers of choices over time, as people write them: 40 a week until 2027-06-30."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date

from affinity_bandits.base.amounts import is_ambiguous, parse_count, plain_text, read_amount
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.planning.questions import RULES

DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12.0, "year": 365.25}
_PERIOD = "|".join(DAYS)
_BEGINS = re.compile(rf"(?:after )?(?P<amount>\S+)(?: (?P<unit>{_PERIOD})s?| [^\d]+?)??(?: later)?")
_BUDGET = re.compile(
    rf"(?P<amount>\S+)(?: (?!(?:a|per)\b)[a-z]+)?(?: (?:a|per) (?P<period>{_PERIOD})"
    rf"(?: until (?P<until>\S+)| for (?P<times>\S+) (?P<unit>{_PERIOD})s?)?)?"
)


@dataclass(frozen=True)
class Budget:
    """A number of choices and how fast they come.

    Attributes:
        choices: the total.
        pace: choices per week; None if left open.
        assumed: True if the end was left open, so that the budget is for one year.
    """

    choices: int
    pace: float | None = None
    assumed: bool = False


def parse_budget(parameter: str, text: str, today: date) -> Budget:
    """Return a budget.

    >>> parse_budget("budget", "2,000", date(2027, 1, 1))
    Budget(choices=2000, pace=None, assumed=False)
    >>> parse_budget("budget", "40 a week until 2027-06-30", date(2027, 1, 1)).choices
    1028
    """
    found = _BUDGET.fullmatch(plain_text(text))
    if found is None or found["period"] is None:
        number = text if found is None else found["amount"]
        return Budget(parse_count(parameter, number, RULES["budget"]))
    amount, period = read_amount(found["amount"]), DAYS[found["period"]]
    # Slightly more, so that rounding does not lose a choice.
    choices = amount * _days(parameter, found, text, today) / period * (1.0 + 1e-12)
    if not 0.0 < choices < math.inf or is_ambiguous(found["amount"]):
        raise InvalidInput(parameter, RULES["budget"], text)
    assumed = found["until"] is None and found["unit"] is None
    return Budget(int(choices), 7.0 * amount / period, assumed)


def parse_begins(parameter: str, text: str, pace: float | None) -> int:
    """Return after how many choices those chosen begin to judge, given the choices per week.

    >>> parse_begins("begins", "at once", None), parse_begins("begins", "after 3 months", 40.0)
    (0, 522)
    """
    if plain_text(text) == "at once":
        return 0
    found = _BEGINS.fullmatch(plain_text(text))
    amount = math.nan if found is None else read_amount(found["amount"])
    if found is not None and found["unit"] is not None:
        if pace is None:
            rule = "after a number of choices such as 100, as the budget has no choices per week"
            raise InvalidInput(parameter, rule, text)
        weeks = amount * DAYS[found["unit"]] / 7.0
        amount = float(math.ceil(weeks * pace)) if weeks >= 0.0 else math.nan
    if not amount.is_integer() or amount < 0.0:
        raise InvalidInput(parameter, RULES["begins"], text)
    return int(amount)


def _days(parameter: str, found: re.Match[str], text: str, today: date) -> float:
    """Return how many days a budget lasts; by default a year."""
    if found["until"] is None:
        times = 1.0 if found["times"] in (None, "a") else read_amount(found["times"])
        return times * DAYS[found["unit"] or "year"]
    try:
        days = (date.fromisoformat(found["until"]) - today).days
    except ValueError:
        rule = "complete, with a date such as 2027-06-30 at its end"
        raise InvalidInput(parameter, rule, text) from None
    if days < 1:
        raise InvalidInput(parameter, f"until a day after today ({today})", text)
    return float(days)
