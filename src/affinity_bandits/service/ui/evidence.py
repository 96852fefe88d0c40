"""How much speaks against each group, in words and as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from affinity_bandits.policies import Evidence
from affinity_bandits.service.core.records import Campaign
from affinity_bandits.service.ui import charts
from affinity_bandits.service.ui.wording import odds

MOST_GROUPS = 12
"""Groups that a picture shows by name."""
LEAST = math.log(1.05)
"""Odds below which nothing is said to speak against a group: 1 to 1 is where bets begin."""
MOST_TICKS = 6
UNSAID = (
    "The policy of this campaign does not put a number on how much speaks against a group. What it"
    " saw and decided is told below, round by round."
)


@dataclass(frozen=True)
class Row:
    """A group with a picture and a few words."""

    name: str
    picture: Markup
    words: str
    number: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Rows:
    """Rows of a picture, and how many groups it leaves out."""

    rows: list[Row]
    more: int


@dataclass(frozen=True)
class EvidenceView:
    """What a page shows of the evidence.

    Attributes:
        sentences: what it takes and what it means, or that nothing can be said.
        rows: a bar for each group; None if nothing can be said.
        scale: labels of the bars' ends.
    """

    sentences: list[str]
    rows: Rows | None
    scale: Markup | None


def evidence_of(campaign: Campaign) -> Evidence | None:
    """Return what the policy of a campaign says of its evidence, if anything."""
    if campaign.saved is None:
        return None
    policy = campaign.spec.policy
    return policy.evidence(policy.load(campaign.saved))


def evidence_view(
    campaign: Campaign, evidence: Evidence | None, order: Sequence[int]
) -> EvidenceView:
    """Return how much speaks against each group.

    Args:
        campaign: as it stands.
        evidence: what its policy says.
        order: of all groups.
    """
    if evidence is None:
        return EvidenceView([UNSAID], None, None)
    needed = odds(evidence.needed, up=True)
    named = order[:MOST_GROUPS]
    rows = [_row(campaign, evidence, arm) for arm in named]
    sentences = [f"A group is dropped at {needed} against it."]
    if evidence.meaning:
        sentences.append(evidence.meaning)
    return EvidenceView(
        sentences, Rows(rows, len(order) - len(named)), charts.scale("1 to 1", needed)
    )


def _row(campaign: Campaign, evidence: Evidence, arm: int) -> Row:
    against, active = evidence.against[arm], arm in campaign.active
    said = "" if against is None or against < LEAST else odds(against)
    words, kind = f"{said} against" if said else "nothing against it", "in"
    if arm == campaign.recommended:
        words, kind = "recommended", "chosen"
    elif not active:
        words, kind = f"dropped at {said}" if said else "dropped", "out"
    elif arm == evidence.leader:
        words = f"leads; {words}" if said else "leads"
    elif against is None:
        words = "not known"
    part = min(1.0, max(0.0, (against or 0.0) / evidence.needed))
    picture = charts.odds_bar(part, f"odds-{kind}", _ticks(evidence.needed), words)
    return Row(campaign.spec.arms[arm], picture, words, kind=kind)


def _ticks(needed: float) -> list[float]:
    """Return where powers of ten are on the way to what is needed; all of them, or every so many.

    >>> [round(one, 2) for one in _ticks(math.log(1000))]
    [0.33, 0.67]
    """
    powers = math.ceil(needed / math.log(10.0) - 1e-9)
    step = -(-powers // MOST_TICKS)
    return [power * math.log(10.0) / needed for power in range(step, powers, step)]
