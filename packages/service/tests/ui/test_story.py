"""The story of a campaign: what happened in each round, and why."""

from __future__ import annotations

import re

import pytest

from affinity_bandits.base.declaration import Declaration
from affinity_bandits.policies import (
    Elimination,
    HeadStartElimination,
    RoundPolicy,
    SequentialHalving,
    SuccessiveRejects,
)
from affinity_bandits.policies.elimination import ListedSchedule
from affinity_bandits_client.messages import Event
from affinity_bandits_service.core.spec import UnknownPolicy
from affinity_bandits_service.ui.pages import render
from affinity_bandits_service.ui.view import decisions_of, view_of
from affinity_bandits_service.ui.wording import round_label
from tests.support.declared import DECLARED

from .played_campaigns import LISTED, ROUNDS, START, change, played, say, told


def test_why_a_stranger_dropped_a_group_is_not_made_up() -> None:
    campaign, rounds = played(SuccessiveRejects(), "ABC", [0.9, 0.8, 0.1], rounds=1)
    assert "Only the best 2 by score" in told(campaign, rounds, 0)
    campaign = change(campaign, made_policy=UnknownPolicy(), saved=None)
    words = told(campaign, rounds, 0)
    assert "C scored 0.10, which is 0.80 below the best (A, 0.90)." in words
    assert "The campaign's policy then dropped C." in words
    assert "Only the best" not in words
    view_of(campaign, rounds)


def test_a_drop_is_explained_by_score_gap_and_tolerance() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.55, 0.5, 0.24])
    assert told(campaign, rounds, 2) == (
        "Round 2 ended on 12 November 2026: each group had 64 answers. C scored 0.24, which is"
        " 0.31 below the best (A, 0.55). That is more than this round tolerates (0.25), so C was"
        " dropped. The next round asks for 128 answers each."
    )


def test_a_round_that_drops_nobody_says_what_it_saw() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.55, 0.5, 0.24])
    assert told(campaign, rounds, 1) == (
        "Round 1 ended on 11 November 2026: each group had 32 answers. A scored best (0.55); C was"
        " furthest behind (0.24, which is 0.31 less). This round tolerates 0.5: no group was far"
        " enough behind to be dropped. The next round asks for 64 answers each."
    )
    even, rounds = played(LISTED, "AB", [0.5, 0.5], rounds=2)
    assert "All groups scored 0.50, so none was dropped." in told(even, rounds, 1)


def test_a_warm_up_and_a_round_cut_short_decide_nothing() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.6, 0.6, 0.6], horizon=700)
    assert "set aside on purpose" in told(campaign, rounds, 0)
    assert told(campaign, rounds, 3).endswith(
        "The next round would ask for 256 answers for each group, but only 25 are left of the"
        " agreed number."
    )
    assert told(campaign, rounds, 4) == (
        "Round 4 ended on 14 November 2026: it had 25 answers in all. The agreed 700 answers were"
        " used up in the middle of it, so it decided nothing."
    )


@pytest.mark.slow
def test_rounds_are_counted_as_a_plan_counts_them() -> None:
    bare = Elimination(ListedSchedule(ROUNDS), discard_first=False)
    assert [round_label(LISTED, n) for n in (0, 1)] == ["Warm-up", "Round 1"]
    assert [round_label(bare, n) for n in (0, 1)] == ["Round 1", "Round 2"]
    campaign, rounds = played(bare, "ABC", [0.55, 0.5, 0.24])
    # The tolerances are the listed ones, in their order, with and without a warm-up.
    assert [d.tolerance for d in decisions_of(campaign, rounds)][:3] == [0.5, 0.25, 0.125]
    campaign, rounds = played(LISTED, "ABC", [0.55, 0.5, 0.24])
    assert [d.tolerance for d in decisions_of(campaign, rounds)][:3] == [None, 0.5, 0.25]


def test_scores_and_tolerances_are_told_on_the_scale_that_people_gave() -> None:
    parts = [0.55, 0.5, 0.24]
    stars, rounds = played(
        LISTED, "ABC", [1 + 4 * part for part in parts], rounds=4, scale=(1.0, 5.0)
    )
    plain, expected = played(LISTED, "ABC", parts, rounds=4)
    assert [one.dropped for one in rounds] == [one.dropped for one in expected]
    assert told(stars, rounds, 2).startswith(
        "Round 2 ended on 12 November 2026: each group had 64 answers. C scored 1.96, which is 1.24"
        " below the best (A, 3.20). That is more than this round tolerates (1), so C was dropped."
    )
    view = view_of(stars, rounds)
    shown = next(one for one in view.rounds if one.label == "Round 2")
    assert shown.decision.tolerance == 1
    assert shown.scores is not None
    assert [row.number.partition(" ")[0] for row in shown.scores.rows] == ["3.20", "3.00", "1.96"]
    # Where the limit is drawn is the same part of the picture, since intervals are too.
    other = view_of(plain, expected)
    drawn = next(one for one in other.rounds if one.label == "Round 2")
    assert drawn.scores is not None
    limits = [
        re.findall(r'class="limit" x1="([0-9.]+)%', rows.rows[0].picture)
        for rows in (shown.scores, drawn.scores)
    ]
    assert limits[0] == limits[1] != []


def test_a_head_start_is_told_as_one_and_names_the_leader() -> None:
    policy = HeadStartElimination(initial_lead=20, bounded=True, failure=0.05)
    campaign, rounds = played(policy, "ABC", [0.4, 0.9, 0.3], horizon=20_000)
    assert told(campaign, rounds, 0).endswith(
        "This round only finds a first leader. The next round asks for 21 answers each."
    )
    assert "Only two groups took part: they get a head start over B, which leads" in told(
        campaign, rounds, 1
    )
    assert campaign.recommended == "B"
    last = next(d for d in decisions_of(campaign, rounds) if d.round.dropped)
    assert "the leader (B, 0.90)" in told(campaign, rounds, last.round.number)
    assert "than chance explains" in told(campaign, rounds, last.round.number)
    view = view_of(campaign, rounds)
    # Scores of a head start are not shown: they are not comparable and decided nothing.
    assert [one.scores is None for one in view.rounds][-2:] == [True, False]


@pytest.mark.parametrize("policy", [SequentialHalving(), SuccessiveRejects()])
def test_policies_without_a_tolerance_tell_only_the_gap(policy: RoundPolicy) -> None:
    campaign, rounds = played(policy, "ABCD", [0.9, 0.8, 0.4, 0.2], horizon=4000)
    first = told(campaign, rounds, 0)
    assert "D scored 0.20, which is 0.70 below the best (A, 0.90)." in first
    assert "tolerates" not in first
    assert "by score" in first
    assert campaign.recommended == "A"


def test_many_drops_at_once_are_counted() -> None:
    names = [f"g{i}" for i in range(40)]
    campaign, rounds = played(LISTED, names, [0.9] * 3 + [0.1] * 37, rounds=2)
    story_ = told(campaign, rounds, 1)
    assert story_.count("was dropped") == 3
    assert "34 more groups were dropped for the same reason." in story_


def trail() -> list[Event]:
    def event(kind: str, **data: object) -> Event:
        return Event(number=1, at=START, kind=kind, actor="k", key=None, round=2, data=data)

    due = START.isoformat()
    return [
        event("create", description={}),
        event("ask", count=48, runs=[[0, 30], [40, 2]], expires_at=due),
        event("tell", lease=17, counted=3, late=1, duplicate=2),
        event("tell", lease=17, counted=4, late=0, duplicate=0),
        event("close", dropped=[2], next={"arms": [0, 1], "repetitions": 64}),
        event("close", dropped=[], next=None),
        event("close", dropped=[1, 2], next={"arms": [0], "repetitions": 2**62}),
        event("stop", status="open"),
    ]


def test_the_audit_trail_is_told_in_words() -> None:
    campaign, _ = played(LISTED, "ABC", [0.55, 0.5, 0.24], rounds=2)
    assert [say("event", campaign, one) for one in trail()] == [
        f"The campaign was made: three groups, 100,000 answers at most. {DECLARED.sentence}",
        "32 ratings of round 2 were handed out (48 were asked for), to be answered by"
        " 10 Nov 2026, 09:00 UTC.",
        "6 answers to event 17 came in: 3 counted, 1 came too late to count and 2 had been"
        " answered before.",
        "4 answers to event 17 came in and all counted.",
        "Round 2 ended. C was dropped. The next round asks for 64 answers each.",
        "Round 2 ended. No group was dropped. The agreed number of answers is used up.",
        "Round 2 ended. B and C were dropped. A goes on alone.",
        "The campaign was stopped: nothing more is handed out.",
    ]


def test_the_first_event_says_what_was_declared_as_text() -> None:
    campaign, _ = played(LISTED, "ABC", [0.55, 0.5, 0.24], rounds=2)
    declared = Declaration("<b>sources</b>", "head of recruiting", "next year")
    campaign = change(campaign, declaration=declared)
    sentence = render("event", campaign, trail()[0])
    assert "<b>" not in sentence
    assert "responsible: head of recruiting; purpose: next year." in sentence
