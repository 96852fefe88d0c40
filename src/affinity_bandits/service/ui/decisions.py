"""What a round decided and why, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from affinity_bandits.policies import FOREVER, Evidence, PlayedRound, RoundExplanation
from affinity_bandits.policies.explaining import LEADER
from affinity_bandits.service.core.records import About, Campaign, ClosedRound, Progress
from affinity_bandits.service.core.scores import from_units, scale_of
from affinity_bandits.service.ui.campaign_text import is_warm_up, round_in_words
from affinity_bandits.service.ui.judging_text import judged
from affinity_bandits.service.ui.wording import (
    capital,
    counted,
    day,
    digits_for,
    gap_in_words,
    listed,
    named,
    odds,
    say,
)

MOST_EXPLAINED = 3
"""Dropped groups whose scores are spelled out; the rest is counted."""


@dataclass(frozen=True)
class Decision:
    """A closed round with what is needed to explain it.

    Attributes:
        active: arms that could still be the best when it began.
        following: the next round; None where there is none.
        explanation: what the policy says of it.
        evidence: what the policy says of the evidence now, which of arms that were dropped is that
            when they were; None if it says nothing.
    """

    spec: About
    round: ClosedRound
    active: frozenset[int]
    following: Progress | ClosedRound | None
    explanation: RoundExplanation
    evidence: Evidence | None

    @property
    def tolerance(self) -> float | None:
        """How far behind the best a group's score may be; None if the policy has no tolerance."""
        if self.explanation.tolerance is None:
            return None
        scale = scale_of(self.spec.lowest, self.spec.highest)
        return scale.to_scores(self.explanation.tolerance)

    @property
    def cut_short(self) -> bool:
        """Whether the horizon ended the round before its plan did."""
        return self.round.size < self.round.repetitions * len(self.round.arms)

    @property
    def warm_up(self) -> bool:
        """Whether the round is a warm-up, whose answers are set aside by plan."""
        return is_warm_up(self.spec.policy, self.round.number)

    @property
    def compares(self) -> bool:
        """Whether the scores of the round were compared."""
        return self.explanation.compares and not (self.warm_up or self.cut_short)

    @cached_property
    def means(self) -> tuple[float, ...]:
        """The mean score of each arm, in the round's order."""
        pairs = zip(self.round.sums, self.round.counts, strict=True)
        # A round that the horizon cut short may have no answer of some arm.
        return tuple(from_units(total) / n if n else math.nan for total, n in pairs)


def decisions_of(
    campaign: Campaign, rounds: Sequence[ClosedRound], evidence: Evidence | None = None
) -> list[Decision]:
    """Return the decisions of a campaign's last rounds, up to the last one closed."""
    spec = campaign.spec
    found: list[Decision] = []
    said: RoundExplanation | None = None
    afters = (*rounds[1:], None if campaign.status == "exhausted" else campaign.round)
    for place, (one, after) in enumerate(zip(rounds, afters, strict=False)):
        active = frozenset(campaign.active).union(*(later.dropped for later in rounds[place:]))
        played = PlayedRound(one.number, one.arms, active, one.dropped)
        said = spec.policy.explain(played, said)
        found.append(Decision(spec, one, active, after, said, evidence))
    return found


def explained(decision: Decision) -> list[Markup]:
    """Return the sentences that explain one round."""
    sentences = [_ending(decision)]
    body, arms = decision.spec.policy.judging_body, decision.spec.arms
    if who := judged(body, arms, decision.round, decision.round.arms):
        sentences.append(who)
    if decision.warm_up:
        sentences.append(_warm_up(decision))
    elif decision.cut_short:
        text = "The agreed {horizon} were used up in the middle of it, so it decided nothing."
        if decision.round.repetitions >= FOREVER:
            text = "Groups took turns until the agreed {horizon} were used up; it decided nothing."
        agreed = counted(decision.spec.horizon, "answer")
        sentences.append(say(text, horizon=agreed))
        return sentences
    elif not decision.compares:
        sentences.append(_no_comparison(decision))
    elif decision.round.dropped:
        sentences += _dropped(decision)
    else:
        sentences.append(_nobody(decision))
    sentences.append(_what_next(decision))
    return sentences


def _ending(decision: Decision) -> Markup:
    round_ = decision.round
    label = capital(round_in_words(decision.spec.policy, round_.number))
    if len(set(round_.counts)) == 1:
        had = f"each group had {counted(round_.counts[0], 'answer')}"
    else:
        had = f"it had {counted(sum(round_.counts), 'answer')} in all"
    return say("{label} ended on {day}: {had}.", label=label, day=day(round_.closed_at), had=had)


def _warm_up(decision: Decision) -> Markup:
    why = say("{purpose},", purpose=_purpose(decision)) if decision.explanation.purpose else ""
    return say("These answers are set aside on purpose{why} and decide nothing.", why=why)


def _no_comparison(decision: Decision) -> Markup:
    took = "All groups"
    if set(decision.round.arms) != decision.active:
        took = f"Only {counted(len(decision.round.arms), 'group', spelled=True)}"
    why = _purpose(decision)
    return say("{took} took part{why}. These answers decide nothing.", took=took, why=why)


def _purpose(decision: Decision) -> Markup:
    """Return what a round without a comparison is for, with the leader's name where it is known."""
    if not decision.explanation.purpose:
        return Markup()
    leader = Markup("the leader")
    if decision.explanation.leader is not None:
        name = named(decision.spec.arms[decision.explanation.leader])
        leader = say("{name}, which leads", name=name)
    return Markup(": ") + leader.join(decision.explanation.purpose.split(LEADER))


def _dropped(decision: Decision) -> list[Markup]:
    round_, arms = decision.round, decision.spec.arms
    places = [place for place, arm in enumerate(round_.arms) if arm in round_.dropped]
    sentences = []
    for place in places[:MOST_EXPLAINED]:
        against, whom = _compared_with(decision)
        best, own, gap, allowed = _texts(decision, against, place)
        name = named(arms[round_.arms[place]])
        if decision.means[place] >= decision.means[against]:
            behind = say("{name} scored {own}.", name=name, own=own)
        else:
            behind = say(
                "{name} scored {own}, which is {gap} below {whom} ({other}, {best}).",
                name=name,
                own=own,
                gap=gap,
                whom=whom,
                other=named(arms[round_.arms[against]]),
                best=best,
            )
        because = _because(decision, name, allowed, _odds(decision, round_.arms[place]))
        sentences.append(behind + " " + because)
    if len(places) > MOST_EXPLAINED:
        more = len(places) - MOST_EXPLAINED
        sentences.append(
            say(
                "{more} {were} dropped for the same reason.",
                more=capital(counted(more, "more group", spelled=True)),
                were="was" if more == 1 else "were",
            )
        )
    return sentences


def _odds(decision: Decision, arm: int) -> str:
    """Return the odds against a dropped arm in brackets; empty if they are not known."""
    against = None if decision.evidence is None else decision.evidence.against[arm]
    return f" ({odds(against)} against)" if against is not None and against > 0.0 else ""


def _because(decision: Decision, name: Markup, allowed: str, against: str) -> Markup:
    because = decision.explanation.dropped_because
    if not because and decision.tolerance is not None:
        because = f"That is more than this round tolerates ({allowed})"
    if not because:
        return say("The campaign's policy then dropped {name}{odds}.", name=name, odds=against)
    return say("{because}{odds}, so {name} was dropped.", because=because, name=name, odds=against)


def _nobody(decision: Decision) -> Markup:
    best = _best(decision)
    worst = decision.means.index(min(decision.means))
    names = decision.spec.arms
    top, low, gap, allowed = _texts(decision, best, worst)
    why = _why_nobody(decision, allowed)
    if decision.means[best] == decision.means[worst]:
        if not why:
            return say("Every group that took part scored {top}. No group was dropped.", top=top)
        return say("All groups scored {top}, so none was dropped.", top=top)
    seen = say(
        "{best} scored best ({top}); {worst} was furthest behind ({low}, which is {gap} less).",
        best=named(names[decision.round.arms[best]]),
        worst=named(names[decision.round.arms[worst]]),
        top=top,
        low=low,
        gap=gap,
    )
    return seen + " " + (why or "No group was dropped.")


def _why_nobody(decision: Decision, allowed: str) -> str:
    because = decision.explanation.none_dropped_because
    if not because and decision.tolerance is not None:
        return f"This round tolerates {allowed}: no group was far enough behind to be dropped."
    return because


def _what_next(decision: Decision) -> Markup:
    after = decision.following
    if after is None:
        return say(
            "With it the agreed {horizon} were used up.",
            horizon=counted(decision.spec.horizon, "answer"),
        )
    if after.repetitions == 0:
        return Markup("The next round waits until it is known who judges it.")
    if after.repetitions >= FOREVER:
        names = [named(decision.spec.arms[arm]) for arm in after.arms]
        if len(names) == 1:
            return say("{name} is the only group left, and is recommended.", name=names[0])
        return say(
            "No more comparisons are planned; {names} take turns to the end.", names=listed(names)
        )
    if after.size < after.repetitions * len(after.arms):
        return say(
            "The next round would ask for {each} for each group, but only {size} are left of the"
            " agreed number.",
            each=counted(after.repetitions, "answer"),
            size=f"{after.size:,}",
        )
    return say("The next round asks for {each} each.", each=counted(after.repetitions, "answer"))


def _texts(decision: Decision, best: int, own: int) -> tuple[str, str, str, str]:
    spec = decision.spec
    digits = digits_for(spec.lowest, spec.highest)
    return gap_in_words(decision.means[best], decision.means[own], decision.tolerance, digits)


def _compared_with(decision: Decision) -> tuple[int, str]:
    """Return the place of the arm that others are compared with, and what to call it."""
    leader = decision.explanation.leader
    if leader is not None and leader in decision.round.arms:
        return decision.round.arms.index(leader), "the leader"
    return _best(decision), "the best"


def _best(decision: Decision) -> int:
    return decision.means.index(max(decision.means))
