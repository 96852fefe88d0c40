"""From what people say of their situation, answer by answer, to assumptions.

The dialogue of `affinity plan`, its flags and its files all end here, so an answer is understood or
refused in the same way wherever it was given, and at once: before the next question is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning import answers, words
from affinity_bandits.planning.answers import Scale
from affinity_bandits.planning.assumptions import (
    LEAST_JOINING,
    MOST_HEAD_START,
    MOST_IN_FLIGHT,
    USUAL_HEAD_START,
    Assumptions,
)
from affinity_bandits.planning.budgets import Budget, budget

USUAL_SPREAD = 0.25
"""The usual standard deviation, as a part of the scale: one star of one to five."""
DIFFERENCE_RULE = "a difference in points of the scale such as 0.3"
SPREAD_RULE = "a standard deviation in points of the scale such as 1, or 'largest'"


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        name: what it is about, also as a flag and in a file.
        asks: its words.
        example: an answer.
        usual: what Enter stands for.
        unsaid: what it stands for that a flag was left out, if that differs.
    """

    name: str
    asks: str
    example: str
    usual: str | None = None
    unsaid: str | None = None


QUESTIONS = (
    Question("groups", "Which groups are compared (names, or how many)?", "referrals,agencies"),
    Question("scale", "Which scores are given (1..5, 0..100, yes/no)?", "1..5"),
    Question("spread", "How much do scores spread (standard deviation, in points)?", "1", "usual"),
    Question(
        "bonus",
        "How much higher do people rate their own kind, at most (20%, no idea)?",
        "20%",
        unsaid="no idea",
    ),
    Question("judges", "Who may judge: committee, panels, strangers?", "panels", "all"),
    Question(
        "committee",
        "How many members of each group are on the committee (or: do not know)?",
        "30,10,10",
        unsaid="do not know",
    ),
    Question(
        "head_start",
        "By how many members may one group outnumber another?",
        "100",
        str(USUAL_HEAD_START),
    ),
    Question("joining", "How many of those chosen join the committee?", "'1 in 10'", "all"),
    Question(
        "difference",
        "Which difference in mean scores would matter, at equal shares?",
        "0.3",
    ),
    Question(
        "budget",
        "How many choices (2000; 40 a week until 2027-06-30; 2,000 a year)?",
        "'2,000 a year'",
    ),
    Question("in_flight", "How many may be under way at once, not scored yet?", "10", "1"),
    Question("failure", "How often may a worse group be settled for, at most?", "5%", "5%"),
)
"""All that is asked, in this order; which of them depends on earlier answers."""
UNASKED = ("noise", "largest_mean", "steepness", "lipschitz")
"""What only flags and files say."""
NAMES = (*(question.name for question in QUESTIONS), *UNASKED)
OF_THE_COMMITTEE = ("committee", "joining")
"""What is not asked where panels or strangers judge; it may be said all the same."""


class Situation:
    """What has been said so far; every answer is checked when it is given.

    Args:
        today: the day on which the comparison would begin.
    """

    def __init__(self, today: date | None = None) -> None:
        self.today = date.today() if today is None else today
        self._known: dict[str, Any] = {}

    def questions(self) -> Iterator[Question]:
        """Yield the questions that are still open; answer each before asking for the next."""
        for question in QUESTIONS:
            if question.name not in self._known and self._applies(question.name):
                yield self._with_usual(question)

    def answer(self, name: str, said: object) -> None:
        """Take an answer, as text, number or list; what it follows from must be known already.

        Raises:
            InvalidInput: it is not understood, or does not fit what was said before.
        """
        checks.known_keys("key of a situation", (name,), NAMES)
        self._known[name] = getattr(self, f"_{name}")(name, said)

    def answer_all(self, said: Mapping[str, object]) -> None:
        """Take all answers at once, in the order of the questions; the rest are the usual ones."""
        checks.known_keys("key of a situation", said, NAMES)
        for name in UNASKED:
            if name in said:
                self.answer(name, said[name])
        for question in self.questions():
            name, unsaid = question.name, question.unsaid or question.usual
            if name not in said and unsaid is None:
                flag = f"--{name.replace('_', '-')}"
                raise InvalidInput(name, f"given, e.g. {flag} {question.example}", None)
            self.answer(name, said.get(name, unsaid))
        for name in said:  # not asked for
            if name in OF_THE_COMMITTEE and name not in self._known:
                self.answer(name, said[name])
        for name, value in said.items():
            if name not in self._known:
                raise InvalidInput(name, f"left out: {_LEFT_OUT[name]}", value)

    def _applies(self, name: str) -> bool:
        """Return whether a question is to be asked, by the answers to those before it."""
        known = self._known
        if name in ("scale", "spread") and known.get("noise", {}).get("noise") == "gaussian":
            return False
        if name == "spread":
            return not known["scale"].two_scores
        if name in ("committee", "joining"):
            return known["judges"] in (None, "committee")
        if name == "head_start":
            return "committee" in known and known["committee"] is None
        return True

    def _with_usual(self, question: Question) -> Question:
        if question.name != "spread":
            return question
        on = self._known["scale"]
        usual = f"{USUAL_SPREAD * (on.highest - on.lowest):g}"
        return Question(question.name, question.asks, question.example, usual)

    # One method for each answer.

    def _groups(self, name: str, said: object) -> tuple[int, tuple[str, ...] | None]:
        if isinstance(said, list | tuple):
            return answers.named(name, said, said)
        return answers.groups(name, _text(name, said, answers.GROUPS_RULE))

    def _scale(self, name: str, said: object) -> Scale:
        return answers.scale(name, _text(name, said, answers.SCALE_RULE))

    def _spread(self, name: str, said: object) -> float | None:
        on = self._known["scale"]
        text = _text(name, said, SPREAD_RULE)
        if words.tidied(name, text, SPREAD_RULE) in ("largest", "the largest", "most"):
            return None
        if words.is_unknown(text):
            return USUAL_SPREAD * float(on.highest - on.lowest)
        value = answers.points(name, text, on, SPREAD_RULE)
        limit = 0.5 * (on.highest - on.lowest)
        if value > limit:
            rule = f"at most {limit:g}, half of the scale: scores cannot spread more"
            raise InvalidInput(name, rule, said)
        return value

    def _committee(self, name: str, said: object) -> tuple[int, ...] | None:
        number, names = self._known["groups"]
        members = answers.committee(name, _text(name, said, answers.COMMITTEE_RULE), number, names)
        if members is not None and sum(members) == 0:
            raise InvalidInput(name, "at least one member in all", said)
        return members

    def _head_start(self, name: str, said: object) -> int:
        rule = "how many members one group may have more than another, such as 100"
        value = words.count(name, _text(name, said, rule), rule)
        return checks.integer(name, value, low=0, high=MOST_HEAD_START)

    def _bonus(self, name: str, said: object) -> float | None:
        value = answers.bonus(name, _text(name, said, answers.BONUS_RULE))
        return None if value is None else checks.number(name, value, low=0.0, high=1e6)

    def _joining(self, name: str, said: object) -> float:
        text = _text(name, said, words.PART_RULE)
        if words.is_unknown(text):
            rule = f"{words.PART_RULE}; if you do not know, the fewest you would expect"
            raise InvalidInput(name, rule, said)
        value = words.part(name, text)
        if value < LEAST_JOINING:
            rule = "above 0; if nobody joins, the committee never changes: plan with panels"
            raise InvalidInput(name, rule, said)
        return value

    def _judges(self, name: str, said: object) -> str | None:
        chosen = answers.judges(name, _text(name, said, answers.JUDGES_RULE))
        if chosen == "strangers" and self._known["bonus"] is None:
            rule = (
                "committee or panels if nothing is known of the bias: judged by strangers, people"
                " might all score the lowest, and there would be nothing to see"
            )
            raise InvalidInput(name, rule, said)
        return chosen

    def _difference(self, name: str, said: object) -> float:
        on = self._known.get("scale", Scale(0.0, 1e6))
        return answers.points(name, _text(name, said, DIFFERENCE_RULE), on, DIFFERENCE_RULE)

    def _budget(self, name: str, said: object) -> Budget:
        found = budget(name, _text(name, said, "a number of choices"), self.today)
        number = self._known["groups"][0]
        checks.integer(name, found.choices, low=1)
        if found.choices < number:
            raise InvalidInput(name, f"at least one choice for each of {number} groups", said)
        return found

    def _in_flight(self, name: str, said: object) -> int:
        rule = "a whole number such as 1 or 10"
        value = words.count(name, _text(name, said, rule), rule)
        return checks.integer(name, value, low=1, high=MOST_IN_FLIGHT)

    def _failure(self, name: str, said: object) -> float:
        value = words.part(name, _text(name, said, words.PART_RULE))
        return checks.number(name, value, low=1e-12, high=0.5, open_high=True)

    def _noise(self, name: str, said: object) -> dict[str, Any]:
        from affinity_bandits.planning.assumptions import NOISES

        described = dict(said) if isinstance(said, Mapping) else {"name": said}
        noise = checks.choice(name, described.pop("name", None), NOISES)
        allowed = ("sigma",) if noise == "gaussian" else ()
        checks.known_keys(f"parameter of noise {noise}", described, allowed)
        return {"noise": noise} | described

    def _largest_mean(self, name: str, said: object) -> float:
        return words.number(name, _text(name, said, words.NUMBER_RULE))

    def _steepness(self, name: str, said: object) -> float:
        value = words.number(name, _text(name, said, words.NUMBER_RULE))
        return checks.number(name, value, low=0.0, high=100.0)

    def _lipschitz(self, name: str, said: object) -> float:
        value = words.number(name, _text(name, said, words.NUMBER_RULE))
        return checks.number(name, value, low=0.0)

    # What follows from all of them.

    @property
    def judges(self) -> str | None:
        """Who is to judge; None if all ways are to be shown."""
        return self._known["judges"]  # type: ignore[no-any-return]

    @property
    def for_a_year(self) -> bool:
        """Whether the budget is for a year because nobody said how long it lasts."""
        return bool(self._known["budget"].assumed)

    def assumptions(self) -> Assumptions:
        """Return the assumptions, once nothing is open any more; all of the committee judges."""
        known = self._known
        number, names = known["groups"]
        on: Scale | None = known.get("scale")
        scores: dict[str, Any] = {} if on is None else {"lowest": on.lowest, "highest": on.highest}
        settings = known.get("noise", {}) | scores
        for name in ("largest_mean", "steepness", "lipschitz", "spread", "head_start"):
            if known.get(name) is not None:
                settings[name] = known[name]
        return Assumptions(
            groups=number,
            names=names,
            horizon=known["budget"].choices,
            pace=known["budget"].pace,
            smallest_difference=known["difference"],
            committee=known.get("committee"),
            bonus=known["bonus"],
            joining=known.get("joining", 1.0),
            judges=known["judges"] or "committee",
            failure=known["failure"],
            in_flight=known["in_flight"],
            **settings,
        )


_LEFT_OUT = {
    "scale": "Gaussian scores have no ends",
    "spread": "yes and no spread as they must, and Gaussian scores by their sigma",
    "head_start": "the committee is known, or does not judge",
}


def _text(name: str, said: object, rule: str) -> str:
    """Return what was said as text; a list is one with commas."""
    if isinstance(said, list | tuple):
        return ", ".join(_text(name, one, rule) for one in said)
    if isinstance(said, bool) or not isinstance(said, str | int | float | date):
        raise InvalidInput(name, rule, said)
    return f"{said:.15g}" if isinstance(said, float) else str(said)
