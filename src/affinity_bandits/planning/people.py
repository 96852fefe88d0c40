"""Groups, judges and committees, as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from affinity_bandits.base.amounts import (
    is_unknown,
    parse_count,
    plain_text,
    read_amount,
    read_part,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.planning.assumptions import (
    LEAST_JOINING,
)
from affinity_bandits.planning.questions import MAX_GROUPS, RULES

MAX_NAME_LENGTH = 40
JUDGES = {
    "committee": "committee",
    "panel": "panel",
    "panels": "panel",
    "recused": "recused",
    "outsiders": "outsiders",
    "neutral": "neutral",
    "neutral blocks": "neutral",
    "all": None,
}


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


def parse_committee(parameter: str, text: str, number: int) -> tuple[int, ...] | None:
    """Return the members of each group, None if unknown.

    >>> parse_committee("committee", "30,10,10", 3)
    (30, 10, 10)
    """
    if is_unknown(text):
        return None
    members = [read_amount(item) for item in text.split(",")]
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
    value = read_part(text)[1]
    # Without a percent sign, 1.2 may be 120% more or 1.2 times as much.
    if not 0.0 <= value <= 1e6 or (value >= 1.0 and not re.search("%|per ?cent", text)):
        raise InvalidInput(parameter, RULES["bonus"], text)
    return value


def parse_judges(parameter: str, text: str, bonus: float | None = 0.0) -> str | None:
    """Return who judges, None for all ways in turn; `bonus` is None if unknown."""
    if plain_text(text) not in JUDGES:
        raise InvalidInput(parameter, RULES["judges"], text)
    if plain_text(text) == "recused" and bonus is None:
        rule = (
            "another way if nothing is known of the bias: judged by others alone, people"
            " might all score the lowest, and there would be nothing to see"
        )
        raise InvalidInput(parameter, rule, text)
    return JUDGES[plain_text(text)]


SAME = ("same", "the same", "none", "alike", "equal")
DIFFER = ("may differ", "differ", "differs")


def parse_favor_gap(parameter: str, text: str) -> tuple[float | None, bool]:
    """Return by how many points favors may differ, None if by none, and whether nobody knows.

    >>> parse_favor_gap("favor_gap", "0.3"), parse_favor_gap("favor_gap", "no idea")
    ((0.3, False), (None, True))
    """
    words = plain_text(text)
    if words in SAME:
        return None, False
    if words in DIFFER or is_unknown(text):
        return None, True
    gap = read_amount(text)
    if not 0.0 <= gap <= 1e9:
        raise InvalidInput(parameter, RULES["favor_gap"], text)
    return gap or None, False


def parse_strictness(parameter: str, text: str) -> bool:
    """Return whether strictness may differ between groups' judges.

    >>> parse_strictness("strictness", "same"), parse_strictness("strictness", "no idea")
    (False, True)
    """
    words = plain_text(text)
    if words in SAME:
        return False
    if words in DIFFER or is_unknown(text):
        return True
    raise InvalidInput(parameter, RULES["strictness"], text)


def parse_outsiders(parameter: str, text: str) -> bool | None:
    """Return whether there are outsiders; None if nobody knows."""
    words = plain_text(text)
    if words in ("yes", "no"):
        return words == "yes"
    if is_unknown(text):
        return None
    raise InvalidInput(parameter, RULES["outsiders"], text)


def parse_joining(parameter: str, text: str) -> float:
    """Return the part of those chosen that joins the committee; the lower end of a range.

    >>> round(1.0 / parse_joining("joining", "about 1 in 12"))
    12
    """
    value, most = read_part(text)
    if not 0.0 <= value <= most <= 1.0:
        raise InvalidInput(parameter, RULES["joining"], text)
    if value < LEAST_JOINING:
        rule = "above 0; if nobody joins, the committee never changes: plan with panels"
        raise InvalidInput(parameter, rule, text)
    return value
