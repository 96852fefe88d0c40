"""Campaigns that real policies went through, and what /ui says of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from affinity_bandits.policies import (
    Elimination,
    RoundPolicy,
)
from affinity_bandits.policies.schedule import ListedSchedule
from affinity_bandits.service.core.campaign_spec import CampaignSpec, open_round
from affinity_bandits.service.core.closing import advance
from affinity_bandits.service.core.records import Campaign, ClosedRound, Progress
from affinity_bandits.service.core.scores import to_units
from affinity_bandits.service.ui.decisions import decisions_of, explained
from affinity_bandits.service.ui.evidence import evidence_of

START = datetime(2026, 11, 10, 9, 0, tzinfo=UTC)
ROUNDS = [(32, 0.5), (64, 0.25), (128, 0.125), (256, 0.0625)]
LISTED = Elimination(ListedSchedule(ROUNDS))


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
        sums, tallies = [], about.nodes.none(width)
        for arm, n, own in zip(current.arms, counts, tallies, strict=True):
            sums.append(to_units(means[arm]) * n)
            about.nodes.add(own, to_units(means[arm]), n)
        made = advance(policy, about.nodes, saved, current, sums, tallies, before)
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
        saved=saved,
    )
    return campaign, closed


def text(sentence: Markup) -> str:
    return sentence.striptags()


def told(campaign: Campaign, rounds: Sequence[ClosedRound], number: int) -> str:
    decision = next(
        one
        for one in decisions_of(campaign, rounds, evidence_of(campaign))
        if one.round.number == number
    )
    return " ".join(text(sentence) for sentence in explained(decision))


def answers_of(campaign: Campaign, rounds: Sequence[ClosedRound]) -> list[int]:
    found = [0] * len(campaign.spec.arms)
    for one in rounds:
        for arm, count in zip(one.arms, one.counts, strict=True):
            found[arm] += count
    return found
