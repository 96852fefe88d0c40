"""What /ui says of who judges: this round, the next one, and where nobody can be seated."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.policies import RecusalElimination, RoundPolicy
from affinity_bandits_client.messages import Event, Judges, NamedJudges
from affinity_bandits_service.core.spec import CampaignRecord
from affinity_bandits_service.ui.pages import render

from .played_campaigns import change, played, say, text

NAMES = ("Referrals", "Open call", "Agency")
FEWEST = "a bias that all groups share cannot favor whoever is fewest"


def by_name(*counts: int) -> dict[str, int]:
    return dict(zip(NAMES, counts, strict=True))


def named(*counts: int, outsiders: int = 0, standing: bool = False) -> NamedJudges:
    return NamedJudges(judges=by_name(*counts), outsiders=outsiders, standing=standing)


def judged_by(
    who: str, seated: Judges | None = None, leader: str | None = None, **more: Any
) -> CampaignRecord:
    """A campaign in its eighth round, which waits unless those who judge it are given."""
    policy = policy_from_json({"name": f"{who}-elimination", "bounded": True})
    assert isinstance(policy, RoundPolicy)
    campaign, _ = played(policy, NAMES, [0.5, 0.5, 0.5], rounds=0)
    waits = policy.told_judges and seated is None
    more |= {"fewest_seats": leader, "awaits_judges": waits, "round_judged_by": seated}
    repetitions = 0 if waits else 1
    size = 3 * repetitions
    return change(campaign, round_number=7, round_repetitions=repetitions, round_size=size, **more)


def test_a_round_that_waits_says_who_should_sit_and_what_if_nobody_can() -> None:
    assert say("judging", judged_by("panel")) == "Nobody leads yet, so any panel will do."
    campaign = judged_by("panel", leader="Referrals")
    said = say("judging", campaign)
    assert (
        "Referrals leads. For round 8 it should have no more seats than any other group:"
        f" {FEWEST}." in said
    )
    assert "If nobody can be seated so, the round waits." in said
    assert "Referrals is not compared with any group that has fewer seats" in said
    assert say("next_step", campaign) == (
        "Round 8 waits for its panel, which nobody has named yet. Until then nothing is handed out."
    )
    panel = named(3, 2, 0, outsiders=1, standing=True)
    campaign = judged_by("panel", leader="Referrals", named_judges=panel)
    assert (
        "The panel that was named (3 of Referrals, 2 of Open call and 1 of no group) gives it more,"
        " so it was not seated." in say("judging", campaign)
    )
    assert "another panel than the one that was named" in say("next_step", campaign)


def test_a_round_under_way_says_what_comes_next() -> None:
    panel = named(1, 2, 2, outsiders=3)
    said = say("judging", judged_by("panel", panel, "Referrals"))
    assert "Referrals leads. If it still does when this round ends, it should have" in said
    assert "Nobody is named for the next round yet, which will wait for that." in said
    stands = named(1, 2, 2, outsiders=3, standing=True)
    again = judged_by("panel", panel, "Referrals", named_judges=stands)
    assert "This panel stands" in say("judging", again)
    ahead = judged_by("panel", panel, "Referrals", named_judges=named(0, 4, 4))
    words = "For the next round, 4 of Open call and 4 of Agency are named."
    assert words in say("judging", ahead)
    assert (
        "Referrals, which leads, has more seats than Open call: in this round they are not compared"
        in say("judging", judged_by("panel", named(4, 1, 4), "Referrals"))
    )


def test_a_committee_is_asked_for_and_shown() -> None:
    waits = judged_by("members")
    assert "Say how many members each group has now" in say("judging", waits)
    assert "nobody has said yet who is in the committee now" in say("next_step", waits)
    seated = named(3, 1, 5)
    assert "The next round opens once" in say("judging", judged_by("members", seated))
    kept = judged_by("members", seated, named_judges=named(3, 1, 5, standing=True))
    assert "It is taken to stay as it is until somebody says otherwise." in say("judging", kept)


def test_a_closed_round_says_who_judged_it_and_who_was_not_compared() -> None:
    policy = RecusalElimination(bounded=True)
    _, (plain,) = played(policy, NAMES, [0.5, 0.5, 0.5], rounds=1)
    fair = plain.model_copy(update={"judged_by": named(1, 1, 2), "fewest_seats": "Referrals"})
    assert say("judged", "panel", fair) == (
        "The panel had 1 of Referrals, 1 of Open call and 2 of Agency."
    )
    assert say("judged", "committee", fair).startswith("The committee then had 1")
    unfair = fair.model_copy(update={"judged_by": named(3, 1, 2)})
    assert say("judged", "panel", unfair).endswith(
        "Referrals, which led, had more seats than Open call and Agency, so they were not compared."
    )


def test_a_page_says_what_is_assumed_of_those_who_judge() -> None:
    recusal, panel = (
        policy_from_json({"name": f"{who}-elimination", "bounded": True})
        for who in ("recusal", "panel")
    )
    assert isinstance(recusal, RecusalElimination)
    assert isinstance(panel, RoundPolicy)
    assert recusal.judging == (
        "Nobody judges their own group, so own-group favor cannot help one. Groups are scored by"
        " different people: a stricter set of judges looks like a worse group."
    )
    assert "Lots must decide who of the panel scores which candidate." in panel.judging
    words = "This assumes that those judge who were said to, {}, that all groups have the same bias"
    assert words.format("equally strict towards every group") in say("assumed", recusal, 4)
    assert words.format("by lot and not by the candidate's group") in say("assumed", panel, 4)


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
    event = Event(
        number=7,
        at=datetime(2026, 11, 5, tzinfo=UTC),
        kind="judges",
        actor="service",
        key=None,
        round=2,
        data={"round": 2, "judges": [1, 0, 0], "outsiders": 2, **data},
    )
    assert text(render("event", judged_by(judges), event)) == words
