"""The words of /ui, on campaigns that real policies went through."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from affinity_bandits.policies import (
    Elimination,
    HandicapElimination,
    RoundPolicy,
    SequentialHalving,
    SuccessiveRejects,
    Uniform,
)
from affinity_bandits.policies.schedule import ListedSchedule
from affinity_bandits.service.core.campaign_spec import SERVED, CampaignSpec, open_round
from affinity_bandits.service.core.closing import advance
from affinity_bandits.service.core.records import (
    Campaign,
    ClosedRound,
    Progress,
    Stored,
    UnknownPolicy,
)
from affinity_bandits.service.core.scores import to_units
from affinity_bandits.service.ui import campaign_text, charts
from affinity_bandits.service.ui.decisions import decisions_of, explained
from affinity_bandits.service.ui.event_text import line
from affinity_bandits.service.ui.view import (
    MOST_GROUPS,
    MOST_ROUNDS,
    MOST_TABLES,
    half_width,
    view_of,
)
from affinity_bandits.service.ui.wording import gap_in_words
from affinity_bandits.wire import Event

START = datetime(2026, 11, 10, 9, 0, tzinfo=UTC)
ROUNDS = [(32, 0.5), (64, 0.25), (128, 0.125), (256, 0.0625)]
LISTED = Elimination(ListedSchedule(ROUNDS))
HOSTILE = ('<script>alert("x")</script>', "\"'><img src=x onerror=alert(1)>", "{{ 7*7 }} & {0}")


def played(
    policy: RoundPolicy,
    names: Sequence[str],
    means: Sequence[float],
    *,
    horizon: int = 100_000,
    rounds: int = 1000,
    scale: tuple[float, float] = (0.0, 1.0),
) -> tuple[Campaign, list[ClosedRound]]:
    """A campaign whose groups always score their means, after so many rounds or at its end."""
    about = CampaignSpec(
        "Sourcing", tuple(names), policy, horizon, lowest=scale[0], highest=scale[1]
    )
    state = policy.start(len(names), horizon)
    saved, current = policy.save(state, len(names), horizon), open_round(policy, state, horizon, 0)
    closed: list[ClosedRound] = []
    before, exhausted = 0, False
    while not (current.final or exhausted or len(closed) == rounds):
        width = len(current.arms)
        counts = [current.size // width + (i < current.size % width) for i in range(width)]
        sums = [to_units(means[arm]) * n for arm, n in zip(current.arms, counts, strict=True)]
        made = advance(policy, about.scale, saved, current, sums, before)
        at = START + timedelta(days=len(closed))
        closed.append(
            ClosedRound(
                *(len(closed), current.arms, current.repetitions, current.size, before, START, at),
                *(tuple(counts), tuple(sums), made.dropped),
            )
        )
        saved, exhausted = made.saved, made.next is None
        if made.next is not None:
            before += current.size
            current = made.next
    status = "exhausted" if exhausted else "decided" if current.final else "open"
    after, candidate = policy.load(saved), policy.kernels().candidate
    nothing = (0,) * len(current.arms)
    done = current.size if exhausted else 0
    progress = Progress(
        *(len(closed) - exhausted, current.arms, current.repetitions, current.size, done, done),
        *(nothing, nothing),
    )
    campaign = Campaign(
        uuid.UUID(int=1),
        about,
        status,
        current.arms[0] if current.final and len(current.arms) == 1 else None,
        tuple(arm for arm in range(len(names)) if candidate(after, arm)),
        before,
        policy.order_window,
        progress,
        START,
    )
    return campaign, closed


def text(sentence: Markup) -> str:
    return sentence.striptags()


def told(campaign: Campaign, rounds: Sequence[ClosedRound], number: int) -> str:
    decision = next(d for d in decisions_of(campaign, rounds) if d.round.number == number)
    return " ".join(text(sentence) for sentence in explained(decision))


def answers_of(campaign: Campaign, rounds: Sequence[ClosedRound]) -> list[int]:
    found = [0] * len(campaign.spec.arms)
    for one in rounds:
        for arm, count in zip(one.arms, one.counts, strict=True):
            found[arm] += count
    return found


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


def test_why_a_stranger_dropped_a_group_is_not_made_up() -> None:
    campaign, rounds = played(SuccessiveRejects(), "ABC", [0.9, 0.8, 0.1], rounds=1)
    assert "Only the best 2 by score" in told(campaign, rounds, 0)
    about = campaign.spec
    stored = Stored(
        *(about.name, about.arms, {}, about.horizon, about.lease_seconds),
        *(about.lowest, about.highest),
    )
    words = told(replace(campaign, spec=stored), rounds, 0)
    assert "C scored 0.10, which is 0.80 below the best (A, 0.90)." in words
    assert "The campaign's policy then dropped C." in words
    assert "Only the best" not in words
    view_of(replace(campaign, spec=stored), rounds, answers_of(campaign, rounds))


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


def test_rounds_are_counted_as_a_plan_counts_them() -> None:
    bare = Elimination(ListedSchedule(ROUNDS), discard_first=False)
    assert [campaign_text.round_label(LISTED, n) for n in (0, 1)] == ["Warm-up", "Round 1"]
    assert [campaign_text.round_label(bare, n) for n in (0, 1)] == ["Round 1", "Round 2"]
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
    view = view_of(stars, rounds, answers_of(stars, rounds))
    shown = next(one for one in view.rounds if one.label == "Round 2")
    assert shown.tolerance == "1"
    assert shown.scores is not None
    assert [row.number.partition(" ")[0] for row in shown.scores.rows] == ["3.20", "3.00", "1.96"]
    # Where the limit is drawn is the same part of the picture, since intervals are too.
    other = view_of(plain, expected, answers_of(plain, expected))
    drawn = next(one for one in other.rounds if one.label == "Round 2")
    assert drawn.scores is not None
    limits = [
        re.findall(r'class="limit" x1="([0-9.]+)%', rows.rows[0].picture)
        for rows in (shown.scores, drawn.scores)
    ]
    assert limits[0] == limits[1] != []


@pytest.mark.parametrize("scale", [(0.0, 1.0), (-2.0, 6.0)], ids=str)
def test_a_drop_in_the_story_is_a_drop_by_the_rule(scale: tuple[float, float]) -> None:
    low, high = scale
    scores = [low + (high - low) * part for part in (0.9, 0.87, 0.8, 0.6, 0.3)]
    campaign, rounds = played(LISTED, "ABCDE", scores, scale=scale)
    assert campaign.status == "decided" or campaign.round.number > 4
    for decision in decisions_of(campaign, rounds):
        if decision.tolerance is None:
            continue
        best = max(decision.means)
        for place, arm in enumerate(decision.round.arms):
            behind = best - decision.means[place]
            assert (arm in decision.round.dropped) == (behind > decision.tolerance)


def test_a_head_start_is_told_as_one_and_names_the_leader() -> None:
    policy = HandicapElimination(head_start=20, bounded=True, failure=0.05)
    campaign, rounds = played(policy, "ABC", [0.4, 0.9, 0.3], horizon=20_000)
    assert told(campaign, rounds, 0).endswith(
        "This round only finds a first leader. The next round asks for 21 answers each."
    )
    assert "Only two groups took part: they get a head start over B, which leads" in told(
        campaign, rounds, 1
    )
    assert campaign.recommended == 1
    last = next(d for d in decisions_of(campaign, rounds) if d.round.dropped)
    assert "the leader (B, 0.90)" in told(campaign, rounds, last.round.number)
    assert "more than chance explains" in told(campaign, rounds, last.round.number)
    view = view_of(campaign, rounds, answers_of(campaign, rounds))
    # Scores of a head start are not shown: they are not comparable and decided nothing.
    assert [one.scores is None for one in view.rounds][-2:] == [True, False]


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


@pytest.mark.parametrize("policy", [SequentialHalving(), SuccessiveRejects()])
def test_policies_without_a_tolerance_tell_only_the_gap(policy: RoundPolicy) -> None:
    campaign, rounds = played(policy, "ABCD", [0.9, 0.8, 0.4, 0.2], horizon=4000)
    first = told(campaign, rounds, 0)
    assert "D scored 0.20, which is 0.70 below the best (A, 0.90)." in first
    assert "tolerates" not in first
    assert "by score" in first
    assert campaign.recommended == 0


def test_many_drops_at_once_are_counted() -> None:
    names = [f"g{i}" for i in range(40)]
    campaign, rounds = played(LISTED, names, [0.9] * 3 + [0.1] * 37, rounds=2)
    story_ = told(campaign, rounds, 1)
    assert story_.count("was dropped") == 3
    assert "34 more groups were dropped for the same reason." in story_


@given(best=st.floats(0, 1), share=st.floats(0, 1), tolerance=st.sampled_from([0.5, 0.25, 2**-7]))
def test_the_numbers_of_a_gap_do_not_contradict_each_other(
    best: float, share: float, tolerance: float
) -> None:
    own = best * share
    top, low, gap, _ = gap_in_words(best, own, tolerance, 2)
    if len(gap) < len("0.0000"):  # the last resort of four digits may still be off by one
        assert math.isclose(float(top) - float(low), float(gap), abs_tol=1e-9)
        assert (float(gap) > tolerance) == (best - own > tolerance)


def test_hoeffding_is_the_formula() -> None:
    assert half_width(1.0, 5.0, 50) == pytest.approx(4.0 * math.sqrt(math.log(40.0) / 100.0))


def events_of(campaign: Campaign, rounds: Sequence[ClosedRound]) -> list[Event]:
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
    campaign, rounds = played(LISTED, "ABC", [0.55, 0.5, 0.24], rounds=2)
    lines = [line(campaign.spec, one) for one in events_of(campaign, rounds)]
    assert [text(one.what) for one in lines] == [
        "The campaign was made: three groups, 100,000 answers at most.",
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


def test_names_stay_text_in_every_sentence_and_picture() -> None:
    # The negative control is the template: without escaping, the tags of names would be found.
    ours = re.compile(r'</?bdi(?: class="name")?>')
    sentences: list[Markup] = []
    for policy in (LISTED, HandicapElimination(head_start=5, bounded=True), SequentialHalving()):
        for horizon in (400, 40_000):
            campaign, rounds = played(policy, HOSTILE, [0.9, 0.5, 0.1], horizon=horizon)
            sentences += [campaign_text.headline(campaign), campaign_text.next_step(campaign)]
            for decision in decisions_of(campaign, rounds):
                sentences += explained(decision)
            for event in events_of(campaign, rounds):
                sentences.append(line(campaign.spec, event).what)
            drawn = view_of(campaign, rounds, answers_of(campaign, rounds))
            for row in drawn.timeline.rows:
                ET.fromstring(row.picture)
    assert any("&lt;script&gt;" in sentence for sentence in sentences)
    for sentence in sentences:
        assert "<" not in ours.sub("", sentence)
    ET.fromstring(charts.progress_bar(0.5, '"><script>'))


def test_a_page_draws_no_more_than_it_can_show() -> None:
    names = [f"g{i}" for i in range(42)]
    policy = Elimination(ListedSchedule([(1, 2.0)]))
    campaign, rounds = played(policy, names, [0.5] * 42, rounds=100)
    view = view_of(campaign, rounds[-MOST_ROUNDS:], answers_of(campaign, rounds))
    assert (len(view.timeline.rows), view.timeline.more) == (MOST_GROUPS, 30)
    assert view.progress is not None
    assert (len(view.progress.rows), view.progress.more) == (MOST_GROUPS, 30)
    assert len(view.rounds) == MOST_ROUNDS
    assert view.earlier == 40
    shown = [len(one.scores.rows) for one in view.rounds if one.scores]
    assert shown == [MOST_GROUPS] * MOST_TABLES
    assert all(one.sentences for one in view.rounds)
    # The share of groups without a name is in the columns too, which end at the bottom.
    assert view.shares is not None
    bars = ET.fromstring(view.shares).findall("rect")
    assert len(bars) == (MOST_ROUNDS + 1) * (MOST_GROUPS + 1)
    total = sum(float(bar.attrib["height"]) for bar in bars)
    assert total == pytest.approx(200 * (MOST_ROUNDS + 1), rel=1e-3)


def test_shares_before_the_rounds_that_are_shown_count() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.9, 0.85, 0.1], rounds=3)
    view = view_of(campaign, rounds[-2:], answers_of(campaign, rounds))
    assert view.shares is not None
    bars = ET.fromstring(view.shares).findall("rect")
    heights = [float(bar.attrib["height"]) for bar in bars]
    # The warm-up is not shown and counts. C was dropped in round 1, with 33 answers; the others
    # had 97 when round 2 ended, and the open round has none yet.
    after_two = [200 * n / (97 + 97 + 33) for n in (97, 97, 33)]
    assert heights == pytest.approx([200 / 3] * 3 + after_two * 2, abs=0.01)


def test_answers_of_the_open_round_count_now_and_not_before() -> None:
    campaign, rounds = played(LISTED, "AB", [0.5, 0.5], rounds=1)
    half_way = replace(campaign, round=replace(campaign.round, answers=(3, 0), answered=3))
    view = view_of(half_way, rounds, [4, 1])
    assert view.shares is not None
    heights = [float(bar.attrib["height"]) for bar in ET.fromstring(view.shares).findall("rect")]
    assert heights == pytest.approx([100, 100, 160, 40])


def test_the_recommended_group_is_drawn_as_such() -> None:
    campaign, rounds = played(LISTED, "AB", [0.1, 0.9])
    chosen, dropped = view_of(campaign, rounds, answers_of(campaign, rounds)).timeline.rows
    assert (chosen.name, chosen.words, dropped.words) == (
        *("B", "recommended", "dropped after round 1"),
    )
    drawn = [bar.attrib["class"] for bar in ET.fromstring(chosen.picture).findall("rect")]
    assert drawn == ["fill", "fill", "chosen"]
    assert len(ET.fromstring(dropped.picture).findall("svg")) == 1  # the cross
