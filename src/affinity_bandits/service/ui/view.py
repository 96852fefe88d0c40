"""The view of a campaign's page: computed here, so that the template only lays it out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from affinity_bandits.service.core.records import Campaign, ClosedRound, Progress
from affinity_bandits.service.ui import charts
from affinity_bandits.service.ui.campaign_text import round_in_words, round_label, short_label
from affinity_bandits.service.ui.charts import Part
from affinity_bandits.service.ui.decisions import Decision, decisions_of, explained
from affinity_bandits.service.ui.evidence import (
    MOST_GROUPS,
    EvidenceView,
    Row,
    Rows,
    evidence_of,
    evidence_view,
)
from affinity_bandits.service.ui.wording import counted, digits_for, exact

MOST_ROUNDS = 60
MOST_TABLES = 20
"""Rounds whose scores are listed; those before are told in sentences."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class RoundView:
    """A closed round: what was decided, and the scores it was decided from."""

    label: str
    sentences: list[Markup]
    scores: Rows | None
    caption: str
    tolerance: str


@dataclass(frozen=True)
class Range:
    """The scores between which pictures of intervals are drawn."""

    low: float
    high: float
    digits: int

    def place(self, score: float) -> float:
        """Return the position of a score as a fraction of the width."""
        return min(1.0, max(0.0, (score - self.low) / (self.high - self.low)))

    @property
    def picture(self) -> Markup:
        """The labels at the two ends."""
        return charts.scale(f"{self.low:.{self.digits}f}", f"{self.high:.{self.digits}f}")


@dataclass(frozen=True)
class CampaignView:
    """The data for the template of a campaign's page."""

    timeline: Rows
    round_labels: Markup
    progress: Rows | None
    progress_caption: str
    shares: Markup | None
    share_rows: Rows
    rounds: list[RoundView]
    scale: Markup | None
    earlier: int
    evidence: EvidenceView


def half_width(lowest: float, highest: float, answers: int) -> float:
    """Return half the width of Hoeffding's interval for a mean of bounded scores.

    >>> round(half_width(0.0, 1.0, 64), 3)
    0.17
    """
    return (highest - lowest) * math.sqrt(math.log(2.0 / (1.0 - CONFIDENCE)) / (2.0 * answers))


def view_of(
    campaign: Campaign, rounds: Sequence[ClosedRound], answers: Sequence[int]
) -> CampaignView:
    """Return the view of a campaign.

    Args:
        campaign: as it stands.
        rounds: its last closed rounds.
        answers: of each arm, the open round included.
    """
    evidence = evidence_of(campaign)
    decisions = decisions_of(campaign, rounds, evidence)
    order = _order(campaign, rounds)
    named = order[:MOST_GROUPS]
    policy, now = campaign.spec.policy, campaign.round
    label = round_label(policy, now.number)
    open_ = None if campaign.status == "exhausted" else now
    labels = [short_label(policy, one.number) for one in rounds]
    if open_ is not None:
        final = campaign.recommended is not None
        labels.append("after" if final else short_label(policy, open_.number))
    range_ = _range(campaign, decisions[-MOST_TABLES:])
    compared = open_ if campaign.recommended is None else None
    return CampaignView(
        timeline=Rows(
            [_timeline_row(campaign, rounds, open_, arm) for arm in named], len(order) - len(named)
        ),
        round_labels=charts.column_labels(labels),
        progress=None
        if compared is None or campaign.awaits_judges
        else _progress(campaign, compared),
        progress_caption=f"{label}: {now.answered:,} of {now.size:,} answers are in",
        shares=_shares(rounds, open_, answers, order),
        share_rows=_share_rows(campaign, answers, order),
        rounds=[
            _round_view(one, range_ if place < MOST_TABLES else None)
            for place, one in enumerate(reversed(decisions))
        ],
        scale=None if range_ is None else range_.picture,
        earlier=rounds[0].number if rounds else 0,
        evidence=evidence_view(campaign, evidence, order),
    )


def _order(campaign: Campaign, rounds: Sequence[ClosedRound]) -> list[int]:
    """Return all arms: active ones first, then dropped ones, the latest first."""
    dropped_in = {arm: one.number for one in rounds for arm in one.dropped}
    active = set(campaign.active)
    return sorted(
        range(len(campaign.spec.arms)),
        key=lambda arm: (arm not in active, -dropped_in.get(arm, -1), arm),
    )


def _timeline_row(
    campaign: Campaign, rounds: Sequence[ClosedRound], open_: Progress | None, arm: int
) -> Row:
    policy = campaign.spec.policy
    parts = []
    words, kind = ("not told apart" if campaign.status == "exhausted" else "still in"), "in"
    if arm not in campaign.active:
        words, kind = "dropped earlier", "out"
    for one in rounds:
        if arm in one.dropped:
            parts.append(Part.DROPPED)
            words = f"dropped after {round_in_words(policy, one.number)}"
        else:
            parts.append(Part.PLAYED if arm in one.arms else Part.ABSENT)
    done = 0.0
    if open_ is not None and arm in open_.arms:
        place = open_.arms.index(arm)
        if arm == campaign.recommended:
            parts.append(Part.CHOSEN)
        else:
            parts.append(Part.OPEN)
            done = open_.answers[place] / max(1, _asked(open_, place))
    elif open_ is not None:
        parts.append(Part.ABSENT)
    if arm == campaign.recommended:
        words, kind = "recommended", "chosen"
    took = sum(part is not Part.ABSENT for part in parts)
    label = f"took part in {took} of the {counted(len(parts), 'round')} shown; {words}"
    return Row(campaign.spec.arms[arm], charts.timeline(parts, done, label), words, kind=kind)


def _asked(open_: Progress, place: int) -> int:
    """Return how many answers the open round needs of an arm; the horizon may cut it short."""
    whole, rest = divmod(open_.size, len(open_.arms))
    return whole + (place < rest)


def _progress(campaign: Campaign, open_: Progress) -> Rows:
    rows = []
    for place, arm in enumerate(open_.arms[:MOST_GROUPS]):
        have, asked = open_.answers[place], _asked(open_, place)
        words = f"{have:,} of {asked:,}"
        picture = charts.progress_bar(have / max(1, asked), f"{words} answers")
        rows.append(Row(campaign.spec.arms[arm], picture, words))
    return Rows(rows, len(open_.arms) - len(rows))


def _shares(
    rounds: Sequence[ClosedRound],
    open_: Progress | None,
    answers: Sequence[int],
    order: Sequence[int],
) -> Markup | None:
    """Return the chart of each group's share of all answers, after each round and now."""
    if sum(answers) == 0:
        return None
    now = [] if open_ is None else [(open_.arms, open_.answers)]
    totals = list(answers)
    moments = []
    for arms, added in now + [(one.arms, one.counts) for one in reversed(rounds)]:
        moments.append(list(totals))
        for arm, count in zip(arms, added, strict=True):
            totals[arm] -= count
    named, others = order[:MOST_GROUPS], order[MOST_GROUPS:]
    columns = []
    for counts in reversed(moments):
        total = max(1, sum(counts))
        column = [counts[arm] / total for arm in named]
        if others:
            column.append(sum(counts[arm] for arm in others) / total)
        columns.append(column)
    label = "share of each group in all answers so far, after each round; the list has the last"
    return charts.shares(columns, bool(others), label)


def _share_rows(campaign: Campaign, answers: Sequence[int], order: Sequence[int]) -> Rows:
    total = max(1, sum(answers))
    rows = [
        Row(
            campaign.spec.arms[arm],
            charts.swatch(place),
            f"{answers[arm]:,}",
            _share(answers[arm] / total),
        )
        for place, arm in enumerate(order[:MOST_GROUPS])
    ]
    return Rows(rows, len(order) - len(rows))


def _share(part: float) -> str:
    return "<1%" if 0.0 < part < 0.005 else f"{part:.0%}"


def _range(campaign: Campaign, decisions: Sequence[Decision]) -> Range | None:
    """Return one scale for all rounds: as narrow as their intervals, within the declared range."""
    about = campaign.spec
    ends: list[float] = []
    for one in decisions:
        if one.compares:  # then all its arms have the same number of answers
            wide = half_width(about.lowest, about.highest, one.round.counts[0])
            ends += [min(one.means) - wide, max(one.means) + wide]
    if not ends:
        return None
    tenth = (about.highest - about.lowest) / 10.0
    first = max(0, math.floor((min(ends) - about.lowest) / tenth))
    last = min(10, math.ceil((max(ends) - about.lowest) / tenth))
    return Range(
        about.lowest + first * tenth,
        about.lowest + last * tenth,
        digits_for(about.lowest, about.highest),
    )


def _round_view(decision: Decision, range_: Range | None) -> RoundView:
    policy, round_ = decision.spec.policy, decision.round
    label = round_label(policy, round_.number)
    scores = _scores(decision, range_) if decision.compares and range_ is not None else None
    tolerance = "" if decision.tolerance is None else exact(decision.tolerance)
    each = counted(round_.counts[0], "answer")
    return RoundView(label, explained(decision), scores, f"{each} each", tolerance)


def _scores(decision: Decision, range_: Range) -> Rows:
    """Return a row for each group of a round, best first."""
    about, round_ = decision.spec, decision.round
    places = sorted(range(len(round_.arms)), key=decision.means.__getitem__, reverse=True)
    best = decision.means[places[0]]
    limit = None if decision.tolerance is None else range_.place(best - decision.tolerance)
    rows = []
    for place in places[:MOST_GROUPS]:
        mean = decision.means[place]
        wide = half_width(about.lowest, about.highest, round_.counts[place])
        kind, words = "stays", "stays"
        if round_.arms[place] in round_.dropped:
            kind, words = "gone", "dropped"
        elif mean == best:
            words = "best"
        number = f"{mean:.{range_.digits}f} ± {wide:.{range_.digits}f}"
        places_ = [range_.place(one) for one in (mean - wide, mean, mean + wide)]
        picture = charts.interval(places_, kind, limit, f"{number}, {words}")
        rows.append(Row(about.arms[round_.arms[place]], picture, words, number, kind))
    return Rows(rows, len(places) - len(rows))
