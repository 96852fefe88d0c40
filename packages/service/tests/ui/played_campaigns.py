"""Campaigns that real policies went through, and what /ui says of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup

from affinity_bandits.policies import (
    Elimination,
    RoundPolicy,
)
from affinity_bandits.policies.elimination import ListedSchedule
from affinity_bandits_client.messages import Arm
from affinity_bandits_client.messages.campaigns import OpenRound
from affinity_bandits_service.core.closing import advance
from affinity_bandits_service.core.scores import from_units, to_units, units_to_text
from affinity_bandits_service.core.spec import CampaignRecord, CampaignSpec, RoundRecord, open_round
from affinity_bandits_service.ui.pages import render
from affinity_bandits_service.ui.view import decisions_of, evidence_of
from tests.support.declared import DECLARED

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
) -> tuple[CampaignRecord, list[RoundRecord]]:
    """A campaign whose groups always score their means, after so many rounds or at its end."""
    about = CampaignSpec(
        "Sourcing",
        tuple(names),
        policy,
        horizon,
        lowest=scale[0],
        highest=scale[1],
        declaration=DECLARED,
    )
    state = policy.start(len(names), horizon)
    saved, current = policy.save(state, len(names), horizon), open_round(policy, state, horizon, 0)
    closed: list[RoundRecord] = []
    answers = [0] * len(names)
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
        for arm, n in zip(current.arms, counts, strict=True):
            answers[arm] += n
        pairs = zip(sums, counts, strict=True)
        closed.append(
            RoundRecord(
                number=len(closed),
                arms=tuple(names[arm] for arm in current.arms),
                repetitions=current.repetitions,
                size=current.size,
                before=before,
                counts=tuple(counts),
                sums=tuple(units_to_text(total) for total in sums),
                means=tuple(from_units(total) / n if n else None for total, n in pairs),
                dropped=tuple(names[arm] for arm in made.dropped),
                opened_at=START,
                closed_at=at,
            )
        )
        saved, exhausted = made.saved, made.next is None
        if made.next is not None:
            before += current.size
            current = made.next
    status = "exhausted" if exhausted else "decided" if current.final else "open"
    after, candidate = policy.load(saved), policy.kernels().candidate
    done = current.size if exhausted else 0
    active = [bool(candidate(after, arm)) for arm in range(len(names))]
    final = current.final and len(current.arms) == 1
    campaign = CampaignRecord(
        declaration=DECLARED,
        id=str(uuid.UUID(int=1)),
        name=about.name,
        status=status,
        arms=tuple(map(make_arm, names, active, answers)),
        recommended=names[current.arms[0]] if final else None,
        round=OpenRound(
            number=len(closed) - exhausted,
            arms=tuple(names[arm] for arm in current.arms),
            repetitions=current.repetitions,
            size=current.size,
            handed_out=done,
            answered=done,
        ),
        horizon=horizon,
        policy=policy.to_json(),
        lease_seconds=about.lease_seconds,
        lowest=about.lowest,
        highest=about.highest,
        in_flight=policy.order_window,
        created_at=START,
        attention=None,
        made_policy=policy,
        saved=saved,
        planned=None,
        before=before,
        round_answers=(0,) * len(current.arms),
    )
    return campaign, closed


def make_arm(name: str, active: bool, answers: int) -> Arm:
    return Arm(name=name, active=active, answers=answers)


def change(campaign: CampaignRecord, **changes: Any) -> CampaignRecord:
    """Return a campaign with some members changed; those of its round are given as `round_x`."""
    ours = {name for name in changes if name in CampaignRecord.model_fields}
    round_ = {name.removeprefix("round_"): changes.pop(name) for name in changes.keys() - ours}
    changes.setdefault("round", campaign.round.model_copy(update=round_))
    return campaign.model_copy(update=changes)


def text(html: str) -> str:
    return Markup(html).striptags()


def say(macro: str, *arguments: Any) -> str:
    """What a macro of the pages says, as text."""
    return text(render(macro, *arguments))


def told(campaign: CampaignRecord, rounds: Sequence[RoundRecord], number: int) -> str:
    """What is said of a closed round."""
    decisions = decisions_of(campaign, rounds, evidence_of(campaign))
    return say("decision", next(one for one in decisions if one.round.number == number))
