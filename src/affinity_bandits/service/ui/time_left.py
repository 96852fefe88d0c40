"""How long a comparison may still take, from the pace at which answers have come of late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from affinity_bandits.service.core.records import Campaign, ClosedRound
from affinity_bandits.service.ui.wording import counted, day

LATELY = timedelta(weeks=4)
"""Rounds that were opened so long before the last one was closed, or later, make the pace."""
FEWEST_ANSWERS = 20
"""With fewer answers there is no pace."""
SHORTEST = timedelta(hours=1)
"""Nor is there one within so short a time: what comes in an hour says nothing of a week."""
LONGEST_YEARS = 10
UNITS = (
    (timedelta(days=365.25), "year"),
    (timedelta(weeks=1), "week"),
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
)


@dataclass(frozen=True)
class Pace:
    """So many answers between two moments."""

    answers: int
    since: datetime
    until: datetime

    def in_(self, unit: timedelta) -> float:
        """Return how many answers came in a unit of time on average."""
        return self.answers * (unit / (self.until - self.since))


def pace_of(rounds: Sequence[ClosedRound]) -> Pace | None:
    """Return the pace of the last closed rounds; None if they are too few or too short for one."""
    if not rounds:
        return None
    until = rounds[-1].closed_at
    since, answers = rounds[-1].opened_at, 0
    for one in reversed(rounds):
        if answers and until - one.opened_at > LATELY:
            break
        since = min(since, one.opened_at)
        answers += sum(one.counts)
    if answers < FEWEST_ANSWERS or until - since < SHORTEST:
        return None
    return Pace(answers, since, until)


def time_left(campaign: Campaign, rounds: Sequence[ClosedRound]) -> str:
    """Return how long the comparison takes at most, and what that rests on; empty if not known.

    Args:
        campaign: as it stands.
        rounds: its last closed rounds.
    """
    pace = pace_of(rounds)
    if campaign.status != "open" or campaign.recommended is not None or pace is None:
        return ""
    to_come = campaign.spec.horizon - campaign.before - campaign.round.answered
    if to_come <= 0:
        return ""
    if pace.since.date() == pace.until.date():
        dates = f"on {day(pace.until)}"
    else:
        dates = f"from {day(pace.since)} to {day(pace.until)}"
    sooner = " It is over sooner if one group alone is left before that."
    return (
        f"{_long(pace, to_come)}: {counted(to_come, 'answer')} of the agreed"
        f" {campaign.spec.horizon:,} are to come, if they come as in the rounds {dates}"
        f" ({_rate(pace)})." + (sooner if campaign.spec.policy.eliminates else "")
    )


def _long(pace: Pace, answers: int) -> str:
    """Return how long so many answers take, in the largest unit of which they take two."""
    year = UNITS[0][0]
    if answers / pace.in_(year) >= LONGEST_YEARS:
        return f"It may take more than {LONGEST_YEARS} years"
    for unit, name in UNITS:
        number = round(answers / pace.in_(unit))
        if number >= 2:
            return f"About {counted(number, name)} are left at most"
    return "About an hour is left at most"


def _rate(pace: Pace) -> str:
    """Return a pace in words, by the longest unit but a year that is not longer than it was seen.

    >>> from datetime import UTC
    >>> begin = datetime(2026, 11, 1, tzinfo=UTC)
    >>> _rate(Pace(120, begin, begin + timedelta(weeks=3)))
    'about 40 a week'
    """
    seen = pace.until - pace.since
    unit, name = next(one for one in UNITS[1:] if one[0] <= seen)
    rate = pace.in_(unit)
    number = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
    return f"about {number} {'an' if name == 'hour' else 'a'} {name}"
