"""What /ui says of a campaign as a whole: where it stands, what comes next, how it decides."""

from __future__ import annotations

import pytest

from affinity_bandits.policies import HeadStartElimination, RoundPolicy, Uniform
from affinity_bandits_service.core.spec import SERVED, UnknownPolicy

from .played_campaigns import LISTED, change, played, say

FIVE = ("ABCDE", [0.9, 0.89, 0.88, 0.5, 0.4])


def test_a_policy_without_words_of_its_own_gets_none_of_anothers() -> None:
    said = {name: say("how_it_decides", one.examples()[0]) for name, one in SERVED.items()}
    assert not [name for name, words in said.items() if "is up to the policy" in words]
    for stranger in (UnknownPolicy(), RoundPolicy()):
        words = say("how_it_decides", stranger)
        assert "is up to the policy" in words
        assert "lowest" not in words


def test_the_headline_says_where_a_campaign_stands() -> None:
    fresh, _ = played(LISTED, *FIVE, rounds=0)
    assert say("headline", fresh) == "All five groups are still being compared"
    midway, _ = played(LISTED, *FIVE, rounds=4)
    assert say("headline", midway) == "Three of five groups are still being compared"
    ended, _ = played(LISTED, *FIVE, horizon=1000)
    assert say("headline", ended).startswith("The horizon was reached before")
    decided, _ = played(LISTED, "AB", [0.1, 0.9])
    assert (say("headline", decided), say("status", decided)) == ("B is recommended", "Decided")
    stopped = change(midway, status="stopped")
    assert say("headline", stopped) == "Stopped while three of five groups were being compared"
    turns, _ = played(Uniform(), "AB", [0.1, 0.9])
    assert say("headline", turns) == "All answers that were agreed on are in"
    assert "longer horizon" not in say("next_step", turns)
    many, _ = played(LISTED, [f"g{i}" for i in range(40)], [0.9] * 3 + [0.1] * 37, rounds=2)
    assert say("headline", many) == "3 of 40 groups are still being compared"


@pytest.mark.parametrize(
    ("handed_out", "answered", "expected"),
    [
        (0, 0, "This round needs 160 more answers; none is out with raters at the moment."),
        (72, 32, "This round needs 128 more answers; 40 are out with raters."),
        (160, 159, "This round needs 1 more answer; it is out with a rater."),
        (160, 150, "This round needs 10 more answers; all of them are out with raters."),
        (160, 160, "This round has all its answers and is about to be closed."),
    ],
)
def test_what_comes_next_is_counted(handed_out: int, answered: int, expected: str) -> None:
    campaign, _ = played(LISTED, "ABCDE", [0.5] * 5, rounds=1)
    campaign = change(campaign, round_handed_out=handed_out, round_answered=answered)
    assert say("next_step", campaign) == expected


def test_the_end_of_a_campaign_is_told() -> None:
    ended, _ = played(LISTED, "ABC", [0.6, 0.59, 0.0], horizon=700)
    assert say("next_step", ended) == (
        "All 700 answers that were agreed on are used up, and nothing more is handed out. Two"
        " groups were left: A and B. Telling them apart takes a new campaign with a longer horizon."
    )
    stopped = change(ended, status="stopped", round_handed_out=20, round_answered=10)
    assert say("next_step", stopped) == (
        "Nothing more is handed out. Answers to the 10 ratings still out with raters will count."
    )


def test_how_many_at_once_is_said() -> None:
    policy = HeadStartElimination(initial_lead=20, bounded=True, failure=0.05, in_flight=250)
    ordered, _ = played(policy, "AB", [0.4, 0.9], rounds=1)
    assert say("order_of_answers", ordered).startswith("Up to 250 choices under way at once are")
