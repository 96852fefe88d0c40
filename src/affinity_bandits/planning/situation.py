"""From answers in plain words to a plan's assumptions."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from affinity_bandits import checks
from affinity_bandits.declaration import Declaration
from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning.assumptions import JUDGES as WAYS_TO_JUDGE
from affinity_bandits.planning.assumptions import (
    LEAST_JOINING,
    LIMITS,
    NOISES,
    USUAL_HEAD_START,
    Assumptions,
    check_unit,
)
from affinity_bandits.words import plural

MAX_GROUPS = 1000
MAX_NAME_LENGTH = 40
NUMBER_RULE = "a number such as 3 or 0.5"
PART_RULE = "a part such as 10%, 0.1 or '1 in 10'"
UNKNOWN = ("do not know", "no idea", "unknown", "?")
JUDGES = {
    "committee": "committee",
    "panel": "panel",
    "panels": "panel",
    "strangers": "strangers",
    "all": None,
}
DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12.0, "year": 365.25}
_PERIOD = "|".join(DAYS)
_SUFFIXES = {"k": 1e3, "m": 1e6}
_DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_NUMBER = re.compile(rf"([+-]?{_DIGITS})([km]?)")
_RANGE = re.compile(
    r"(?:(?:an? )?(?:scores?|grades?|marks?|points?|stars?) )?(?:from )?"
    rf"([+-]?{_DIGITS}) ?(?:\.\.|to|-|\u2013) ?([+-]?{_DIGITS})(?: (?:points?|stars?))?"
)
_BETWEEN = re.compile(rf"({_DIGITS})%? ?(?:\.\.|to|-|\u2013) ?({_DIGITS})%")
_ABOUT = re.compile(r"(?:about|around|roughly|approximately|up to|at most|ca\.?|~) ?")
_WORDS = (
    *("zero", "one", "two", "three", "four", "five"),
    *("six", "seven", "eight", "nine", "ten"),
)
_BEGINS = re.compile(rf"(?:after )?(?P<amount>\S+)(?: (?P<unit>{_PERIOD})s?| [^\d]+?)??(?: later)?")
_BUDGET = re.compile(
    rf"(?P<amount>\S+)(?: (?!(?:a|per)\b)[a-z]+)?(?: (?:a|per) (?P<period>{_PERIOD})"
    rf"(?: until (?P<until>\S+)| for (?P<times>\S+) (?P<unit>{_PERIOD})s?)?)?"
)
USUAL_SPREAD = 0.25  # standard deviation, as a part of the scale: one star on a scale of 1 to 5


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        name: the name of its flag and of its key in a file.
        asks: its words.
        example: an answer.
        rule: the accepted answers.
        usual: the default.
    """

    name: str
    asks: str
    example: str
    rule: str
    usual: str | None = None


# All questions, in this order; some are skipped, depending on earlier answers.
QUESTIONS = (
    Question(
        "groups",
        "Which groups are compared (names, or how many)?",
        "referrals,agencies",
        "names such as 'referrals, agencies, open call', or how many groups, from 2 to 1,000",
    ),
    Question(
        "unit",
        "What is one choice called (interview, review, match)?",
        "interview",
        "a noun in the singular such as interview",
        "choice",
    ),
    Question(
        "scale",
        "Which scores are given (1..5, 0..100, yes/no)?",
        "1..5",
        "the lowest and the highest score such as 1..5, '1 to 5' or 0..100, or yes/no",
    ),
    Question(
        "spread",
        "How much do scores spread (standard deviation, in points)?",
        "1",
        "a standard deviation in points of the scale such as 1, or 'largest'",
        "usual",
    ),
    Question(
        "bonus",
        "How much higher do people rate their own kind, at most (20%, no idea)?",
        "20%",
        "how much more at most such as 20% or 0.2, 'none' or 'no idea'",
        "no idea",
    ),
    Question(
        "judges",
        "Who may judge: committee, panels, strangers?",
        "panels",
        "committee, panels or strangers, or 'all' to see all three",
        "all",
    ),
    Question(
        "committee",
        "How many members of each group are on the committee (or: do not know)?",
        "30,10,10",
        "a number of members for each group such as 30,10,10, or 'do not know'",
        "do not know",
    ),
    Question(
        "head_start",
        "By how many members may one group outnumber another?",
        "100",
        "how many members one group may have more than another, such as 100",
        str(USUAL_HEAD_START),
    ),
    Question(
        "joining",
        "How many of those chosen join the committee?",
        "'1 in 10'",
        f"{PART_RULE}; if you do not know, the fewest you would expect",
        "all",
    ),
    Question(
        "difference",
        "Which difference in mean scores would matter, at equal shares?",
        "0.3",
        "a difference in points of the scale such as 0.3, with a decimal point",
    ),
    Question(
        "budget",
        "How many {units} (2000; 40 a week until 2027-06-30; 2,000 a year)?",
        "'2,000 a year'",
        "a number such as 2000, or so many a week, month or year until a date or for a"
        " time: '40 a week until 2027-06-30', '2,000 a year for 2 years'",
    ),
    Question(
        "begins",
        "When do those chosen begin to judge (at once; after 100 {units}; after 3 months)?",
        "'after 3 months'",
        "'at once', after a number of choices such as 100, or after a time such as '3 months' if"
        " the budget says how fast choices come",
        "at once",
    ),
    Question(
        "in_flight",
        "How many may be under way at once, not scored yet?",
        "10",
        "a whole number such as 1 or 10",
        "1",
    ),
    Question(
        "failure",
        "How often may a worse group be settled for, at most?",
        "5%",
        PART_RULE,
        "5%",
    ),
)
# Settings that only flags and files have.
UNASKED = ("noise", "largest_mean", "steepness", "lipschitz", "favor_gap")
NAMES = (*(question.name for question in QUESTIONS), *UNASKED)
RULES = {question.name: question.rule for question in QUESTIONS}
# Not asked where panels or strangers judge, but accepted.
OF_THE_COMMITTEE = ("committee", "joining", "begins")
LEFT_OUT = {
    "scale": "Gaussian scores have no ends",
    "spread": "yes and no spread as they must, and Gaussian scores by their sigma",
    "head_start": "the committee is known, or does not judge",
}


@dataclass(frozen=True)
class ScoreScale:
    """The ends of a scale of scores; `two_scores` if only the ends are scores."""

    lowest: float
    highest: float
    two_scores: bool = False


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


def is_unknown(text: str) -> bool:
    """Return whether an answer is "no idea" or the like."""
    return _plain(text) in UNKNOWN


def parse_number(parameter: str, text: str) -> float:
    """Return a number.

    >>> parse_number("spread", "1.5"), parse_number("spread", "2k")
    (1.5, 2000.0)
    """
    value = _read(text)
    if math.isnan(value):
        raise InvalidInput(parameter, NUMBER_RULE, text)
    return value


def parse_count(
    parameter: str, text: str, rule: str = "a whole number such as 2000, 2,000 or 2k"
) -> int:
    """Return a whole number.

    >>> parse_count("budget", "2,000"), parse_count("budget", "2k"), parse_count("budget", "1e6")
    (2000, 2000, 1000000)
    """
    value = _read(text)
    if _is_ambiguous(text):
        raise InvalidInput(parameter, f"{rule}; a point may be decimal or separate thousands", text)
    if not value.is_integer():
        raise InvalidInput(parameter, rule, text)
    return int(value)


def parse_part(parameter: str, text: str, rule: str = PART_RULE) -> float:
    """Return a part of a whole, from 0 to 1.

    >>> parse_part("joining", "1 in 10"), parse_part("joining", "10%"), parse_part("joining", "all")
    (0.1, 0.1, 1.0)
    """
    low, high = _read_part(text)
    if not 0.0 <= low == high <= 1.0:
        raise InvalidInput(parameter, rule, text)
    return low


def parse_groups(parameter: str, text: str) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of groups, and their names if they were given.

    >>> parse_groups("groups", "referrals, agencies, open call")
    (3, ('referrals', 'agencies', 'open call'))
    >>> parse_groups("groups", "3")
    (3, None)
    """
    if "," in text:
        return parse_names(parameter, text.split(","), text)
    number = parse_count(parameter, text, RULES["groups"])
    if not 2 <= number <= MAX_GROUPS:
        raise InvalidInput(parameter, RULES["groups"], text)
    return number, None


def parse_names(
    parameter: str, names: Sequence[object], said: object
) -> tuple[int, tuple[str, ...]]:
    """Return the number of names, and the names with single spaces."""
    found = tuple(" ".join(str(name).split()) for name in names)
    if not all(0 < len(name) <= MAX_NAME_LENGTH and name.isprintable() for name in found):
        rule = f"{RULES['groups']}; a name has 1 to {MAX_NAME_LENGTH} characters"
        raise InvalidInput(parameter, rule, said)
    if len({name.casefold() for name in found}) < len(found):
        raise InvalidInput(parameter, "names that differ", said)
    if not 2 <= len(found) <= MAX_GROUPS:
        raise InvalidInput(parameter, RULES["groups"], said)
    return len(found), found


def parse_scale(parameter: str, text: str) -> ScoreScale:
    """Return a scale of scores.

    >>> parse_scale("scale", "1..5"), parse_scale("scale", "yes/no").two_scores
    (ScoreScale(lowest=1.0, highest=5.0, two_scores=False), True)
    >>> parse_scale("scale", "a score from one to ten").highest
    10.0
    """
    low, high = parse_ends(parameter, text)
    if not low < high:
        raise InvalidInput(parameter, f"{RULES['scale']}, the lowest first", text)
    return ScoreScale(low, high, two_scores=_plain(text) == "yes/no")


def parse_ends(parameter: str, text: str) -> tuple[float, float]:
    """Return both ends of a scale of scores in the order in which they are written.

    >>> parse_ends("scale", "5..1"), parse_ends("scale", "yes/no")
    ((5.0, 1.0), (0.0, 1.0))
    """
    plain = _plain(text)
    if plain == "yes/no":
        return 0.0, 1.0
    found = _RANGE.fullmatch(plain)
    if found is None:
        raise InvalidInput(parameter, RULES["scale"], text)
    return float(found[1]), float(found[2])


def parse_points(parameter: str, text: str, on: ScoreScale, rule: str) -> float:
    """Return an amount in points of a scale; for yes/no, a part of all answers."""
    value, rule = (
        (_read_part(text)[1], "a part of all answers such as 5% or 0.05")
        if on.two_scores
        else (_read(re.sub(" ?(points?|stars?)$", "", _plain(text))), rule)
    )
    limit = on.highest - on.lowest
    if not 0.0 < value <= limit:
        raise InvalidInput(parameter, f"{rule}, above 0 and at most {limit:g}", text)
    return value


def parse_favor(parameter: str, text: str, ends: tuple[float, float]) -> float:
    """Return a favor in points of a scale with these ends.

    >>> parse_favor("matters", "0.3", (5, 1)), parse_favor("matters", "5%", (0, 1))
    (0.3, 0.05)
    """
    low, high = min(ends), max(ends)
    on = ScoreScale(low, high, two_scores=(low, high) == (0.0, 1.0))
    return parse_points(parameter, text, on, "a number of points such as 0.3")


def parse_committee(parameter: str, text: str, number: int) -> tuple[int, ...] | None:
    """Return the members of each group, None if unknown.

    >>> parse_committee("committee", "30,10,10", 3)
    (30, 10, 10)
    """
    if is_unknown(text):
        return None
    members = [_read(item) for item in text.split(",")]
    if len(members) != number or not all(one >= 0.0 and one.is_integer() for one in members):
        raise InvalidInput(parameter, f"{RULES['committee']}; there are {number} groups", text)
    if not any(members):
        raise InvalidInput(parameter, "at least one member in all", text)
    return tuple(int(one) for one in members)


def parse_bonus(parameter: str, text: str) -> float | None:
    """Return the largest relative bonus for the own group; None if unknown.

    >>> parse_bonus("bonus", "10-30%"), parse_bonus("bonus", "no idea")
    (0.3, None)
    """
    if is_unknown(text):
        return None
    value = _read_part(text)[1]
    # Without a percent sign, 1.2 may be 120% more or 1.2 times as much.
    if not 0.0 <= value <= 1e6 or (value >= 1.0 and not re.search("%|per ?cent", text)):
        raise InvalidInput(parameter, RULES["bonus"], text)
    return value


def parse_judges(parameter: str, text: str, bonus: float | None = 0.0) -> str | None:
    """Return who judges, None for all ways in turn; `bonus` is None if unknown."""
    if _plain(text) not in JUDGES:
        raise InvalidInput(parameter, RULES["judges"], text)
    if _plain(text) == "strangers" and bonus is None:
        rule = (
            "committee or panels if nothing is known of the bias: judged by strangers, people"
            " might all score the lowest, and there would be nothing to see"
        )
        raise InvalidInput(parameter, rule, text)
    return JUDGES[_plain(text)]


def parse_joining(parameter: str, text: str) -> float:
    """Return the part of those chosen that joins the committee; the lower end of a range.

    >>> round(1.0 / parse_joining("joining", "about 1 in 12"))
    12
    """
    value, most = _read_part(text)
    if not 0.0 <= value <= most <= 1.0:
        raise InvalidInput(parameter, RULES["joining"], text)
    if value < LEAST_JOINING:
        rule = "above 0; if nobody joins, the committee never changes: plan with panels"
        raise InvalidInput(parameter, rule, text)
    return value


def parse_budget(parameter: str, text: str, today: date) -> Budget:
    """Return a budget.

    >>> parse_budget("budget", "2,000", date(2027, 1, 1))
    Budget(choices=2000, pace=None, assumed=False)
    >>> parse_budget("budget", "40 a week until 2027-06-30", date(2027, 1, 1)).choices
    1028
    """
    found = _BUDGET.fullmatch(_plain(text))
    if found is None or found["period"] is None:
        number = text if found is None else found["amount"]
        return Budget(parse_count(parameter, number, RULES["budget"]))
    amount, period = _read(found["amount"]), DAYS[found["period"]]
    # Slightly more, so that rounding does not lose a choice.
    choices = amount * _days(parameter, found, text, today) / period * (1.0 + 1e-12)
    if not 0.0 < choices < math.inf or _is_ambiguous(found["amount"]):
        raise InvalidInput(parameter, RULES["budget"], text)
    assumed = found["until"] is None and found["unit"] is None
    return Budget(int(choices), 7.0 * amount / period, assumed)


def parse_begins(parameter: str, text: str, pace: float | None) -> int:
    """Return after how many choices those chosen begin to judge, given the choices per week.

    >>> parse_begins("begins", "at once", None), parse_begins("begins", "after 3 months", 40.0)
    (0, 522)
    """
    if _plain(text) == "at once":
        return 0
    found = _BEGINS.fullmatch(_plain(text))
    amount = math.nan if found is None else _read(found["amount"])
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
        times = 1.0 if found["times"] in (None, "a") else _read(found["times"])
        return times * DAYS[found["unit"] or "year"]
    try:
        days = (date.fromisoformat(found["until"]) - today).days
    except ValueError:
        rule = "complete, with a date such as 2027-06-30 at its end"
        raise InvalidInput(parameter, rule, text) from None
    if days < 1:
        raise InvalidInput(parameter, f"until a day after today ({today})", text)
    return float(days)


def _plain(text: str) -> str:
    """Return a text in lower case, without "about" and the like, with figures for small numbers."""
    plain = _ABOUT.sub("", " ".join(text.lower().split()), count=1)
    for number, word in enumerate(_WORDS):
        plain = re.sub(rf"\b{word}\b", str(number), plain)
    return plain


def _is_ambiguous(text: str) -> bool:
    """Return whether a point may separate thousands: 2.000 is 2 or 2000."""
    return re.fullmatch(r"[+-]?\d+\.\d{3}", text.strip()) is not None


def _read(text: str) -> float:
    """Return the number that a text stands for, or NaN."""
    plain = _plain(text)
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    found = _NUMBER.fullmatch(plain)
    if found is None:
        return math.nan
    value = float(found[1])
    if found[2]:
        value = round(value * _SUFFIXES[found[2]], 9)
    return value if math.isfinite(value) else math.nan


def _read_part(text: str) -> tuple[float, float]:
    """Return the ends of the part that a text stands for, or NaN."""
    plain = re.sub(r" ?per ?cent$", "%", _plain(text))
    between = _BETWEEN.fullmatch(plain)
    if between is not None:
        return float(between[1]) / 100.0, float(between[2]) / 100.0
    above, _, below = plain.partition(" in ")
    if plain in ("all", "none"):
        value = float(plain == "all")
    elif plain.endswith("%"):
        value = _read(plain[:-1]) / 100.0
    elif below:
        value = _read(above) / (_read(below) or math.nan)
    else:
        value = _read(plain)
    return value, value


def answers_of_audit(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers that an audit gives: groups, scale, spread of scores, bonus, favor gap.

    The bonus is the upper end of the favor's interval, relative to the mean score above the worst
    one. It is "no idea" if the log cannot tell. The favor gap is the largest difference that the
    intervals of two groups' favors allow, and left out if a group has none. The committee is not in
    an audit. If the lowest score is the best, the plan is for the same scores turned round.

    Args:
        found: the audit's result as JSON data.

    Raises:
        InvalidInput: its groups were declared as protected attributes, or judges give their own
            group less, which plans do not allow for.
    """
    if found.get("declaration"):
        Declaration.from_json(found["declaration"]).check_comparison()
    if found["word"] in ("shown less", "indicated less"):
        rule = "an audit in which judges do not give their own group less: plans allow for more"
        raise InvalidInput("from", rule, found["word"])
    worst, best = found["scale"]
    low, high = min(worst, best), max(worst, best)
    counts = [group["scores"] for group in found["groups"]]
    total = sum(n * group["mean"] for n, group in zip(counts, found["groups"], strict=True))
    level = abs(total / sum(counts) - worst)
    answers: dict[str, Any] = {
        "groups": [group["name"] for group in found["groups"]],
        "scale": f"{low:g}..{high:g}",
        "bonus": "no idea",
    }
    if found["spread"]:
        answers["spread"] = f"{found['spread']:.3g}"
    if found["word"] != "cannot tell" and found["favor"] is not None and level > 0.0:
        answers["bonus"] = f"{math.ceil(100.0 * max(0.0, found['favor']['high']) / level)}%"
        favors = [group.get("favor") for group in found["groups"]]
        if all(favors):
            pairs = itertools.permutations(favors, 2)
            gap = max(one["high"] - other["low"] for one, other in pairs)
            answers["favor_gap"] = f"{max(0.0, gap):.3g}"
    return answers


class Situation:
    """The answers so far; every answer is checked when it is given.

    Args:
        today: the day on which the comparison would begin.

    Attributes:
        said: the answers as they were given, by name.
    """

    def __init__(self, today: date | None = None) -> None:
        self.today = date.today() if today is None else today
        self.said: dict[str, object] = {}
        self._known: dict[str, Any] = {}

    def questions(self) -> Iterator[Question]:
        """Yield the questions that are still open; answer each before asking for the next."""
        for question in QUESTIONS:
            if question.name in self._known or not self._applies(question.name):
                continue
            usual = question.usual
            if question.name == "spread":
                usual = f"{self._usual_spread:g}"
            asks = question.asks.format(units=plural(self._known.get("unit", "choice")))
            yield replace(question, asks=asks, usual=usual)

    def answer(self, name: str, said: object) -> None:
        """Take an answer, as text, number or list. It may depend on the answers before it.

        Raises:
            InvalidInput: the answer is unreadable, or contradicts an earlier one.
        """
        checks.known_keys("key of a situation", (name,), NAMES)
        if name == "noise":
            value: Any = _noise(name, said)
        elif name == "groups" and isinstance(said, list | tuple):
            value = parse_names(name, said, said)
        else:
            value = self._parse(name, _text(name, said))
        if name in LIMITS and name != "groups" and value is not None:
            check, limits = LIMITS[name]
            value = check(name, value, **limits)
        self._known[name] = value
        self.said[name] = said

    def answer_all(self, said: Mapping[str, object]) -> None:
        """Take all answers at once, and defaults for the others."""
        checks.known_keys("key of a situation", said, NAMES)
        for name in UNASKED:
            if name in said:
                self.answer(name, said[name])
        for question in self.questions():
            name, usual = question.name, question.usual
            if name not in said and usual is None:
                flag = f"--{name.replace('_', '-')}"
                raise InvalidInput(name, f"given, e.g. {flag} {question.example}", None)
            self.answer(name, said.get(name, usual))
        for name, value in said.items():
            if name in OF_THE_COMMITTEE and name not in self._known:
                self.answer(name, value)
            if name not in self._known:
                raise InvalidInput(name, f"left out: {LEFT_OUT[name]}", value)

    def answer_some(self, said: Mapping[str, str]) -> dict[str, InvalidInput]:
        """Take the answers that are understood; return the mistakes in the others, by name.

        An empty answer is the default, if there is one. A wrong answer stands for an example, so
        that the questions after it can be checked.
        """
        wrong = {}
        for question in self.questions():
            name, usual = question.name, question.usual
            try:
                self.answer(name, said.get(name, "").strip() or usual)
            except InvalidInput as error:
                wrong[name] = error
                example = f"{self._usual_spread:g}" if name == "difference" else question.example
                self.answer(name, usual or example.strip("'"))
        return wrong

    def _applies(self, name: str) -> bool:
        """Return whether a question is asked, given the answers to those before it."""
        known = self._known
        gaussian = known.get("noise", {}).get("noise") == "gaussian"
        if name == "scale":
            return not gaussian
        if name == "spread":
            return not gaussian and not known["scale"].two_scores
        if name in OF_THE_COMMITTEE:
            return known["judges"] in (None, "committee")
        if name == "head_start":
            return "committee" in known and known["committee"] is None
        return True

    @property
    def _usual_spread(self) -> float:
        on: ScoreScale = self._known["scale"]
        return USUAL_SPREAD * (on.highest - on.lowest)

    def _parse(self, name: str, text: str) -> Any:
        """Return the value of an answer."""
        known = self._known
        match name:
            case "groups":
                return parse_groups(name, text)
            case "unit":
                return check_unit(name, text)
            case "scale":
                return parse_scale(name, text)
            case "spread":
                return self._spread(name, text)
            case "bonus":
                return parse_bonus(name, text)
            case "judges":
                return parse_judges(name, text, known["bonus"])
            case "committee":
                return parse_committee(name, text, known["groups"][0])
            case "joining":
                return parse_joining(name, text)
            case "difference":
                return parse_points(
                    name, text, known.get("scale", ScoreScale(0.0, 1e6)), RULES[name]
                )
            case "budget":
                return self._budget(name, text)
            case "begins":
                return parse_begins(name, text, known["budget"].pace)
            case "head_start" | "in_flight":
                return parse_count(name, text, RULES[name])
            case "failure":
                return parse_part(name, text)
        return parse_number(name, text)

    def _spread(self, name: str, text: str) -> float | None:
        if text == "largest":
            return None
        if is_unknown(text):
            return self._usual_spread
        on: ScoreScale = self._known["scale"]
        value = parse_points(name, text, on, RULES[name])
        limit = 0.5 * (on.highest - on.lowest)
        if value > limit:
            rule = f"at most {limit:g}, half of the scale: scores cannot spread more"
            raise InvalidInput(name, rule, text)
        return value

    def _budget(self, name: str, text: str) -> Budget:
        found = parse_budget(name, text, self.today)
        number = self._known["groups"][0]
        if found.choices < number:
            raise InvalidInput(name, f"at least one choice for each of {number} groups", text)
        checks.integer(name, found.choices, low=1)
        return found

    @property
    def judges(self) -> str | None:
        """Who is to judge; None if all ways are to be shown."""
        return self._known["judges"]  # type: ignore[no-any-return]

    @property
    def for_a_year(self) -> bool:
        """Whether the budget is for a year because its end was left open."""
        return bool(self._known["budget"].assumed)

    def ways(self) -> list[Assumptions]:
        """Return the assumptions for each way to judge that is to be shown."""
        given = self.assumptions()
        if self.judges is not None:
            return [given]
        # Without a bound on the bias, strangers might see nothing.
        ways = [one for one in WAYS_TO_JUDGE if one != "strangers" or given.bonus is not None]
        return [replace(given, judges=one) for one in ways]

    def assumptions(self) -> Assumptions:
        """Return the assumptions, once all questions are answered.

        The whole committee judges if all ways are to be shown.
        """
        known = self._known
        settings = dict(known.get("noise", {}))
        if "scale" in known:
            settings |= {"lowest": known["scale"].lowest, "highest": known["scale"].highest}
        for name in (*UNASKED[1:], "spread", "head_start", "committee", "joining"):
            if known.get(name) is not None:
                settings[name] = known[name]
        groups, names = known["groups"]
        return Assumptions(
            groups=groups,
            names=names,
            horizon=known["budget"].choices,
            pace=known["budget"].pace,
            smallest_difference=known["difference"],
            bonus=known["bonus"],
            judges=known["judges"] or "committee",
            unit=known["unit"],
            begin_after=known.get("begins", 0),
            failure=known["failure"],
            in_flight=known["in_flight"],
            **settings,
        )


def _noise(name: str, said: object) -> dict[str, Any]:
    """Return the settings of a noise, given as its name or as a table."""
    described = dict(said) if isinstance(said, Mapping) else {"name": said}
    noise = checks.choice(name, described.pop("name", None), NOISES)
    checks.known_keys(
        f"parameter of noise {noise}", described, ("sigma",) if noise == "gaussian" else ()
    )
    return {"noise": noise} | described


def _text(name: str, said: object) -> str:
    """Return an answer as text; a list becomes one with commas."""
    if isinstance(said, list | tuple):
        return ",".join(_text(name, one) for one in said)
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        raise InvalidInput(name, RULES.get(name, NUMBER_RULE), said)
    return f"{said:.15g}" if isinstance(said, float) else str(said)
