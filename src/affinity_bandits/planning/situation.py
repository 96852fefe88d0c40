"""A situation: the answers so far, each checked when it is given, and their assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from affinity_bandits.base import checks
from affinity_bandits.base.amounts import (
    NUMBER_RULE,
    is_unknown,
    parse_count,
    parse_number,
    parse_part,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.scales import ScoreScale, parse_points, parse_scale
from affinity_bandits.base.words import listed, plural
from affinity_bandits.planning.assumptions import (
    FEWEST_FOR_BLOCKS,
    LIMITS,
    NOISES,
    Assumptions,
    check_unit,
)
from affinity_bandits.planning.assumptions import JUDGES as WAYS_TO_JUDGE
from affinity_bandits.planning.budgets import Budget, parse_begins, parse_budget
from affinity_bandits.planning.people import (
    parse_bonus,
    parse_committee,
    parse_favor_gap,
    parse_groups,
    parse_joining,
    parse_judges,
    parse_names,
    parse_outsiders,
    parse_strictness,
)
from affinity_bandits.planning.questions import (
    LEFT_OUT,
    NAMES,
    OF_THE_COMMITTEE,
    QUESTIONS,
    RULES,
    UNASKED,
    Question,
)
from affinity_bandits.planning.rule import keeps_promise

SEATED = ("panel", "committee")
PARSED_WHOLE = ("groups", "favor_gap")
"""Answers whose value is a tuple, checked when it is read."""
USUAL_SPREAD = 0.25  # standard deviation, as a part of the scale: one star on a scale of 1 to 5


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
        if name in LIMITS and name not in PARSED_WHOLE and value is not None:
            check, limits = LIMITS[name]
            value = check(name, value, **limits)
        self._known[name] = value
        self.said[name] = said

    def answer_all(self, said: Mapping[str, object]) -> None:
        """Take all answers at once, and defaults for the others.

        Raises:
            InvalidInput: an answer is wrong, or some are missing, which are all named.
        """
        checks.known_keys("key of a situation", said, NAMES)
        missing = [one for one in QUESTIONS if one.usual is None and one.name not in said]
        if "noise" in said:
            missing = [one for one in missing if one.name != "scale"]
        if missing:
            flags = " ".join(f"--{one.name.replace('_', '-')} {one.example}" for one in missing)
            names = listed([one.name for one in missing])
            raise InvalidInput(names, f"given, e.g. {flags}", None)
        for name in UNASKED:
            if name in said:
                self.answer(name, said[name])
        for question in self.questions():
            name, usual = question.name, question.usual
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
        if name == "initial_lead":
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
            case "favor_gap":
                return parse_favor_gap(name, text)
            case "strictness":
                return parse_strictness(name, text)
            case "outsiders":
                return parse_outsiders(name, text)
            case "judges":
                return self._judges(name, text)
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
            case "initial_lead" | "in_flight" | "judges_per_group":
                return parse_count(name, text, RULES[name])
            case "failure":
                return parse_part(name, text)
        return parse_number(name, text)

    def _judges(self, name: str, text: str) -> str | None:
        known = self._known
        way = parse_judges(name, text, known["bonus"])
        if way == "outsiders" and known["outsiders"] is False:
            raise InvalidInput(name, "another way, as there are no outsiders", text)
        if way == "neutral" and known["groups"][0] < FEWEST_FOR_BLOCKS:
            rule = "another way with two groups, as the people of a third group judge in blocks"
            raise InvalidInput(name, rule, text)
        if way == "neutral" and known.get("noise", {}).get("noise") == "gaussian":
            raise InvalidInput(name, "another way without a scale", text)
        return way

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
        # What judges with seats cost is shown in any case: many comparisons have no others.
        shown = [one for one in WAYS_TO_JUDGE if one in SEATED or keeps_promise(given, one)]
        return [replace(given, judges=one) for one in shown]

    def assumptions(self) -> Assumptions:
        """Return the assumptions, once all questions are answered.

        The whole committee judges if all ways are to be shown.
        """
        known = self._known
        settings = dict(known.get("noise", {}))
        if "scale" in known:
            settings |= {"lowest": known["scale"].lowest, "highest": known["scale"].highest}
        for name in (*UNASKED[1:], "spread", "initial_lead", "committee", "joining"):
            if known.get(name) is not None:
                settings[name] = known[name]
        groups, names = known["groups"]
        favor_gap, favors_differ = known["favor_gap"]
        return Assumptions(
            groups=groups,
            names=names,
            horizon=known["budget"].choices,
            pace=known["budget"].pace,
            smallest_difference=known["difference"],
            bonus=known["bonus"],
            judges=known["judges"] or "committee",
            favor_gap=favor_gap,
            favors_differ=favors_differ,
            strictness_differs=known["strictness"],
            judges_per_group=known["judges_per_group"],
            outsiders=known["outsiders"],
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
