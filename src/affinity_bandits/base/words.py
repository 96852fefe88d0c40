"""Words for people: nouns with their numbers, lists and durations, for every page and command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Text = TypeVar("Text", bound=str)
SMALL = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
DAY, HOUR, MINUTE = 86_400.0, 3_600.0, 60.0


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("interview"), plural("match"), plural("entry")
    ('interviews', 'matches', 'entries')
    """
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def noun_for(count: int, noun: str) -> str:
    """Return a noun as it stands after a number.

    >>> noun_for(1, "run"), noun_for(0, "run")
    ('run', 'runs')
    """
    return noun if count == 1 else plural(noun)


def number_word(count: int) -> str:
    """Return a small number as a word and a large one in digits.

    >>> number_word(3), number_word(1200)
    ('three', '1,200')
    """
    return SMALL[count] if 0 <= count < len(SMALL) else f"{count:,}"


def counted(count: int, noun: str, *, spelled: bool = False) -> str:
    """Return a number with its noun.

    >>> counted(1, "answer"), counted(1200, "answer"), counted(2, "group", spelled=True)
    ('1 answer', '1,200 answers', 'two groups')
    """
    return f"{number_word(count) if spelled else f'{count:,}'} {noun_for(count, noun)}"


def listed(parts: Sequence[Text], most: int = 4) -> Text:
    """Return a list as running text has it; markup stays markup.

    >>> listed(["A", "B", "C"]), listed(["A", "B", "C", "D"], most=3)
    ('A, B and C', 'A, B and 2 more')
    """
    text = type(parts[0])
    shown = list(parts)
    if len(shown) > most:
        shown = [*shown[: most - 1], text(f"{len(shown) - most + 1:,} more")]
    if len(shown) == 1:
        return shown[0]
    return text(text(", ").join(shown[:-1]) + text(" and ") + shown[-1])


def some(names: Sequence[str], most: int = 4) -> str:
    """Return names as a list in one line of a prompt or a table, cut short if there are many.

    >>> some(["ucb1", "moss", "lucb"], most=2)
    'ucb1, moss, ... 1 more'
    """
    cut = [name if len(name) <= 24 else f"{name[:21]}..." for name in names[:most]]
    more = [f"... {len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*cut, *more])


def duration(seconds: float) -> str:
    """Return a duration in the largest unit of which it has two, or in seconds.

    >>> duration(7200), duration(90), duration(0.25), duration(1)
    ('2 hours', '90 seconds', '0.25 seconds', '1 second')
    """
    for length, unit in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return "1 second" if seconds == 1 else f"{seconds:.2g} seconds"


def brief_duration(seconds: float) -> str:
    """Return a duration for a line of progress.

    >>> brief_duration(90.0), brief_duration(300.0)
    ('90 s', '5 min')
    """
    for length, unit in ((DAY, "days"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.0f} s"
