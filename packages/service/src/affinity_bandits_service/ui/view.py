"""The content of a campaign's pages: decisions, evidence and time left."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from markupsafe import Markup

from affinity_bandits.base.words import counted
from affinity_bandits.policies import BlockPolicy, Evidence, PlayedRound, RoundExplanation
from affinity_bandits_client.messages.campaigns import OpenRound
from affinity_bandits_service.core.queries import LeadInBlocks
from affinity_bandits_service.core.scores import scale_of
from affinity_bandits_service.core.spec import CampaignRecord, RoundRecord, ServedPolicy
from affinity_bandits_service.ui import charts
from affinity_bandits_service.ui.charts import Part
from affinity_bandits_service.ui.wording import (
    Gap,
    day,
    digits_for,
    gap_in_words,
    odds,
    round_in_words,
    round_label,
)


class Comparison(NamedTuple):
    """A group and the one that it is compared with.

    Attributes:
        name: the group.
        other: the leader, or the best group of the round.
        behind: whether the group scored less.
        gap: both scores and their difference as texts.
        odds: the odds against the group as text, if known.
    """

    name: str
    other: str
    behind: bool
    gap: Gap
    odds: str


@dataclass(frozen=True)
class Decision:
    """A closed round with the facts that explain it.

    Attributes:
        campaign: as it stands.
        round: the round.
        active: arms that could still be the best when it began.
        following: the next round, if any.
        explanation: the policy's explanation.
        evidence: the policy's evidence now, or at the time for a dropped arm; None if unknown.
    """

    campaign: CampaignRecord
    round: RoundRecord
    active: frozenset[str]
    following: OpenRound | RoundRecord | None
    explanation: RoundExplanation
    evidence: Evidence | None

    @property
    def policy(self) -> ServedPolicy:
        """The campaign's policy."""
        return self.campaign.made_policy

    @property
    def odds_of_dropped(self) -> list[tuple[str, str]]:
        """The groups that were dropped, each with the odds against it as text, if known."""
        found = []
        for name in self.round.dropped:
            against = None
            if self.evidence is not None:
                against = self.evidence.against[self.campaign.names.index(name)]
            found.append((name, "" if against is None else odds(against)))
        return found

    @property
    def label(self) -> str:
        """The name of the round in a sentence."""
        return round_in_words(self.policy, self.round.number)

    @property
    def tolerance(self) -> float | None:
        """How far behind the best a group's score may be, if the policy has a tolerance."""
        if self.explanation.tolerance is None:
            return None
        scale = scale_of(self.campaign.lowest, self.campaign.highest)
        return scale.to_scores(self.explanation.tolerance)

    @property
    def cut_short(self) -> bool:
        """Whether the horizon ended the round before its plan did."""
        return self.round.size < self.round.repetitions * len(self.round.arms)

    @property
    def warm_up(self) -> bool:
        """Whether the round is a warm-up, whose answers are set aside by plan."""
        return self.round.number < self.policy.warm_up_rounds

    @property
    def compares(self) -> bool:
        """Whether the scores of the round were compared."""
        return self.explanation.compares and not (self.warm_up or self.cut_short)

    @property
    def everybody(self) -> bool:
        """Whether all groups that could still be the best took part."""
        return set(self.round.arms) == self.active

    @cached_property
    def means(self) -> list[float]:
        """The mean score of each arm of a round that compares, in the round's order."""
        return [mean for mean in self.round.means if mean is not None]

    @property
    def leader_name(self) -> str | None:
        """The group that leads, if the policy names one."""
        leader = self.explanation.leader
        return None if leader is None else self.campaign.names[leader]

    @property
    def leader(self) -> str | None:
        """The leader, if it took part."""
        return self.leader_name if self.leader_name in self.round.arms else None

    @property
    def best(self) -> str:
        """The group with the best score."""
        return self.round.arms[self.means.index(max(self.means))]

    @property
    def drops(self) -> list[Comparison]:
        """The groups that were dropped, each compared with the leader or the best."""
        dropped = [name for name in self.round.arms if name in self.round.dropped]
        return [self._compare(name, self.leader or self.best) for name in dropped]

    @property
    def spread(self) -> Comparison:
        """The group furthest behind, compared with the best."""
        return self._compare(self.round.arms[self.means.index(min(self.means))], self.best)

    def _compare(self, name: str, other: str) -> Comparison:
        own, best = (self.means[self.round.arms.index(one)] for one in (name, other))
        digits = digits_for(self.campaign.lowest, self.campaign.highest)
        against = None
        if self.evidence is not None:
            against = self.evidence.against[self.campaign.names.index(name)]
        said = odds(against) if against is not None and against > 0.0 else ""
        gap = gap_in_words(best, own, self.tolerance, digits)
        return Comparison(name, other, own < best, gap, said)


def decisions_of(
    campaign: CampaignRecord, rounds: Sequence[RoundRecord], evidence: Evidence | None = None
) -> list[Decision]:
    """Return the decisions of a campaign's last rounds, up to the last one closed."""
    place_of = {name: place for place, name in enumerate(campaign.names)}
    found: list[Decision] = []
    said: RoundExplanation | None = None
    afters = (*rounds[1:], None if campaign.status == "exhausted" else campaign.round)
    for number, (one, after) in enumerate(zip(rounds, afters, strict=False)):
        active = frozenset(campaign.active).union(*(later.dropped for later in rounds[number:]))
        arms, candidates, dropped = (
            tuple(place_of[name] for name in names) for names in (one.arms, active, one.dropped)
        )
        played = PlayedRound(one.number, arms, frozenset(candidates), dropped)
        said = campaign.made_policy.explain(played, said)
        found.append(Decision(campaign, one, active, after, said, evidence))
    return found


MOST_GROUPS = 12
"""Groups that a picture shows by name."""
LEAST = math.log(1.05)
"""Odds below which nothing is said to speak against a group: 1 to 1 is where bets begin."""
MOST_TICKS = 6


@dataclass(frozen=True)
class Row:
    """A group with a picture and a few words."""

    name: str
    picture: Markup
    words: str
    number: str = ""
    kind: str = ""


@dataclass(frozen=True)
class RowList:
    """Rows of a picture, and how many groups it leaves out."""

    rows: list[Row]
    more: int


def list_rows(names: Sequence[str], make: Callable[[str], Row]) -> RowList:
    """Return the rows of the first groups that are named."""
    rows = [make(name) for name in names[:MOST_GROUPS]]
    return RowList(rows, len(names) - len(rows))


def evidence_of(campaign: CampaignRecord) -> Evidence | None:
    """Return the evidence of a campaign's policy, if it states any."""
    if campaign.saved is None:
        return None
    policy = campaign.made_policy
    return policy.evidence(policy.load(campaign.saved))


def evidence_rows(campaign: CampaignRecord, evidence: Evidence, order: Sequence[str]) -> RowList:
    """Return a bar for each group: how much speaks against it."""
    return list_rows(order, lambda name: _row(campaign, evidence, name))


def _row(campaign: CampaignRecord, evidence: Evidence, name: str) -> Row:
    arm = campaign.names.index(name)
    against = evidence.against[arm]
    said = "" if against is None or against < LEAST else odds(against)
    words, kind = f"{said} against" if said else "nothing against it", "in"
    if name == campaign.recommended:
        words, kind = "recommended", "chosen"
    elif not campaign.arms[arm].active:
        words, kind = f"dropped at {said}" if said else "dropped", "out"
    elif arm == evidence.leader:
        words = f"leads; {words}" if said else "leads"
    elif against is None:
        words = "not known"
    part = min(1.0, max(0.0, (against or 0.0) / evidence.needed))
    picture = charts.odds_bar(part, f"odds-{kind}", _ticks(evidence.needed), words)
    return Row(name, picture, words, kind=kind)


def _ticks(needed: float) -> list[float]:
    """Return the positions of powers of ten up to the needed odds; all, or every so many.

    >>> [round(one, 2) for one in _ticks(math.log(1000))]
    [0.33, 0.67]
    """
    powers = math.ceil(needed / math.log(10.0) - 1e-9)
    step = -(-powers // MOST_TICKS)
    return [power * math.log(10.0) / needed for power in range(step, powers, step)]


MOST_ROUNDS = 60
NO_LEADS: Mapping[str, LeadInBlocks] = {}
MOST_COUNTED = 20_000
"""Rounds times groups from which the lead is computed."""
MOST_TABLES = 20
"""Rounds whose scores are listed; those before are told in sentences."""
CONFIDENCE = 0.95


class Lead(NamedTuple):
    """How far the leader's mean score is above that of the closest other group.

    Attributes:
        leader: the group that leads.
        rival: the closest other group; one that is left, if there is one.
        answers: answers of each of the two.
        gap: the size of the difference, as text.
        behind: whether the leader's mean is lower.
        low: lower end of the difference's 95% interval.
        high: upper end.
        unclear: whether the interval contains 0.
        odds: the odds against the rival, if known.
        needed: the odds at which a group is dropped.
        hidden: how much of the lead favor can explain, as text; empty if none.
    """

    leader: str
    rival: str
    answers: int
    gap: str
    behind: bool
    low: str
    high: str
    unclear: bool
    odds: str
    needed: str
    hidden: str = ""


def lead_of(
    campaign: CampaignRecord, decisions: Sequence[Decision], evidence: Evidence | None
) -> Lead | None:
    """Return the lead over all rounds that compare; None if there are none, or not all are given.

    Only rounds in which both groups took part count, with equal numbers of answers.
    """
    compared = [one for one in decisions if one.compares]
    if not compared or decisions[0].round.number > 0:
        return None
    named = None if evidence is None else evidence.leader
    leader = campaign.recommended or (compared[-1].best if named is None else campaign.names[named])
    found = []
    for arm in campaign.arms:
        rounds = [one for one in compared if {leader, arm.name} <= set(one.round.arms)]
        if arm.name == leader or not rounds:
            continue
        answers, total = 0, 0.0
        for one in rounds:
            mean = dict(zip(one.round.arms, one.means, strict=True))
            answers += one.round.counts[0]
            total += one.round.counts[0] * (mean[leader] - mean[arm.name])
        found.append((not arm.active, total / answers, answers, arm.name))
    if not found:
        return None
    _, gap, answers, rival = min(found)
    span = campaign.highest - campaign.lowest
    # The difference of two scores that may depend on the past, but not on each other.
    wide = lead_half_width(campaign, answers, 0.5 * span**2)
    return _lead(campaign, evidence, leader, rival, answers, gap, wide)


def leader_of_blocks(campaign: CampaignRecord) -> str | None:
    """Return the group that leads a campaign of blocks, if one does."""
    evidence = evidence_of(campaign)
    if campaign.recommended is not None or evidence is None or evidence.leader is None:
        return campaign.recommended
    return campaign.names[evidence.leader]


def lead_in_blocks(
    campaign: CampaignRecord, evidence: Evidence | None, leads: Mapping[str, LeadInBlocks]
) -> Lead | None:
    """Return the lead within raters, given by how much the leader is ahead of each other group."""
    leader = leader_of_blocks(campaign)
    if leader is None or not leads:
        return None
    active = set(campaign.active)
    rival = min(leads, key=lambda name: (name not in active, leads[name].mean))
    blocks, gap = leads[rival]
    span = campaign.highest - campaign.lowest
    # One rater's two scores may depend on each other; their difference lies in a range of 2 spans.
    wide = lead_half_width(campaign, blocks, span**2)
    policy = campaign.made_policy
    hidden = 0.0
    if isinstance(policy, BlockPolicy):
        hidden = policy.hidden_lead(len(campaign.names)) * span
    return _lead(campaign, evidence, leader, rival, blocks, gap, wide, hidden)


def _lead(
    campaign: CampaignRecord,
    evidence: Evidence | None,
    leader: str,
    rival: str,
    answers: int,
    gap: float,
    wide: float,
    hidden: float = 0.0,
) -> Lead:
    """Return a lead in words; of it, favor may explain `hidden`."""
    span = campaign.highest - campaign.lowest
    low, high = max(-span, gap - wide), min(span, gap + wide)
    against = None if evidence is None else evidence.against[campaign.names.index(rival)]
    digits = digits_for(campaign.lowest, campaign.highest)
    first, last = (f"{one:.{digits}f}".replace("-", "\u2212") for one in (low, high))
    return Lead(
        leader=leader,
        rival=rival,
        answers=answers,
        gap=f"{abs(gap):.{digits}f}",
        behind=gap < 0.0,
        low=first,
        high=last,
        unclear=low <= hidden,
        odds="" if against is None or against < LEAST else odds(against),
        needed="" if evidence is None else odds(evidence.needed, up=True),
        hidden=f"{hidden:.{digits}f}" if hidden > 0.0 else "",
    )


def lead_half_width(campaign: CampaignRecord, answers: int, each: float) -> float:
    """Return half the width of a 95% interval for a lead, valid for all pairs and at all times.

    Minus their conditional means, n differences have a sum that is subGaussian with variance factor
    v = n `each`, which is half the squared width s of the range for two scores that do not depend
    on each other, and s^2 for any two (Hoeffding's lemma). By Ville's inequality for a mixture of
    exp(l x - l^2 v / 2) over normal l with variance 1/r, it ever exceeds
    sqrt((v + r) log((v + r) / (r a^2))) with probability at most a (Robbins, 1970). r is fixed
    before the first answer, to be best after a quarter of the horizon; a is divided by the number
    of pairs, since scores decide which pair is shown.
    """
    arms = len(campaign.arms)
    level = (1.0 - CONFIDENCE) / math.comb(arms, 2)
    logs = 2.0 * math.log(1.0 / level)
    prior = each * max(1.0, campaign.horizon / (4.0 * arms)) / (logs + math.log1p(logs))
    total = each * answers + prior
    return math.sqrt(total * (math.log(total / prior) + logs)) / answers


class RoundView(NamedTuple):
    """A closed round: its label, the decision, and the scores that were compared, if any."""

    label: str
    decision: Decision
    scores: RowList | None


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
        return charts.scale_ends(f"{self.low:.{self.digits}f}", f"{self.high:.{self.digits}f}")


@dataclass(frozen=True)
class CampaignView:
    """The rows and pictures for the template of a campaign's page.

    Attributes:
        earlier: number of older closed rounds, which are left out.
        lead: who leads and by how much, after the first comparison of average scores.
        leader: who leads, if anybody does.
        means: the average score of each group over the rounds shown that compare it.
        evidence: the policy's evidence, if it states any.
    """

    lead: Lead | None
    leader: str | None
    means: dict[str, str]
    timeline: RowList
    round_labels: Markup
    progress: RowList | None
    shares: Markup | None
    share_rows: RowList
    rounds: list[RoundView]
    scale: Markup | None
    earlier: int
    evidence: Evidence | None
    evidence_rows: RowList | None


def hoeffding_half_width(lowest: float, highest: float, answers: int) -> float:
    """Return half the width of Hoeffding's interval for a mean of bounded scores.

    >>> round(hoeffding_half_width(0.0, 1.0, 64), 3)
    0.17
    """
    return (highest - lowest) * math.sqrt(math.log(2.0 / (1.0 - CONFIDENCE)) / (2.0 * answers))


def view_of(
    campaign: CampaignRecord,
    rounds: Sequence[RoundRecord],
    leads: Mapping[str, LeadInBlocks] = NO_LEADS,
) -> CampaignView:
    """Return the view of a campaign, given all its closed rounds or the last ones.

    Of a campaign of blocks, also by how much the leader is ahead of others within raters.
    """
    evidence = evidence_of(campaign)
    decisions = decisions_of(campaign, rounds, evidence)
    if campaign.by_blocks:
        lead = lead_in_blocks(campaign, evidence, leads)
    else:
        lead = lead_of(campaign, decisions, evidence)
    rounds, decisions = rounds[-MOST_ROUNDS:], decisions[-MOST_ROUNDS:]
    order = _order(campaign, rounds)
    numbers = [one.number for one in rounds]
    if campaign.status != "exhausted":
        numbers.append(campaign.round.number)
    labels = [round_label(campaign.made_policy, number) for number in numbers]
    labels = [one.removeprefix("Round ").replace("Warm-up", "W") for one in labels]
    if campaign.recommended is not None and campaign.status != "exhausted":
        labels[-1] = "after"
    range_ = _range(campaign, decisions[-MOST_TABLES:])
    comparing = campaign.status != "exhausted" and campaign.recommended is None
    return CampaignView(
        lead=lead,
        leader=_leader(campaign, lead, evidence),
        means=_means(campaign, decisions),
        timeline=list_rows(order, lambda name: _timeline_row(campaign, rounds, name)),
        round_labels=charts.column_labels(labels),
        progress=list_rows(campaign.round.arms, lambda name: _progress_row(campaign, name))
        if comparing and not campaign.awaits_judges
        else None,
        shares=_shares(campaign, rounds, order),
        share_rows=_share_rows(campaign, order),
        rounds=[
            _round_view(one, range_ if place < MOST_TABLES else None)
            for place, one in enumerate(reversed(decisions))
        ],
        scale=None if range_ is None else range_.picture,
        earlier=rounds[0].number if rounds else 0,
        evidence=evidence,
        evidence_rows=None if evidence is None else evidence_rows(campaign, evidence, order),
    )


def _leader(campaign: CampaignRecord, lead: Lead | None, evidence: Evidence | None) -> str | None:
    if lead is not None:
        return lead.leader
    if evidence is None or evidence.leader is None:
        return campaign.recommended
    return campaign.names[evidence.leader]


def _order(campaign: CampaignRecord, rounds: Sequence[RoundRecord]) -> list[str]:
    """Return all groups: active ones first, then dropped ones, the latest first."""
    dropped_in = {name: one.number for one in rounds for name in one.dropped}
    arms = sorted(campaign.arms, key=lambda arm: (not arm.active, -dropped_in.get(arm.name, -1)))
    return [arm.name for arm in arms]


def _timeline_row(campaign: CampaignRecord, rounds: Sequence[RoundRecord], name: str) -> Row:
    parts: list[Part] = []
    words, kind = ("not told apart" if campaign.status == "exhausted" else "still in"), "in"
    if name not in campaign.active:
        words, kind = "dropped earlier", "out"
    for one in rounds:
        if name in one.dropped:
            parts.append("dropped")
            words = f"dropped after {round_in_words(campaign.made_policy, one.number)}"
        else:
            parts.append("played" if name in one.arms else "absent")
    done = 0.0
    if campaign.status != "exhausted" and name not in campaign.round.arms:
        parts.append("absent")
    elif campaign.status != "exhausted" and name == campaign.recommended:
        parts.append("chosen")
    elif campaign.status != "exhausted":
        parts.append("open")
        place = campaign.round.arms.index(name)
        done = campaign.round_answers[place] / max(1, _asked(campaign, place))
    if name == campaign.recommended:
        words, kind = "recommended", "chosen"
    took = sum(part != "absent" for part in parts)
    label = f"took part in {took} of the {counted(len(parts), 'round')} shown; {words}"
    return Row(name, charts.timeline(parts, done, label), words, kind=kind)


def _asked(campaign: CampaignRecord, place: int) -> int:
    """Return how many answers the open round needs of an arm; the horizon may cut it short."""
    if campaign.round.blocks is not None:
        name = campaign.round.arms[place]
        return sum(own.blocks for own in campaign.round.blocks if name in own.groups)
    whole, rest = divmod(campaign.round.size, len(campaign.round.arms))
    return whole + (place < rest)


def _progress_row(campaign: CampaignRecord, name: str) -> Row:
    place = campaign.round.arms.index(name)
    have, asked = campaign.round_answers[place], _asked(campaign, place)
    words = f"{have:,} of {asked:,}"
    return Row(name, charts.answer_bar(have / max(1, asked), f"{words} answers"), words)


def _shares(
    campaign: CampaignRecord, rounds: Sequence[RoundRecord], order: Sequence[str]
) -> Markup | None:
    """Return the chart of each group's share of all answers, after each round and now."""
    totals = {arm.name: arm.answers for arm in campaign.arms}
    if not any(totals.values()):
        return None
    added = [(one.arms, one.counts) for one in reversed(rounds)]
    if campaign.status != "exhausted":
        added.insert(0, (campaign.round.arms, campaign.round_answers))
    named, others = order[:MOST_GROUPS], order[MOST_GROUPS:]
    columns: list[list[float]] = []
    for arms, counts in added:
        total = max(1, sum(totals.values()))
        column = [totals[name] / total for name in named]
        if others:
            column.append(sum(totals[name] for name in others) / total)
        columns.insert(0, column)
        for name, count in zip(arms, counts, strict=True):
            totals[name] -= count
    label = "share of each group in all answers so far, after each round; the list has the last"
    return charts.shares(columns, bool(others), label)


def _share_rows(campaign: CampaignRecord, order: Sequence[str]) -> RowList:
    answers = {arm.name: arm.answers for arm in campaign.arms}
    total = max(1, sum(answers.values()))

    def row(name: str) -> Row:
        part = answers[name] / total
        share = "<1%" if 0.0 < part < 0.005 else f"{part:.0%}"
        return Row(name, charts.swatch(order.index(name)), f"{answers[name]:,}", share)

    return list_rows(order, row)


def _means(campaign: CampaignRecord, decisions: Sequence[Decision]) -> dict[str, str]:
    totals: dict[str, tuple[int, float]] = {}
    for one in decisions:
        for name, mean in zip(one.round.arms, one.means, strict=True) if one.compares else ():
            answers, total = totals.get(name, (0, 0.0))
            each = one.round.counts[0]
            totals[name] = answers + each, total + each * mean
    digits = digits_for(campaign.lowest, campaign.highest)
    return {name: f"{total / answers:.{digits}f}" for name, (answers, total) in totals.items()}


def _range(campaign: CampaignRecord, decisions: Sequence[Decision]) -> Range | None:
    """Return one scale for all rounds: as narrow as their intervals, within the declared range."""
    lowest, highest = campaign.lowest, campaign.highest
    ends: list[float] = []
    for one in decisions:
        if one.compares:  # then all its arms have the same number of answers
            wide = hoeffding_half_width(lowest, highest, one.round.counts[0])
            ends += [min(one.means) - wide, max(one.means) + wide]
    if not ends:
        return None
    tenth = (highest - lowest) / 10.0
    first = max(0, math.floor((min(ends) - lowest) / tenth))
    last = min(10, math.ceil((max(ends) - lowest) / tenth))
    return Range(lowest + first * tenth, lowest + last * tenth, digits_for(lowest, highest))


def _round_view(decision: Decision, range_: Range | None) -> RoundView:
    scores = _scores(decision, range_) if decision.compares and range_ is not None else None
    return RoundView(round_label(decision.policy, decision.round.number), decision, scores)


def _scores(decision: Decision, range_: Range) -> RowList:
    """Return a row for each group of a round, best first."""
    campaign, round_ = decision.campaign, decision.round
    places = sorted(range(len(round_.arms)), key=decision.means.__getitem__, reverse=True)
    best = decision.means[places[0]]
    limit = None if decision.tolerance is None else range_.place(best - decision.tolerance)
    rows = []
    for place in places[:MOST_GROUPS]:
        name, mean = round_.arms[place], decision.means[place]
        wide = hoeffding_half_width(campaign.lowest, campaign.highest, round_.counts[place])
        kind, words = "stays", "stays"
        if name in round_.dropped:
            kind, words = "gone", "dropped"
        elif mean == best:
            words = "best"
        number = f"{mean:.{range_.digits}f} ± {wide:.{range_.digits}f}"
        places_ = [range_.place(one) for one in (mean - wide, mean, mean + wide)]
        picture = charts.interval(places_, kind, limit, f"{number}, {words}")
        rows.append(Row(name, picture, words, number, kind))
    return RowList(rows, len(places) - len(rows))


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


def pace_of(rounds: Sequence[RoundRecord]) -> Pace | None:
    """Return the pace of the last closed rounds, if they are long enough."""
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


class TimeLeft(NamedTuple):
    """How long a comparison may still take.

    Attributes:
        amount: such as "About 12 weeks".
        why: its basis, in sentences.
    """

    amount: str
    why: str


def unit_of(campaign: CampaignRecord) -> str:
    """Return the name of one answer: the plan's, else "answer"."""
    return "answer" if campaign.planned is None else campaign.planned.unit


def time_left(campaign: CampaignRecord, rounds: Sequence[RoundRecord]) -> TimeLeft | None:
    """Return how long the comparison may still take, and why; None if unknown.

    Uses the plan unless it is overdue, else the horizon; and the pace of the last rounds, else the
    plan's.
    """
    horizon, unit = campaign.horizon, unit_of(campaign)
    if campaign.status != "open" or campaign.recommended is not None:
        return None
    planned, pace, resting = campaign.planned, pace_of(rounds), ""
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
            more = planned.answers - had
            why = (
                f"If it takes as long as planned: {counted(more, f'more {unit}')} are then"
                f" enough in 19 of 20 cases, {resting}."
            )
            return TimeLeft(_long(pace, more), why)
        if planned.answers <= had:
            enough = counted(planned.answers, unit)
            overdue = f"This takes longer than was planned for 19 of 20 cases ({enough})."
    if pace is None or horizon <= had:
        return TimeLeft("Longer than planned", overdue) if overdue else None
    why = f"{counted(horizon - had, unit)} of the agreed {horizon:,} are to come, {resting}."
    if campaign.made_policy.eliminates:
        why += " It is over sooner if one group alone is left before that."
    return TimeLeft(f"{_long(pace, horizon - had)} at most", f"{overdue} {why}".lstrip())


def _dates(pace: Pace) -> str:
    if pace.since.date() == pace.until.date():
        return f"on {day(pace.until)}"
    return f"from {day(pace.since)} to {day(pace.until)}"


def _long(pace: Pace, answers: int) -> str:
    """Return how long so many answers take, in the largest unit of which they take two."""
    year = UNITS[0][0]
    if answers / pace.in_(year) >= LONGEST_YEARS:
        return f"More than {LONGEST_YEARS} years"
    for unit, name in UNITS:
        number = round(answers / pace.in_(unit))
        if number >= 2:
            return f"About {counted(number, name)}"
    return "About an hour"


def _rate(pace: Pace) -> str:
    """Return a pace in words, by the longest unit below a year that fits in the time observed.

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
