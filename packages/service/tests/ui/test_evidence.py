"""How much speaks against each group: in words, as a picture, and by whom it is said."""

from __future__ import annotations

import math

import pytest

from affinity_bandits.policies import Evidence, RecusalElimination
from affinity_bandits_service.core.spec import CampaignRecord
from affinity_bandits_service.ui.view import Row, evidence_of, evidence_rows, view_of
from affinity_bandits_service.ui.wording import odds

from .played_campaigns import LISTED, change, played, told

RECUSED = RecusalElimination(bounded=True, failure=0.05)


def rows_of(campaign: CampaignRecord, evidence: Evidence) -> dict[str, Row]:
    return {row.name: row for row in evidence_rows(campaign, evidence, campaign.names).rows}


@pytest.mark.slow
def test_what_a_page_shows_is_the_wealth_that_decides() -> None:
    """Odds of a group are below what is needed until it is dropped, and not afterwards."""
    seen = set()
    for rounds in range(1, 60, 3):
        campaign, _ = played(RECUSED, "ABC", [0.9, 0.5, 0.1], rounds=rounds)
        evidence = evidence_of(campaign)
        assert evidence is not None
        assert evidence.needed == pytest.approx(math.log(20.0))
        assert evidence.leader == 0
        words = {name: row.words for name, row in rows_of(campaign, evidence).items()}
        seen.add(words["A"].partition(";")[0])
        for name, against in zip("ABC", evidence.against, strict=True):
            assert against is not None
            assert (against >= evidence.needed) == (name not in campaign.active)
            assert words[name].startswith("dropped at ") == (name not in campaign.active)
    assert seen == {"leads", "recommended"}


def test_a_drop_is_told_with_its_odds() -> None:
    campaign, rounds = played(RECUSED, "ABC", [0.8, 0.6, 0.2])
    evidence = evidence_of(campaign)
    assert evidence is not None
    number = next(one.number for one in rounds if "C" in one.dropped)
    assert evidence.against[2] is not None
    assert f"than chance explains ({odds(evidence.against[2])} against), so C was dropped." in told(
        campaign, rounds, number
    )


def test_a_policy_that_says_nothing_is_shown_without_numbers() -> None:
    campaign, _ = played(LISTED, "AB", [0.1, 0.9])
    assert evidence_of(campaign) is None
    # Nor is anything said where the state cannot be read.
    lost, rounds = played(RECUSED, "ABC", [0.8, 0.6, 0.2])
    assert view_of(change(lost, saved=None), rounds).evidence_rows is None
