"""Text helpers: escaped names, counts, days, and scores with as many digits as they need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from markupsafe import Markup

from affinity_bandits.base.words import listed
from affinity_bandits_client.messages import Judges
from affinity_bandits_service.core.spec import ServedPolicy
from affinity_bandits_service.health.words import quote, shorten

MOST_DIGITS = 9


def mark_name(name: str) -> Markup:
    """Return a name escaped, with its own text direction, shortened if it is very long.

    >>> mark_name("<b>")
    Markup('<bdi class="name">&lt;b&gt;</bdi>')
    """
    return Markup('<bdi class="name">{}</bdi>').format(shorten(name))


def seats(judges: Judges) -> Markup:
    """Return who judges as a list: "2 of A, 3 of B and 1 of no group"."""
    return seats_of(list(judges.judges), list(judges.judges.values()), judges.outsiders)


def seats_of(names: Sequence[str], counts: Sequence[int], outsiders: int) -> Markup:
    """Return judges by group as a list in words."""
    pairs = zip(names, counts, strict=True)
    parts = [Markup("{:,} of {}").format(count, mark_name(name)) for name, count in pairs if count]
    if outsiders:
        parts.append(Markup(f"{outsiders:,} of no group"))
    return listed(parts, most=6) if parts else Markup("nobody of any group")


def fewer_seats(judges: Judges | None, leader: str | None, arms: Sequence[str]) -> list[str]:
    """Return the arms with fewer judges than the leader, which are left out of comparisons."""
    if judges is None or leader is None:
        return []
    by_name = judges.judges
    return [name for name in arms if by_name[name] < by_name[leader]]


def mark_names(text: str, names: Sequence[str]) -> Markup:
    """Return a finding's text with each quoted name in its own text direction."""
    marked = Markup.escape(text)
    for name in names:
        marked = mark_name(name).join(marked.split(Markup.escape(quote(name))))
    return marked


def round_label(policy: ServedPolicy, number: int) -> str:
    """Return a round's label as plans number rounds: a warm-up, then from 1."""
    if number < policy.warm_up_rounds:
        return "Warm-up"
    return f"Round {number + 1 - policy.warm_up_rounds}"


def round_in_words(policy: ServedPolicy, number: int) -> str:
    """Return a round's name for use in a sentence."""
    label = round_label(policy, number).lower()
    return "the warm-up" if label == "warm-up" else label


def capital(text: str) -> str:
    """Return a text with its first letter capitalized."""
    return text[:1].upper() + text[1:]


def day(at: datetime) -> str:
    """Return a day, in UTC.

    >>> day(datetime(2026, 11, 5, 9, 30, tzinfo=UTC))
    '5 November 2026'
    """
    there = at.astimezone(UTC)
    return f"{there.day} {there:%B} {there.year}"


def minute(at: datetime) -> str:
    """Return a day and time, in UTC.

    >>> minute(datetime(2026, 11, 5, 9, 30, tzinfo=UTC))
    '5 Nov 2026, 09:30 UTC'
    """
    there = at.astimezone(UTC)
    return f"{there.day} {there:%b} {there.year}, {there:%H:%M} UTC"


def digits_for(lowest: float, highest: float) -> int:
    """Return how many decimals show scores to about a hundredth of their range.

    >>> digits_for(0.0, 1.0), digits_for(0.0, 100.0), digits_for(0.0, 0.01)
    (2, 1, 4)
    """
    wanted = 2 - math.floor(math.log10(highest - lowest))
    return min(MOST_DIGITS, max(1, wanted))


class Gap(NamedTuple):
    """Two scores, their difference and the tolerated difference as texts."""

    best: str
    own: str
    gap: str
    allowed: str


def gap_in_words(best: float, own: float, tolerance: float | None, digits: int) -> Gap:
    """Return scores and their gap as consistent texts.

    Rounded separately, 0.546 - 0.314 would read "0.55 - 0.31 = 0.23". Up to two more digits avoid
    that, and gaps that look equal to the tolerance.

    >>> tuple(gap_in_words(0.546, 0.314, 0.125, 2))
    ('0.546', '0.314', '0.232', '0.125')
    """
    gap = best - own
    allowed = "" if tolerance is None else exact(tolerance)
    last = min(digits + 2, MOST_DIGITS)
    for places in range(digits, last + 1):
        first, second, third = (f"{one:.{places}f}" for one in (best, own, gap))
        adds_up = f"{float(first) - float(second):.{places}f}" == third
        apart = tolerance is None or (float(third) > tolerance) == (gap > tolerance)
        if (adds_up and apart) or places == last:
            break
    return Gap(first, second, third, allowed)


def exact(value: float) -> str:
    """Return a number that somebody chose, with exactly its digits.

    >>> exact(0.125), exact(0.0), exact(2.0), exact(2.0**-20)
    ('0.125', '0', '2', '0.00000095367')
    """
    if value == 0 or abs(value) >= 1e15:
        return f"{value:g}"
    text = f"{value:.{max(0, 4 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def odds(log_odds: float, *, up: bool = False) -> str:
    """Return odds, given by their natural logarithm, as "19 to 1", rounded down or up.

    >>> odds(math.log(19.99)), odds(math.log(2.39)), odds(math.log(20), up=True)
    ('19 to 1', '2.3 to 1', '20 to 1')
    >>> odds(math.log(3.2e6)), odds(500.0)
    ('3 million to 1', '10^217 to 1')
    """
    digits = log_odds / math.log(10.0)
    whole = math.ceil if up else math.floor
    if digits >= 12:
        return f"10^{whole(digits)} to 1"
    value = round(math.exp(log_odds), 6)  # 20 is 20, though its logarithm is not exact
    if value >= 1e6:
        return f"{whole(value / 1e6):,} million to 1"
    if value >= 10.0:
        return f"{whole(value):,} to 1"
    return f"{whole(10.0 * value) / 10.0:g} to 1"
