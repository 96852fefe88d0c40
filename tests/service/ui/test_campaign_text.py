"""What /ui says of a campaign as a whole: where it stands, what comes next, how it decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits.policies import (
    HandicapElimination,
    RoundPolicy,
    Uniform,
)
from affinity_bandits.service.core.campaign_spec import SERVED
from affinity_bandits.service.core.records import UnknownPolicy
from affinity_bandits.service.ui import campaign_text

from .played_campaigns import LISTED, played, text


def test_a_policy_without_words_of_its_own_gets_none_of_anothers() -> None:
    said = {
        name: campaign_text.how_it_decides(policy.examples()[0]) for name, policy in SERVED.items()
    }
    fixed = {name for name, words in said.items() if "a fixed number of groups" in words}
    assert fixed == {"explore-then-commit", "sequential-halving", "successive-rejects"}
    assert not [name for name, words in said.items() if "is up to the policy" in words]
    for stranger in (UnknownPolicy(), RoundPolicy()):
        words = campaign_text.how_it_decides(stranger)
        assert "is up to the policy" in words
        assert "lowest" not in words
        assert "fixed" not in words


def test_the_headline_says_where_a_campaign_stands() -> None:
    five = "ABCDE"
    values = [0.9, 0.89, 0.88, 0.5, 0.4]
    fresh, _ = played(LISTED, five, values, rounds=0)
    assert text(campaign_text.headline(fresh)) == "All five groups are still being compared"
    midway, _ = played(LISTED, five, values, rounds=4)
    assert text(campaign_text.headline(midway)) == "Three of five groups are still being compared"
    ended, _ = played(LISTED, five, values, horizon=1000)
    assert text(campaign_text.headline(ended)).startswith("The horizon was reached before")
    decided, _ = played(LISTED, "AB", [0.1, 0.9])
    assert text(campaign_text.headline(decided)) == "B is recommended"
    assert campaign_text.status_of(decided) == "Decided"
    stopped = replace(midway, status="stopped")
    assert (
        text(campaign_text.headline(stopped))
        == "Stopped while three of five groups were being compared"
    )
    turns, _ = played(Uniform(), "AB", [0.1, 0.9])
    assert text(campaign_text.headline(turns)) == "All answers that were agreed on are in"
    assert "longer horizon" not in text(campaign_text.next_step(turns))
    many, _ = played(LISTED, [f"g{i}" for i in range(40)], [0.9] * 3 + [0.1] * 37, rounds=2)
    assert text(campaign_text.headline(many)) == "3 of 40 groups are still being compared"


@pytest.mark.parametrize(
    ("handed_out", "answered", "expected"),
    [
        (0, 0, "This round needs 160 more answers; none is out with raters at the moment."),
        (72, 32, "This round needs 128 more answers; 40 are out with raters."),
        (33, 32, "This round needs 128 more answers; 1 is out with raters."),
        (160, 159, "This round needs 1 more answer; it is out with a rater."),
        (160, 150, "This round needs 10 more answers; all of them are out with raters."),
        (160, 160, "This round has all its answers and is about to be closed."),
    ],
)
def test_what_comes_next_is_counted(handed_out: int, answered: int, expected: str) -> None:
    campaign, _ = played(LISTED, "ABCDE", [0.5] * 5, rounds=1)
    round_ = replace(campaign.round, handed_out=handed_out, answered=answered)
    assert text(campaign_text.next_step(replace(campaign, round=round_))) == expected


def test_the_end_of_a_campaign_is_told() -> None:
    ended, _ = played(LISTED, "ABC", [0.6, 0.59, 0.0], horizon=700)
    assert text(campaign_text.next_step(ended)) == (
        "All 700 answers that were agreed on are used up, and nothing more is handed out. Two"
        " groups were left: A and B. Telling them apart takes a new campaign with a longer horizon."
    )
    some_out = replace(ended.round, handed_out=20, answered=10)
    stopped = replace(ended, status="stopped", round=some_out)
    assert text(campaign_text.next_step(stopped)) == (
        "Nothing more is handed out. Answers to the 10 ratings still out with raters will count."
    )


def test_how_many_at_once_is_said_where_it_matters() -> None:
    policy = HandicapElimination(head_start=20, bounded=True, failure=0.05, in_flight=250)
    ordered, _ = played(policy, "AB", [0.4, 0.9], rounds=1)
    said = campaign_text.order_of_answers(ordered)
    assert said.startswith("Up to 250 choices under way at once are covered, in whatever order")
    assert "A choice counts when its answer is told" in said
    assert "holds if answers came in the order" in campaign_text.order_of_answers(
        replace(ordered, in_flight=None)
    )
    free, _ = played(LISTED, "AB", [0.4, 0.9], rounds=1)
    assert campaign_text.order_of_answers(free) == ""
