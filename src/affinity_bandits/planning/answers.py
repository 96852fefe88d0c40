"""What people say of their groups, scores, committee and bias, understood or refused.

Numbers and parts are in `words`, budgets in `budgets`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning import words

MOST_NAMES = 1000
LONGEST_NAME = 40
GROUPS_RULE = "names such as 'referrals, agencies, open call', or how many groups, from 2 to 1,000"
SCALE_RULE = "the lowest and the highest score such as 1..5, '1 to 5' or 0..100, or yes/no"
COMMITTEE_RULE = "a number of members for each group such as 30,10,10, or 'do not know'"
BONUS_RULE = "how much more at most such as 20%, 0.2 or '1.2 times', 'none' or 'no idea'"
JUDGES_RULE = "committee, panels or strangers, or 'all' to see all three"
YES_NO = ("yes/no", "no/yes", "yes or no", "y/n", "0/1", "0 or 1", "true/false", "pass/fail")
UNIT = r"(?: ?(?P<unit>stars?|points?|marks?|grades?|percent|%))?"
RANGE = re.compile(
    rf"(?:from )?(?P<low>[+-]?{words.DIGITS}) ?(?:\.\.+|-|to|through|bis) ?"
    rf"(?P<high>[+-]?{words.DIGITS}){UNIT}"
)
POINTS = re.compile(
    r"(?P<value>.+?) ?(?:percentage points?|(?:of a )?(?:stars?|points?|marks?|grades?))?"
)
TIMES = re.compile(r"(?:(?P<first>.+?) ?(?:times|x|fold)|x ?(?P<last>.+))(?: as (?:much|high))?")
MORE = re.compile(r" (?:higher|more|better|on top|extra|bonus)$")
ITEM = re.compile(
    r"(?:(?P<name>.+?)[ :=]+)??(?P<count>[\w.%]+?)(?: (?:out )?of (?:.*?\b)?(?P<total>\d+))?"
    r"(?P<each> (?:of )?each)?"
)
OTHERS = re.compile(r"(?:all |the |all the )*(?:others?|rest|remaining)(?: ones?| groups?)?")
JUDGES = {
    **dict.fromkeys(("committee", "whole committee", "everybody", "everyone"), "committee"),
    **dict.fromkeys(("panel", "panels", "equal panels", "panels with equal seats"), "panel"),
    **dict.fromkeys(("strangers", "strangers only", "recusal", "outsiders"), "strangers"),
}


@dataclass(frozen=True)
class Scale:
    """The ends of a scale of scores; `two_scores` if there is nothing in between."""

    lowest: float
    highest: float
    two_scores: bool = False


def groups(parameter: str, text: str) -> tuple[int, tuple[str, ...] | None]:
    """Return how many groups there are, and their names if they were given.

    >>> groups("groups", "referrals, agencies and open call")
    (3, ('referrals', 'agencies', 'open call'))
    >>> groups("groups", "three sources")
    (3, None)
    """
    plain = words.tidied(parameter, text, GROUPS_RULE)
    if not re.search(r"[,;/]| and | vs\.? | versus ", plain):
        bare = re.sub(r" (?:groups?|sources?|[a-z]+s(?: of [a-z]+)?)$", "", plain)
        bare = re.sub(r"^(?:we have|there are) ", "", bare)
        if words.read_number(bare) is not None:
            return _how_many(parameter, words.count(parameter, bare, GROUPS_RULE), text), None
    return named(parameter, _split(" ".join(str(text).split())), text)


def named(parameter: str, names: Sequence[str], text: object) -> tuple[int, tuple[str, ...]]:
    """Return how many names there are, and the names."""
    found = tuple(" ".join(str(name).split()) for name in names)
    short = all(0 < len(name) <= LONGEST_NAME and name.isprintable() for name in found)
    if not short:
        rule = f"{GROUPS_RULE}; a name has 1 to {LONGEST_NAME} characters"
        raise InvalidInput(parameter, rule, text)
    if len({name.casefold() for name in found}) < len(found):
        raise InvalidInput(parameter, "names that differ", text)
    return _how_many(parameter, len(found), text), found


def _how_many(parameter: str, number: int, text: object) -> int:
    if not 2 <= number <= MOST_NAMES:
        raise InvalidInput(parameter, GROUPS_RULE, text)
    return number


def _split(text: str) -> list[str]:
    """Return the items of a list as people write it."""
    for mark in (r"[,;]", r"/", r"\bvs\b\.?|\bversus\b", r"\band\b"):
        if re.search(mark, text):
            items = [item.strip() for item in re.split(mark, text)]
            if mark == r"[,;]":  # "a, b and c", "a, b, and c"
                *first, last = items
                items = first + ([last[4:]] if last.startswith("and ") else _last_two(last))
            return items
    return [text]


def _last_two(text: str) -> list[str]:
    return [item.strip() for item in re.split(r"\band\b", text)] if " and " in text else [text]


def scale(parameter: str, text: str) -> Scale:
    """Return the scale that a text spells.

    >>> scale("scale", "1..5 stars"), scale("scale", "yes/no").two_scores
    (Scale(lowest=1.0, highest=5.0, two_scores=False), True)
    """
    plain = words.tidied(parameter, text, SCALE_RULE)
    if plain.replace(" / ", "/") in YES_NO:
        return Scale(0.0, 1.0, two_scores=True)
    if plain in ("percent", "percents", "percentages", "%"):
        return Scale(0.0, 100.0)
    found = RANGE.fullmatch(plain)
    if found is None:
        raise InvalidInput(parameter, SCALE_RULE, text)
    low, high = float(found["low"]), float(found["high"])
    if not low < high:
        raise InvalidInput(parameter, f"{SCALE_RULE}, the lowest first", text)
    return Scale(low, high)


def points(parameter: str, text: str, on: Scale, rule: str) -> float:
    """Return an amount in points of a scale; of yes/no, a part of all answers."""
    plain = words.without_hedges(words.tidied(parameter, text, rule))
    found = POINTS.fullmatch(plain)
    value = None
    if on.two_scores:
        rule = "a part of all answers such as 5% or 0.05"
        percent = re.fullmatch(r"(.+?) ?percentage points?", plain)
        if percent is not None:
            value = words.read_number(percent[1])
            value = None if value is None else value / 100.0
        else:
            value = words.read_part(plain)
    if value is None and found is not None:
        value = words.read_number(found["value"])
        if value is None and not on.two_scores and "%" not in plain:
            value = words.read_part(found["value"])  # half a star, a third of a point
            if value is None:
                value = words.read_part(found["value"].removesuffix(" a"))
    if value is None or not 0.0 < value <= on.highest - on.lowest:
        limit = f"{rule}, above 0 and at most {on.highest - on.lowest:g}"
        raise InvalidInput(parameter, limit, text)
    return value


def committee(
    parameter: str, text: str, number: int, names: Sequence[str] | None
) -> tuple[int, ...] | None:
    """Return the members of each group, None if they are not known.

    >>> committee("committee", "30 of 50, the others 10 each", 3, None)
    (30, 10, 10)
    >>> committee("committee", "b: 4, a: 7", 2, ["a", "b"])
    (7, 4)
    """
    if words.is_unknown(text):
        return None
    rule = COMMITTEE_RULE if number == 3 else f"{COMMITTEE_RULE}; there are {number} groups"
    plain = words.tidied(parameter, text, rule)
    plain, total = _without_total(plain)
    items = _split(plain)
    if len(items) == 1 and re.fullmatch(r"[\d ]+", plain):
        items = plain.split()
    places = [name.casefold() for name in names or ()]
    members: list[int | None] = [None] * number
    for place, item in enumerate(items):
        found = ITEM.fullmatch(words.without_hedges(item))
        if found is None:
            raise InvalidInput(parameter, rule, text)
        counted = _members(parameter, found["count"], total, rule, text)
        if found["total"]:
            total = float(found["total"])
        name = re.sub(r" (?:are|is|has|have)$", "", found["name"] or "")
        if OTHERS.fullmatch(name) or (found["each"] and len(items) == 1):
            members = [counted if one is None else one for one in members]
            continue
        at = places.index(name) if name in places else place if not name else number
        if at >= number or members[at] is not None:
            raise InvalidInput(parameter, rule, text)
        members[at] = counted
    known = [one for one in members if one is not None]
    if len(known) < number:
        raise InvalidInput(parameter, rule, text)
    if total is not None and sum(known) != total:
        raise InvalidInput(parameter, f"numbers that add up to {total:g}, not {sum(known)}", text)
    return tuple(known)


def _without_total(plain: str) -> tuple[str, float | None]:
    """Return "60%, 20%, 20%" and 50 for "60%, 20%, 20% of 50"."""
    found = re.fullmatch(r"(?P<parts>.*%) of (?:.*?\b)?(?P<total>\d+)", plain)
    return (plain, None) if found is None else (found["parts"], float(found["total"]))


def _members(parameter: str, counted: str, total: float | None, rule: str, text: str) -> int:
    if counted.endswith("%"):
        share = words.read_part(counted)
        if share is None or total is None:
            rule = f"{rule}; parts need a whole: '60%, 20%, 20% of 50'"
            raise InvalidInput(parameter, rule, text)
        return round(share * total)
    value = 0.0 if counted in words.NOBODY else words.read_number(counted)
    if value is None or not value.is_integer() or value < 0.0:
        raise InvalidInput(parameter, rule, text)
    return int(value)


def bonus(parameter: str, text: str) -> float | None:
    """Return by what part people rate their own kind higher at most; None if nobody knows.

    >>> bonus("bonus", "up to 20%"), bonus("bonus", "1.5 times"), bonus("bonus", "no idea")
    (0.2, 0.5, None)
    """
    if words.is_unknown(text):
        return None
    plain = MORE.sub("", words.without_hedges(words.tidied(parameter, text, BONUS_RULE)))
    if plain in (*words.NOBODY, "no bias", "not at all", "0"):
        return 0.0
    times = TIMES.fullmatch(plain)
    if times is not None:
        factor = words.read_number(times["first"] or times["last"])
        if factor is None or factor < 1.0:
            raise InvalidInput(parameter, BONUS_RULE, text)
        return round(factor - 1.0, 12)
    value = words.read_part(plain)
    bare = words.read_number(plain)
    if value is None and bare is not None and 0.0 <= bare < 1.0:
        value = bare
    if value is None or value < 0.0:
        rule = BONUS_RULE
        if bare is not None and bare >= 1.0:  # 1.2 may be 120% or 1.2 times, 20 anything
            rule = f"{BONUS_RULE}: {bare:g}% or '{bare:g} times'?"
        raise InvalidInput(parameter, rule, text)
    return value


def judges(parameter: str, text: str) -> str | None:
    """Return who judges, None if all ways are to be shown."""
    plain = words.tidied(parameter, text, JUDGES_RULE).removeprefix("the ")
    if plain in ("all", "all three", "show all", "all of them") or words.is_unknown(plain):
        return None
    if plain not in JUDGES:
        raise InvalidInput(parameter, JUDGES_RULE, text)
    return JUDGES[plain]
