"""What the page of a campaign draws: how much of it, and from which answers."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from affinity_bandits.policies import Elimination
from affinity_bandits.policies.elimination import ListedSchedule
from affinity_bandits_service.ui.view import (
    MOST_GROUPS,
    MOST_ROUNDS,
    MOST_TABLES,
    view_of,
)

from .played_campaigns import LISTED, change, make_arm, played


@pytest.mark.slow
def test_a_page_draws_no_more_than_it_can_show() -> None:
    names = [f"g{i}" for i in range(42)]
    policy = Elimination(ListedSchedule([(1, 2.0)]))
    campaign, rounds = played(policy, names, [0.5] * 42, rounds=100)
    view = view_of(campaign, rounds[-MOST_ROUNDS:])
    assert (len(view.timeline.rows), view.timeline.more) == (MOST_GROUPS, 30)
    assert view.progress is not None
    assert (len(view.progress.rows), view.progress.more) == (MOST_GROUPS, 30)
    assert len(view.rounds) == MOST_ROUNDS
    assert view.earlier == 40
    shown = [len(one.scores.rows) for one in view.rounds if one.scores]
    assert shown == [MOST_GROUPS] * MOST_TABLES
    # The share of groups without a name is in the columns too, which end at the bottom.
    assert view.shares is not None
    bars = ET.fromstring(view.shares).findall("rect")
    assert len(bars) == (MOST_ROUNDS + 1) * (MOST_GROUPS + 1)
    total = sum(float(bar.attrib["height"]) for bar in bars)
    assert total == pytest.approx(200 * (MOST_ROUNDS + 1), rel=1e-3)


def test_shares_before_the_rounds_that_are_shown_count() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.9, 0.85, 0.1], rounds=3)
    view = view_of(campaign, rounds[-2:])
    assert view.shares is not None
    bars = ET.fromstring(view.shares).findall("rect")
    heights = [float(bar.attrib["height"]) for bar in bars]
    # The warm-up is not shown and counts. C was dropped in round 1, with 33 answers; the others
    # had 97 when round 2 ended, and the open round has none yet.
    after_two = [200 * n / (97 + 97 + 33) for n in (97, 97, 33)]
    assert heights == pytest.approx([200 / 3] * 3 + after_two * 2, abs=0.01)


def test_answers_of_the_open_round_count_now_and_not_before() -> None:
    campaign, rounds = played(LISTED, "AB", [0.5, 0.5], rounds=1)
    arms = tuple(make_arm(name, True, answers) for name, answers in (("A", 4), ("B", 1)))
    half_way = change(campaign, arms=arms, round_answers=(3, 0), round_answered=3)
    view = view_of(half_way, rounds)
    assert view.shares is not None
    heights = [float(bar.attrib["height"]) for bar in ET.fromstring(view.shares).findall("rect")]
    assert heights == pytest.approx([100, 100, 160, 40])


def test_the_recommended_group_is_drawn_as_such() -> None:
    campaign, rounds = played(LISTED, "AB", [0.1, 0.9])
    chosen, dropped = view_of(campaign, rounds).timeline.rows
    assert (chosen.name, chosen.words, dropped.words) == (
        *("B", "recommended", "dropped after round 1"),
    )
    drawn = [bar.attrib["class"] for bar in ET.fromstring(chosen.picture).findall("rect")]
    assert drawn == ["fill", "fill", "chosen"]
    assert len(ET.fromstring(dropped.picture).findall("svg")) == 1  # the cross
