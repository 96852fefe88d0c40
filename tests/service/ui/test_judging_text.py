"""What /ui says of who judges: this round, the next one, and where nobody can be seated."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from affinity_bandits.policies import Elimination, HandicapElimination
from affinity_bandits.service.core.judging import Judges
from affinity_bandits.service.core.records import Campaign, Progress
from affinity_bandits.service.ui import campaign_text, event_text
from affinity_bandits.service.ui.judging_text import judged, judging_view, seats_in_words
from affinity_bandits.wire import Event

from .played_campaigns import played, text

NAMES = ("Referrals", "Open call", "Agency")
FEWEST = "a comparison cannot favour whoever is fewest"


def judged_by(who: str, /, *, named: Judges | None = None, **round_: Any) -> Campaign:
    """A campaign in its eighth round, which waits unless those who judge it are given."""
    policy = HandicapElimination(bounded=True, judges=who)
    campaign, _ = played(policy, NAMES, [0.5, 0.5, 0.5], rounds=0)
    waits = policy.told_judges and "judges" not in round_
    shape = (0, 0) if waits else (1, 3)
    nothing = (0, 0, 0)
    progress = Progress(7, (0, 1, 2), *shape, 0, 0, nothing, nothing, **round_)
    return replace(campaign, round=progress, awaits_judges=waits, named=named)


def said_of(campaign: Campaign) -> str:
    view = judging_view(campaign)
    assert view is not None
    return " ".join([view.rule, *(text(one) for one in view.sentences), text(view.committee)])


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        ("chosen", "Everybody who was chosen so far is taken to judge. The other groups get a"),
        ("members", "All members of the committee judge, and the campaign is told who they are"),
        ("panel", "A panel judges, which stays the same for a round."),
        ("strangers", "Nobody judges their own group, so no comparison can favour one."),
    ],
)
def test_a_page_says_who_judges(judges: str, words: str) -> None:
    assert words in said_of(judged_by(judges))


def test_a_policy_that_says_nothing_of_judges_has_no_card() -> None:
    campaign, _ = played(Elimination(), NAMES, [0.5, 0.5, 0.5], rounds=1)
    assert judging_view(campaign) is None


def test_a_round_that_waits_says_who_should_sit_and_what_if_nobody_can() -> None:
    first = said_of(judged_by("panel"))
    assert "Nobody leads yet, so any panel will do." in first
    campaign = judged_by("panel", fewest_seats=0)
    said = said_of(campaign)
    assert (
        "Referrals leads. For round 8 it should have no more seats than any other group:"
        f" {FEWEST}." in said
    )
    assert "If nobody can be seated so, the round waits." in said
    assert "Referrals is not compared with any group that has fewer seats" in said
    assert text(campaign_text.next_step(campaign)) == (
        "Round 8 waits for its panel, which nobody has named yet. Until then nothing is handed out."
    )


def test_a_standing_panel_that_is_not_seated_is_shown_with_the_reason() -> None:
    named = Judges((3, 2, 0), 1, standing=True)
    campaign = judged_by("panel", fewest_seats=0, named=named)
    assert (
        "The panel that was named (3 of Referrals, 2 of Open call and 1 of no group) gives it more,"
        " so it was not seated." in said_of(campaign)
    )
    assert "another panel than the one that was named" in text(campaign_text.next_step(campaign))


def test_a_round_under_way_shows_its_panel_and_what_comes_next() -> None:
    panel = {"judges": (1, 2, 2), "outsiders": 3, "fewest_seats": 0}
    alone = judging_view(judged_by("panel", **panel))
    assert alone is not None
    assert alone.caption == "The panel of round 8"
    assert alone.rows == [("Referrals", 1), ("Open call", 2), ("Agency", 2), ("of no group", 3)]
    said = said_of(judged_by("panel", **panel))
    assert "Referrals leads. If it still does when this round ends, it should have" in said
    assert "Nobody is named for the next round yet, which will wait for that." in said
    stands = Judges((1, 2, 2), 3, standing=True)
    assert "This panel stands" in said_of(judged_by("panel", named=stands, **panel))
    ahead = said_of(judged_by("panel", named=Judges((0, 4, 4)), **panel))
    assert "For the next round, 4 of Open call and 4 of Agency are named." in ahead
    wrong = said_of(judged_by("panel", judges=(4, 1, 4), outsiders=0, fewest_seats=0))
    assert (
        "Referrals, which leads, has more seats than Open call: in this round they are not compared"
        in wrong
    )


def test_a_committee_is_asked_for_and_shown() -> None:
    waits = judged_by("members")
    assert "Say how many members each group has now" in said_of(waits)
    assert "nobody has said yet who is in the committee now" in text(campaign_text.next_step(waits))
    open_ = judged_by("members", judges=(30, 10, 5), outsiders=0)
    view = judging_view(open_)
    assert view is not None
    assert view.caption == "The committee before round 8"
    assert "The next round opens once somebody has said" in said_of(open_)
    kept = judged_by("members", judges=(3, 1, 5), outsiders=0, named=Judges((3, 1, 5), 0, True))
    assert "It is taken to stay as it is until somebody says otherwise." in said_of(kept)


def test_nobody_is_asked_for_once_it_is_over() -> None:
    for status in ("stopped", "decided", "exhausted"):
        over = replace(judged_by("panel", fewest_seats=0), status=status)
        view = judging_view(over)
        assert view is not None
        assert (view.rows, view.sentences) == ([], [])


def test_many_groups_and_strange_names_are_shown_safely() -> None:
    names = ["<b>", *(f"g{number}" for number in range(39))]
    policy = HandicapElimination(bounded=True, judges="panel")
    campaign, _ = played(policy, names, [0.5] * 40, rounds=0)
    seats = tuple(range(40))
    progress = replace(
        campaign.round, judges=seats, outsiders=0, fewest_seats=39, repetitions=1, size=40
    )
    view = judging_view(replace(campaign, round=progress))
    assert view is not None
    assert (len(view.rows), view.more) == (12, 28)
    assert "&lt;b&gt;" in seats_in_words(names, (1,) * 40, 0)
    assert seats_in_words(names, (0,) * 40, 0) == "nobody of any group"


def test_a_closed_round_says_who_judged_it_and_who_was_not_compared() -> None:
    campaign, rounds = played(
        HandicapElimination(bounded=True, judges="strangers"), NAMES, [0.5, 0.5, 0.5], rounds=1
    )
    (plain,) = rounds
    arms = campaign.spec.arms
    assert judged("panel", arms, plain, plain.arms) == ""
    fair = replace(plain, judges=(1, 1, 2), outsiders=0, fewest_seats=0)
    assert text(judged("panel", arms, fair, fair.arms)) == (
        "The panel had 1 of Referrals, 1 of Open call and 2 of Agency."
    )
    assert text(judged("committee", arms, fair, fair.arms)).startswith("The committee then had 1")
    unfair = replace(fair, judges=(3, 1, 2))
    assert text(judged("panel", arms, unfair, unfair.arms)).endswith(
        "Referrals, which led, had more seats than Open call and Agency, so they were not compared."
    )


@pytest.mark.parametrize(
    ("judges", "data", "words"),
    [
        (
            "panel",
            {"standing": True, "named": None, "opened": {"repetitions": 4}},
            "The panel of round 3 has 1 of Referrals and 2 of no group. It stands until another is"
            " named. The round asks for 4 answers each.",
        ),
        (
            "panel",
            {"standing": False, "named": None, "opened": None},
            "The panel of round 3 has 1 of Referrals and 2 of no group.",
        ),
        (
            "members",
            {"standing": False, "named": 1, "opened": {"repetitions": 1}},
            "The committee before round 3 has 1 of Referrals and 2 of no group. It was named in"
            " event 1. The round asks for 1 answer each.",
        ),
    ],
)
def test_the_trail_says_who_was_named(judges: str, data: dict[str, Any], words: str) -> None:
    spec = judged_by(judges).spec
    event = Event(
        number=7,
        at=datetime(2026, 11, 5, tzinfo=UTC),
        kind="judges",
        actor="service",
        key=None,
        round=2,
        data={"round": 2, "judges": [1, 0, 0], "outsiders": 2, **data},
    )
    assert text(event_text.line(spec, event).what) == words
