"""How long a comparison may still take, by its plan and the pace at which answers come."""

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

    answers: float
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
    """Return how long the comparison may still take, and what that rests on; empty if not known.

    By its plan, where it has one that is not overdue, else by the horizon; at the pace of the last
    rounds, where they have one, else at the plan's.

    Args:
        campaign: as it stands.
        rounds: its last closed rounds.
    """
    spec = campaign.spec
    if campaign.status != "open" or campaign.recommended is not None:
        return ""
    planned, pace, resting = spec.planned, pace_of(rounds), ""
    if pace is not None:
        resting = f"if they come as in the rounds {_dates(pace)} ({_rate(pace)})"
    elif planned is not None and planned.pace is not None:
        since = campaign.created_at
        pace = Pace(planned.pace, since, since + timedelta(weeks=1))
        resting = f"if they come as was planned ({_rate(pace)})"
    had = campaign.before + campaign.round.answered
    overdue = ""
    if planned is not None:
        if pace is not None and planned.answers > had:
            to_come = counted(planned.answers - had, "more answer")
            return (
                f"{_long(pace, planned.answers - had)} left if it takes as long as planned:"
                f" {to_come} are then enough in 19 of 20 cases, {resting}."
            )
        if planned.answers <= had:
            enough = counted(planned.answers, "answer")
            overdue = f"This takes longer than was planned for 19 of 20 cases ({enough}). "
    if pace is None or spec.horizon <= had:
        return overdue.rstrip()
    sooner = " It is over sooner if one group alone is left before that."
    return (
        f"{overdue}{_long(pace, spec.horizon - had)} left at most:"
        f" {counted(spec.horizon - had, 'answer')} of the agreed {spec.horizon:,} are to come,"
        f" {resting}." + (sooner if spec.policy.eliminates else "")
    )


def _dates(pace: Pace) -> str:
    if pace.since.date() == pace.until.date():
        return f"on {day(pace.until)}"
    return f"from {day(pace.since)} to {day(pace.until)}"


def _long(pace: Pace, answers: int) -> str:
    """Return how long so many answers take, in the largest unit of which they take two."""
    year = UNITS[0][0]
    if answers / pace.in_(year) >= LONGEST_YEARS:
        return f"More than {LONGEST_YEARS} years are"
    for unit, name in UNITS:
        number = round(answers / pace.in_(unit))
        if number >= 2:
            return f"About {counted(number, name)} are"
    return "About an hour is"


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
