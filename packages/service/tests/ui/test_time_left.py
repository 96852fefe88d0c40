"""How long a comparison may still take: what it rests on, and when nothing is said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from affinity_bandits_service.core.spec import PlannedTime, RoundRecord
from affinity_bandits_service.ui.view import LATELY, pace_of, time_left

from .played_campaigns import LISTED, START, change, played


def timed(rounds: Sequence[RoundRecord], *days: float) -> list[RoundRecord]:
    """Rounds, one after the other, that took so many days each."""
    found, at = [], START
    for one, long in zip(rounds, days, strict=True):
        until = at + timedelta(days=long)
        found.append(one.model_copy(update={"opened_at": at, "closed_at": until}))
        at = until
    return found


def test_weeks_left_follow_from_the_pace_of_the_last_rounds() -> None:
    # 3 answers in the warm-up, then 96 and 192: 291 in two weeks.
    campaign, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=3, horizon=2091)
    rounds = timed(rounds, 1, 6, 7)
    assert time_left(campaign, rounds) == (
        "About 12 weeks at most",
        "1,800 answers of the agreed 2,091 are to come, if they"
        " come as in the rounds from 10 November 2026 to 24 November 2026 (about 146 a week)."
        " It is over sooner if one group alone is left before that.",
    )


def test_only_rounds_of_late_make_the_pace() -> None:
    _, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=3)
    late = timed(rounds, 1, 200, 14)
    pace = pace_of(late)
    assert pace is not None
    assert (pace.answers, pace.until - pace.since) == (192, timedelta(days=14))
    # One that took longer than that is better than none.
    pace = pace_of(timed(rounds, 1, 1, 200))
    assert pace is not None
    assert pace.until - pace.since == timedelta(days=200) > LATELY


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (0.125, "About 19 hours at most"),  # 291 answers in 3 hours, and 1,800 to come
        (0.5, "About 3 days at most"),
        (5.0, "About 4 weeks at most"),
        (120.0, "About 3 years at most"),  # 192 of them of late
        (1000.0, "More than 10 years at most"),
    ],
)
def test_it_is_said_in_a_unit_that_one_can_imagine(days: float, said: str) -> None:
    campaign, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=3, horizon=2091)
    left = time_left(campaign, timed(rounds, 0, 0, days))
    assert left is not None
    assert left.amount == said


def test_nothing_is_said_where_nothing_is_known() -> None:
    fresh, none = played(LISTED, "ABC", [0.5] * 3, rounds=0)
    assert time_left(fresh, none) is None
    few, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=1)  # a warm-up of three answers
    assert time_left(few, timed(rounds, 7)) is None
    campaign, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=3)
    assert time_left(campaign, timed(rounds, 0, 0, 0.01)) is None
    decided, rounds = played(LISTED, "AB", [0.1, 0.9])
    assert time_left(decided, timed(rounds, *[7] * len(rounds))) is None
    stopped = change(campaign, status="stopped")
    assert time_left(stopped, timed(rounds, *[7] * len(rounds))) is None


PLANNED = PlannedTime(1191, 40.0, "match")


def test_a_plan_says_how_long_it_takes_in_19_of_20_cases() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=3, horizon=2091)
    campaign = change(campaign, planned=PLANNED)
    assert time_left(campaign, timed(rounds, 1, 6, 7)) == (
        "About 6 weeks",
        "If it takes as long as planned: 900 more matches are then enough in"
        " 19 of 20 cases, if they come as in the rounds from 10 November 2026 to 24 November 2026"
        " (about 146 a week).",
    )
    # Before the first rounds have a pace there is the plan's.
    fresh, none = played(LISTED, "ABC", [0.5] * 3, rounds=0, horizon=2091)
    fresh = change(fresh, planned=PLANNED)
    assert time_left(fresh, none) == (
        "About 30 weeks",
        "If it takes as long as planned: 1,191 more matches are then enough"
        " in 19 of 20 cases, if they come as was planned (about 40 a week).",
    )
    unpaced = change(fresh, planned=PlannedTime(1191))
    assert time_left(unpaced, none) is None


def test_a_plan_that_is_overdue_is_said_to_be() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=3, horizon=2091)
    campaign = change(campaign, planned=PlannedTime(291))
    left = time_left(campaign, timed(rounds, 1, 6, 7))
    assert left is not None
    assert left.amount == "About 12 weeks at most"
    assert left.why.startswith(
        "This takes longer than was planned for 19 of 20 cases (291 answers). 1,800 answers of the"
        " agreed 2,091 are to come"
    )
